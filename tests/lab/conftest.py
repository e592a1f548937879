"""JupyterLab as `course lab` starts it on a copy of the course, and a browser that reaches nothing else."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab_pages import PAGE_NAME, SAMPLE, SAMPLE_NAME, Lab, open_beside, open_notebook
from needs import need_browser

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 180


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start `course lab` on a copy of the course; give the copy and the server's address."""
    need_browser()
    root = tmp_path_factory.mktemp("course")
    for name in ("course_pkg", "lectures", "figures"):
        if (ROOT / name).exists():
            # Numba's machine code comes along
            ignore = shutil.ignore_patterns("*.pyc", ".ipynb_checkpoints", "*.orig")
            shutil.copytree(ROOT / name, root / name, ignore=ignore)
    for name in (SAMPLE_NAME, PAGE_NAME):
        (root / "lectures" / f"{name}.py").write_text(SAMPLE, encoding="utf-8")
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
            preexec_fn=_hears_ctrl_c,
        )
    try:
        deadline = time.monotonic() + PATIENCE_S
        url = None
        while url is None and time.monotonic() < deadline and server.poll() is None:
            time.sleep(0.1)
            url = re.search(
                r"http://127\.0\.0\.1:\d+/lab/tree/lectures/98_sample\.ipynb\?token=\w{48}", log.read_text()
            )
        assert url, log.read_text()
        yield Lab(root, url[0], home / "data")
        server.send_signal(signal.SIGINT)  # Ctrl-C ends it, without a question
        assert server.wait(PATIENCE_S) in (0, 130), log.read_text()
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _hears_ctrl_c():
    """Let a process hear Ctrl-C: what a script starts in the background ignores it, and so would all its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def page_of(lab, browser):
    """Give a page that reaches nothing but the server; `page.problems` holds what it tried and what broke."""
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


@pytest.fixture
def page(lab, browser):
    """A page of one test's own."""
    with page_of(lab, browser) as page:
        yield page


@pytest.fixture(scope="module")
def one_page(lab, browser):
    """A page in which the lab and the second sample are open: to load JupyterLab takes longer than to use it."""
    with page_of(lab, browser) as page:
        open_notebook(page, lab.url, PAGE_NAME)
        yield page


@pytest.fixture
def in_view(one_page):
    """The page above; what breaks in it fails the test in which it breaks."""
    yield one_page
    problems, one_page.problems = one_page.problems, []
    assert problems == []


@pytest.fixture
def sample(in_view):
    """The page above with the sample in front, whatever a test before has opened there."""
    open_beside(in_view, f"lectures/{PAGE_NAME}.ipynb")
    return in_view
