"""Conjugate gradients in two precisions on the device: iterations, what its kernels move, when an update is due."""

import numpy as np
import pytest
from test_cg_mixed import by_gpu, drawn

from course_pkg import cuda, simt
from course_pkg.cg import cpu_numba, gpu_numba, precision, updates
from course_pkg.cg.cases import cases
from course_pkg.cg.gpu_numba import scalars
from course_pkg.cg.problem import PoissonProblem
from course_pkg.cg.variants import MIXED
from course_pkg.core import CourseError, Status, systems

SIMT = getattr(cuda, "BACKEND", "") == "simt"


# ---- on the device


def test_what_is_no_positive_product_stops_the_device():
    solver = gpu_numba.MixedSolver(cuda.to_device(drawn((4, 5, 6))))
    solver.two()
    solver.look()
    before = solver.current().copy_to_host()
    state = solver.work.state.copy_to_host()
    state[scalars.DELTA] = state[scalars.BETA] = np.nan
    solver.work.state.copy_to_device(state)
    solver.some()
    solver.look()
    assert (solver.status, solver.done) == (Status.OVERFLOW, 2)
    np.testing.assert_array_equal(solver.current().copy_to_host(), before)


def test_what_lies_behind_the_rows_stays_zero():
    solver = gpu_numba.MixedSolver(cuda.to_device(drawn((4, 5, 13))))
    solver.some()
    w = solver.work
    assert {f.dtype.name for f in (w.r, w.y, *w.p)} == {"float32"}
    assert w.x.dtype == np.float64
    for field in (w.x, w.y, w.r, *w.p):
        assert not field.copy_to_host().reshape(4, 5, w.pitch)[:, :, 13:].any()


def test_iterations_after_a_pause_change_nothing_until_the_update():
    """The device pauses in the middle of a graph; both fields p are then in their places."""
    solver = gpu_numba.MixedSolver(cuda.to_device(drawn((8, 10, 13))))
    paused = None
    for _ in range(30):
        solver.two()
        state = solver.work.state.copy_to_host()
        if state[scalars.STOPPED] == scalars.PAUSED:
            now = [f.copy_to_host() for f in (solver.work.r, solver.work.y, *solver.work.p)]
            if paused is not None:
                for before, after in zip(paused, now, strict=True):
                    np.testing.assert_array_equal(before, after)
                break
            paused = now
    assert paused is not None
    assert solver.work.state.copy_to_host()[scalars.ITERATION] % 2 == 0
    solver.work.update()
    solver.look()
    assert (solver.status, solver.updates) == (None, 1)
    assert not solver.work.y.copy_to_host().any()


def test_the_host_looks_seldom_and_nothing_changes(monkeypatch):
    from course_pkg.cg.gpu_numba import solver as module

    b = drawn((4, 5, 6))
    often = by_gpu(b)
    monkeypatch.setattr(module, "PAIRS_UNSEEN", 12)
    found = by_gpu(b)
    assert (found.iterations, found.extra) == (often.iterations, often.extra)
    np.testing.assert_array_equal(found.x.copy_to_host(), often.x.copy_to_host())


@pytest.mark.skipif(not SIMT, reason="the interpreter counts")
@pytest.mark.parametrize(
    ("kernel", "plan", "number"),
    [
        ("search_mixed", precision.MIXED, 0),
        ("advance_mixed", precision.MIXED, 1),
        ("gather", precision.UPDATE, 0),
        ("refresh", precision.UPDATE, 1),
    ],
)
def test_the_kernels_move_the_bytes_of_the_plan(kernel, plan, number):
    """On rows without gaps; beside the fields there are the scalars, and a sum for each block."""
    from course_pkg.cg import cost
    from course_pkg.cg.cases import BOXES

    name = f"cg_{kernel}_64" + ("" if kernel == "gather" else "_float32")
    case = next(c for c in cases if c.name == name)
    found = simt.profile(case.configured, *case.args()).cost("perfect")
    expected = cost.cost(plan.alone(number), BOXES["64"])
    sums = 0 if kernel == "gather" else 8 * int(np.prod(case.grid))
    assert found.bytes_read == expected.bytes_read + 16  # two scalars
    assert found.bytes_written == expected.bytes_written + sums


MIXED_CASES = [c for c in cases if c.function in [k.py_func.__name__ for k in MIXED.kernel_objects()]]


@pytest.mark.skipif(not SIMT, reason="the interpreter finds hazards")
@pytest.mark.parametrize("case", MIXED_CASES, ids=lambda case: case.name)
def test_no_kernel_has_a_hazard(case):
    assert simt.profile(case.configured, *case.args()).hazards == []


def test_every_kernel_has_a_case():
    assert {c.function for c in MIXED_CASES} == {k.py_func.__name__ for k in MIXED.kernel_objects()}


# ---- the rules of the updates


def test_when_an_update_is_due():
    watch = updates.Updates(norm=1.0, target=1e-3)
    assert not watch.due(3.0, 2)
    assert not watch.due(0.31, 4)
    assert not watch.due(0.29, 5), "p is not back in its place"
    assert watch.due(0.29, 6), "a tenth of the largest norm since the last update"
    watch.note(0.29)
    assert not watch.due(0.1, 8)
    assert watch.due(0.0, 9), "after zero, p is not used"


def test_updates_without_progress_are_counted():
    watch = updates.Updates(norm=1.0, target=1e-3)
    assert watch.note(0.5) is None
    assert watch.note(0.6) is watch.note(0.7) is None
    assert watch.note(0.5).status is Status.STAGNATED
    watch = updates.Updates(norm=1.0, target=1e-3)
    for norm in (2.0, 3.0, 0.9, 2.0, 2.0, 1e-3):
        assert watch.note(norm) is None
    assert watch.converged


def test_the_least_square_that_is_normal_limits_the_target_here_too():
    assert systems.SMALLEST > 0
    with pytest.raises(CourseError, match="underflows"):
        cpu_numba.cg_mixed(np.full((3, 4, 5), 1e-150), rtol=1e-10)


def test_the_iterations_of_a_graph_are_measured_on_and_on(monkeypatch):
    from course_pkg.cg import here

    measure = here.measure
    monkeypatch.setattr(here, "measure", lambda *args, **options: measure(*args, **options, min_sample_s=0))
    problem = PoissonProblem.ones(8)

    def residual(x, b):
        return np.linalg.norm((problem.b - problem.matvec(x.copy_to_host())).reshape(-1))

    found = here.two_iterations(MIXED, cuda.to_device(problem.b), residual, samples=16)
    n = gpu_numba.MixedSolver.QUEUED
    assert found.cost == n * MIXED.cost((8,) * 3)
    assert found.parameters == {"shape": [8] * 3, "dtype": "float64", "iterations": n}
    assert found.observed["iterations"] >= 32, "far beyond what double precision can reach"
