"""An interval that contains the eigenvalues of ``M A``: from the rows of A, or from a few steps of Lanczos' method.

Gershgorin's circles give an upper bound that is never too low, but they need the matrix, and allow no preconditioner. A
few steps of Lanczos' method work with every operator. The largest Ritz value is too low, so the norm of its residual is
added. *Some* eigenvalue is certain to lie within this distance of the Ritz value. It is very likely the largest one,
because the starting vector is random.
"""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.sstep.problem import LARGEST, Laplacian

STEPS = 12  # of Lanczos' method


def gershgorin(A) -> tuple[float, float]:
    """Return (lo, hi) from the rows of a matrix; lo is at least 0, because A is positive definite.

    Every eigenvalue lies in a circle around a diagonal element. Its radius is the sum of the magnitudes of the row's
    other elements.

    Parameters
    ----------
    A : Laplacian, scipy.sparse matrix, Csr in host memory, or ndarray

    Raises
    ------
    CourseError
        If A is a function, which has no rows to look at.

    Examples
    --------
    >>> gershgorin(np.array([[4.0, -1.0], [-1.0, 2.0]]))
    (1.0, 5.0)
    """
    if isinstance(A, Laplacian):
        return 0.0, LARGEST
    if hasattr(A, "indptr"):
        data, indices, indptr = (np.asarray(part) for part in (A.data, A.indices, A.indptr))
        row_of = np.repeat(np.arange(A.shape[0]), np.diff(indptr))
        sums = np.bincount(row_of, np.abs(data), A.shape[0])
        diagonal = np.bincount(row_of, np.where(indices == row_of, data, 0.0), A.shape[0])
    elif hasattr(A, "diagonal"):
        diagonal, sums = np.asarray(A.diagonal()), np.asarray(abs(A).sum(axis=1)).reshape(-1)
    else:
        raise CourseError("A is a function, which has no rows: pass bounds=(lo, hi), or bounds='lanczos'.")
    radius = sums - np.abs(diagonal)
    return max(0.0, float(np.min(diagonal - radius))), float(np.max(diagonal + radius))


def lanczos(room, steps: int = STEPS, seed: int = 0) -> tuple[float, float]:
    """Return (0, hi) for ``M A`` of a room, from ``steps`` steps of Lanczos' method, done by conjugate gradients.

    The coefficients of conjugate gradients give Lanczos' tridiagonal matrix: its diagonal is ``1 / alpha_j +
    beta_{j-1} / alpha_{j-1}``, and the entries beside it are ``sqrt(beta_j) / alpha_j``. Each step takes two
    reductions; the norm of the residual takes one more.

    Source: Y. Zhou, R.-C. Li, Bounding the spectrum of large Hermitian matrices, Linear Algebra Appl. 435, 2011.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.room import Room
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> hi = lanczos(room)[1]
    >>> 6 + 6 * np.cos(np.pi / 5) <= hi + 1e-9 < 12.0
    True
    """
    r = room.drawn(seed)
    z, p, s = room.vector(), room.vector(), room.vector()
    alphas, betas, before = [], [], 0.0
    steps = min(steps, room.unknowns)
    while True:
        room.copy(r, z) if room.M is None else room.precondition(r, z)
        delta = room.dots((r, z))[0]
        if alphas:
            betas.append(max(delta, 0.0) / before)
        if not delta > 0 or len(alphas) == steps:
            break
        before = delta
        room.combine(1.0, z, betas[-1] if betas else 0.0, p, p)
        room.multiply(p, s)
        p_A_p = room.dots((p, s))[0]
        if not p_A_p > 0:
            break
        alphas.append(delta / p_A_p)
        room.combine(1.0, r, -alphas[-1], s, r)
    return 0.0, _upper(np.array(alphas), np.array(betas))


def _upper(alphas, betas):
    """Return the largest Ritz value plus the norm of its residual."""
    k = len(alphas)
    if k == 0:
        return 1.0  # the method that uses the bound will report what is wrong
    T = np.diag(1 / alphas)
    for j in range(1, k):
        T[j, j] += betas[j - 1] / alphas[j - 1]
        T[j, j - 1] = T[j - 1, j] = np.sqrt(betas[j - 1]) / alphas[j - 1]
    w, V = np.linalg.eigh(T)
    following = np.sqrt(betas[k - 1]) / alphas[k - 1]
    return float(w[-1] + abs(following * V[-1, -1]))
