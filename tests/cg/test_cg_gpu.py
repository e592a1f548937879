"""Conjugate gradient as CUDA kernels: on a GPU if there is one, otherwise in the interpreter."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.cg import gpu_numba, reference, variants
from course_pkg.cg.gpu_numba import scalars
from course_pkg.cg.problem import PoissonProblem
from course_pkg.core import CourseError, Library, Status

pytestmark = pytest.mark.slow(60)

ITERATIONS = gpu_numba.ITERATIONS
METHODS = tuple(v.function_name for v in variants.METHODS if Library.NUMBA_CUDA in v.libraries)
SHAPES = ((3, 3, 3), (8, 10, 13), (3, 4, 70))
TOLERANCES = {
    "float64": (1e-5, 1e-9),
    "float32": (1e-4, 1e-4),
}  # rtol, and how far x may lie from the oracle's

ROUGHLY = 1e-2  # as rtol: fifteen iterations of 36, for tests of what happens between them

each_method = pytest.mark.parametrize("method", METHODS)


def problem(shape, dtype="float64"):
    b = PoissonProblem.ones(shape, dtype).b
    return PoissonProblem((b * np.random.default_rng(3).random(b.shape)).astype(dtype))


def solve(method, b, x0=None, **options):
    x0 = None if x0 is None else cuda.to_device(x0)
    return getattr(gpu_numba, method)(cuda.to_device(b), x0, **options)


def test_each_method_has_its_iteration():
    assert [f"cg_{name}" for name in ITERATIONS] == list(METHODS)


@pytest.mark.family
@each_method
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [*((shape, "float64") for shape in SHAPES), (SHAPES[0], "float32"), (SHAPES[2], "float32")],
)  # in single precision: rows shorter and longer than a cache line
def test_each_variant_does_what_the_textbook_does(method, shape, dtype):
    p, (rtol, distance) = problem(shape, dtype), TOLERANCES[dtype]
    expected = reference.cg(p.matvec, p.b, rtol=rtol)
    found = solve(method, p.b, rtol=rtol)
    assert found.converged, found.reason
    assert abs(found.iterations - expected.iterations) <= (0 if dtype == "float64" else 1)
    x = found.x.copy_to_host()
    assert (x.shape, x.dtype) == (p.b.shape, p.b.dtype)
    np.testing.assert_allclose(x, expected.x, rtol=0, atol=distance * np.abs(expected.x).max())
    together = min(len(found.residual_norms), len(expected.residual_norms))
    tolerance = 1e-6 if dtype == "float64" else 0.05
    np.testing.assert_allclose(
        found.residual_norms[:together], expected.residual_norms[:together], rtol=tolerance, atol=rtol
    )


@each_method
def test_a_first_guess_is_used_and_left_as_it_is(method):
    p = problem((5, 6, 7))
    near = reference.cg(p.matvec, p.b, rtol=1e-3).x
    b, x0 = cuda.to_device(p.b), cuda.to_device(near)
    found = getattr(gpu_numba, method)(b, x0)
    assert found.iterations < reference.cg(p.matvec, p.b).iterations
    np.testing.assert_array_equal(b.copy_to_host(), p.b)
    np.testing.assert_array_equal(x0.copy_to_host(), near)
    again = getattr(gpu_numba, method)(b, found.x)
    assert (again.iterations, again.converged) == (0, True)


@each_method
@pytest.mark.parametrize("maxiter", [1, 2, 3])
def test_it_ends_at_maxiter_and_x_is_that_of_the_last_iteration(method, maxiter):
    p = problem((6, 5, 9))
    expected = reference.cg(p.matvec, p.b, maxiter=maxiter)
    found = solve(method, p.b, maxiter=maxiter)
    assert (found.iterations, found.converged) == (maxiter, False)
    assert found.status is Status.MAXITER
    np.testing.assert_allclose(found.x.copy_to_host(), expected.x, rtol=1e-11)


@each_method
def test_two_runs_give_the_same_digits(method):
    p = problem((8, 10, 13))
    # an order that changes from run to run is a GPU's; the interpreter has one order in every iteration
    many = 15 if cuda.is_available() else 4
    first, second = (solve(method, p.b, maxiter=many) for _ in range(2))
    assert first.iterations == many
    assert first.residual_norms == second.residual_norms
    np.testing.assert_array_equal(first.x.copy_to_host(), second.x.copy_to_host())


@each_method
def test_the_callback_sees_x_when_it_is_up_to_date(method):
    p, seen = problem((4, 5, 6)), []
    found = solve(method, p.b, callback=lambda x: seen.append(x.copy_to_host()))
    every = 2 if method == "cg_deferred_x" else 1
    assert len(seen) == found.iterations // every
    for k, x in enumerate(seen, start=1):
        expected = reference.cg(p.matvec, p.b, rtol=1e-14, maxiter=k * every).x
        np.testing.assert_allclose(x, expected, rtol=1e-9)
    assert found.iterations == reference.cg(p.matvec, p.b).iterations


@each_method
def test_a_zero_right_hand_side_has_the_answer_zero(method):
    p = problem((3, 4, 5))
    found = solve(method, 0 * p.b, p.b)
    assert (found.converged, found.iterations) == (True, 0)
    assert not found.x.copy_to_host().any()


@each_method
def test_bad_arguments_are_named(method):
    p = problem((3, 4, 5))
    spoilt = p.b.copy()
    spoilt[1, 1, 1] = np.nan
    with pytest.raises(CourseError, match="b has values that are not finite"):
        solve(method, spoilt)
    with pytest.raises(CourseError, match="x0 has values that are not finite"):
        solve(method, p.b, spoilt)
    with pytest.raises(CourseError, match=r"x0 has shape \(3, 4, 4\) but b has \(3, 4, 5\)"):
        solve(method, p.b, np.ones((3, 4, 4)))
    with pytest.raises(CourseError, match=r"b lives in host memory.*cuda\.to_device\(b\)"):
        getattr(gpu_numba, method)(p.b)
    with pytest.raises(CourseError, match="maxiter is 0"):
        solve(method, p.b, maxiter=0)
    with pytest.raises(CourseError, match="rtol and atol are both 0"):
        solve(method, p.b, rtol=0)
    with pytest.raises(CourseError, match="b has dtype int64"):
        solve(method, np.ones((3, 4, 5), np.int64))
    with pytest.raises(CourseError, match="at least 3"):
        solve(method, np.ones((3, 2, 5)))


@pytest.mark.parametrize("variant", ITERATIONS)
def test_what_is_no_positive_product_stops_the_device_and_is_named(variant):
    solver = gpu_numba.Solver(ITERATIONS[variant], cuda.to_device(problem((4, 5, 6)).b))
    assert solver.status is None
    solver.two()
    before = solver.work.grid(solver.work.x).copy_to_host()
    state = solver.work.state.copy_to_host()
    state[scalars.DELTA] = np.nan  # as an overflow would leave it
    state[scalars.BETA] = np.nan
    solver.work.state.copy_to_device(state)
    solver.two()
    solver.look()
    assert solver.status is Status.OVERFLOW
    assert solver.done == 2
    after = solver.work.grid(solver.work.x).copy_to_host()
    np.testing.assert_array_equal(after, before, err_msg="x is that of the last good iteration")


def test_a_matrix_that_is_not_positive_definite_is_said_to_be(monkeypatch):
    from course_pkg.cg.gpu_numba import workspace

    def negative(self, blocks, stream):
        self.partial.copy_to_device(-self.partial.copy_to_host())
        workspace.alpha_kernel[1, scalars.THREADS_FINISH, stream](self.partial, np.int32(blocks), self.state)

    monkeypatch.setattr(workspace.Workspace, "make_alpha", negative)
    found = solve("cg_two_kernel", problem((4, 5, 6)).b, callback=lambda x: None)
    assert (found.status, found.iterations) == (Status.NOT_DEFINITE, 0)


def test_rows_begin_with_a_cache_line_and_what_lies_behind_them_stays_zero():
    assert [gpu_numba.row_pitch(n, "float64") for n in (1, 16, 17, 250)] == [16, 16, 32, 256]
    assert gpu_numba.row_pitch(250, "float32") == 256
    p = problem((4, 5, 13))
    for variant in ITERATIONS:
        solver = gpu_numba.Solver(ITERATIONS[variant], cuda.to_device(p.b))
        for _ in range(3):
            solver.two()
        w = solver.work
        for field in {id(f): f for f in (w.x, w.r, *w.p, w.s)}.values():
            rows = field.copy_to_host().reshape(4, 5, w.pitch)
            assert not rows[:, :, 13:].any(), variant


def test_blocks_suit_the_rows():
    assert gpu_numba.march_for((8, 8, 16)).block == (32, 16, 1)
    assert gpu_numba.march_for((8, 8, 130)).block == (128, 4, 1)
    assert gpu_numba.march_for((8, 8, 5000)).block == (128, 4, 1)


def test_many_iterations_are_queued_before_the_host_looks(monkeypatch):
    from course_pkg.cg.gpu_numba import solver as module

    monkeypatch.setattr(module, "PAIRS_UNSEEN", 8)
    p = problem((8, 10, 13))
    found = solve("cg_deferred_x", p.b)
    expected = reference.cg(p.matvec, p.b)
    assert found.iterations == expected.iterations, "the device stopped in time, and x with it"
    np.testing.assert_allclose(found.x.copy_to_host(), expected.x, rtol=1e-9)


@each_method
def test_what_is_too_small_or_too_large_to_square_is_named(method):
    b = PoissonProblem.ones((3, 4, 5)).b
    for tiny in (1e-158, 1e-170):
        with pytest.raises(CourseError, match=r"underflows?"):
            solve(method, tiny * b)
    with pytest.raises(CourseError, match="b has values that are not finite, or whose squares overflow"):
        solve(method, 1e200 * b)
    assert solve(method, b, atol=1e200).iterations == 0


@each_method
def test_numbers_that_overflow_on_the_way_are_told(method):
    b = 1.1e153 * (-1.0) ** np.indices((4, 5, 6)).sum(axis=0)  # A makes it several times as large
    found = solve(method, b)
    assert (found.converged, found.iterations) == (False, 0)
    assert found.status is Status.OVERFLOW


@pytest.mark.parametrize("variant", ITERATIONS)
@pytest.mark.parametrize("after", [2, 3])
def test_an_iteration_goes_on_where_it_was_left(variant, after):
    p = problem((8, 10, 13))
    solver = gpu_numba.Solver(ITERATIONS[variant], cuda.to_device(p.b), rtol=ROUGHLY)
    for k in range(after):
        solver.one(odd=k % 2 == 1)
    solver.look()
    assert solver.done == after
    solver.run()
    assert solver.done == reference.cg(p.matvec, p.b, rtol=ROUGHLY).iterations > 10
    np.testing.assert_array_less(solver.norms[-1], solver.target)


def test_residuals_that_the_device_no_longer_has_are_nan():
    p = problem((8, 10, 13))
    solver = gpu_numba.Solver(ITERATIONS["two_kernel"], cuda.to_device(p.b), rtol=1e-100)
    for _ in range(scalars.KEPT // 2 + 3):
        solver.two()
    solver.look()
    assert len(solver.norms) == solver.done + 1 == scalars.KEPT + 7
    assert np.isnan(solver.norms[1:7]).all()
    assert np.isfinite(solver.norms[7:]).all()
    expected = reference.cg(p.matvec, p.b, rtol=1e-100, maxiter=20).residual_norms
    assert expected[7:10] == pytest.approx(solver.norms[7:10], rel=1e-6)


def test_a_grid_whose_padded_rows_pass_32_bits_is_refused_before_anything_is_allocated(monkeypatch):
    from course_pkg.cg.gpu_numba import workspace

    monkeypatch.setattr(workspace, "MOST_POINTS", 4 * 5 * 16)
    with pytest.raises(CourseError, match="b has 260 points, and 320 with its rows padded to 16"):
        solve("cg_two_kernel", problem((4, 5, 13)).b)
