"""The scalar work of a pass by the Gram matrix of all directions, on the host.

Nothing is carried over from the last pass, and directions that rounding has made dependent are dropped.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from course_pkg.sstep.bases import Basis

CUT = 1e-14  # times largest eigenvalue and size of a matrix of unit diagonal: eigenvalues below are rounding errors
SAFE = 1e-9  # least reciprocal condition of a matrix with which Cholesky's method does all: no eigenvalue is near CUT
CLEARLY = 1e-6  # a number below -1e-6 times the largest one is more negative than rounding errors explain


class NotDefinite(Exception):
    """A direction d has dᵀ A d < 0, and rounding errors cannot explain it.

    Examples
    --------
    >>> try:
    ...     projected(np.array([[-4.0]]), np.array([2.0]), 1)
    ... except NotDefinite:
    ...     print("A is not positive definite")
    A is not positive definite

    Attributes
    ----------
    least : float
        The negative number that shows it, relative to the largest of its kind.
    """

    def __init__(self, least: float):
        super().__init__(least)
        self.least = float(least)


class Projection(NamedTuple):
    """The coefficients of a pass by the Gram matrix; Z are the vectors of the last pass followed by the fresh ones.

    Attributes
    ----------
    C : ndarray, shape (m, s)
        The new directions are ``Z C``; C has a column of zeros for each direction that was dropped.
    a : ndarray, shape (m,)
        ``x += Z a``.
    condition : float
        Condition of the Gram matrix of the fresh vectors, scaled to unit diagonal.
    kept : int
        Number of directions that were not dropped.
    last, ahead : ndarray, shape (s,)
        For the minimum over old vectors and the first k fresh ones: ``last[k - 1]`` is its coefficient of fresh vector
        k - 1, and ``ahead[k]`` the product of fresh vector k with the residual there. Both are empty if G is too
        ill-conditioned for them.

    Examples
    --------
    >>> projected(np.array([[4.0]]), np.array([2.0]), 1).kept
    1
    """

    C: np.ndarray
    a: np.ndarray
    condition: float
    kept: int
    last: np.ndarray = np.zeros(0)
    ahead: np.ndarray = np.zeros(0)


def projected(G, g, s: int) -> Projection:
    """Return the step to the minimum over the span of Z, and s new directions, conjugate to those of the last pass.

    ``a = G⁺ g``; ``B = -G_QQ⁺ G_QS``, Y = [B; I], W = Yᵀ G Y, and the new directions are ``Z Y W^{-1/2}``. G is scaled
    to unit diagonal. Each inverse leaves out eigenvalues that are rounding errors (``CUT``). If G is far from singular,
    as in most passes, there are none, and one factorisation ``G = L Lᵀ`` gives all: ``Y W^{-1/2}`` are the last s
    columns of ``L⁻ᵀ``, up to a rotation.

    Parameters
    ----------
    G : ndarray, shape (m, m)
        ``Zᵀ A Z``; m is s for the first pass, then 2s. A vector that was dropped has a row of zeros.
    g : ndarray, shape (m,)
        ``Zᵀ r``.
    s : int
        Number of fresh vectors, which are the last s of Z.

    Raises
    ------
    NotDefinite
        If G has a diagonal element or an eigenvalue that is clearly negative.

    Examples
    --------
    >>> one = projected(np.array([[4.0]]), np.array([2.0]), 1)
    >>> one.C, one.a
    (array([[0.5]]), array([0.5]))
    """
    old = len(G) - s
    diagonal = np.diag(G)
    if np.min(diagonal) < -CLEARLY * np.max(np.abs(diagonal)):
        raise NotDefinite(np.min(diagonal) / np.max(np.abs(diagonal)))
    used = diagonal > 0
    d = 1 / np.sqrt(np.where(used, diagonal, np.inf))
    H = d[:, None] * G * d
    if used[old:].all() and (found := _by_cholesky(H, d, g, s, used)):
        return found
    a = d * (_inverse(H) @ (d * g))
    B = -_inverse(H[:old, :old]) @ H[:old, old:]
    Y = np.concatenate([B, np.eye(s)])
    W = Y.T @ H @ Y
    e = np.where(np.diag(W) > 0, 1 / np.sqrt(np.where(np.diag(W) > 0, np.diag(W), 1.0)), 0.0)
    w, V = np.linalg.eigh(e[:, None] * (W + W.T) / 2 * e)
    good = w > CUT * max(w[-1], 0.0) * len(w)
    C = np.zeros((len(G), s))
    C[:, : good.sum()] = (d[:, None] * Y) @ ((e[:, None] * V[:, good]) / np.sqrt(w[good]))
    return Projection(C, a, condition(H[old:, old:]), int(good.sum()))


def _by_cholesky(H, d, g, s, used):
    """Return the projection from ``H = L Lᵀ``, or None if H is nearly singular; d scales to unit diagonal."""
    factored = H if used.all() else H + np.diag(1.0 - used)
    L, failed = lapack.dpotrf(factored, lower=1, clean=1)
    if failed or lapack.dpocon(L, np.abs(factored).sum(0).max(), uplo="L")[0] < SAFE:
        return None
    inverse = lapack.dtrtri(L, lower=1)[0]
    y = inverse @ (d * g)
    pivots = L.diagonal()[-s:] / d[-s:]
    return Projection(
        d[:, None] * inverse[-s:].T,
        d * (y @ inverse),
        condition(H[-s:, -s:]),
        s,
        y[-s:] / pivots,
        y[-s:] * pivots,
    )


def residuals(found: Projection, chosen: Basis, G) -> list[float]:
    """Return the norms of the residuals of conjugate gradients within a pass, after 1, 2, … of its iterations.

    After k iterations, the residual ``r_k`` is orthogonal to all vectors before fresh vector S_k. ``M r_k`` is made of
    them and of S_k, by the coefficient ``-last[k - 1] / a_{k-1}`` of the basis's recurrence. So ``r_kᵀ M r_k`` is that
    coefficient times ``ahead[k]``. With a preconditioner, the norm of r_k is estimated: the ratio of r·r to rᵀ M r is
    taken from the beginning of the pass. The list ends where rounding errors make a square negative.

    Parameters
    ----------
    found : Projection
        Of G without its last row and column.
    chosen : Basis
    G : ndarray
        Its last column holds the products with r, as ``Room.gram`` returns it.

    Examples
    --------
    >>> from course_pkg.sstep.bases import basis
    >>> A, r = np.diag([1.0, 3.0]), np.array([1.0, 1.0])
    >>> Z = np.array([r, A @ r])
    >>> G = np.block([[Z @ A @ Z.T, (Z @ r)[:, None]], [Z @ r, r @ r]])
    >>> residuals(projected(G[:-1, :-1], G[:-1, -1], 2), basis("monomial", 2), G)  # (1, 1) - 2 / 4 (1, 3)
    [0.7071067811865...]
    """
    r_M_r = G[-1 - chosen.s, -1]
    squares = -found.last[:-1] * found.ahead[1:] / chosen.a * (G[-1, -1] / r_M_r) if len(found.last) else []
    norms = []
    for square in squares:
        if not square > 0:
            break
        norms.append(sqrt(square))
    return norms


def condition(H) -> float:
    """Return the largest eigenvalue of a symmetric matrix divided by the smallest; infinity if one is not positive.

    Examples
    --------
    >>> condition(np.diag([1.0, 4.0])), condition(np.zeros((1, 1)))
    (4.0, inf)
    """
    w = lapack.dsyevd(H, compute_v=0, lower=1)[0]
    return float(w[-1] / w[0]) if w[0] > 0 else float("inf")


def _inverse(H):
    """Return the pseudoinverse of a matrix of unit diagonal, without eigenvalues that are rounding errors."""
    if not len(H):
        return H
    w, V = np.linalg.eigh(H)
    if w[0] < -CLEARLY * max(abs(w[-1]), 1.0):
        raise NotDefinite(w[0] / max(abs(w[-1]), 1.0))
    good = w > CUT * w[-1] * len(w)
    return (V[:, good] / w[good]) @ V[:, good].T
