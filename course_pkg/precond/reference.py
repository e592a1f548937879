"""Preconditioners in plain NumPy, as textbooks write them: tests compare every other file of this topic with it.

Shapes and dtypes, for every file of this topic:

M : preconditioner
    One of ``preconditioners.py``.
r : array, shape (n,), float64 or float32, of the precision of M
    It is not changed.
out : array, shape (n,), dtype of r
    Overwritten by ``B⁻¹ r``; shares no memory with r.

Nothing here is fused: this file forms A and the residual where the other files do a step of Jacobi's method.
"""

import numpy as np
from scipy.sparse import csr_array

from course_pkg.precond.checks import check_apply
from course_pkg.precond.preconditioners import Diagonal, Identity, Multigrid, Polynomial


def precondition_identity(M, r, out):
    """Compute ``out = r``.

    Examples
    --------
    >>> out = np.empty(2)
    >>> precondition_identity(Identity(2), np.ones(2), out); out
    array([1., 1.])
    """
    check_apply(M, r, out, Identity, device=False)
    out[:] = r


def precondition_diagonal(M, r, out):
    """Compute ``out = r / d``.

    Examples
    --------
    >>> out = np.empty(2)
    >>> precondition_diagonal(Diagonal(np.array([4.0, 2.0])), np.ones(2), out); out
    array([0.25, 0.5 ])
    """
    check_apply(M, r, out, Diagonal, device=False)
    out[:] = r / M.d


def precondition_chebyshev(M, r, out):
    """Compute some steps of Chebyshev's method for ``A z = r``, from z = 0.

    Examples
    --------
    >>> from course_pkg.precond.build import chebyshev
    >>> M, out = chebyshev(csr_array(4 * np.eye(2)), degree=3), np.empty(2)
    >>> precondition_chebyshev(M, np.ones(2), out); out.round(2)
    array([0.14, 0.14])
    """
    check_apply(M, r, out, Polynomial, device=False)
    A = _matrix(M.E, M.d)
    z, p = np.zeros_like(out, np.float64), np.zeros_like(out, np.float64)
    for a, b in M.steps:
        p = a * (r - A @ z) / M.d + b * p
        z += p
    out[:] = z


def precondition_vcycle(M, r, out):
    """Compute a V-cycle for ``A z = r``, from z = 0.

    Examples
    --------
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.precond.build import amg
    >>> A = poisson((6, 6, 6))
    >>> x, out = np.ones(216), np.empty(216)
    >>> precondition_vcycle(amg(A, max_coarse=300), A @ x, out); bool(np.allclose(out, x))  # one level is exact
    True
    """
    check_apply(M, r, out, Multigrid, device=False)
    out[:] = _vcycle(M, 0, r.astype(np.float64))


def _vcycle(M, depth, r):
    if depth == len(M.levels):
        return _scipy(M.inverse) @ r
    level = M.levels[depth]
    A, z = _matrix(level.E, level.d), np.zeros_like(r)
    for _ in range(M.sweeps):
        z += (r - A @ z) / level.d
    z += _scipy(level.P) @ _vcycle(M, depth + 1, _scipy(level.R) @ (r - A @ z))
    for _ in range(M.sweeps):
        z += (r - A @ z) / level.d
    return z


def _matrix(E, d):
    """Return ``A = E + diag(d)``, in double precision."""
    return _scipy(E) + csr_array((d.astype(np.float64), np.arange(d.size), np.arange(d.size + 1)))


def _scipy(A):
    return csr_array((A.data.astype(np.float64), A.indices, A.indptr), shape=A.shape)
