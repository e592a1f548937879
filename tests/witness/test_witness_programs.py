"""What is recorded of quadratic programs: found by kernel, zeros, precision and solver, and never mixed."""

import pytest
from verify_cases import timed

from course_pkg import bench
from course_pkg.core import Cost, CourseError, Library
from course_pkg.qp.solver import READMIT_EVERY
from course_pkg.qp.suite import BATCHED, SIZES
from course_pkg.qp.suite_solves import CONTROL, INACTIVE
from course_pkg.qp.variants import VARIANTS
from course_pkg.vector.bound import COPY
from course_pkg.witness.programs import Programs

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
ROWS, BATCH, PQP, APG = (VARIANTS[name] for name in ("update_rows", "update_batch", "pqp", "apg"))
DOUBLE = {"n": 10, "dtype": "float64"}
SOLVE = {"problem": "portfolio", "dtype": "float64"}


@pytest.fixture
def programs(tmp_path):
    problems, n, iterations = BATCHED
    rows = [
        timed(COPY, 1e-9, Cost(50, 50)),  # 100 GB/s
        timed(ROWS.by(CUDA), 9e-9, **DOUBLE, rows=2, unroll=4),
        timed(ROWS.by(CUDA), 20e-9, **DOUBLE),
        timed(ROWS.by(CUDA), 3e-9, **(DOUBLE | {"dtype": "float32"})),
        timed(ROWS.by(CUDA), 4e-9, **DOUBLE, inactive=INACTIVE),
        timed(BATCH.by(CUDA), 5e-9, n=n, problems=problems, iterations=iterations),
        timed(BATCH.by(CUPY), 6e-9, n=n, problems=problems, iterations=iterations),
        timed(PQP.by(CUDA), 7e-9, **SOLVE, accelerate=True),
        timed(PQP.by(CUDA), 8e-9, **SOLVE, accelerate=False),
    ]
    return Programs(bench.Recorded(bench.record("qp", rows, tmp_path, origin="a test")))


def test_an_update_is_that_of_the_launcher_s_own_setting(programs):
    assert programs.update("update_rows").median_s == 20e-9
    assert programs.update("update_rows", dtype="float32").median_s == 3e-9
    assert programs.update("update_rows", zeros=True).median_s == 4e-9


def test_speed_counts_all_of_q_once_over_the_copy(programs):
    # h, the shift and x are read; x and F_i are written
    q_and_vectors = 8 * 10 * 10 + 8 * 3 * 10 + 2 * 8 * 10
    assert programs.of_copy(programs.update("update_rows")) == pytest.approx(
        q_and_vectors / 20e-9 / 1e9 / 100
    )


def test_a_batch_is_found_by_its_library(programs):
    assert [programs.batch(library).median_s for library in (CUDA, CUPY)] == [5e-9, 6e-9]


def test_a_dense_copy_is_found_with_its_updates_or_not_at_all(programs, tmp_path):
    assert programs.packed() is None
    zeros = {"n": SIZES["gpu"], "dtype": "float64", "inactive": INACTIVE}
    pack, on_copy = VARIANTS["pack"].by(CUDA), VARIANTS["update_packed"].by(CUDA)
    rows = [
        timed(on_copy, 2e-9, **zeros, iterations=READMIT_EVERY),
        timed(on_copy, 1e-9, **zeros),
        timed(on_copy, 8e-9, n=SIZES["gpu"], dtype="float64"),
        timed(pack, 3e-9, **zeros),
    ]

    def on(rows, name):
        (tmp_path / name).mkdir()
        return Programs(bench.Recorded(bench.record("qp", rows, tmp_path / name, origin="a test")))

    assert [m.median_s for m in on(rows, "all").packed()] == [3e-9, 1e-9, 2e-9]
    assert on(rows, "all again").update("update_packed", zeros=True).median_s == 1e-9
    assert on(rows[:-1], "no copy").packed() is None


def test_the_batch_that_is_solved_is_found_by_its_problem(programs, tmp_path):
    assert programs.control() == []
    problems, n, iterations = BATCHED
    one = timed(VARIANTS["apg_batch"].by(CUDA), 1e-9, problem=CONTROL, n=n, problems=problems, rtol=1e-6)
    plain = timed(BATCH.by(CUDA), 2e-9, problem=CONTROL, n=n, problems=problems, iterations=10_000, rtol=1e-6)
    usual = timed(BATCH.by(CUDA), 5e-9, n=n, problems=problems, iterations=iterations)
    found = Programs(bench.Recorded(bench.record("qp", [one, plain, usual], tmp_path / "b", origin="a test")))
    assert [m.median_s for m in found.control()] == [1e-9, 2e-9] and found.batch().median_s == 5e-9


def test_a_solver_that_is_not_recorded_is_none(programs):
    assert programs.solve(PQP, CUDA, "portfolio", True).median_s == 7e-9
    assert programs.solve(PQP, CUDA, "portfolio", False).median_s == 8e-9
    assert programs.solve(APG, CUPY, "portfolio") is None and programs.solve(PQP, CUDA, "dense", True) is None
    with pytest.raises(CourseError):
        programs.update("update_naive")
