"""How a conjugate gradient method ended: its status, and a sentence for people."""

from typing import NamedTuple

import numpy as np

from course_pkg.core import Solution, Status

# the true residual may exceed the tolerance by this factor: it is rounded differently from the updated residual
SLACK = 1.01


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
    """Return the answer of a method, confirmed on the true residual.

    Parameters
    ----------
    x : array
        The solution, wherever it lives.
    norms : sequence of float
        Norms of the residual that step 6 updates: before the first iteration, and after each.
    target : float
        The norm that was asked for.
    true : float
        ``‖b - A x‖``, computed from x.
    trouble : Stop, optional
        Why the method could not go on, such as :func:`not_definite` returns.
    extra : dict, optional
        What the method wants to add.

    Examples
    --------
    >>> print(finish(None, [1.0, 1e-7], target=1e-6, true=1e-7))
    converged after 1 iterations, last residual norm 1.000e-07: the true residual, 1.000e-07,
    meets the tolerance, 1.000e-06.
    >>> finish(None, [1.0, 1e-7], target=1e-6, true=1e-3).status.name
    'STAGNATED'
    """
    iterations = len(norms) - 1
    status, reason = trouble or outcome(norms[-1], true, target, iterations)
    return Solution(x, status, reason, iterations, tuple(norms), extra or {})


def outcome(updated: float, true: float, target: float, iterations: int) -> Stop:
    """Return how an iteration ended that could have gone on.

    Parameters
    ----------
    updated, true : float
        Norm of the residual that step 6 updates, and of ``b - A x``.
    target : float
        The norm that was asked for.
    iterations : int
        Iterations done.

    Examples
    --------
    >>> outcome(1e-2, 1e-2, target=1e-6, iterations=5).status.name
    'MAXITER'
    """
    if not np.isfinite(updated) or not np.isfinite(true):
        return Stop(
            Status.OVERFLOW,
            f"a residual is no longer a finite number (updated: {updated}, true: {true}): look for values that are "
            "not finite in A, or scale b and x0 down.",
        )
    if updated > target:
        return Stop(
            Status.MAXITER,
            f"maxiter was reached with a residual of {updated:.3e}, where {target:.3e} is asked for: allow more than "
            f"{iterations} iterations, or use a preconditioner.",
        )
    if true > SLACK * target:
        return Stop(
            Status.STAGNATED,
            f"the updated residual met the tolerance, {target:.3e}, but the true one is {true:.3e}: rounding errors "
            "drove the two apart; start again from this x, or use double precision.",
        )
    return Stop(Status.CONVERGED, f"the true residual, {true:.3e}, meets the tolerance, {target:.3e}.")


def not_definite(p_A_p: float, iteration: int) -> Stop:
    """Return that A is not positive definite, as ``p·Ap`` of an iteration shows.

    Examples
    --------
    >>> print(not_definite(-1.0, iteration=1).reason)
    A is not positive definite: in iteration 1 p·Ap = -1.000e+00, and it must be positive;
    look at the sign of A, or use MINRES or GMRES.
    """
    return Stop(
        Status.NOT_DEFINITE,
        f"A is not positive definite: in iteration {iteration} p·Ap = {p_A_p:.3e}, and it must be positive; look "
        "at the sign of A, or use MINRES or GMRES.",
    )


def preconditioner_not_definite(r_M_r: float) -> Stop:
    """Return that the preconditioner M is not positive definite, as ``r·Mr`` shows.

    Examples
    --------
    >>> preconditioner_not_definite(-1.0).status.name
    'M_NOT_DEFINITE'
    """
    return Stop(
        Status.M_NOT_DEFINITE,
        f"M is not positive definite: r·Mr = {r_M_r:.3e}, and it must be positive; look at its sign, or leave it out.",
    )


def overflowed(p_A_p: float, iteration: int) -> Stop:
    """Return that ``p·Ap`` of an iteration is infinite or NaN.

    Examples
    --------
    >>> overflowed(float("inf"), iteration=3).status.name
    'OVERFLOW'
    """
    return Stop(
        Status.OVERFLOW,
        f"numbers overflowed: in iteration {iteration} p·Ap = {p_A_p}; scale b and x0 down, or look at A.",
    )


def nothing_to_solve(x) -> Solution:
    """Return the answer for b = 0.

    Examples
    --------
    >>> print(nothing_to_solve(None))
    converged after 0 iterations, last residual norm 0.000e+00: b is zero, and so is x.
    """
    return Solution(x, Status.CONVERGED, "b is zero, and so is x.", 0, (0.0,))
