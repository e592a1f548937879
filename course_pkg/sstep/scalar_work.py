"""The scalar work of a pass on the host: small dense systems, made of the sums of one reduction.

There are two ways to compute the coefficients of a pass:

- From 2s moments (:func:`first`, :func:`following`), as Chronopoulos and Gear published it: the matrix W of the new
  directions follows from the one before it by a recurrence, in which rounding errors are amplified.
- From the Gram matrix of all directions (:func:`projected`): nothing is carried over from the last pass, and directions
  that rounding has made dependent are dropped.

``mu[k]`` is the moment ``rᵀ (M A)^k M r``, k = 0 … 2s - 1. All arrays are float64, in host memory.

Sources: A. T. Chronopoulos, C. W. Gear, s-step iterative methods for symmetric linear systems, J. Comput. Appl. Math.
25, 1989; M. Bernaschi et al., Communication-reduced Conjugate Gradient Variants for GPU-accelerated Clusters, 2025,
Algorithm 6. One of its loops is printed as j = 1 … i - 1; here it runs over j = 1 … s.
"""

from typing import NamedTuple

import numpy as np

CUT = 1e-14  # times largest eigenvalue and size of a matrix of unit diagonal: eigenvalues below are rounding errors
CLEARLY = 1e-6  # a number below -1e-6 times the largest one is more negative than rounding errors explain


class Breakdown(Exception):
    """W is not positive definite: in working precision, the directions of this pass are dependent.

    Examples
    --------
    >>> try:
    ...     first([1.0, -2.0])
    ... except Breakdown:
    ...     print("A is not positive definite, or rounding errors are too large")
    A is not positive definite, or rounding errors are too large
    """


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


class Step(NamedTuple):
    """The coefficients of a pass by moments.

    Attributes
    ----------
    alpha : ndarray, shape (s,)
        ``x += P alpha``.
    beta : ndarray, shape (s, s)
        ``P = Q + P_prev beta``.
    W : ndarray, shape (s, s)
        ``Pᵀ A P``.

    Examples
    --------
    >>> first([1.0, 2.0]).W
    array([[2.]])
    """

    alpha: np.ndarray
    beta: np.ndarray
    W: np.ndarray


def hankel(mu) -> np.ndarray:
    """Return ``M[i, j] = mu[i + j + 1]``, which is ``Qᵀ A Q`` for the monomial basis Q.

    Examples
    --------
    >>> hankel([1.0, 2.0, 3.0, 4.0])
    array([[2., 3.],
           [3., 4.]])
    """
    s = len(mu) // 2
    return np.asarray(mu, float)[np.add.outer(np.arange(s), np.arange(s)) + 1]


def first(mu) -> Step:
    """Return the step of the first pass, which has no directions before it: ``W alpha = (mu_0 … mu_{s-1})``.

    Examples
    --------
    >>> first([1.0, 2.0]).alpha  # s = 1: steepest descent, r·r / r·Ar
    array([0.5])
    """
    W = hankel(mu)
    s = len(W)
    return Step(_solve(W, np.asarray(mu[:s], float)), np.zeros((s, s)), W)


def following(mu, before: Step, couple=None) -> Step:
    """Return the step of a later pass, conjugate to the directions of the step ``before``.

    ``W_prev beta = C``, ``W = M - C beta``, ``W alpha = (mu_0 … mu_{s-1})``, where C is :func:`coupling`.

    Parameters
    ----------
    mu : ndarray, shape (2s,)
    before : Step
    couple : callable, optional
        Makes C in place of :func:`coupling`.

    Raises
    ------
    Breakdown
        If W of this pass or of the last pass is not positive definite.

    Examples
    --------
    >>> step = following([0.25, 1.0], first([1.0, 2.0]))  # s = 1: beta = r·r / r·r before
    >>> step.beta, step.W
    (array([[0.25]]), array([[0.875]]))
    """
    C = (couple or coupling)(mu, before.alpha)
    beta = _solve(before.W, C)
    W = hankel(mu) - C @ beta
    W = (W + W.T) / 2
    return Step(_solve(W, np.asarray(mu[: len(W)], float)), beta, W)


def lags(mu, alpha) -> np.ndarray:
    """Return ``t[k]``, k = 0 … 2s - 2: the products of the last pass's directions with the new Krylov vectors.

    ``t[i + j]`` is ``(p_prev_i)ᵀ A Q_j``. It is 0 for i + j < s - 1, because r is orthogonal to the last space. The
    others follow one by one from ``r = r_prev - A P_prev alpha``.

    Examples
    --------
    >>> lags([0.25, 1.0], np.array([0.5]))
    array([-0.5])
    """
    s = len(alpha)
    t = np.zeros(2 * s - 1)
    for i in range(s):
        known = sum(t[s - 1 + j] * alpha[s - 1 - i + j] for j in range(i))
        t[s - 1 + i] = -(mu[i] + known) / alpha[s - 1]
    return t


def coupling(mu, alpha) -> np.ndarray:
    """Return C = ``-P_prevᵀ A Q``, with ``C[i, j] = -t[i + j]`` for all i and j.

    Examples
    --------
    >>> coupling([0.25, 1.0], np.array([0.5]))
    array([[0.5]])
    """
    s = len(alpha)
    return -lags(mu, alpha)[np.add.outer(np.arange(s), np.arange(s))]


def coupling_printed(mu, alpha) -> np.ndarray:
    """Return C by the loop as the paper prints it, j = 1 … i - 1: only elements below the diagonal are set.

    So the directions are not conjugate to earlier ones, and the method stagnates; this function serves to show that.

    Examples
    --------
    >>> coupling_printed([0.25, 1.0], np.array([0.5]))
    array([[0.]])
    """
    return np.tril(coupling(mu, alpha), -1)


def _solve(W, right):
    """Return the solution of ``W X = right`` by Cholesky's method, with W scaled to unit diagonal."""
    diagonal = np.diag(W)
    if not np.all(np.isfinite(W)) or not np.all(diagonal > 0):
        raise Breakdown
    d = 1 / np.sqrt(diagonal)
    try:
        L = np.linalg.cholesky(d[:, None] * W * d)
    except np.linalg.LinAlgError:
        raise Breakdown from None
    scaled = d[:, None] * right if right.ndim > 1 else d * right
    found = np.linalg.solve(L.T, np.linalg.solve(L, scaled))
    return d[:, None] * found if right.ndim > 1 else d * found


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

    Examples
    --------
    >>> projected(np.array([[4.0]]), np.array([2.0]), 1).kept
    1
    """

    C: np.ndarray
    a: np.ndarray
    condition: float
    kept: int


def projected(G, g, s: int) -> Projection:
    """Return the step to the minimum over the span of Z, and s new directions, conjugate to those of the last pass.

    ``a = G⁺ g``; ``B = -G_QQ⁺ G_QS``, Y = [B; I], W = Yᵀ G Y, and the new directions are ``Z Y W^{-1/2}``. G is scaled
    to unit diagonal. Each inverse leaves out eigenvalues that are rounding errors (``CUT``).

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
    d = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    H = d[:, None] * (G + G.T) / 2 * d
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


def condition(H) -> float:
    """Return the largest eigenvalue of a symmetric matrix divided by the smallest; infinity if one is not positive.

    Examples
    --------
    >>> condition(np.diag([1.0, 4.0])), condition(np.zeros((1, 1)))
    (4.0, inf)
    """
    w = np.linalg.eigvalsh(H)
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
