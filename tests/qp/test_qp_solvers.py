"""Solvers: F never increases, certificates at the end, the trap of exact zeros, and answers of other solvers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_pkg import cuda
from course_pkg.core import CourseError, Status
from course_pkg.qp import cpu_numba, gpu_numba, reference, rivals
from course_pkg.qp.problem import problem

SMALL = {
    "nnls_diabetes": None,
    "nnls_digits": 150,
    "svm_breast_cancer": 120,
    "portfolio": 60,
    "obstacle_1d": 60,
    "obstacle_2d": 9,
    "deblurring": 12,
    "dense": 80,
}
SMALLER = {
    "nnls_digits": 60,
    "svm_breast_cancer": 60,
    "deblurring": 6,
    "obstacle_1d": 30,
}  # for the interpreter


def on_gpu(Q, h, x0=None, **options):
    """Solve with arrays on the device, and return the result with x and its multipliers on the host."""
    found = gpu_numba.pqp(*(None if a is None else cuda.to_device(a) for a in (Q, h, x0)), **options)
    multipliers = found.extra["multipliers"].copy_to_host()
    return replace(found, x=found.x.copy_to_host(), extra={**found.extra, "multipliers": multipliers})


SOLVERS = {
    "reference": reference.pqp,
    "cpu_numba": cpu_numba.pqp,
    "gpu_numba": on_gpu,
    "apg": lambda Q, h, **k: reference.apg(Q, h, maxiter=20_000, **k),
}


def kkt(p, x):
    return reference.kkt_residual(x, p.Q @ x + p.h)


@pytest.mark.family
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_problem_is_solved_with_a_certificate(solver, name):
    p = problem(name, SMALLER.get(name, SMALL[name]) if solver == "gpu_numba" else SMALL[name])
    found = SOLVERS[solver](p.Q, p.h, rtol=1e-8)
    target = 1e-8 * np.abs(p.h).max()
    assert found.converged and found.x.min() >= 0
    assert kkt(p, found.x) <= 1.01 * target, "computed here, not by the solver"
    extra = found.extra
    assert extra["kkt"] == pytest.approx(kkt(p, found.x), rel=0.01, abs=1e-3 * target)
    assert extra["objective"] == pytest.approx(found.x @ (p.Q @ found.x / 2 + p.h), rel=1e-12)
    np.testing.assert_allclose(extra["multipliers"], p.Q @ found.x + p.h, atol=target)
    assert extra["least_multiplier"] >= -1.01 * target
    assert abs(extra["gap"]) <= 1e-6 * abs(extra["objective"])
    assert found.residual_norms[-1] <= target and len(found.residual_norms) == found.iterations + 1
    assert extra["products"] >= found.iterations


@pytest.mark.parametrize("name", SMALL)
def test_scipys_nnls_gives_the_same_answer(name):
    p = problem(name, SMALL[name])
    rival = rivals.scipy_nnls(p.Q, p.h)
    rival.call()
    x, found = rival.result(), reference.pqp(p.Q, p.h, rtol=1e-10)
    assert found.extra["objective"] == pytest.approx(x @ (p.Q @ x / 2 + p.h), rel=1e-9)
    if np.linalg.eigvalsh(p.Q)[0] > 1e-8:  # then there is one answer alone
        np.testing.assert_allclose(found.x, x, atol=1e-6 * np.abs(x).max())


@pytest.mark.parametrize("name", SMALL)
def test_osqp_gives_the_same_answer(name):
    p = problem(name, SMALL[name])
    rival = rivals.osqp_solve(p.Q, p.h)
    rival.call(1e-7)
    x, found = rival.result(), reference.pqp(p.Q, p.h, rtol=1e-9)
    assert found.extra["objective"] == pytest.approx(x @ (p.Q @ x / 2 + p.h), rel=1e-5)


def test_osqp_gives_up_at_its_limit(monkeypatch):
    monkeypatch.setattr(rivals, "LIMIT_S", 1e-3)
    p = problem("svm_breast_cancer", 300)
    rival = rivals.osqp_solve(p.Q, p.h)
    rival.call(1e-12)
    assert np.isfinite(rival.result()).all() and kkt(p, rival.result()) > 1e-3


def test_scipys_nnls_that_gives_up_leaves_no_answer(monkeypatch):
    def gives_up(*_, **__):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", gives_up)
    rival = rivals.scipy_nnls(np.eye(3), -np.ones(3))
    rival.call()
    np.testing.assert_array_equal(rival.result(), 0)


def test_support_vectors_have_their_margins():
    """At the solution, every vector has a margin of at least 1, less its own share of the loss."""
    from sklearn.datasets import load_breast_cancer

    p = problem("svm_breast_cancer", 200)
    x = reference.pqp(p.Q, p.h, rtol=1e-8).x
    y = 2.0 * load_breast_cancer().target[:200] - 1
    decision = (p.Q - np.eye(200) / 10) @ x * y  # y_i times the sum over support vectors
    margins = y * decision
    np.testing.assert_allclose(margins[x > 1e-6] + x[x > 1e-6] / 10, 1, atol=1e-5)
    assert np.all(margins[x <= 1e-6] >= 1 - 1e-5)
    assert np.mean(margins > 0) > 0.97


@st.composite
def semidefinite(draw):
    """Draw a small problem with a definite or singular Q, bounded below, with entries of both signs or of one."""
    n, rank = draw(st.integers(1, 12)), draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    A = rng.standard_normal((rank, n)) * draw(st.sampled_from([1e-3, 1.0, 1e3]))
    if draw(st.booleans()):
        A = np.abs(A)
    b = rng.standard_normal(rank)
    return A.T @ A, -A.T @ b + draw(st.sampled_from([0.0, 1.0])) * np.abs(A.T @ b), rng.uniform(0.1, 2, n)


@settings(max_examples=60)
@given(problem=semidefinite(), shift=st.sampled_from(["descent", "contraction"]))
def test_f_never_increases_with_a_shift_that_promises_it(problem, shift):
    Q, h, x0 = problem
    _, values = reference.serial(Q, h, x0, 30, shift)
    size = np.abs(values).max() + np.abs(h) @ x0
    assert np.all(np.diff(values) <= 1e-12 * size)


@settings(max_examples=60)
@given(problem=semidefinite())
def test_any_problem_is_solved_and_f_never_increases(problem):
    Q, h, x0 = problem
    found = reference.pqp(Q, h, x0, rtol=1e-7, maxiter=5000)
    values = np.array(found.extra["objectives"])
    assert np.all(np.diff(values) <= 1e-12 * (np.abs(values).max() + np.abs(h) @ x0))
    assert found.converged, found.reason
    assert reference.kkt_residual(found.x, Q @ found.x + h) <= 1.01e-7 * np.abs(h).max()


@pytest.mark.parametrize("shift", reference.SHIFTS)
def test_f_falls_with_each_shift_and_without_one(shift):
    """Q is definite, but ill-conditioned, and its rows differ in scale: the theorem needs no shift."""
    Q = np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, 1.0]]) + 1e-3 * np.eye(3)
    Q = Q * np.array([[1, 30, 30], [30, 900, 900], [30, 900, 900]])
    assert np.linalg.eigvalsh(Q)[0] > 0
    h, x0 = np.array([-1.0, -40.0, 3.0]), np.array([2.0, 1.0, 1.0])
    for scale in (0.1, 1, 10):
        values = np.array(reference.serial(Q, h, x0 * scale, 40, shift)[1])
        assert np.all(np.diff(values) <= 1e-12 * np.abs(values).max()) and values[-1] < values[0]


@pytest.mark.parametrize("kind", reference.SHIFTS)
def test_shifts_are_what_they_promise(kind):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((9, 9))
    Q, r = A @ A.T, reference.diagonal_shift(A @ A.T, kind)
    assert np.all(r >= 0)
    least = np.linalg.eigvalsh(np.abs(Q) + 2 * np.diag(r))[0]
    if kind != "none":
        assert least >= -1e-12
    if kind == "contraction":
        assert np.linalg.eigvalsh(np.maximum(-Q, 0) + np.diag(r))[0] >= -1e-12
    obstacle = problem("obstacle_1d", 10).Q
    if kind == "descent":
        assert not reference.diagonal_shift(obstacle, kind).any(), "an M-matrix needs none"
    with pytest.raises(CourseError, match="shift is 'best': choose from none, descent, contraction"):
        reference.diagonal_shift(Q, "best")


def test_on_an_m_matrix_the_update_is_jacobis():
    """Where h < 0 everywhere and x is positive at the solution, one update is one sweep of Jacobi's method."""
    p = problem("obstacle_1d", 12)
    h, x = -np.ones(12), np.full(12, 0.3)
    found, _ = reference.serial(p.Q, h, x, 1, "none")
    np.testing.assert_allclose(found, (-h - (p.Q - np.diag(np.diag(p.Q))) @ x) / np.diag(p.Q), rtol=1e-13)


# ---- the trap


def test_a_zero_is_a_trap_and_complementarity_does_not_see_it():
    """From the published start, most unknowns underflow to 0 though the solution has hardly a zero there."""
    p = problem("obstacle_1d", 100)
    start = reference.starting_guess(p.Q, p.h)
    x, _ = reference.serial(p.Q, p.h, start, 15_000)
    gradient = p.Q @ x + p.h
    solution = reference.pqp(p.Q, p.h, rtol=1e-10).x
    assert np.mean(x == 0) > 0.5 and np.mean(solution == 0) < 0.05
    assert np.max(np.abs(x * gradient)) < 1e-6, "complementarity is met"
    assert reference.kkt_residual(x, gradient) > 100, "and yet x is far from optimal"


def test_readmission_mends_the_trap():
    p = problem("obstacle_1d", 40)
    options = {"rtol": 1e-6, "accelerate": False, "maxiter": 20_000}
    stuck = reference.pqp(p.Q, p.h, readmit=False, **options)
    mended = reference.pqp(p.Q, p.h, readmit=True, **options)
    assert not stuck.converged and stuck.residual_norms[-1] > 1
    assert mended.converged and np.mean(mended.x == 0) < 0.1
    values = np.array(mended.extra["objectives"])
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values).max())


def test_a_start_in_the_trap_is_left_by_the_accelerated_method():
    p = problem("obstacle_1d", 40)
    tiny = np.full(40, 1e-300)
    found = reference.pqp(p.Q, p.h, tiny, rtol=1e-8)
    assert found.converged and np.mean(found.x == 0) < 0.1


@pytest.mark.parametrize("n", [150, 300])
def test_products_for_a_string_grow_like_its_points(n):
    """A zero grows after its neighbour: one product for each point is needed, and not a linear solve for each."""
    p = problem("obstacle_1d", n)
    found = reference.pqp(p.Q, p.h)
    assert found.converged and found.extra["products"] < 4 * n


@pytest.mark.parametrize("name", SMALL)
def test_acceleration_needs_no_more_products_than_the_plain_method(name):
    p = problem(name, SMALL[name])
    quick = reference.pqp(p.Q, p.h)
    plain = reference.pqp(p.Q, p.h, accelerate=False, maxiter=3 * quick.extra["products"])
    assert quick.converged
    assert not plain.converged or plain.extra["products"] >= quick.extra["products"]


@pytest.mark.parametrize(
    ("solve", "advice"),
    [
        (lambda *p: reference.pqp(*p, maxiter=3), "maxiter, try apg, or scale"),
        (lambda *p: reference.apg(*p, maxiter=3), "maxiter, try pqp, or scale"),
        (
            lambda *p: reference.pqp(*p, maxiter=3, accelerate=False),
            "maxiter, let accelerate be True, or scale",
        ),
        (
            lambda *p: reference.pqp(*p, maxiter=3, accelerate=False, readmit=False),
            "maxiter, let accelerate and readmit be True, or scale",
        ),
    ],
)
def test_too_few_iterations_advise_what_was_not_tried(solve, advice):
    p = problem("obstacle_1d", 20)
    found = solve(p.Q, p.h)
    assert found.status is Status.MAXITER and advice in found.reason
