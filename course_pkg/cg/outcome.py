"""How a conjugate gradient method ended: a status for programs, and a sentence for people."""

from typing import NamedTuple

import numpy as np

from course_pkg.core import Solution, Status
from course_pkg.core.solution import SLACK as SLACK  # this topic's files ask for both here
from course_pkg.core.solution import nothing_to_solve as nothing_to_solve


class Stop(NamedTuple):
    """Why a method stopped: a status for programs, and a sentence for people.

    Examples
    --------
    >>> not_definite(-1.0, iteration=1).status
    <Status.NOT_DEFINITE: 'A is not positive definite'>
    """

    status: Status
    reason: str


def finish(x, norms, target: float, true: float, trouble: Stop | None = None, extra=None) -> Solution:
    """Return the result of a method; it has converged only if the true residual meets the tolerance.

    Parameters
    ----------
    x : array
        The solution, in host or GPU memory.
    norms : sequence of float
        Norms of the residual that step 6 updates: one before the first iteration, then one after each iteration.
    target : float
        The norm to reach.
    true : float
        ``‖b - A x‖``, computed from x.
    trouble : Stop, optional
        Why the method had to stop, for example from :func:`not_definite`.
    extra : dict, optional
        Further results of the method.

    Examples
    --------
    >>> print(finish(None, [1.0, 1e-7], target=1e-6, true=1e-7))
    converged after 1 iteration, last residual norm 1.000e-07: the true residual, 1.000e-07,
    meets the tolerance, 1.000e-06.
    >>> finish(None, [1.0, 1e-7], target=1e-6, true=1e-3).status.name
    'STAGNATED'
    """
    iterations = len(norms) - 1
    status, reason = trouble or outcome(norms[-1], true, target, iterations)
    return Solution(x, status, reason, iterations, tuple(norms), extra or {})


def outcome(updated: float, true: float, target: float, iterations: int) -> Stop:
    """Return how a method ended that was not forced to stop: converged, out of iterations, stagnated or overflowed.

    Parameters
    ----------
    updated, true : float
        Norm of the residual that step 6 updates, and of ``b - A x``.
    target : float
        The norm to reach.
    iterations : int
        Number of iterations.

    Examples
    --------
    >>> outcome(1e-2, 1e-2, target=1e-6, iterations=5).status.name
    'MAXITER'
    """
    if not np.isfinite(updated) or not np.isfinite(true):
        return Stop(
            Status.OVERFLOW,
            f"a residual is not a finite number (updated: {updated}, true: {true}): look for values in A that are not "
            "finite, or scale b and x0 down.",
        )
    if updated > target:
        return Stop(
            Status.MAXITER,
            f"after maxiter iterations the residual is {updated:.3e}, but the tolerance is {target:.3e}: "
            f"allow more than {iterations} iterations, or use a preconditioner.",
        )
    if true > SLACK * target:
        return Stop(
            Status.STAGNATED,
            f"the updated residual met the tolerance, {target:.3e}, but because of rounding errors the true "
            f"residual is {true:.3e}: start again from this x, or use double precision.",
        )
    return Stop(Status.CONVERGED, f"the true residual, {true:.3e}, meets the tolerance, {target:.3e}.")


def not_definite(p_A_p: float, iteration: int) -> Stop:
    """Return the outcome of an iteration whose ``p·Ap`` shows that A is not positive definite.

    Examples
    --------
    >>> print(not_definite(-1.0, iteration=1).reason)
    A is not positive definite: in iteration 1 p·Ap = -1.000e+00, but it must be positive;
    check the sign of A, or use MINRES or GMRES.
    """
    return Stop(
        Status.NOT_DEFINITE,
        f"A is not positive definite: in iteration {iteration} p·Ap = {p_A_p:.3e}, but it must be positive; check "
        "the sign of A, or use MINRES or GMRES.",
    )


def preconditioner_not_definite(r_M_r: float) -> Stop:
    """Return the outcome if ``r·Mr`` shows that the preconditioner M is not positive definite.

    Examples
    --------
    >>> preconditioner_not_definite(-1.0).status.name
    'M_NOT_DEFINITE'
    """
    return Stop(
        Status.M_NOT_DEFINITE,
        f"M is not positive definite: r·Mr = {r_M_r:.3e}, but it must be positive; check its sign, or omit M.",
    )


def overflowed(p_A_p: float, iteration: int) -> Stop:
    """Return the outcome of an iteration whose ``p·Ap`` is infinite or NaN.

    Examples
    --------
    >>> overflowed(float("inf"), iteration=3).status.name
    'OVERFLOW'
    """
    return Stop(
        Status.OVERFLOW,
        f"numbers overflowed: in iteration {iteration} p·Ap = {p_A_p}; scale b and x0 down, or check A.",
    )
