"""Ranks as processes under ``mpirun``: the same numbers as in one process, and no failure without an end and a name.

Without MPI these tests are skipped visibly; on CI that is an error. They start fourteen times, which takes about 25 s
of processor time in all: the failures import no solver.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import on_ranks
import pytest
from needs import need

from course_pkg.cg import reference as cg
from course_pkg.core import CourseError
from course_pkg.distributed import launch as launching
from course_pkg.distributed.launch import launch, obstacle
from course_pkg.distributed.mpi import ANSWER_S, TIMEOUT_S, MpiCommunicator, open_mpi
from course_pkg.distributed.serial import Serial
from course_pkg.sstep import cpu_numba
from course_pkg.sstep.problem import Laplacian

pytestmark = pytest.mark.slow(50)
PROGRAM = str(Path(on_ranks.__file__))
LIMIT_S = 60  # until then a failure has ended all ranks, and been said


@pytest.fixture(autouse=True)
def mpi(request):
    """Skip without MPI; on CI, fail."""
    if "without_mpi" not in request.keywords:
        need(obstacle())


@pytest.fixture(scope="module")
def alone():
    """What one rank finds in this process: afterwards all loops are compiled, else each rank would compile them."""
    return Serial(1).run(on_ranks.solves)[0]["solves"]


@pytest.fixture(scope="module", params=[2, 3])
def told(request):
    """What the ranks found."""
    if obstacle():
        return request.param, None
    request.getfixturevalue("alone")
    return request.param, json.loads(launch((PROGRAM, "solves", "200"), request.param, timeout_s=300))


def test_solvers_take_the_same_iterations_as_on_one_rank(told):
    _, found = told
    b = np.random.default_rng(3).standard_normal(on_ranks.GRID)
    A = Laplacian(on_ranks.GRID)
    alone = {name: getattr(cpu_numba, name)(A, b, **options) for name, options in on_ranks.METHODS}
    alone["cg"] = cg.cg(A, b)
    assert len(found["solves"]) == 2 * len(alone)
    for name, (iterations, x) in found["solves"].items():
        one = alone[name.split()[0]]
        assert iterations == one.iterations, name
        np.testing.assert_allclose(x, one.x.reshape(-1), rtol=1e-8, atol=1e-8)


def test_arrays_are_gathered_and_exchanged(told):
    ranks, found = told
    assert found["gathered"] == [[float(rank), 7.0] for rank in range(ranks)]
    assert found["exchanged"] == [[10 * peer] * peer for peer in range(ranks)]


def failure(case, ranks, timeout_s=30):
    """Return the sentence with which a case ends; it is another one if the case takes longer than a minute."""
    with pytest.raises(CourseError) as caught:
        launch((PROGRAM, case, str(timeout_s)), ranks, timeout_s=LIMIT_S)
    return str(caught.value)


@pytest.mark.parametrize(
    ("case", "ranks", "said"),
    [
        ("raises", 3, r"^rank 1 of 3 \(.*, process \d+\): ValueError: this rank has a bug"),
        ("killed", 3, r"^rank 1 \(.*, process \d+\) was ended by signal 9 \(SIGKILL\)"),
        ("between_boxes", 2, r"^rank 1 \(.*, process \d+\) was ended by signal 9 \(SIGKILL\)"),
        ("vanishes", 2, r"^rank 1 \(.*\) ended before the others, with status 0"),
        ("gives_up", 2, r"^rank 1 ended with status 3"),
        ("stuck", 2, r"^rank 0 of 2 \(.*, process \d+\): ValueError: this rank has a bug"),
        ("less", 2, "rank 1 sent 24 bytes, but rank 0 of 2 expects 32: their plans or their problems differ"),
        ("more", 2, "rank 0 of 2 expected 4 numbers from rank 1, and got more: the ranks' plans differ"),
        ("adds", 2, "rank 0 of 2 adds an array of 2 numbers, and another rank one of another size"),
        ("disagrees", 2, r"the shape of the grid: rank 0 has \(8, 8, 8\), but rank 1 has \(8, 8, 9\)"),
    ],
)
def test_a_rank_that_fails_ends_the_others_at_once_with_its_name(case, ranks, said):
    sentence = failure(case, ranks)
    assert re.search(said, sentence), sentence


@pytest.mark.parametrize(
    ("case", "ranks", "said"),
    [
        ("hangs", 3, "waited 1 s for .*: rank 1 does not answer"),
        ("gpu_waits", 2, "rank 0 of 2 .* waited 1 s for what its GPU has to do: rank 1 does not answer"),
        ("leaves", 2, "rank 0 of 2 .* waited 1 s for a sum over all ranks: rank 1 does not answer"),
        ("waits", 2, "waited 1 s for 4 numbers from rank .: all ranks answer, so they wait for each other"),
    ],
)
def test_a_rank_that_does_not_answer_is_named(case, ranks, said):
    sentence = failure(case, ranks, timeout_s=0.8)
    assert re.search(said, sentence), sentence
    assert TIMEOUT_S + ANSWER_S < LIMIT_S


def test_a_run_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    program = f"import os, time; open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'w').close(); time.sleep(300)"
    communicate = subprocess.Popen.communicate

    def once_both_run(process, timeout=None):
        if timeout == 3:
            _until(lambda: len(list(tmp_path.iterdir())) == 2)
            raise subprocess.TimeoutExpired(process.args, timeout)
        return communicate(process, timeout=timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", once_both_run)
    with pytest.raises(CourseError, match=r"2 ranks of .* were ended after 3 s"):
        launch(("-c", program), 2, timeout_s=3)
    pids = [int(path.name) for path in tmp_path.iterdir()]
    _until(lambda: not any(map(_runs, pids)))
    assert len(pids) == 2 and not any(map(_runs, pids)), "a rank was left behind"


@pytest.mark.without_mpi
@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "\nrank 1 of 2 (here, process 7): b is missing.\n",
            r"^rank 1 of 2 \(here, process 7\): b is missing\.$",
        ),
        ("------\nIt is slow.\n", r"^2 ranks of `-c ` were ended after 3 s\. It is slow\.$"),
        ("", r"^2 ranks of `-c ` were ended after 3 s\.$"),
    ],
)
def test_what_ranks_said_before_they_were_ended_is_told(monkeypatch, said, told):
    class Waits:
        def __init__(self, command, **options):
            self.ended = False

        def terminate(self):
            self.ended = True

        def communicate(self, timeout=None):
            if self.ended:
                return "", said
            raise subprocess.TimeoutExpired("mpirun", timeout)

    monkeypatch.setattr(launching, "obstacle", str)
    monkeypatch.setattr(launching, "_options", lambda path: ())
    monkeypatch.setattr(launching, "mpirun", lambda: "mpirun")
    monkeypatch.setattr(launching.subprocess, "Popen", Waits)
    with pytest.raises(CourseError, match=told):
        launch(("-c", ""), 2, timeout_s=3)


def _until(true):
    until = time.monotonic() + LIMIT_S
    while not true() and time.monotonic() < until:
        time.sleep(0.05)


def _runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


# ---- without MPI


@pytest.mark.without_mpi
def test_without_mpi_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(launching, "mpirun", lambda: None)
    if launching.importlib.util.find_spec("mpi4py"):
        with pytest.raises(CourseError, match=r"there is no mpirun.*sudo apt install openmpi-bin"):
            launch(("-c", ""), 2)
    monkeypatch.setattr(launching.importlib.util, "find_spec", lambda name: None)
    assert "mpi4py is not installed" in obstacle() and "pip install -e '.[mpi]'" in obstacle()
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(CourseError, match=r"^MPI cannot be used .* brings mpi4py") as caught:
        open_mpi()
    assert "\n" not in str(caught.value)


@pytest.mark.without_mpi
def test_a_rank_starts_no_ranks_and_limits_are_positive(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(CourseError, match="is a rank of an MPI run already: start it without mpirun"):
        launch(("-c", ""), 2)
    with pytest.raises(CourseError, match="timeout_s is 0: it must be a positive number of seconds"):
        MpiCommunicator(None, 0)


@pytest.mark.without_mpi
def test_what_mpirun_says_by_itself_is_passed_on():
    assert launching._why("--------\nThere are not enough slots\n------\n", 1) == (
        "mpirun ended with status 1: There are not enough slots"
    )
    assert launching._why("", 7) == "mpirun ended with status 7: it does not say why"


@pytest.mark.without_mpi
def test_importing_ranks_starts_no_mpi():
    program = (
        "import sys, course_pkg.distributed.suite, course_pkg.distributed.job; print('mpi4py' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.strip() == "False"
