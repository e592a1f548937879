"""Bad input of the solvers of quadratic programs: each is named."""

import numpy as np
import pytest
from test_qp_solvers import on_gpu

from course_pkg.core import CourseError, Status
from course_pkg.qp import cpu_numba, gpu_numba, reference
from course_pkg.qp.checks import check_problem
from course_pkg.qp.problem import PROBLEMS, problem
from course_pkg.qp.solver import READMIT_EVERY

# ---- bad input


def serial(Q, h):
    return reference.serial(Q, h, np.ones(len(h)), 1)


def good():
    return np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([-1.0, 1.0]), np.ones(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Q": np.ones((2, 3))}, r"Q has shape \(2, 3\): it must be square"),
        ({"Q": np.array([[2.0, 1.0], [0.0, 2.0]])}, r"Q is not symmetric: Q\[0, 1\] = 1.0 but Q\[1, 0\] = 0.0"),
        ({"Q": np.array([[2.0, np.nan], [np.nan, 2.0]])}, r"Q\[0, 1\] is nan: every entry must be a finite number"),
        ({"h": np.array([0.0, np.inf])}, r"h\[1\] is inf"),
        ({"h": np.ones(3)}, "h has 3 elements, but Q has 2 rows"),
        ({"h": np.ones((2, 1))}, r"h has 2 dimension\(s\), expected 1"),
        ({"x0": np.array([1.0, 0.0])}, r"x0\[1\] is 0.0: every element must be positive"),
        ({"x0": np.array([-1.0, 1.0])}, r"x0\[0\] is -1.0: every element must be positive"),
        ({"Q": np.diag([1.0, 0.0]), "h": np.array([1.0, -1.0])}, r"Row 1 of Q has no positive entry and h\[1\] = -1.0"),
        ({"Q": np.diag([1.0, 0.0]), "h": np.array([1.0, 0.0])}, "the update divides by 0"),
        ({"Q": np.eye(2, dtype=int)}, "use Q.astype|use one precision"),
        ({"Q": [[1.0]]}, "Q is a list"),
        ({"rtol": -1}, "rtol is -1"),
        ({"rtol": 0}, "rtol and atol are both 0"),
        ({"maxiter": 1.5}, "maxiter is 1.5"),
        ({"shift": "most"}, "shift is 'most'"),
        ({"accelerate": 1}, "accelerate is 1: pass True or False"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("solver", [reference.pqp, cpu_numba.pqp], ids=["reference", "cpu_numba"])
def test_bad_input_is_named(solver, change, message):
    arguments = dict(zip(("Q", "h", "x0"), good(), strict=True)) | change
    with pytest.raises(CourseError, match=message):
        solver(arguments.pop("Q"), arguments.pop("h"), arguments.pop("x0"), **arguments)


@pytest.mark.parametrize(
    ("x0", "message"),
    [
        (np.ones(3), "x0 has 3 elements, but Q has 2 rows"),
        (np.ones((2, 1)), r"x0 has 2 dimension\(s\), expected 1"),
        (np.array([1.0, np.nan]), r"x0\[1\] is nan: every entry must be a finite number"),
        (np.ones(2, np.float32), "x0 has dtype float32 but Q has float64"),
        ([1.0, 1.0], "x0 is a list"),
    ],
)
@pytest.mark.parametrize("solver", [reference.pqp, reference.apg])
def test_a_wrong_start_is_named(solver, x0, message):
    with pytest.raises(CourseError, match=message):
        solver(*good()[:2], x0)


def test_projected_gradients_may_start_at_zeros():
    Q, h, _ = good()
    for x0 in (np.zeros(2), np.array([0.0, 3.0])):
        found = reference.apg(Q, h, x0)
        assert found.converged
        np.testing.assert_allclose(found.x, [0.5, 0], atol=1e-6)


def test_a_matrix_may_be_unsymmetric_by_rounding():
    A = np.random.default_rng(0).standard_normal((50, 20)) * 1e5
    Q = A.T @ A
    Q[0, 1] *= 1 + 1e-15
    assert reference.pqp(Q, -A.T @ np.ones(50)).converged


def apart(i, j, value):
    Q = 2 * np.eye(600)
    Q[i, j] = Q[j, i] = value
    return Q


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.array([[1.0, 2.0], [2.0, 1.0]]), r"Q\[0, 1\] = 2.0, and its square is larger than Q\[0, 0\] · Q\[1, 1\]"),
        (np.array([[1.0, -2.0], [-2.0, 1.0]]), r"Q\[0, 1\] = -2.0, .* = 1.0 · 1.0; check the sign of Q, or add to"),
        (np.array([[0.0, 1.0], [1.0, 5.0]]), r"Q\[0, 1\] = 1.0, .* = 0.0 · 5.0"),
        (apart(300, 599, 2.001), r"Q\[300, 599\] = 2.001"),
        (apart(599, 3, -2.001), r"Q\[3, 599\] = -2.001"),
        (np.full((2, 2), 1e200) + np.diag([0, -1e199]), r"Q\[0, 1\] = 1e\+200"),
        (np.diag([1.0, -1.0]), r"Q\[1, 1\] = -1.0 is negative; check the sign of Q, or add to its diagonal"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("solver", [reference.pqp, cpu_numba.pqp, on_gpu, reference.apg, serial])
def test_two_rows_that_show_an_indefinite_matrix_are_named(solver, Q, message):
    with pytest.raises(CourseError, match="Q is not positive semidefinite: " + message):
        solver(Q, -np.ones(len(Q)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "A",
    [
        np.ones((1, 5)),
        np.array([[1e-9, 1.0, 3e7]]),
        np.array([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0]]),
        np.random.default_rng(1).standard_normal((3, 300)),
    ],
    ids=["ones", "far apart", "a row of zeros", "of rank 3"],
)
def test_a_semidefinite_matrix_is_none_of_them(A, dtype):
    A = A.astype(dtype)
    check_problem(A.T @ A, np.ones(A.shape[1], dtype), None)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_our_problems_are_none_of_them(name, dtype):
    p = problem(name).astype(dtype)
    check_problem(p.Q, p.h, None)


@pytest.mark.parametrize("accelerate", [True, False])
def test_an_indefinite_matrix_is_a_result_that_says_so(accelerate):
    """Each pair of its rows could belong to a semidefinite matrix."""
    Q = 1.9 * np.eye(3) - 0.9
    found = reference.pqp(Q, -np.ones(3), accelerate=accelerate)
    assert found.status is Status.INDEFINITE and not found.converged
    assert "= -" in found.reason and "check its sign, or add to its diagonal" in found.reason
    diagonal = reference.pqp(np.diag([-1e-300, 1.0]), np.ones(2), accelerate=accelerate)
    assert diagonal.status is Status.INDEFINITE and diagonal.iterations == 0


def test_an_objective_without_a_minimum_is_a_result_that_says_so():
    Q, h = np.array([[1.0, -1.0], [-1.0, 1.0]]), -np.ones(2)
    found = reference.pqp(Q, h)
    assert found.status is Status.UNBOUNDED and "check the sign of h" in found.reason
    plain = reference.pqp(Q, h, accelerate=False)
    assert plain.status is Status.MAXITER


def test_too_few_iterations_are_a_result_that_says_so():
    p = problem("portfolio", 30)
    for accelerate in (True, False):
        found = reference.pqp(p.Q, p.h, maxiter=3, accelerate=accelerate)
        assert found.status is Status.MAXITER and found.iterations == 3


def test_an_overflow_is_a_result_that_says_so():
    found = reference.pqp(np.full((2, 2), 1e300), np.array([-1e300, 1.0]), np.full(2, 1e200))
    assert found.status is Status.OVERFLOW and "scale Q, h or x0 down" in found.reason


def test_single_precision_says_what_it_can_reach():
    p = problem("portfolio", 40).astype("float32")
    found = reference.pqp(p.Q, p.h, rtol=1e-4)
    assert found.converged and found.x.dtype == np.float32
    impossible = reference.pqp(p.Q, p.h, rtol=1e-14)
    assert impossible.status in (Status.STAGNATED, Status.MAXITER)


def test_a_zero_h_has_the_solution_zero():
    for options in ({}, {"rtol": 0, "atol": 1e-9}, {"accelerate": False}):
        found = reference.pqp(np.eye(3), np.zeros(3), **options)
        assert found.converged and not found.x.any()


def test_callbacks_see_each_iterate():
    seen = []
    p = problem("portfolio", 30)
    found = reference.pqp(p.Q, p.h, callback=lambda x: seen.append(x.copy()))
    assert len(seen) == found.iterations and np.array_equal(seen[-1], found.x)
    assert READMIT_EVERY > 1


def test_the_gpus_solver_checks_its_arguments():
    Q, h, x0 = good()
    with pytest.raises(CourseError, match="Q lives in host memory"):
        gpu_numba.pqp(Q, h)
    with pytest.raises(CourseError, match=r"x0\[1\] is 0.0"):
        on_gpu(Q, h, np.array([1.0, 0.0]))
    with pytest.raises(CourseError, match="Q is not symmetric"):
        on_gpu(np.triu(np.ones((2, 2))), h, x0)


def test_scikit_learns_support_vector_machine_gives_the_same_answer():
    """Its linear machine without bias, on features whose products are the kernel; its C is half of ours."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.svm import LinearSVC

    p = problem("svm_breast_cancer", 120)
    y = 2.0 * load_breast_cancer().target[:120] - 1
    kernel = np.outer(y, y) * (p.Q - np.eye(120) / 10)
    features = np.linalg.cholesky(kernel + 1e-12 * np.eye(120))
    machine = LinearSVC(
        loss="squared_hinge", C=5.0, fit_intercept=False, tol=1e-9, max_iter=200_000, random_state=0
    )
    machine.fit(features, y)
    decision = kernel @ (reference.pqp(p.Q, p.h, rtol=1e-9).x * y)
    np.testing.assert_allclose(machine.decision_function(features), decision, atol=1e-4)


def test_scikit_learns_positive_regression_gives_the_same_answer():
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LinearRegression

    data = load_diabetes()
    A, target = np.hstack([data.data, -data.data]), data.target - data.target.mean()
    theirs = LinearRegression(positive=True, fit_intercept=False).fit(A, target).coef_
    p = problem("nnls_diabetes")
    ours = reference.pqp(p.Q, p.h, rtol=1e-10).x
    np.testing.assert_allclose(A @ ours, A @ theirs, atol=1e-4 * np.abs(target).max())
