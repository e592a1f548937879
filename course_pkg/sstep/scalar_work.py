"""The scalar work of a pass by moments, on the host: small dense systems, made of the sums of one reduction.

The coefficients of a pass follow from 2s moments (:func:`first`, :func:`following`), as Chronopoulos and Gear published
it: the matrix W of the new directions follows from the one before it by a recurrence, in which rounding errors are
amplified. ``projection.py`` has the other way, from the Gram matrix of all directions.

``mu[k]`` is the moment ``rᵀ (M A)^k M r``, k = 0 … 2s - 1. All arrays are float64, in host memory.

Sources: A. T. Chronopoulos, C. W. Gear, s-step iterative methods for symmetric linear systems, J. Comput. Appl. Math.
25, 1989; M. Bernaschi et al., Communication-reduced Conjugate Gradient Variants for GPU-accelerated Clusters, 2025,
Algorithm 6. One of its loops is printed as j = 1 … i - 1; here it runs over j = 1 … s.
"""

from typing import NamedTuple

import numpy as np


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
