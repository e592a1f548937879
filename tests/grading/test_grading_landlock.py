"""The kernel's own wall: without bubblewrap a learner's code still writes and reads nothing that would make marks."""

import os

import pytest
from sandbox_cases import raised

from course_pkg.grading import bubblewrap, landlock
from course_pkg.grading.sandbox import Sandbox
from course_pkg.paths import repo_root

pytestmark = pytest.mark.bare


@pytest.fixture(autouse=True)
def no_bubblewrap(monkeypatch):
    """Make every sandbox of these tests find no bubblewrap, and CI unset."""
    monkeypatch.setattr(bubblewrap, "obstacle", lambda: "bubblewrap is missing: install it")
    monkeypatch.delenv("CI", raising=False)


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
            f"import subprocess; subprocess.run(['cp', '/dev/null', {str(gradebook)!r}], check=True)",
        ):
            assert raised(sandbox, attempt).kind in ("PermissionError", "CalledProcessError"), attempt
        sandbox.run("open('mine', 'w').write('fine')\nfound = open('mine').read()", "cell")
        assert sandbox.get("found") == "fine"
    assert gradebook.read_text() == "marks"


@pytest.mark.usefixtures("walled")
def test_solutions_and_tests_cannot_be_read():
    with Sandbox() as sandbox:
        for path in ("solutions/01_memory_bound/01_memory_bound.py", "course_pkg/grading/judge.py", "tests"):
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
