"""How the sums of a pass show that something is wrong: with A, with M, with the bounds, or because of rounding."""

import numpy as np

from course_pkg.cg.outcome import Stop, not_definite, preconditioner_not_definite
from course_pkg.core import Status


def growth_of(G, s, name):
    """Return by what factor the A-norm of Chebyshev basis vectors grew; rounding aside, at most 1 if the bounds hold.

    Examples
    --------
    >>> growth_of(np.array([[1.0, 0.0, 1.0], [0.0, 4.0, 0.0], [1.0, 0.0, 1.0]]), 2, "chebyshev")
    2.0
    """
    if not np.all(np.isfinite(G)):
        return 1.0
    first, diagonal = G[-1 - s, -1 - s], np.diag(G)[-1 - s : -1]
    return float(np.sqrt(max(np.max(diagonal) / first, 1.0))) if name == "chebyshev" and first > 0 else 1.0


def moments_trouble(mu, iterations) -> Stop | None:
    """Return why a method has to stop at these moments; None if it can go on.

    Examples
    --------
    >>> moments_trouble([1.0, -2.0], 0).status.name
    'NOT_DEFINITE'
    """
    if not np.all(np.isfinite(mu)):
        return Stop(
            Status.OVERFLOW, f"after {iterations} iterations the moments overflow: choose a smaller s."
        )
    if not mu[0] > 0:
        return preconditioner_not_definite(mu[0])
    return None if mu[1] > 0 else not_definite(mu[1], iterations + 1)


def gram_trouble(G, s, iterations, interval) -> Stop | None:
    """Return why a method has to stop at this Gram matrix; None if it can go on.

    Examples
    --------
    >>> gram_trouble(np.array([[1.0, -1.0], [-1.0, 1.0]]), 1, 0, (0.0, 1.0)).status.name
    'M_NOT_DEFINITE'
    """
    if not np.all(np.isfinite(G)):
        return Stop(
            Status.OVERFLOW,
            f"after {iterations} iterations the Gram matrix overflows: the bounds {interval} are too low, or numbers "
            "in A or M are not finite; pass a larger upper bound, or choose a smaller s.",
        )
    r_M_r, r_M_A_M_r = G[-1 - s, -1], G[-1 - s, -1 - s]
    if not r_M_r > 0:
        return preconditioner_not_definite(r_M_r)
    return None if r_M_A_M_r > 0 else not_definite(r_M_A_M_r, iterations + 1)


def broken(s, iterations) -> Stop:
    """Return the outcome of a method by moments if W is not positive definite and no smaller s is left.

    Examples
    --------
    >>> broken(4, 8).status.name
    'STAGNATED'
    """
    return Stop(
        Status.STAGNATED,
        f"after {iterations} iterations W, of s = {s} directions, is not positive definite: A is not, or rounding "
        "errors have made the directions dependent; choose a smaller s, or pcg_sstep, which tells the two apart.",
    )
