"""What tests do in JupyterLab's window: open a notebook, run it, move a slider, save."""

import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from course_pkg.commands.pairing import Pair, State

RUN_WITHIN_S = 240
SHOWN = (
    "01_first_kernels",
    "05_fusion",
)  # the lectures that are opened in a browser; the second has each kind of output
SAMPLE = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: Sample
# ---

# %% [markdown] slideshow={"slide_type": "slide"}
# # A slider and a figure
#
# Of $P$: it says [cache line](glossary.md#cache-line).

# %%
import ipywidgets as widgets
import matplotlib.pyplot as plt


# %% tags=["demo"]
def draw(size=3):
    plt.plot([i * i for i in range(size)])
    plt.show()


widgets.interact(draw, size=(2, 30));

# %%
from course_pkg import viz


def word(n):
    ground = '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="60">'
    svg = f'{ground}<text y="40" font-size="30">{n}</text></svg>'
    return viz.Picture(svg, f"The number {n}.")


display(viz.Prediction("98-a", "Which is faster?", ["a copy", "a sum"]), viz.slider(word, [1, 2], label="a number"))

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** Half a minute.
"""
SAMPLE_NAME, PAGE_NAME = "98_sample", "97_sample"  # the second is opened once, for several tests
SLIDER_OF_SAMPLE = 2  # the number of its cell

# Cells out of view are not in the page, and menus move between versions: the application itself is asked.
KERNEL_IS_IDLE = """path => {
  const panel = window.jupyterapp?.shell.currentWidget;
  const kernel = panel?.sessionContext?.session?.kernel;
  const ready = kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
  return ready && panel.context?.path === path;
}"""
STATE = """() => {
  const panel = jupyterapp.shell.currentWidget;
  const cells = panel.content.widgets.filter(
    w => w.model.type === 'code' && w.model.sharedModel.source.trim());
  return {
    cells: cells.length,
    done: cells.filter(w => w.model.executionCount).length,
    status: panel.sessionContext.session?.kernel?.status,
    errors: cells.flatMap(w => Array.from({length: w.model.outputs.length}, (_, k) => w.model.outputs.get(k)))
      .filter(o => o.type === 'error').map(o => o.toJSON()).map(o => o.ename + ': ' + o.evalue),
  };
}"""
RUN_BEGINNING = """count => {
  const panel = jupyterapp.shell.currentWidget, cells = panel.content.widgets;
  const code = cells.filter(w => w.model.type === 'code').slice(0, count);
  cells.filter(w => w.model.type === 'code').forEach(w => { w.model.executionCount = null; });
  panel.content.deselectAll();
  panel.content.activeCellIndex = cells.indexOf(code.at(-1)) + 1;
  void jupyterapp.commands.execute('notebook:run-all-above');
}"""
SHOW_CELL = """async index => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, 'start');
}"""
PICTURES = "all => all.map(one => one.outerHTML).join()"
DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
EDIT = """() => {
  const model = jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel;
  model.setSource(model.source + '\\n\\nWritten by a learner.');
}"""


@dataclass
class Lab:
    """A running lab: its copy of the course, its address, and where Jupyter keeps which notebooks it trusts."""

    root: Path
    url: str
    trust: Path


def open_notebook(page, url: str, lecture: str) -> None:
    """Open a lecture in a workspace of its own: a restored one brings other tests' notebooks to the front."""
    server, token = url.split("/lab/tree/")[0], url.split("token=")[1]
    path = f"lectures/{lecture}.ipynb"
    page.goto(f"{server}/lab/workspaces/{uuid.uuid4().hex}/tree/{path}?token={token}")
    page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").first.wait_for(timeout=180_000)
    # Running cells before the kernel is there is answered by a dialog, and nothing runs.
    page.wait_for_function(KERNEL_IS_IDLE, arg=path, timeout=180_000)


def open_beside(page, path: str) -> None:
    """Open a notebook in a lab that is already in view, or bring it to the front there."""
    page.evaluate("path => void jupyterapp.commands.execute('docmanager:open', {path})", path)
    page.wait_for_function(KERNEL_IS_IDLE, arg=path, timeout=180_000)


def run_all(page) -> dict:
    """Run all cells; return the state in which that ends."""
    # void: it ends with the last cell
    page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
    return until_done(page)


def until_done(page, cells: int = 0) -> dict:
    """Wait until that many cells have run, by default all, or one raised an error; return the state then."""
    deadline = time.monotonic() + RUN_WITHIN_S
    while True:
        state = page.evaluate(STATE)
        finished = state["done"] == (cells or state["cells"]) and state["status"] == "idle"
        if state["errors"] or finished or time.monotonic() > deadline:
            return state
        page.wait_for_timeout(300)


def show_the_execution(lab: Lab, lecture: str, executed: Path) -> int:
    """Give a lecture the outputs of its execution, and sign it; return the number of its first cell with a slider.

    JupyterLab shows widgets only in notebooks that it trusts.
    """
    path = lab.root / "lectures" / f"{lecture}.ipynb"
    nb, run = (nbformat.read(one, as_version=4) for one in (path, executed))
    for cell, other in zip(nb.cells, run.cells, strict=True):
        assert (cell.cell_type, cell.source) == (other.cell_type, other.source)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = other.outputs, other.execution_count
    nb.metadata["widgets"] = run.metadata["widgets"]
    nbformat.write(nb, path)
    sign(lab, path)
    models = run.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    return next(
        number
        for number, cell in enumerate(run.cells)
        for output in cell.get("outputs", ())
        if (view := output.get("data", {}).get("application/vnd.jupyter.widget-view+json"))
        and {"SelectionSliderModel", "StackModel"} <= kinds(view["model_id"], models)
    )


def sign(lab, path: Path) -> None:
    """Let JupyterLab trust a notebook."""
    notary = NotebookNotary(data_dir=str(lab.trust))
    notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()


def kinds(model: str, models: dict) -> set[str]:
    """Return what kinds of widgets a widget consists of."""
    inside = models[model]["state"].get("children", ())
    return {models[model]["model_name"]}.union(
        *(kinds(one.removeprefix("IPY_MODEL_"), models) for one in inside)
    )


def move_slider(page, number: int) -> None:
    """Move the first slider of a cell, and see a picture change."""
    page.evaluate(SHOW_CELL, number)
    notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    cell = notebook.locator(f".jp-Cell[data-windowed-list-index='{number}']")
    area = cell.locator(".jp-OutputArea-child", has=page.locator(".widget-slider")).first
    area.wait_for(timeout=180_000)
    pictures = area.locator("img:visible, svg:visible")
    pictures.first.wait_for(timeout=180_000)
    before = pictures.evaluate_all(PICTURES)
    area.locator(".widget-slider .noUi-handle").first.focus()
    for attempt in range(30):
        page.keyboard.press(("Home", "End")[attempt % 2])  # one of them may be where the slider stands
        for _ in range(20):
            page.wait_for_timeout(100)
            if pictures.evaluate_all(PICTURES) != before:
                return
    pytest.fail("the slider moved and the picture did not change")


def change_theme(page, theme: str) -> None:
    """Change JupyterLab's theme, and wait until the splash that it shows meanwhile is gone.

    JupyterLab 4.6 removes the splash 200 ms after each change without asking whether it is still there: a second change
    within that time breaks with "Failed to execute 'removeChild'", also without our extension.
    """
    page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}})")
    page.wait_for_function(f"document.body.dataset.jpThemeLight === '{str(theme == 'Light').lower()}'")
    page.locator("#jupyterlab-splash").wait_for(state="detached")


def until(page, true, otherwise: str) -> None:
    """Wait until something is true; after a minute, fail."""
    for _ in range(600):
        if true():
            return
        page.wait_for_timeout(100)
    pytest.fail(otherwise)


def save(page, pair: Pair) -> None:
    """Save a notebook, and wait until both of its files are written, in whichever order."""
    before = pair.notebook.stat().st_mtime_ns
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    until(page, lambda: pair.notebook.stat().st_mtime_ns != before, f"{pair.notebook.name} was not saved")
    page.wait_for_timeout(300)
    until(page, lambda: pair.state() is State.SAME, f"{pair.source.name} was not saved")
