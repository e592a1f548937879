"""Conjugate gradient by CuPy: on a machine with a GPU."""

import numpy as np
import pytest

from course_pkg.cg import reference
from course_pkg.cg.problem import PoissonProblem
from course_pkg.core import CourseError, Status

cp = pytest.importorskip("cupy", reason="CuPy is not installed")


@pytest.fixture
def cg():
    from course_pkg.cg.gpu_cupy import cg_baseline

    return cg_baseline


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-8), ("float32", 1e-4)])
@pytest.mark.parametrize("shape", [(3, 3, 4), (5, 9, 7), (13, 20, 34)], ids=str)
@pytest.mark.parametrize("guessed", [False, True], ids=["from zero", "from a guess"])
def test_it_is_the_textbooks_method(cg, shape, dtype, rtol, guessed):
    """Rows of even length take one kernel, rows of odd length another."""
    rng = np.random.default_rng(0)
    problem = PoissonProblem(rng.uniform(-1, 1, shape).astype(dtype))
    x0 = rng.uniform(-1, 1, shape).astype(dtype) if guessed else None
    expected = reference.cg(problem.matvec, problem.b, x0, rtol=rtol)
    found = cg(cp.asarray(problem.b), None if x0 is None else cp.asarray(x0), rtol=rtol)
    assert found.converged, found.reason
    assert found.iterations == expected.iterations
    assert found.x.dtype == dtype
    tolerance = 2000 * np.finfo(dtype).eps
    np.testing.assert_allclose(found.x.get(), expected.x, rtol=0, atol=tolerance * np.abs(expected.x).max())
    np.testing.assert_allclose(
        found.residual_norms, expected.residual_norms, rtol=0, atol=tolerance * expected.residual_norms[0]
    )


def test_the_callback_sees_x_after_each_iteration(cg):
    seen = []
    found = cg(cp.ones((4, 5, 6)), callback=lambda x: seen.append(x.copy()))
    assert len(seen) == found.iterations
    cp.testing.assert_array_equal(seen[-1], found.x)


def test_a_zero_right_hand_side_has_the_answer_zero(cg):
    found = cg(cp.zeros((3, 4, 5)), cp.ones((3, 4, 5)))
    assert (found.converged, found.iterations) == (True, 0)
    assert not found.x.any()


def test_too_few_iterations_are_told(cg):
    found = cg(cp.ones((8, 8, 8)), maxiter=2)
    assert (found.converged, found.iterations) == (False, 2)
    assert found.status is Status.MAXITER


@pytest.mark.parametrize("name", ["b", "x0"])
def test_what_is_not_finite_is_named(cg, name):
    arguments = {"b": cp.ones((3, 4, 5))}
    arguments[name] = cp.full((3, 4, 5), cp.nan)
    with pytest.raises(CourseError, match=f"{name} has values that are not finite"):
        cg(**arguments)


def test_an_array_of_the_host_is_refused(cg):
    with pytest.raises(CourseError, match="b lives in host memory but this function runs on the GPU"):
        cg(np.ones((3, 4, 5)))
