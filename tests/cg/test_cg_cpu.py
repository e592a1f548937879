"""Conjugate gradient on all cores of a CPU: each variant agrees with the textbook's method in every iteration."""

import inspect

import numpy as np
import pytest

from course_pkg.cg import cpu_numba, cpu_passes, reference, variants
from course_pkg.cg.problem import PoissonProblem
from course_pkg.core import CourseError, Library, Status
from course_pkg.stencil.reference import laplacian

pytestmark = pytest.mark.slow(45)
METHODS = [v for v in variants.METHODS if Library.NUMBA_CPU in v.libraries]
RTOL = {"float64": 1e-8, "float32": 1e-4}
CUTS = [  # shape, rows of a tile, threads
    pytest.param((7, 12, 20), 4, 2, id="equal tiles"),
    pytest.param((7, 13, 20), 4, 3, id="last tile of one row"),
    pytest.param((3, 3, 3), 3, 2, id="one inner point"),
    pytest.param((3, 4, 70), 4, 7, id="more threads than strips"),
    pytest.param((4, 7, 131), 3, 5, id="shares end inside a tile"),
]


@pytest.fixture(params=METHODS, ids=lambda v: v.function_name)
def variant(request):
    return request.param.function(Library.NUMBA_CPU)


def drawn(shape, dtype, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


@pytest.mark.family
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(3, 3, 3), (5, 9, 7), (4, 3, 50), (13, 20, 33)], ids=str)
@pytest.mark.parametrize("guessed", [False, True], ids=["from zero", "from a guess"])
def test_a_variant_is_the_textbooks_method(variant, shape, dtype, guessed):
    problem = PoissonProblem(drawn(shape, dtype))
    x0 = drawn(shape, dtype, 1) if guessed else None
    given = problem.b.copy(), None if x0 is None else x0.copy()
    expected = reference.cg(problem.matvec, problem.b, x0, rtol=RTOL[dtype])
    found = variant(problem.b, x0, rtol=RTOL[dtype])
    assert found.converged, found.reason
    assert found.iterations == expected.iterations
    assert found.x.dtype == dtype
    tolerance = 2000 * np.finfo(dtype).eps
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=tolerance * np.abs(expected.x).max())
    np.testing.assert_allclose(
        found.residual_norms, expected.residual_norms, rtol=0, atol=tolerance * expected.residual_norms[0]
    )
    np.testing.assert_array_equal(problem.b, given[0])
    if guessed:
        np.testing.assert_array_equal(x0, given[1])


def test_a_cube_of_32_takes_64_iterations(variant):
    found = variant(PoissonProblem.ones(32).b)
    assert (found.converged, found.iterations) == (True, 64)


def test_two_runs_give_the_same_bits(variant):
    b = drawn((11, 30, 17), "float64")
    first, second = variant(b), variant(b)
    assert first.residual_norms == second.residual_norms
    np.testing.assert_array_equal(first.x, second.x)


def test_the_callback_sees_x_after_each_iteration(variant):
    problem, seen = PoissonProblem.ones((3, 4, 5)), []
    found = variant(problem.b, callback=lambda x: seen.append(x.copy()))
    for k, x in enumerate(seen, start=1):
        expected = reference.cg(problem.matvec, problem.b, maxiter=k)
        np.testing.assert_allclose(x, expected.x, rtol=1e-12)
    assert len(seen) == found.iterations


def test_too_few_iterations_are_told(variant):
    found = variant(PoissonProblem.ones(8).b, maxiter=2)
    assert (found.converged, found.iterations) == (False, 2)
    assert found.status is Status.MAXITER


def test_a_zero_right_hand_side_has_the_answer_zero(variant):
    found = variant(np.zeros((3, 4, 5)), np.ones((3, 4, 5)))
    assert (found.converged, found.iterations) == (True, 0)
    assert not found.x.any()


def test_a_guess_that_is_good_enough_needs_no_iteration(variant):
    b = PoissonProblem.ones(6).b
    found = variant(b, variant(b, rtol=1e-12).x, rtol=1e-6)
    assert (found.converged, found.iterations) == (True, 0)


def test_a_product_that_is_not_positive_ends_the_method(monkeypatch):
    for p_A_p in (-1.0, 0.0, np.nan):
        monkeypatch.setattr(cpu_passes, "search", lambda *fields, p_A_p=p_A_p: p_A_p)
        found = cpu_numba.cg_two_kernel(np.ones((3, 4, 5)))
        assert (found.converged, found.iterations) == (False, 0)
        assert found.status is (Status.OVERFLOW if np.isnan(p_A_p) else Status.NOT_DEFINITE)
        assert not found.x.any()


def test_numbers_that_overflow_on_the_way_are_told(variant):
    """<b, b> is just below the largest number, <p, A p> above it."""
    b = np.where(np.indices((3, 3, 3)).sum(axis=0) % 2, 1.0, -1.0) * np.sqrt(1e308 / 27)
    found = variant(b)
    assert (found.converged, found.iterations) == (False, 0)
    assert found.status is Status.OVERFLOW


def spoilt(value, name="b"):
    array = np.ones((3, 4, 5))
    array[1, 1, 1] = value
    return {name: array}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (spoilt(np.nan), r"b has 1 value\(s\) that are not finite"),
        (spoilt(-np.inf), r"b has 1 value\(s\) that are not finite"),
        (spoilt(1e200), "b has values that are not finite, or whose squares overflow"),
        ({"b": np.full((3, 4, 5), 1e-200)}, "The squares of b's values underflow to 0: multiply"),
        (spoilt(np.nan, "x0"), r"x0 has 1 value\(s\) that are not finite"),
        (spoilt(1e200, "x0"), "x0 has values that are not finite, or whose squares overflow"),
        (spoilt(1e154, "x0"), "x0 has values that are not finite, or whose squares overflow"),
        ({"x0": np.ones((3, 5, 4))}, r"x0 has shape \(3, 5, 4\) but b has \(3, 4, 5\)"),
        ({"x0": np.ones((3, 4, 5), "float32")}, "x0 has dtype float32 but b has float64"),
        ({"b": np.ones((3, 4, 5), int)}, "b has dtype int64, expected float64 or float32"),
        ({"b": np.ones((12, 5))}, r"b has 2 dimension\(s\), expected 3"),
        ({"b": np.ones((2, 6, 5))}, "at least 3 elements in each direction"),
        ({"b": np.ones((5, 4, 3)).T}, "b is not C-contiguous"),
        ({"b": [1.0, 2.0]}, "b is a list, not an array"),
        ({"rtol": np.nan}, "rtol is nan: it must be a finite number of at least 0"),
        ({"rtol": 0.0}, "rtol and atol are both 0"),
        ({"maxiter": 0}, "maxiter is 0: it must be an integer of at least 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_named(variant, change, said):
    with pytest.raises(CourseError, match=said):
        variant(**({"b": np.ones((3, 4, 5))} | change))


def applied(u):
    out = np.empty_like(u)
    laplacian(u, out)
    return out


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "rows", "threads"), CUTS)
def test_the_passes_in_tiles(shape, rows, threads, dtype):
    """Every way of cutting a grid and sharing it gives what NumPy gives in double precision."""
    r, p, x, s = (drawn(shape, dtype, seed) for seed in range(4))
    r64, p64, x64, s64 = (a.astype(float) for a in (r, p, x, s))
    half, how = np.dtype(dtype).type(0.5), {"rows": rows, "threads": threads}
    new = r64 + 0.5 * p64
    tolerance = {"rtol": 0, "atol": 64 * np.finfo(dtype).eps}

    def same(found, expected):
        np.testing.assert_allclose(found, expected, **tolerance)

    def same_sum(found, terms):
        assert abs(found - terms.sum()) <= 64 * np.finfo(dtype).eps * np.abs(terms).sum()

    p2, s2 = np.full_like(p, np.nan), np.full_like(p, np.nan)
    same_sum(cpu_passes.search(r, p, half, p2, **how), new * applied(new))
    same(p2, new)
    assert cpu_passes.update_p_and_matvec(r, p, half, p2, s2, **how) == 0
    same(p2, new)
    same(s2, applied(new))
    same_sum(cpu_passes.matvec_dot(p, s2, **how), p64 * applied(p64))
    same(s2, applied(p64))
    same_sum(cpu_passes.residual(s, p, s2, **how), (s64 - applied(p64)) ** 2)
    same(s2, s64 - applied(p64))
    same_sum(cpu_passes.dot(r, s, **how), r64 * s64)
    for by_parts, fields in ((True, (p, s)), (False, (p,))):
        x2, r2 = x.copy(), r.copy()
        step = cpu_passes.update_x_and_r_dot if by_parts else cpu_passes.advance
        after = r64 - 0.5 * (s64 if by_parts else applied(p64))
        same_sum(step(*fields, half, x2, r2, **how), after**2)
        same(x2, x64 + 0.5 * p64)
        same(r2, after)


def test_a_sweep_says_what_it_does_and_with_what():
    """It is made from the function of a row, whose sentence and arguments a reader wants to see."""
    assert str(inspect.signature(cpu_passes.search)) == "(r, p1, beta, p2, *, rows=None, threads=None)"
    assert cpu_passes.search.__name__ == "search"
    assert cpu_passes.dot.__doc__ == "Return <a, b>."
