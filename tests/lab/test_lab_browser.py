"""JupyterLab, started by `course lab`, in a real browser: lectures open, run and are saved on both sides."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from course_pkg.commands.pairing import Pair, State
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
"""
LECTURES = [path.stem for path in sorted((ROOT / "lectures").glob("[0-9][0-9]_*.py"))] + ["98_sample"]

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
EDIT = """() => {
  const model = jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel;
  model.setSource(model.source + '\\n\\nWritten by a learner.');
}"""

pytestmark = [pytest.mark.slow(45), pytest.mark.browser]


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
        yield root, url[0]
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
    address = lab[1].split("/lab")[0]
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
    page.evaluate(
        "void jupyterapp.commands.execute('notebook:run-all-cells')"
    )  # void: it ends with the last cell
    deadline = time.monotonic() + RUN_WITHIN_S
    while True:
        state = page.evaluate(STATE)
        finished = state["done"] == state["cells"] and state["status"] == "idle"
        if state["errors"] or finished or time.monotonic() > deadline:
            return state
        page.wait_for_timeout(300)


def move_slider(page) -> bool:
    """Move the first slider above a figure and see the figure change; tell whether there was one."""
    figure = page.locator(".widget-output", has=page.locator("img, svg"))
    notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    area = (
        notebook.locator(".jp-OutputArea-child", has=page.locator(".widget-slider")).filter(has=figure).first
    )
    if not area.count():
        return False
    area.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    output = area.locator(".widget-output", has=page.locator("img, svg")).first
    before = hashlib.sha256(output.screenshot()).hexdigest()
    area.locator(".widget-slider .noUi-handle").first.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    for _ in range(100):
        page.wait_for_timeout(100)
        if hashlib.sha256(output.screenshot()).hexdigest() != before:
            return True
    pytest.fail("the slider moved and the figure did not change")


def save(page, path: Path) -> None:
    before = path.stat().st_mtime_ns
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    for _ in range(100):
        if path.stat().st_mtime_ns != before:
            page.wait_for_timeout(300)  # the .py is written after the .ipynb or before
            return
        page.wait_for_timeout(100)
    pytest.fail(f"{path.name} was not saved")


@pytest.mark.parametrize("lecture", LECTURES)
def test_lecture_in_the_lab(lab, page, lecture):
    root, url = lab
    pair = Pair(root / "lectures" / f"{lecture}.py")
    open_notebook(page, url, lecture)
    state = run_all(page)
    assert not state["errors"], state
    assert state["done"] == state["cells"] > 0, state
    assert move_slider(page) or lecture != "98_sample"
    save(page, pair.notebook)
    assert pair.state() is State.SAME
    assert page.problems == []


def test_an_edit_is_saved_on_both_sides(lab, page):
    root, url = lab
    pair = Pair(root / "lectures" / "98_sample.py")
    before = pair.source.read_text(encoding="utf-8")
    open_notebook(page, url, "98_sample")
    page.evaluate(EDIT)
    save(page, pair.notebook)
    text = pair.source.read_text(encoding="utf-8")
    assert text == before.replace("#cache-line).\n", "#cache-line).\n#\n# Written by a learner.\n")
    assert "Written by a learner." in "".join(json.loads(pair.notebook.read_text())["cells"][0]["source"])
    # The next start has nothing to say and nothing to change but its own note of what is in step.
    assert pair.state() is State.SAME
    pair.remember()
    assert pair.state() is State.SAME and pair.source.read_text(encoding="utf-8") == text


def test_a_word_s_link_opens_the_glossary_at_the_word(lab, page):
    open_notebook(page, lab[1], "98_sample")
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
