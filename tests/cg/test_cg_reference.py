"""The reference implementation of conjugate gradient, as in the textbook."""

import numpy as np
import pytest

from course_pkg.cg import reference
from course_pkg.cg.problem import PoissonProblem
from course_pkg.core import CourseError, Status


def dense(problem):
    n = problem.b.size
    return np.stack([problem.matvec(row) for row in np.eye(n)])


@pytest.fixture
def problem():
    return PoissonProblem.ones((3, 4, 5))


def test_the_matrix_is_symmetric_with_six_on_its_diagonal(problem):
    A = dense(problem)
    assert (A == A.T).all()
    assert (np.diag(A) == 6).all()
    assert set(np.unique(A)) == {-1, 0, 6}


@pytest.mark.parametrize("how", ["function", "matrix", "first guess", "preconditioned"])
def test_it_solves_what_a_direct_method_solves(problem, how):
    A, b = dense(problem), problem.b.reshape(-1)
    options = {
        "first guess": {"x0": np.random.default_rng(1).random(b.size)},
        "preconditioned": {"M": lambda r: r / 6},
    }.get(how, {})
    found = reference.cg(problem.matvec if how == "function" else A, b, rtol=1e-12, **options)
    assert found.converged, found.reason
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), rtol=1e-10)
    assert len(found.residual_norms) == found.iterations + 1
    assert found.residual_norms[-1] <= 1e-12 * np.linalg.norm(b)


def test_a_cube_of_32_takes_64_iterations_and_both_precisions_agree():
    double = PoissonProblem.ones(32)
    found = reference.cg(double.matvec, double.b)
    assert (found.converged, found.iterations) == (True, 64)
    single = PoissonProblem.ones(32, "float32")
    rough = reference.cg(single.matvec, single.b, rtol=1e-4)
    assert rough.converged
    assert rough.x.dtype == np.float32


def test_the_callback_sees_x_after_each_iteration(problem):
    seen = []
    found = reference.cg(problem.matvec, problem.b, callback=lambda x: seen.append(x.copy()))
    assert len(seen) == found.iterations
    np.testing.assert_array_equal(seen[-1], found.x)


def test_a_zero_right_hand_side_has_the_answer_zero(problem):
    found = reference.cg(problem.matvec, 0 * problem.b, x0=problem.b)
    assert found.converged
    assert not found.x.any()
    assert found.status is Status.CONVERGED


def test_too_few_iterations_are_told(problem):
    found = reference.cg(problem.matvec, problem.b, maxiter=2)
    assert (found.converged, found.iterations) == (False, 2)
    assert found.status is Status.MAXITER


def test_a_matrix_that_is_not_positive_definite_is_told(problem):
    found = reference.cg(lambda x: -problem.matvec(x), problem.b)
    assert not found.converged
    assert (found.status, found.iterations) == (Status.NOT_DEFINITE, 0)


def test_a_recursion_that_left_the_truth_is_told():
    """Single precision cannot reach 1e-8, and the recursion believes it did."""
    problem = PoissonProblem.ones(16, "float32")
    found = reference.cg(problem.matvec, problem.b, rtol=1e-8)
    assert not found.converged
    assert found.status is Status.STAGNATED
    assert found.residual_norms[-1] <= 1e-8 * np.linalg.norm(problem.b)


def spoilt(b, value):
    b = b.copy()
    b.flat[1] = value
    return b


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"b": np.nan}, r"b has 1 value\(s\) that are not finite"),
        ({"b": np.inf}, r"b has 1 value\(s\) that are not finite"),
        ({"b": 1e200}, "b has values that are not finite, or whose squares overflow"),
        ({"x0": 1e200}, "x0 has values that are not finite, or whose squares overflow"),
        ({"x0": np.nan}, r"x0 has 1 value\(s\) that are not finite"),
        ({"x0": np.zeros(3)}, r"x0 has shape \(3,\) but b has \(3, 4, 5\)"),
        ({"rtol": -1.0}, "rtol is -1.0: it must be a finite number of at least 0"),
        ({"rtol": 0.0}, "rtol and atol are both 0"),
        ({"maxiter": 0}, "maxiter is 0: it must be an integer of at least 1"),
        ({"maxiter": 2.5}, "maxiter is 2.5"),
    ],
    ids=str,
)
def test_bad_input_is_named(problem, change, said):
    arguments = {"b": problem.b}
    for name, value in change.items():
        arguments[name] = spoilt(problem.b, value) if name in ("b", "x0") and np.isscalar(value) else value
    with pytest.raises(CourseError, match=said):
        reference.cg(problem.matvec, arguments.pop("b"), **arguments)


@pytest.mark.parametrize(
    ("shape", "dtype", "said"),
    [
        ((3, 3), "float64", "three sizes of at least 3"),
        (2, "float64", "at least 3"),
        (4, "int32", "float64 or float32"),
    ],
)
def test_a_problem_is_a_box_of_real_numbers(shape, dtype, said):
    with pytest.raises(CourseError, match=said):
        PoissonProblem.ones(shape, dtype)


def test_a_preconditioner_of_the_wrong_sign_is_named_and_not_the_matrix(problem):
    found = reference.cg(problem.matvec, problem.b, M=lambda r: -r)
    assert not found.converged
    assert found.status is Status.M_NOT_DEFINITE


def test_a_product_of_another_shape_is_named(problem):
    with pytest.raises(CourseError, match=r"A times an array of shape \(3, 4, 5\) gives \(4, 5\)"):
        reference.cg(lambda x: x[0], problem.b)


def test_a_matrix_with_a_nan_is_told_to_be_none(problem):
    def spoilt(u):
        s = problem.matvec(u)
        s[0, 0, 0] = np.nan
        return s

    found = reference.cg(spoilt, problem.b)
    assert not found.converged
    assert found.status is Status.OVERFLOW


@pytest.mark.parametrize("bad", [{"rtol": None}, {"atol": "0"}, {"maxiter": True}, {"rtol": -1}])
def test_tolerances_that_are_no_numbers_are_named(problem, bad):
    with pytest.raises(CourseError, match=next(iter(bad))):
        reference.cg(problem.matvec, problem.b, **bad)


def test_arrays_of_another_kind_are_named(problem):
    with pytest.raises(CourseError, match="b is a list, not an array in host memory"):
        reference.cg(problem.matvec, problem.b.tolist())
    with pytest.raises(CourseError, match="b has dtype >f8"):
        reference.cg(problem.matvec, problem.b.astype(">f8"))


def test_single_precision_is_summed_in_double():
    problem = PoissonProblem(np.full((4, 5, 6), 1e-19, np.float32))
    found = reference.cg(problem.matvec, problem.b, rtol=1e-4)
    ones = reference.cg(problem.matvec, np.ones((4, 5, 6), np.float32), rtol=1e-4)
    assert found.iterations == ones.iterations
    assert found.residual_norms[-1] == pytest.approx(1e-19 * ones.residual_norms[-1], rel=1e-2)
