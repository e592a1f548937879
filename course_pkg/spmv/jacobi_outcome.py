"""The result of Jacobi's method: a status for programs, and a sentence for people that says what to try next."""

from math import ceil, log

import numpy as np

from course_pkg.core import Solution, Status
from course_pkg.core.solution import SLACK

LOOKED_AT = 10  # number of last iterations from which the rate is estimated


def finish_jacobi(x, norms, target: float, true: float, A) -> Solution:
    """Return the result of Jacobi's method; it has converged only if the true residual meets the tolerance.

    Parameters
    ----------
    x : ndarray
        The last x, in A's order.
    norms : sequence of float
        Norms of the residual, for the first guess and after each iteration.
    target : float
        The norm of the residual to reach.
    true : float
        ``‖b - A x‖``, computed from x by a separate product.
    A : scipy.sparse.csr_array or Csr

    Examples
    --------
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> print(finish_jacobi(np.ones(2), [1.0, 1.5], target=1e-6, true=1.5, A=A).reason)
    the residual grew by a factor of 1.5 per iteration: Jacobi's method diverges here. Row 0 is the first whose
    diagonal entry, 1, is smaller than the sum of the others, 2: use cg if A is symmetric and positive definite, ...
    """
    iterations = len(norms) - 1
    status, reason = _outcome(norms, target, true, A)
    return Solution(x, status, reason, iterations, tuple(norms), {"rate": rate(norms)})


def rate(norms) -> float | None:
    """Return the factor by which the residual changed per iteration, over the last iterations; None if unknown.

    Examples
    --------
    >>> rate([8.0, 4.0, 2.0]), rate([1.0])
    (0.5, None)
    """
    finite = [norm for norm in norms if np.isfinite(norm)][-1 - LOOKED_AT :]
    if len(finite) < 2 or not finite[0] > 0:
        return None
    return float((finite[-1] / finite[0]) ** (1 / (len(finite) - 1)))


def _outcome(norms, target, true, A):
    last, q = norms[-1], rate(norms)
    if not np.isfinite(last) or not np.isfinite(true):
        return Status.OVERFLOW, f"a residual is no finite number: {_diverges(q, A)}"
    if last > target:
        if q is not None and q >= 1:
            return Status.DIVERGED, _diverges(q, A)
        return Status.MAXITER, _too_slow(last, target, q, len(norms) - 1)
    if true > SLACK * target:
        return (
            Status.STAGNATED,
            f"the change of x met the tolerance, {target:.3e}, but because of rounding errors the true residual is "
            f"{true:.3e}: use double precision, or a larger tolerance.",
        )
    return Status.CONVERGED, f"the true residual, {true:.3e}, meets the tolerance, {target:.3e}."


def _too_slow(last, target, q, done):
    so_far = f"after {done} iterations the residual is {last:.3e}, but the tolerance is {target:.3e}"
    more = ceil(log(target / last) / log(q)) if q else None
    if more is None:
        return f"{so_far}: allow more iterations."
    return (
        f"{so_far}. It falls by a factor of {q:.4g} per iteration, so about {more} more are needed: allow them, or use "
        "cg if A is symmetric and positive definite."
    )


def _diverges(q, A):
    how = (
        "Jacobi's method diverges here"
        if q is None
        else (f"the residual grew by a factor of {q:.3g} per iteration: Jacobi's method diverges here")
    )
    row_of = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    on_diagonal = A.indices == row_of
    d = np.bincount(row_of[on_diagonal], np.abs(A.data[on_diagonal]), A.shape[0])
    others = np.bincount(row_of, np.abs(A.data), A.shape[0]) - d
    weak = np.flatnonzero(d < others)
    if weak.size == 0:
        return f"{how}, although no row of A is against it: look for values in b and x0 that are huge."
    row = int(weak[0])
    return (
        f"{how}. Row {row} is the first whose diagonal entry, {d[row]:.3g}, is smaller than the sum of the others, "
        f"{others[row]:.3g}: use cg if A is symmetric and positive definite, otherwise GMRES."
    )
