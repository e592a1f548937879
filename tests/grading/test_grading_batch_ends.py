"""A batch that is ended, and submissions that crash or hang: what they cost, and what is left."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from test_grading_batch import MOST, RELEASE, with_answers, zipped

from course_pkg.grading import batch

# The real judge.


@pytest.fixture
def real_folder(tmp_path):
    """Submissions with known marks: a crash and an endless loop among them."""
    root = tmp_path / "real"
    root.mkdir()
    for student, data in {
        "ann": with_answers("gain", "t_eff"),
        "bob": with_answers("gain", t_eff="import os\n\nos._exit(0)\n"),
        "cem": with_answers("gain", t_eff="def t_eff(a, b):\n    while True:\n        pass\n"),
        "dora": RELEASE,
        "eve": RELEASE[: len(RELEASE) // 2],
    }.items():
        (root / f"{student}.ipynb").write_bytes(data)
    (root / "finn.zip").write_bytes(zipped(with_answers("gain")))
    return root


REAL_MARKS = {"ann": 4, "bob": 2, "cem": 2, "dora": 0, "eve": 0, "finn": 2}


def test_a_crash_and_a_timeout_are_marks_with_reasons(real_folder):
    reports = {r.student: r for r in batch.grade_folder(real_folder)}
    assert {student: r.points for student, r in reports.items()} == REAL_MARKS
    assert {r.max_points for r in reports.values()} == {MOST}

    def reason(student):
        return next(cell.feedback for cell in reports[student].cells if cell.grade_id == "test_t_eff")

    assert "ended the Python process" in reason("bob")
    assert "endless loop" in reason("cem")
    assert "NotImplementedError" in reason("dora")
    assert "cut short" in reason("eve")


def test_a_local_dask_cluster_gives_the_same_marks(real_folder):
    distributed = pytest.importorskip("distributed")
    (real_folder / "cem.ipynb").unlink()  # its time-out is long, and no other on a worker
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        reports = batch.grade_folder(real_folder, executor="dask", scheduler=cluster.scheduler_address)
    marks = {r.student: r.points for r in reports}
    assert marks == {student: points for student, points in REAL_MARKS.items() if student != "cem"}


@pytest.fixture
def begun():
    """Start a batch, and return it with all of its processes once a sandbox's worker is among them."""
    started = []

    def begin(*arguments, scratch):
        batch_ = psutil.Popen(
            [sys.executable, "-m", "course_pkg.cli", "grade", *map(str, arguments)],
            env={**os.environ, "TMPDIR": str(scratch)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # a shell that started the tests in the background lets all that they start ignore Ctrl-C
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(batch_)
        end = time.monotonic() + 120
        while not any(map(_works, family := batch_.children(recursive=True))):
            assert time.monotonic() < end and batch_.poll() is None
            time.sleep(0.05)
        return batch_, family

    yield begin
    for batch_ in started:  # if the test has failed: what it leaves must not fail another one
        if batch_.poll() is None:
            batch_.kill()
            batch_.wait()


def _works(process) -> bool:
    """Return whether a process is the Python that runs learners' code, with or without bubblewrap around it."""
    with contextlib.suppress(psutil.Error):
        program, *arguments = process.cmdline() or [""]
        return "python" in program and any(part.endswith("worker.py") for part in arguments)
    return False


@pytest.mark.bare
def test_ctrl_c_ends_a_batch_and_leaves_nothing(tmp_path, begun):
    root, scratch = tmp_path / "class", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    sleeps = with_answers(gain="import time\ntime.sleep(600)\n", t_eff="while True: pass\n")
    for number in range(4):
        (root / f"s{number}.ipynb").write_bytes(sleeps)
    batch_, family = begun(root, "--out", tmp_path / "out", scratch=scratch)
    batch_.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert batch_.wait(60) != 0
    assert time.monotonic() - begin < 30, "it used to wait for what was being graded, minutes"
    assert psutil.wait_procs(family, 60)[1] == []
    assert list(scratch.iterdir()) == []


@pytest.mark.bare
def test_a_batch_that_is_killed_takes_its_children_along(tmp_path, begun):
    root, scratch = tmp_path / "class", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    (root / "ann.ipynb").write_bytes(with_answers(gain="import time\ntime.sleep(600)\n"))
    batch_, family = begun(root, "--jobs", 1, scratch=scratch)
    batch_.kill()
    batch_.wait()
    assert psutil.wait_procs(family, 30)[1] == []
    assert list(scratch.iterdir()) == []
