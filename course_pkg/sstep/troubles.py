"""How the sums of a pass show that something is wrong: with A, with M, with the bounds, or because of rounding."""

import numpy as np

from course_pkg.cg.outcome import Stop, not_definite, preconditioner_not_definite
from course_pkg.core import Status
from course_pkg.sstep.bases import Basis
from course_pkg.sstep.outcome import beyond_bounds

SURE = 0.01  # growth above 1.01, and Ritz values 1 % beyond the bounds, are not rounding errors


class Spectrum:
    """What the Gram matrices of a solve show of the spectrum of ``M A``: whether eigenvalues lie beyond the bounds.

    There are two proofs that they do. The A-norm of Chebyshev basis vectors grows, which it cannot do within the
    bounds. Or, with a Newton basis, a Ritz value lies beyond the bounds, and eigenvalues lie farther out than that.

    Parameters
    ----------
    interval : (float, float)
        The bounds with which bases are made.
    asked : (float, float), str or None
        The bounds that the method was called with; if they are not numbers, the interval was found from A and M.
    dtype : dtype
        Precision of the vectors.

    Attributes
    ----------
    growth : float
        Largest growth of Chebyshev basis vectors.
    ritz : (float, float) or None
        Least and largest Ritz value of a Newton basis.

    Examples
    --------
    >>> seen = Spectrum((0.0, 2.0), (0.0, 2.0), np.float64)
    >>> S = np.array([[1.0, 1.0], [(1.0 - 1.0) / 0.5, (4.0 - 1.0) / 0.5]])  # A = diag(1, 4), r = (1, 1), shift 1
    >>> seen.see(np.pad(S @ np.diag([1.0, 4.0]) @ S.T, (0, 1)), Basis("newton", (2.0,), (1.0,), (0.0,)))
    >>> seen.ritz, seen.beyond()
    ((3.4, 3.4), 'A has eigenvalues beyond the bounds (0, 2), because there is a Ritz value of 3.4: pass wider ...')
    """

    def __init__(self, interval, asked, dtype):
        self.interval, self.asked, self.eps = interval, asked, np.finfo(dtype).eps
        self.growth, self.ritz = 1.0, None

    def see(self, G, chosen: Basis) -> None:
        """Look at the Gram matrix of a pass, whose last rows are those of a basis and of r."""
        if not np.all(np.isfinite(G)):
            return
        self.growth = max(self.growth, growth_of(G, chosen.s, chosen.name))
        if chosen.name == "newton" and (found := ritz_values(G, chosen, self.eps)):
            least, largest = self.ritz or found
            self.ritz = min(least, found[0]), max(largest, found[1])

    def beyond(self) -> str:
        """Return a sentence which says that A has eigenvalues beyond the bounds; empty if nothing proves it."""
        if self.growth > 1 + SURE:
            return beyond_bounds(self.interval, f"basis vectors grew by {self.growth:.0e}", self.asked)
        (lo, hi), (least, largest) = self.interval, self.ritz or self.interval
        if largest > hi * (1 + SURE):
            return beyond_bounds(self.interval, f"there is a Ritz value of {largest:.6g}", self.asked)
        if least < lo * (1 - SURE):
            return beyond_bounds(self.interval, f"there is a Ritz value of {least:.6g}", self.asked)
        return ""


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


def ritz_values(G, chosen: Basis, eps: float) -> tuple[float, float] | None:
    """Return the least and the largest Ritz value of ``B = M A`` for all vectors of a basis but the last.

    The recurrence says what ``B S_j`` is in terms of S_{j-1}, S_j and S_{j+1}, so the Gram matrix has all products
    ``S_iᵀ A B S_j``. Directions of a relative length below the root of ``eps`` are left out: they are rounding errors.

    Examples
    --------
    >>> ritz_values(np.diag([4.0, 1.0, 1.0]), Basis("newton", (1.0,), (3.0,), (0.0,)), 1e-16)
    (3.0, 3.0)
    """
    s = chosen.s
    G = G[-1 - s : -1, -1 - s : -1]
    diagonal = np.diag(G)
    if s == 1 or not np.all(diagonal > 0):
        return None
    products = np.zeros((s, s - 1))  # column j: B S_j in terms of the basis
    for j, (a, c, g) in enumerate(zip(chosen.a, chosen.c, chosen.g, strict=True)):
        products[j + 1, j], products[j, j] = 1 / a, c
        if j:
            products[j - 1, j] = g / a
    d = 1 / np.sqrt(diagonal[:-1])
    w, V = np.linalg.eigh(d[:, None] * G[:-1, :-1] * d)
    good = w > np.sqrt(eps) * w[-1]
    V = d[:, None] * V[:, good] / np.sqrt(w[good])
    H = V.T @ (G[:-1] @ products) @ V
    found = np.linalg.eigvalsh((H + H.T) / 2)
    return float(found[0]), float(found[-1])


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
