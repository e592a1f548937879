"""Batches that are solved to a tolerance: every problem, its residual and its steps, by arrays and by the kernel."""

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.core import CourseError
from course_pkg.qp import cost, gpu_numba, reference
from course_pkg.qp.cases import cases
from course_pkg.qp.problem import model_predictive, problem

DTYPES = ("float64", "float32")


def solved(Q, h, on_device, **options):
    """Return solutions, residuals and steps."""
    out, norms, taken = np.full_like(h, np.nan), np.full(len(h), np.nan, h.dtype), np.zeros(len(h), np.uint32)
    if not on_device:
        reference.apg_batch(Q, h, out, norms, taken, **options)
        return out, norms, taken
    results = [cuda.to_device(a) for a in (out, norms, taken)]
    gpu_numba.apg_batch(cuda.to_device(Q), cuda.to_device(h), *results, **options)
    return tuple(a.copy_to_host() for a in results)


def of_one_size(n):
    """Return problems of different kinds, as one batch."""
    made = [problem("dense", n), problem("portfolio", n), problem("svm_breast_cancer", n)]
    return np.stack([p.Q for p in made]), np.stack([p.h for p in made])


@pytest.mark.parametrize("on_device", [False, True], ids=["arrays", "kernel"])
@pytest.mark.parametrize("n", [1, 16, 37])
def test_every_problem_of_a_batch_meets_the_tolerance(n, on_device):
    Q, h = model_predictive(4, n)
    x, norms, taken = solved(Q, h, on_device)
    for p in range(4):
        kkt = reference.kkt_residual(x[p], Q[p] @ x[p] + h[p])
        assert x[p].min() >= 0 and kkt <= 1e-6 * np.abs(h[p]).max()
        assert norms[p] == pytest.approx(kkt, rel=1e-6, abs=1e-14) and 1 <= taken[p] < 10_000
        exact = reference.pqp(Q[p], h[p], rtol=1e-10).x
        np.testing.assert_allclose(x[p], exact, atol=1e-3 * max(np.abs(exact).max(), 1e-9))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_kernel_takes_the_steps_of_the_oracle(dtype):
    """Each problem stops by itself: their numbers of steps differ."""
    Q, h = (a.astype(dtype) for a in of_one_size(20))
    options = {"rtol": 1e-3 if dtype == "float32" else 1e-6}
    (x, norms, taken), (x_right, _, taken_right) = (solved(Q, h, where, **options) for where in (True, False))
    assert len(set(taken_right)) == 3
    np.testing.assert_allclose(taken.astype(float), taken_right.astype(float), atol=1)
    np.testing.assert_allclose(
        x, x_right, atol=(1e-2 if dtype == "float32" else 1e-6) * np.abs(x_right).max()
    )
    assert np.all(norms <= options["rtol"] * np.abs(h).max(axis=1))


@pytest.mark.parametrize("on_device", [False, True], ids=["arrays", "kernel"])
def test_too_few_steps_leave_a_residual_above_the_tolerance(on_device):
    Q, h = model_predictive(3, 16)
    x, norms, taken = solved(Q, h, on_device, maxiter=4)
    assert list(taken) == [4, 4, 4] and np.all(norms > 1e-6 * np.abs(h).max(axis=1))
    gradient = np.einsum("pij,pj->pi", Q, x) + h
    np.testing.assert_allclose(norms, np.abs(np.minimum(x, gradient)).max(axis=1), rtol=1e-12)


@pytest.mark.parametrize("on_device", [False, True], ids=["arrays", "kernel"])
def test_a_problem_without_a_load_is_solved_by_zero(on_device):
    x, norms, taken = solved(np.stack([np.eye(3)] * 2), np.array([[0.0, 0, 0], [-1, 2, -3]]), on_device)
    assert x.tolist() == [[0, 0, 0], [1, 0, 3]] and norms.tolist() == [0, 0] and taken.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [37, 64])
def test_q_is_read_once_for_all_steps(n, dtype):
    case = next(c for c in cases if c.name == f"qp_apg_batch_{n}_{dtype}")
    found = simt.profile(case.configured, *case.args())
    its_cost, counts = cost.apg_batch(n, 3, 3, dtype), found.by_array.values()
    assert sum(c.global_load.unique_bytes for c in counts) == its_cost.bytes_read
    assert sum(c.global_store.unique_bytes for c in counts) == its_cost.bytes_written
    # a warp for 32 rows, a request for each column
    assert found.by_array["Q"].global_load.requests == 3 * -(-n // 32) * n


def test_wrong_arguments_are_named():
    Q, h = model_predictive(2, 5)
    out, norms, taken = np.empty_like(h), np.empty(2), np.empty(2, np.uint32)
    for wrong, message in (
        ((Q[:, :4].copy(), h, out, norms, taken), "must be square"),
        ((Q, h[:, :4].copy(), out[:, :4].copy(), norms, taken), r"h has shape \(2, 4\), expected \(2, 5\)"),
        ((Q, h, out, norms, taken.astype(np.int32)), "taken has dtype int32"),
        ((Q, h, h, norms, taken), "h and out share memory"),
        ((Q, h, out, norms, taken, 0.0), "rtol is 0.0"),
        ((Q, h, out, norms, taken, 1e-6, 0), "maxiter is 0"),
    ):
        with pytest.raises(CourseError, match=message):
            reference.apg_batch(*wrong)
    big = [cuda.to_device(a) for a in model_predictive(1, 129)]
    results = cuda.device_array((1, 129)), cuda.device_array(1), cuda.device_array(1, np.uint32)
    with pytest.raises(CourseError, match="a block keeps at most 128 in registers"):
        gpu_numba.apg_batch(*big, *results)
