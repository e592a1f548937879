"""What is recorded of s-step methods: found by s, edge and preconditioner; None where nothing is recorded."""

from dataclasses import replace

import pytest

from course_pkg import bench
from course_pkg.bench import measure
from course_pkg.core import Cost, Library
from course_pkg.sstep.variants import VARIANTS
from course_pkg.vector.bound import COPY
from course_pkg.witness.rounds import Rounds

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
PCG, STABLE = VARIANTS["pcg"], VARIANTS["pcg_sstep"]
CUBE = {"shape": [4, 4, 4], "rtol": 1e-6}


def timed(what, time_s, cost=None, iterations=None, **parameters):
    observe = None if iterations is None else lambda: {"iterations": iterations}
    m = measure(sum, (1,), name=what, parameters=parameters, cost=cost, samples=2, observe=observe)
    return replace(m, samples_s=(time_s, time_s))


@pytest.fixture
def rounds(tmp_path):
    rows = [
        timed(COPY, 1e-9, Cost(50, 50)),  # 100 GB/s
        timed(VARIANTS["moments"].by(CUDA), 2e-9, Cost(150, 0), s=1),
        timed(VARIANTS["moments"].by(CUPY), 6e-9, Cost(300, 0), s=1),
        timed(VARIANTS["moments"].by(CUDA), 3e-9, Cost(200, 0), s=2),
        timed(PCG.by(CUDA), 8e-9, iterations=4, **CUBE),
        timed(STABLE.by(CUDA), 12e-9, iterations=6, s=2, **CUBE),
        timed(PCG.by(CUDA), 5e-9, iterations=5, matrix="poisson_3d", n=64),
        timed(PCG.by(CUDA), 7e-9, iterations=3, matrix="poisson_3d", n=64, M="vcycle"),
    ]
    return Rounds(bench.Recorded(bench.record("sstep", rows, tmp_path, origin="a test")))


def test_operations_stand_beside_cublas_and_a_copy(rounds):
    assert rounds.steps("moments") == [1] and rounds.steps("gram") == []  # s = 2 has no rival yet
    assert rounds.over_cublas("moments", 1) == pytest.approx(3)
    assert rounds.of_copy("moments", 1) == pytest.approx(150 / 2 / 100)


def test_solves_are_found_by_edge_and_s_and_never_with_a_preconditioner_by_chance(rounds):
    assert rounds.iteration_s(PCG, 4) == pytest.approx(2e-9)
    assert rounds.solve(STABLE, 4, s=2).observed["iterations"] == 6
    assert rounds.stored(PCG, 4).observed["iterations"] == 5
    assert rounds.stored(PCG, 4, M="vcycle").observed["iterations"] == 3


def test_what_is_not_recorded_is_none(rounds):
    assert rounds.solve(PCG, 8) is rounds.iteration_s(PCG, 8) is rounds.stored(STABLE, 4) is None
    assert rounds.operation("gram", 1) is None
