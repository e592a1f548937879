"""Preconditioners by compiled loops on all cores: products by ``spmv/cpu_numba.py``, and maps between them."""

import numpy as np
from numba import prange

from course_pkg.core.parallel import parallel
from course_pkg.precond import cycle
from course_pkg.precond.checks import check_apply
from course_pkg.precond.preconditioners import Identity
from course_pkg.spmv.cpu_numba import jacobi_plain, spmv


@parallel()
def _divide(d, r, out):
    for i in prange(out.size):
        out[i] = r[i] / d[i]


@parallel()
def _scale(a, r, out):
    for i in prange(out.size):
        out[i] = a * r[i]


@parallel()
def _add(change, x):
    for i in prange(x.size):
        x[i] += change[i]


@parallel()
def _difference(d, y, x, out):
    for i in prange(out.size):
        out[i] = d[i] * (y[i] - x[i])


@parallel()
def _advance(y, a, b, p, x):
    for i in prange(x.size):
        p[i] = a * (y[i] - x[i]) + b * p[i]
        x[i] += p[i]


class _Tools:
    """What ``cycle.py`` needs."""

    jacobi_plain, spmv = staticmethod(jacobi_plain), staticmethod(spmv)
    divide, add, difference = staticmethod(_divide), staticmethod(_add), staticmethod(_difference)

    @staticmethod
    def empty(n, like):
        return np.empty(n, like.dtype)

    @staticmethod
    def scale(a, r, out):
        _scale(out.dtype.type(a), r, out)

    @staticmethod
    def advance(y, a, b, p, x):
        _advance(y, x.dtype.type(a), x.dtype.type(b), p, x)


def precondition_identity(M, r, out):
    """Compute ``out = r``.

    Examples
    --------
    >>> out = np.empty(2)
    >>> precondition_identity(Identity(2), np.ones(2), out); out
    array([1., 1.])
    """
    check_apply(M, r, out, Identity, device=False)
    _Tools.scale(1.0, r, out)


def precondition_diagonal(M, r, out):
    """Compute ``out = r / d``.

    Examples
    --------
    >>> from course_pkg.precond.preconditioners import Diagonal
    >>> out = np.empty(2)
    >>> precondition_diagonal(Diagonal(np.array([4.0, 2.0])), np.ones(2), out); out
    array([0.25, 0.5 ])
    """
    cycle.diagonal(_Tools, M, r, out, device=False)


def precondition_chebyshev(M, r, out):
    """Compute some steps of Chebyshev's method for ``A z = r``, from z = 0.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.precond.build import chebyshev
    >>> M, out = chebyshev(scipy.sparse.csr_array(4 * np.eye(2)), degree=3), np.empty(2)
    >>> precondition_chebyshev(M, np.ones(2), out); out.round(2)
    array([0.14, 0.14])
    """
    cycle.chebyshev(_Tools, M, r, out, device=False)


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
    cycle.vcycle(_Tools, M, r, out, device=False)
