"""nbgrader's buttons and pages, in a real browser: Validate for learners, formgrader and feedback for teachers."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid

import nbformat
import pytest
from needs import need_browser
from small_course import NAME, answer, environment, make_course, nbgrader, notebook

START_WITHIN_S = 180
TOKEN = "a" * 48
ESSAY = "Because. <img src=x onerror=\"document.title = 'owned'\"> <script>document.title = 'owned'</script>"
KERNEL_IS_IDLE = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
}"""

pytestmark = [pytest.mark.slow(45), pytest.mark.browser]


def hand_in(root, student, nb):
    folder = root / "grading" / "submitted" / student / NAME
    folder.mkdir(parents=True)
    nbformat.write(nb, folder / f"{NAME}.ipynb")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with two graded submissions and one that waits."""
    need_browser()
    root = tmp_path_factory.mktemp("course")
    text = make_course(root)
    hand_in(root, "ann", answer(text, essay=ESSAY))
    hand_in(root, "bob", answer(text, "def double(x):\n    return 2 * abs(x)\n"))
    for command in ("autograde", "generate_feedback"):
        done = nbgrader(root, command, NAME)
        assert done.returncode == 0, done.stderr[-2000:]
    hand_in(root, "cem", answer(text))
    nbformat.write(answer(text, essay="Because."), root / "exercises" / NAME / "solved.ipynb")
    return root


@pytest.fixture(scope="module")
def server(course, tmp_path_factory):
    """JupyterLab in the course's folder; gives its address."""
    home = tmp_path_factory.mktemp("home")
    folders = ("DATA_DIR", "RUNTIME_DIR")
    variables = {f"JUPYTER_{name}": str(home / name) for name in folders} | {
        "IPYTHONDIR": str(home / "ipython")
    }
    variables |= {f"JUPYTERLAB_{name}_DIR": str(home / name) for name in ("SETTINGS", "WORKSPACES")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home / "lab.log"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.port={port}"]
    command += [
        "--ServerApp.ip=127.0.0.1",
        f"--IdentityProvider.token={TOKEN}",
        "--ServerApp.allow_root=True",
    ]
    command += [f"--ServerApp.root_dir={course}", "--LabApp.expose_app_in_browser=True"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=course,
            env=environment(course) | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/api/status?token={TOKEN}", process, log)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(url, process, log):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            opener.open(url, timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(log.read_text())


@pytest.fixture
def page(server, browser):
    """A page that reaches nothing but the server, logged in."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.route(
        "**/*",
        lambda route: (
            route.continue_() if route.request.url.startswith((server, "data:", "blob:")) else route.abort()
        ),
    )
    page = context.new_page()
    page.goto(f"{server}/api/status?token={TOKEN}")
    yield page
    context.close()


def validate(page, server, name):
    """Click nbgrader's Validate in a notebook; return what its dialog says."""
    page.goto(f"{server}/lab/workspaces/{uuid.uuid4().hex}/tree/exercises/{NAME}/{name}.ipynb?token={TOKEN}")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=180_000)
    page.get_by_role("button", name="Validate").first.click()
    dialog = page.locator(".jp-Dialog-content")
    dialog.wait_for(timeout=180_000)
    return dialog.inner_text()


def test_the_validate_button_on_the_untouched_exercise(page, server):
    said = validate(page, server, NAME)
    assert "failed" in said.lower(), said
    assert "NotImplementedError" in said


def test_the_validate_button_on_a_right_answer(page, server):
    said = validate(page, server, "solved")
    assert "Success! Your notebook passes all the tests." in said
    assert "failed" not in said.lower()


def test_validate_in_a_terminal_cuts_no_sentence_and_does_not_warn(course):
    sentence = "this is wrong, " * 15 + "and here is the end."
    text = (course / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    wrong = course / "exercises" / NAME / "wrong.ipynb"
    nbformat.write(answer(text, f"def double(x):\n    raise ValueError({sentence!r})\n"), wrong)
    done = nbgrader(course, "validate", str(wrong))
    assert f"ValueError: {sentence}" in done.stdout
    assert "encryption" not in done.stdout + done.stderr


def row_of(page, url, name):
    """Open a formgrader page; return the text of the row that holds a name, once it is there."""
    page.goto(url)
    row = page.locator("table tbody tr", has_text=name)
    row.first.wait_for(timeout=180_000)
    assert row.count() == 1
    return re.sub(r"\s+", " ", row.inner_text())


def test_formgrader_shows_the_assignment_and_the_grades(page, server):
    assert row_of(page, f"{server}/formgrader/manage_assignments", NAME)
    submissions = f"{server}/formgrader/manage_submissions/{NAME}"
    assert "7.5 / 12.5" in row_of(page, submissions, "ann")
    assert "4.5 / 12.5" in row_of(page, submissions, "bob")


def test_formgrader_shows_a_submission_and_nothing_in_it_runs(page, server):
    page.goto(f"{server}/formgrader/gradebook/{NAME}/{NAME}")
    link = page.locator("table a", has_text="Submission").first
    link.wait_for(timeout=180_000)
    links = page.locator("table tbody a").all()
    addresses = {a.get_attribute("href") for a in links if "/submissions/" in (a.get_attribute("href") or "")}
    assert len(addresses) == 2
    texts = []
    for address in sorted(addresses):
        page.goto(server + address)
        page.locator("#test_secret, [name=test_secret]").first.wait_for(state="attached", timeout=180_000)
        page.wait_for_timeout(500)
        texts.append(page.locator("body").inner_text())
        assert page.title() != "owned"
    assert any("Because." in text for text in texts)
    assert all("-24690" in text for text in texts), "the teacher sees the hidden tests"


def test_autograde_in_formgrader_asks_the_judge(page, server, course):
    submissions = f"{server}/formgrader/manage_submissions/{NAME}"
    row_of(page, submissions, "cem")
    page.locator("tr", has_text="cem").locator(".autograde a").click()
    dialog = page.locator(".modal-dialog")
    dialog.wait_for(timeout=120_000)
    assert "Success" in dialog.inner_text()
    assert "7.5 / 12.5" in row_of(page, submissions, "cem")


def test_the_feedback_page_opens_and_asks_for_nothing_else(page, server):
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{server}/files/grading/feedback/bob/{NAME}/{NAME}.html?token={TOKEN}")
    text = page.locator("body").inner_text()
    assert "4.5 of 12.5 points" in text
    assert "✓ all points" in text and "✗ no points" in text
    assert "Hidden tests: negative numbers." in text
    assert "-24690" not in page.content()
    page.goto(f"{server}/files/grading/feedback/ann/{NAME}/{NAME}.html?token={TOKEN}")
    page.wait_for_timeout(500)
    assert "7.5 of 12.5 points" in page.locator("body").inner_text()
    assert page.title() != "owned"
    assert len(asked) == 2 and said == []


def test_the_graded_notebook_is_still_a_notebook(course):
    nb = notebook((course / "grading" / "autograded" / "ann" / NAME / f"{NAME}.ipynb").read_text("utf-8"))
    nbformat.validate(nb)
