"""Landlock: without bubblewrap, a learner's code still cannot read or write any file that decides marks."""

import os
import secrets

import nbformat
import pytest
import submissions as s
from sandbox_cases import alive, raised

from course_pkg.grading import alone, landlock, leftovers, warm
from course_pkg.grading.sandbox import Sandbox
from course_pkg.paths import repo_root

pytestmark = [pytest.mark.bare, pytest.mark.usefixtures("no_bubblewrap")]


@pytest.fixture
def walled():
    """Skip, visibly, where the kernel has no Landlock."""
    if not landlock.version():
        pytest.skip("this kernel offers no Landlock")


@pytest.mark.usefixtures("walled")
def test_nothing_outside_of_its_folder_can_be_written_or_removed(tmp_path):
    gradebook = tmp_path / "gradebook.db"
    gradebook.write_text("marks")
    with Sandbox() as sandbox:
        for attempt in (
            f"open({str(gradebook)!r}, 'w')",
            f"import os; os.remove({str(gradebook)!r})",
            f"import os; os.truncate({str(gradebook)!r}, 0)",
            f"open({str(tmp_path / 'new')!r}, 'w')",
            f"open('/tmp/course-{os.getpid()}', 'w')",
            f"import subprocess; subprocess.run(['cp', '/dev/null', {str(gradebook)!r}], check=True)",
        ):
            assert raised(sandbox, attempt).kind in ("PermissionError", "CalledProcessError"), attempt
        sandbox.run("open('mine', 'w').write('fine')\nfound = open('mine').read()", "cell")
        assert sandbox.get("found") == "fine"
    assert gradebook.read_text() == "marks"


@pytest.mark.usefixtures("walled")
def test_solutions_and_tests_cannot_be_read():
    with Sandbox() as sandbox:
        for path in ("solutions/02_memory_bound/02_memory_bound.py", "course_pkg/grading/judge.py", "tests"):
            assert raised(sandbox, f"import os\nos.listdir({str(repo_root())!r})").kind == "PermissionError"
            assert raised(sandbox, f"open({str(repo_root() / path)!r})").kind == "PermissionError", path
        sandbox.run("import numpy.testing, course_pkg.core, subprocess\nfrom course_pkg import cuda", "cell")


@pytest.mark.usefixtures("walled")
@pytest.mark.skipif(landlock.version() < 6, reason="this kernel's Landlock knows neither TCP nor signals")
def test_neither_the_network_nor_another_process_can_be_reached():
    with Sandbox() as sandbox:
        connect = "import socket\nsocket.create_connection(('127.0.0.1', 9))"
        assert raised(sandbox, connect).kind == "PermissionError"
        assert raised(sandbox, f"import os\nos.kill({os.getpid()}, 0)").kind == "PermissionError"


def test_a_kernel_without_it_is_no_error(monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert landlock.confine(["/"], []) is False


@pytest.mark.usefixtures("walled")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to give up")
@pytest.mark.parametrize(
    "program", ["", "import sys, subprocess; subprocess.run([sys.executable, '-S', '-c', "]
)
def test_root_keeps_nothing_that_only_root_may_do(program):
    """Setting a limit higher is such a thing, and a harmless one."""
    text = "import resource as r; r.setrlimit(r.RLIMIT_CORE, (1, 1))"
    with Sandbox() as sandbox:
        if not program:
            assert raised(sandbox, text).kind == "ValueError"
        else:
            error = raised(sandbox, f"{program}{text!r}], check=True)")
            assert error.kind == "CalledProcessError"


# ---- what is left behind


@pytest.fixture
def graded(monkeypatch):
    """Grade a cell in a child of a warm parent that finds no bubblewrap."""
    monkeypatch.setenv("COURSE_HIDE", "bwrap")
    own = warm.WarmParent()
    monkeypatch.setattr(warm, "parent", lambda: own)
    right = "def remaining_gain(had, could, share):\n    return 1 / (1 - share + share * had / could)"

    def grade(source):
        data = nbformat.writes(s.submission({"gain": f"{source}\n{right}"})).encode()
        return alone.grade_bytes(data, "x", [alone.Solution.read(s.SOURCE)], seed=1)

    yield grade
    own.stop()


HIDDEN_DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(600)", "{}"], {{}})
    os._exit(0)
os.wait()
time.sleep(0.5)
"""


def test_a_process_that_hides_its_origin_does_not_outlive_its_grading(graded):
    marker = secrets.token_hex(16)
    report = graded(HIDDEN_DAEMON.format(marker))
    assert report.points == 20 and not report.contained
    assert not alive(marker)


def test_a_folder_of_any_depth_is_removed_and_the_next_one_is_graded(graded, tmp_path, monkeypatch):
    """Python's own removal of it ends with a RecursionError, which ended the warm parent, and every later one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    deep = "import os\nfor k in range(1200):\n    os.mkdir('d' * 100)\n    os.chdir('d' * 100)\n"
    assert graded(f"{deep}open('file', 'w').close()").points == 20
    assert graded("").points == 20
    assert list(tmp_path.iterdir()) == []


def test_what_is_removed_may_hold_anything(tmp_path):
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    folder = tmp_path / "folder"
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "b" / "file").write_text("x")
    (folder / "a" / "link").symlink_to(outside)
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "a" / "pipe")
    (folder / "a" / "b").chmod(0)
    (folder / "a").chmod(0)
    leftovers.remove(folder)
    assert not folder.exists() and (outside / "kept").is_dir()
    leftovers.remove(folder)  # which is not there
    leftovers.remove(tmp_path / "folder" / "none")
