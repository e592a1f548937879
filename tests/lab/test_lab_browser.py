"""JupyterLab, started by `course lab`, in a real browser: lectures open, run, answer and are saved on both sides.

Two small notebooks run here from top to bottom. The other lectures open with the outputs of their one execution, which
`tests/lectures` and the slides look at, too: here their widgets answer in the browser, and their first cells run.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from course_pkg.commands.pairing import KERNELSPEC, Pair, State
from course_pkg.slides.browser import chromium, why_no_browser

ROOT = Path(__file__).resolve().parents[2]
START_WITHIN_S = 60
RUN_WITHIN_S = 240
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
# It says [cache line](glossary.md#cache-line).

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
SAMPLE_NAME = "98_sample"
SLIDER_OF_SAMPLE = 2  # the number of its cell
SMALL, *LECTURES = (path.stem for path in sorted((ROOT / "lectures").glob("[0-9][0-9]_*.py")))
BEGINNING = 2  # code cells: whether the course is there, and what the lecture imports

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

pytestmark = [pytest.mark.slow(60), pytest.mark.browser]


@dataclass
class Lab:
    """A running lab: its copy of the course, its address, and where Jupyter keeps which notebooks it trusts."""

    root: Path
    url: str
    trust: Path


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start `course lab` on a copy of the course; give the copy and the server's address."""
    missing = why_no_browser()
    if missing:
        if os.environ.get("CI"):
            pytest.fail(f"On CI the lab is tested in a browser: {missing}.")
        pytest.skip(missing)
    root = tmp_path_factory.mktemp("course")
    for name in ("course_pkg", "lectures", "figures"):
        if (ROOT / name).exists():
            ignore = shutil.ignore_patterns(
                "*.pyc", ".ipynb_checkpoints", "*.orig"
            )  # Numba's machine code comes along
            shutil.copytree(ROOT / name, root / name, ignore=ignore)
    (root / "lectures" / "98_sample.py").write_text(SAMPLE, encoding="utf-8")
    home = tmp_path_factory.mktemp("home")  # no learner's settings, nothing left behind
    variables = {
        "PYTHONPATH": str(root),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONUNBUFFERED": "1",
    }
    log = home / "lab.log"
    command = [sys.executable, "-m", "course_pkg.cli", "lab", "98", "--no-browser"]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command, "--", "--LabApp.expose_app_in_browser=True"],
            cwd=root,
            env=os.environ | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_WITHIN_S
        url = None
        while url is None and time.monotonic() < deadline and server.poll() is None:
            time.sleep(0.1)
            url = re.search(
                r"http://127\.0\.0\.1:\d+/lab/tree/lectures/98_sample\.ipynb\?token=\w{48}", log.read_text()
            )
        assert url, log.read_text()
        yield Lab(root, url[0], home / "data")
        server.send_signal(signal.SIGINT)  # Ctrl-C ends it, without a question
        assert server.wait(60) in (0, 130), log.read_text()
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


@pytest.fixture(scope="module")
def browser(lab):
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(lab, browser):
    """A page that reaches nothing but the server; `page.problems` holds what it tried and what broke."""
    address = lab.url.split("/lab")[0]
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.problems = []

    def route(request):
        if request.request.url.startswith((address, "data:", "blob:")):
            request.continue_()
        else:
            page.problems.append(f"reaches for {request.request.url}")
            request.abort()

    context.route("**/*", route)
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    yield page
    context.close()


def open_notebook(page, url: str, lecture: str) -> None:
    """Open a lecture in a workspace of its own: a restored one brings other tests' notebooks to the front."""
    server, token = url.split("/lab/tree/")[0], url.split("token=")[1]
    path = f"lectures/{lecture}.ipynb"
    page.goto(f"{server}/lab/workspaces/{uuid.uuid4().hex}/tree/{path}?token={token}")
    page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").first.wait_for(timeout=60_000)
    # Running cells before the kernel is there is answered by a dialog, and nothing runs.
    page.wait_for_function(KERNEL_IS_IDLE, arg=path, timeout=60_000)


def run_all(page) -> dict:
    """Run all cells; return the state in which that ends."""
    page.evaluate(
        "void jupyterapp.commands.execute('notebook:run-all-cells')"
    )  # void: it ends with the last cell
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


def show_the_execution(lab, lecture: str, executed: Path) -> int:
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
    notary = NotebookNotary(data_dir=str(lab.trust))
    notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()
    models = run.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    return next(
        number
        for number, cell in enumerate(run.cells)
        for output in cell.get("outputs", ())
        if (view := output.get("data", {}).get("application/vnd.jupyter.widget-view+json"))
        and {"SelectionSliderModel", "StackModel"} <= kinds(view["model_id"], models)
    )


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
    area.wait_for(timeout=30_000)
    pictures = area.locator("img:visible, svg:visible")
    pictures.first.wait_for(timeout=30_000)
    before = pictures.evaluate_all(PICTURES)
    area.locator(".widget-slider .noUi-handle").first.focus()
    for key in ("Home", "End"):  # one of them may be where the slider stands
        page.keyboard.press(key)
        for _ in range(50):
            page.wait_for_timeout(100)
            if pictures.evaluate_all(PICTURES) != before:
                return
    pytest.fail("the slider moved and the picture did not change")


def save(page, path: Path) -> None:
    before = path.stat().st_mtime_ns
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    for _ in range(100):
        if path.stat().st_mtime_ns != before:
            page.wait_for_timeout(300)  # the .py is written after the .ipynb or before
            return
        page.wait_for_timeout(100)
    pytest.fail(f"{path.name} was not saved")


@pytest.mark.parametrize("lecture", [SMALL, SAMPLE_NAME])
def test_a_lecture_runs_in_the_lab(lab, page, lecture):
    pair = Pair(lab.root / "lectures" / f"{lecture}.py")
    open_notebook(page, lab.url, lecture)
    for _ in range(50):  # JupyterLab notes which Python the kernel is, which is no edit
        if not page.evaluate(DIRTY):
            break
        page.wait_for_timeout(100)
    assert not page.evaluate(DIRTY), "a lecture that was only opened is to be saved"
    state = run_all(page)
    assert not state["errors"], state
    assert state["done"] == state["cells"] > 0, state
    if lecture == SAMPLE_NAME:
        move_slider(page, SLIDER_OF_SAMPLE)
    save(page, pair.notebook)
    assert pair.state() is State.SAME
    assert page.problems == []


@pytest.mark.parametrize("lecture", LECTURES)
def test_an_executed_lecture_answers_in_the_lab(lab, page, lecture, executed):
    pair = Pair(lab.root / "lectures" / f"{lecture}.py")
    slider = show_the_execution(lab, lecture, executed(ROOT / "lectures" / f"{lecture}.py"))
    open_notebook(page, lab.url, lecture)
    move_slider(page, slider)
    page.evaluate(RUN_BEGINNING, BEGINNING)
    state = until_done(page, BEGINNING)
    assert not state["errors"], state
    assert state["done"] == BEGINNING, state
    save(page, pair.notebook)
    assert pair.state() is State.SAME
    assert page.problems == []


def test_an_edit_is_saved_on_both_sides(lab, page):
    pair = Pair(lab.root / "lectures" / f"{SAMPLE_NAME}.py")
    before = pair.source.read_text(encoding="utf-8")
    open_notebook(page, lab.url, SAMPLE_NAME)
    page.evaluate(EDIT)
    save(page, pair.notebook)
    text = pair.source.read_text(encoding="utf-8")
    assert text == before.replace("#cache-line).\n", "#cache-line).\n#\n# Written by a learner.\n")
    assert "Written by a learner." in "".join(json.loads(pair.notebook.read_text())["cells"][0]["source"])
    # The next start has nothing to say and nothing to change but its own note of what is in step.
    assert pair.state() is State.SAME
    pair.remember()
    assert pair.state() is State.SAME and pair.source.read_text(encoding="utf-8") == text


def test_widgets_are_accessible_and_figures_fit_the_theme_and_the_column(lab, page, axe):
    open_notebook(page, lab.url, SAMPLE_NAME)
    run_all(page)
    page.set_viewport_size({"width": 900, "height": 900})
    assert page.evaluate("jupyterapp.shell.currentWidget.content.widgets.at(-1).inputHidden"), (
        "a note is unfolded"
    )
    page.evaluate(SHOW_CELL, SLIDER_OF_SAMPLE + 1)
    output = page.locator(
        ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output:has(.widget-slider)"
    ).last
    output.locator("[role=slider][aria-label='a number'][aria-valuetext='2']").wait_for()
    page.get_by_role("button", name="a copy").click()
    page.locator(".widget-toggle-button[aria-pressed=true]", has_text="a copy").wait_for()
    ours = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output:has(.course-question, .course-figure)"
    assert axe(page, ours) == []
    picture = output.locator("img.course-figure").last
    assert picture.bounding_box()["width"] <= output.bounding_box()["width"]
    assert picture.evaluate("(e) => getComputedStyle(e).filter") == "none"
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    assert "invert" in picture.evaluate("(e) => getComputedStyle(e).filter")
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    page.wait_for_function("document.body.dataset.jpThemeLight === 'true'")


def test_a_picture_stays_when_its_widget_is_gone(lab, page):
    view = {"model_id": "gone", "version_major": 2, "version_minor": 0}
    html = '<img class="course-figure" alt="Still there." src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">'
    data = {"application/vnd.jupyter.widget-view+json": view, "text/html": html, "text/plain": "Controls()"}
    cell = nbformat.v4.new_code_cell("viz.slider(…)", outputs=[nbformat.v4.new_output("display_data", data)])
    path = lab.root / "lectures" / "gone.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": KERNELSPEC}), path)
    notary = NotebookNotary(data_dir=str(lab.trust))
    notary.sign(nbformat.read(path, as_version=4))
    notary.store.close()
    open_notebook(page, lab.url, "gone")
    page.locator('.course-still img[alt="Still there."]').wait_for(timeout=20_000)
    assert not page.get_by_text("model not found").count()


def test_a_word_s_link_opens_the_glossary_at_the_word(lab, page):
    open_notebook(page, lab.url, SAMPLE_NAME)
    page.get_by_role("link", name="cache line").click()
    page.wait_for_function("() => jupyterapp.shell.currentWidget?.context?.path === 'lectures/glossary.md'")
    heading = page.locator(".jp-MarkdownViewer h3", has_text=re.compile("^cache line"))
    heading.wait_for(timeout=20_000)
    for _ in range(100):
        if 0 <= (top := heading.bounding_box()["y"]) < 200:
            break
        page.wait_for_timeout(100)
    assert 0 <= top < 200, "the page is shown as text, or at another word"
    assert page.problems == []
