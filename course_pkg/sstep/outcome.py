"""How an s-step method ended: a status for programs, and a sentence for people."""

import numpy as np

from course_pkg.cg.outcome import SLACK, Stop, outcome
from course_pkg.core import Solution, Status

GREW = 1e6  # growth that counts as divergence: rounding aside, it is at most the root of the condition of A


def ended(room, norms, target, iterations, trouble, extra, notes=()) -> Solution:
    """Return the result of a method; it has converged only if the true residual meets the tolerance.

    Parameters
    ----------
    room : Room
        Its x is the result, and its r is overwritten by the true residual.
    norms : list of float
        Norms of the updated residual: one before the first pass, then one after each pass.
    target : float
    iterations : int
        Number of iterations of conjugate gradient whose work the passes did.
    trouble : Stop or None
    extra : dict
    notes : sequence of str
        Further sentences for people; each is added to the reason.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.room import Room
    >>> from course_pkg.sstep.problem import Laplacian
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> ended(room, [8.0], 1.0, 0, None, {}).status.name
    'MAXITER'
    """
    true = room.residual(room.x, room.r)
    status, reason = trouble or outcome(norms[-1], true, target, iterations)
    if trouble and true <= SLACK * target:
        status = Status.CONVERGED
        reason = f"the true residual, {true:.3e}, meets the tolerance, {target:.3e}."
    reason = "; ".join([reason.rstrip("."), *(note.rstrip(".") for note in notes)]) + "."
    counted = {"reductions": room.reductions, "products": room.products, "true_residual": true}
    return Solution(room.give(room.x), status, reason, iterations, tuple(norms), {**counted, **extra})


def fell(asked: int, s: int, fallbacks) -> tuple[str, ...]:
    """Return a note if s fell during the solve.

    Examples
    --------
    >>> fell(16, 8, [(32, 16)])
    ('s fell from 16 to 8, because directions became dependent; the first time after 32 iterations',)
    """
    if not fallbacks:
        return ()
    first = fallbacks[0][0]
    return (
        f"s fell from {asked} to {s}, because directions became dependent; the first time after {first} iterations",
    )


def diverged(norms, why: str) -> Stop | None:
    """Return why a method has to stop if the last residual is far larger than the smallest, or not finite.

    Examples
    --------
    >>> diverged([1.0, 0.5], "") is None
    True
    >>> diverged([1.0, 1e7], "pass other bounds.").status.name
    'DIVERGED'
    """
    if not np.isfinite(norms[-1]):
        return Stop(Status.OVERFLOW, f"the residual became {norms[-1]}: {why}")
    least = min(norms)
    if norms[-1] > GREW * least:
        return Stop(
            Status.DIVERGED,
            f"the residual grew from {least:.3e} to {norms[-1]:.3e} instead of falling: {why}",
        )
    return None


def beyond_bounds(interval, proof: str, asked) -> str:
    """Return a sentence which says that A has eigenvalues beyond the interval, and what proves it.

    Parameters
    ----------
    interval : (float, float)
    proof : str
    asked : (float, float), str or None
        The bounds that the method was called with; if they are not numbers, the interval was found from A and M.

    Examples
    --------
    >>> beyond_bounds((0.0, 4.0), "basis vectors grew by 1e+06", (0.0, 4.0))
    'A has eigenvalues beyond the bounds (0, 4), because basis vectors grew by 1e+06: pass wider bounds, or leave ...'
    >>> beyond_bounds((0.0, 4.0), "basis vectors grew by 1e+06", None)
    'A has eigenvalues beyond the bounds (0, 4), which were found from A and M, ...: pass wider bounds, ...'
    """
    found = asked is None or isinstance(asked, str)
    where = ", which were found from A and M," if found else ","
    remedy = "or check that A and M are positive definite" if found else "or leave bounds out"
    return (
        f"A has eigenvalues beyond the bounds ({interval[0]:.6g}, {interval[1]:.6g}){where} because {proof}: "
        f"pass wider bounds, {remedy}."
    )
