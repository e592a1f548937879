"""Conjugate gradient in two precisions: NumPy's, on all cores, and as CUDA kernels, on a GPU or in the interpreter."""

from functools import cache

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.cg import cpu_numba, gpu_numba, reference, reference_mixed
from course_pkg.cg.problem import PoissonProblem
from course_pkg.cg.updates import MOST_IDLE
from course_pkg.cg.variants import MIXED
from course_pkg.core import CourseError, Library, Status

pytestmark = pytest.mark.slow(40)

RTOL = 1e-6
SHAPES = ((3, 3, 3), (8, 10, 13), (7, 5, 16), (3, 4, 70))


def by_reference(b, x0=None, **options):
    return reference_mixed.cg_mixed(PoissonProblem(b).matvec, b, x0, **options)


def by_gpu(b, x0=None, **options):
    x0 = None if x0 is None else cuda.to_device(x0)
    return gpu_numba.cg_mixed(cuda.to_device(b), x0, **options)


def on_host(x):
    return x.copy_to_host() if hasattr(x, "copy_to_host") else x


each_room = pytest.mark.parametrize(
    "solve", [by_reference, cpu_numba.cg_mixed, by_gpu], ids=["numpy", "cpu", "gpu"]
)
each_compiled = pytest.mark.parametrize("solve", [cpu_numba.cg_mixed, by_gpu], ids=["cpu", "gpu"])


def drawn(shape, seed=3):
    return np.random.default_rng(seed).random(shape)


@cache
def solution(solve, shape):
    """The solution of the plain problem of a shape, which several tests look at: it is computed once."""
    return solve(drawn(shape))


def relative(x, b) -> float:
    """Return ``‖b - A x‖ / ‖b‖`` in double precision, by none of the functions that are tested."""
    return np.linalg.norm((b - PoissonProblem(b).matvec(on_host(x))).reshape(-1)) / np.linalg.norm(
        b.reshape(-1)
    )


def test_the_variant_is_found_in_both_libraries():
    assert MIXED.function(Library.NUMBA_CPU) is cpu_numba.cg_mixed
    assert MIXED.function(Library.NUMBA_CUDA) is gpu_numba.cg_mixed
    assert len(MIXED.kernel_objects()) == 7


@pytest.mark.family
@each_room
@pytest.mark.parametrize(
    ("shape", "rtol"), [*((shape, RTOL) for shape in SHAPES), (SHAPES[0], 1e-12), (SHAPES[3], 1e-12)], ids=str
)
def test_the_true_residual_is_met_in_double_precision(solve, shape, rtol):
    b = drawn(shape)
    found = solution(solve, shape) if rtol == RTOL else solve(b, rtol=rtol)
    assert found.converged, found.reason
    x = on_host(found.x)
    assert (x.dtype, x.shape) == (np.float64, shape)
    assert relative(x, b) <= rtol * (1 + 1e-3)
    assert found.residual_norms[-1] <= rtol * np.linalg.norm(b.reshape(-1))
    assert len(found.residual_norms) == found.iterations + 1
    assert found.extra["reliable_updates"] >= 1
    np.testing.assert_allclose(x, reference.cg(PoissonProblem(b).matvec, b, rtol=1e-13).x, rtol=100 * rtol)


@pytest.mark.family
@each_compiled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("guessed", [False, True], ids=["from zero", "from a guess"])
def test_a_compiled_method_is_numpys(solve, shape, guessed):
    b, x0 = drawn(shape), drawn(shape, 1) if guessed else None
    given = b.copy(), None if x0 is None else x0.copy()
    expected = by_reference(b, x0) if guessed else solution(by_reference, shape)
    found = solve(b, x0) if guessed else solution(solve, shape)
    assert (found.iterations, found.extra) == (expected.iterations, expected.extra)
    rounding = np.finfo(np.float32).eps * expected.residual_norms[0]
    np.testing.assert_allclose(found.residual_norms, expected.residual_norms, rtol=1e-2, atol=rounding)
    np.testing.assert_array_equal(b, given[0])
    if guessed:
        np.testing.assert_array_equal(x0, given[1])


@pytest.mark.parametrize("edge", [32, 48])
@pytest.mark.parametrize("seed", [None, 0], ids=["ones", "drawn"])
def test_it_takes_hardly_more_iterations_than_in_double_precision(edge, seed):
    problem = PoissonProblem.ones(edge)
    b = problem.b if seed is None else np.random.default_rng(seed).uniform(-1, 1, problem.b.shape)
    double = cpu_numba.cg_two_kernel(b)
    for solve in (by_reference, cpu_numba.cg_mixed):
        found = solve(b)
        assert found.converged, found.reason
        assert relative(found.x, b) <= RTOL
        assert found.iterations <= 1.25 * double.iterations
        assert found.iterations <= 1.05 * double.iterations + 1, "A p by differences"


def test_on_a_gpu_a_cube_takes_no_more_either():
    b = PoissonProblem.ones(16).b
    found = by_gpu(b)
    assert found.converged, found.reason
    assert relative(found.x, b) <= RTOL
    assert found.iterations <= 1.05 * cpu_numba.cg_two_kernel(b).iterations + 1
    assert by_reference(PoissonProblem.ones(32).b).iterations <= 66


def test_single_precision_alone_does_not_get_there():
    """Rounding x once changes A x by eps ‖x‖ or more, and by 12 eps ‖x‖ at most; k iterations add up k roundings.

    The bound is that of A. Greenbaum, Estimating the attainable accuracy of recursively computed residual methods, SIAM
    J. Matrix Anal. Appl. 18 (1997) 535; roundings are taken to be as independent as the steps of a random walk.
    """
    problem = PoissonProblem.ones(64, "float32")
    alone = reference.cg(problem.matvec, problem.b, rtol=RTOL)
    b = np.ones(problem.b.shape)
    x = alone.x.astype(np.float64)
    true = relative(x, b)
    rounding = np.finfo(np.float32).eps * np.linalg.norm(x.reshape(-1)) / np.linalg.norm(b.reshape(-1))
    assert alone.status is Status.STAGNATED
    assert true > 10 * RTOL
    assert rounding <= true <= 12 * rounding * np.sqrt(alone.iterations)
    found = cpu_numba.cg_mixed(b)
    assert found.converged
    assert relative(found.x, b) <= RTOL < true


def test_to_start_again_after_each_update_would_take_many_more_iterations(monkeypatch):
    b = PoissonProblem.ones(48).b
    kept = by_reference(b)
    monkeypatch.setattr(reference_mixed, "kept", lambda beta, true, updated: 0.0)
    assert by_reference(b).iterations > 1.5 * kept.iterations


@each_room
@pytest.mark.parametrize("factor", [1e30, 1e-30, 1e60, 1e-60])
def test_huge_and_tiny_right_hand_sides_are_solved_as_well(solve, factor):
    b = drawn((4, 5, 6))
    plain, found = solution(solve, b.shape), solve(factor * b)
    assert found.converged, found.reason
    assert found.iterations == plain.iterations
    assert relative(found.x, factor * b) <= RTOL * (1 + 1e-3)
    np.testing.assert_allclose(on_host(found.x), factor * on_host(plain.x), rtol=1e-5)


@each_room
def test_a_guess_far_away_or_nearly_right_is_used(solve):
    b = drawn((3, 4, 5))
    exact = reference.cg(PoissonProblem(b).matvec, b, rtol=1e-14).x
    for x0 in (exact + 1e40 * drawn(b.shape, 1), exact + 1e-4 * drawn(b.shape, 1)):
        first = np.linalg.norm((b - PoissonProblem(b).matvec(x0)).reshape(-1))
        found = solve(b, x0, rtol=1e-20, atol=1e-6 * first)
        assert found.converged, found.reason
        true = np.linalg.norm((b - PoissonProblem(b).matvec(on_host(found.x))).reshape(-1))
        assert true <= 1e-6 * first * (1 + 1e-3)
    again = solve(b, exact)
    assert (again.iterations, again.converged, again.extra) == (0, True, {"reliable_updates": 0})


@each_room
def test_what_double_precision_cannot_reach_is_told(solve):
    b = np.ones((4, 5, 6))
    found = solve(b, rtol=1e-18)
    assert (found.status, found.converged) == (Status.STAGNATED, False)
    assert f"in {MOST_IDLE} updates" in found.reason and "pass a larger rtol or atol" in found.reason
    assert relative(found.x, b) < 1e-14
    assert found.iterations < 300


@each_room
@pytest.mark.parametrize("maxiter", [1, 2, 3])
def test_it_ends_at_maxiter_and_x_is_that_of_the_last_iteration(solve, maxiter):
    b = drawn((6, 5, 9))
    found = solve(b, maxiter=maxiter)
    expected = reference.cg(PoissonProblem(b).matvec, b, maxiter=maxiter)
    assert (found.iterations, found.status) == (maxiter, Status.MAXITER)
    np.testing.assert_allclose(on_host(found.x), expected.x, rtol=1e-5)


@each_room
def test_the_callback_sees_x_after_each_iteration(solve):
    b, seen = drawn((4, 5, 6)), []
    found = solve(b, callback=lambda x: seen.append(on_host(x).copy()))
    plain = solution(solve, b.shape)
    assert len(seen) == found.iterations == plain.iterations
    np.testing.assert_array_equal(on_host(found.x), on_host(plain.x), err_msg="a callback changes nothing")
    for k, x in enumerate(seen[:6], start=1):
        np.testing.assert_allclose(x, reference.cg(PoissonProblem(b).matvec, b, maxiter=k).x, rtol=1e-4)
    np.testing.assert_allclose(seen[-1], on_host(found.x), rtol=1e-12)


@each_room
def test_a_zero_right_hand_side_has_the_answer_zero(solve):
    found = solve(np.zeros((3, 4, 5)), np.ones((3, 4, 5)))
    assert (found.converged, found.iterations) == (True, 0)
    assert not on_host(found.x).any()


@each_room
def test_two_runs_give_the_same_digits(solve):
    b = drawn((4, 5, 6))
    first, second = solution(solve, b.shape), solve(b)
    assert first.residual_norms == second.residual_norms
    np.testing.assert_array_equal(on_host(first.x), on_host(second.x))


def spoilt(value):
    array = np.ones((3, 4, 5))
    array[1, 1, 1] = value
    return array


@each_room
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"b": spoilt(np.nan)}, "b has .*not finite"),
        ({"b": spoilt(1e200)}, "b has values that are not finite, or whose squares overflow"),
        ({"b": np.full((3, 4, 5), 1e-200)}, "The squares of b's values underflow to 0: multiply"),
        ({"x0": spoilt(np.nan)}, "x0 has .*not finite"),
        ({"x0": np.ones((3, 5, 4))}, r"x0 has shape \(3, 5, 4\) but b has \(3, 4, 5\)"),
        ({"b": np.ones((3, 4, 5), "float32")}, "b has dtype float32: cg_mixed keeps b and x in float64"),
        ({"b": np.ones((3, 4, 5), int)}, "b has dtype int64"),
        ({"rtol": np.nan}, "rtol is nan: it must be a finite number of at least 0"),
        ({"rtol": 0.0}, "rtol and atol are both 0"),
        ({"maxiter": 0}, "maxiter is 0: it must be an integer of at least 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_named(solve, change, said):
    with pytest.raises(CourseError, match=said):
        solve(**({"b": np.ones((3, 4, 5))} | change))


@each_compiled
def test_bad_grids_are_named(solve):
    with pytest.raises(CourseError, match="at least 3"):
        solve(np.ones((3, 2, 5)))
    with pytest.raises(CourseError, match=r"b has 2 dimension\(s\), expected 3"):
        solve(np.ones((12, 5)))


def test_an_array_of_the_host_is_refused_on_a_gpu():
    with pytest.raises(CourseError, match=r"b lives in host memory.*cuda\.to_device\(b\)"):
        gpu_numba.cg_mixed(np.ones((3, 4, 5)))


@each_room
def test_what_overflows_in_one_precision_does_not_here(solve):
    """The squares of b fit, those of A p would not: ``test_cg_gpu.py``; r and p are divided by the size of b."""
    b = 1.1e153 * (-1.0) ** np.indices((4, 5, 6)).sum(axis=0)
    assert solve(b).converged
