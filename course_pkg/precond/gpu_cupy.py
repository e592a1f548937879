"""Preconditioners by CuPy: products by cuSPARSE, and element-wise kernels between them."""

from dataclasses import fields, replace

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from course_pkg.precond import cycle
from course_pkg.precond.checks import check_apply
from course_pkg.precond.preconditioners import Identity, Preconditioner
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.gpu_cupy import jacobi_plain, matrix, spmv

_add = cp.ElementwiseKernel("T change, T x", "T out", "out = x + change", "add_correction")
_difference = cp.ElementwiseKernel("T d, T y, T x", "T out", "out = d * (y - x)", "difference")
_advance = cp.ElementwiseKernel(
    "T y, T a, T b, T p, T x", "T p_out, T x_out", "p_out = a * (y - x) + b * p; x_out = x + p_out", "advance"
)


class _Tools:
    """What ``cycle.py`` needs."""

    jacobi_plain, spmv = staticmethod(jacobi_plain), staticmethod(spmv)

    @staticmethod
    def empty(n, like):
        return cp.empty(n, like.dtype)

    @staticmethod
    def divide(d, r, out):
        cp.divide(r, d, out=out)

    @staticmethod
    def scale(a, r, out):
        cp.multiply(r, r.dtype.type(a), out=out)

    @staticmethod
    def add(change, x):
        _add(change, x, x)

    @staticmethod
    def difference(d, y, x, out):
        _difference(d, y, x, out)

    @staticmethod
    def advance(y, a, b, p, x):
        _advance(y, x.dtype.type(a), x.dtype.type(b), p, x, p, x)


def on_cupy(M):
    """Return a preconditioner in GPU memory, with matrices of CuPy.

    Examples
    --------
    >>> on_cupy(Identity(2)).n
    2
    """

    def moved(value):
        if isinstance(value, tuple):
            return tuple(map(moved, value))
        if isinstance(value, Preconditioner):
            return on_cupy(value)
        if isinstance(value, Csr):
            return matrix(value)
        return cp.asarray(value) if hasattr(value, "dtype") else value

    return replace(M, **{f.name: moved(getattr(M, f.name)) for f in fields(M)})


def precondition_identity(M, r, out):
    """Compute ``out = r``; arrays are CuPy's.

    Examples
    --------
    >>> out = cp.empty(2)
    >>> precondition_identity(Identity(2), cp.ones(2), out); out
    array([1., 1.])
    """
    check_apply(M, r, out, Identity, device=True)
    cp.copyto(out, r)


def precondition_diagonal(M, r, out):
    """Compute ``out = r / d``; M is from :func:`on_cupy`.

    Examples
    --------
    >>> from course_pkg.precond.preconditioners import Diagonal
    >>> out = cp.empty(2)
    >>> precondition_diagonal(Diagonal(cp.array([4.0, 2.0])), cp.ones(2), out); out
    array([0.25, 0.5 ])
    """
    cycle.diagonal(_Tools, M, r, out, device=True)


def precondition_chebyshev(M, r, out):
    """Compute some steps of Chebyshev's method for ``A z = r``, from z = 0; M is from :func:`on_cupy`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from course_pkg.precond.build import chebyshev
    >>> M, out = on_cupy(chebyshev(scipy.sparse.csr_array(4 * np.eye(2)), degree=3)), cp.empty(2)
    >>> precondition_chebyshev(M, cp.ones(2), out); out.round(2)
    array([0.14, 0.14])
    """
    cycle.chebyshev(_Tools, M, r, out, device=True)


def precondition_vcycle(M, r, out):
    """Compute a V-cycle for ``A z = r``, from z = 0; M is from :func:`on_cupy`.

    Examples
    --------
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.precond.build import amg
    >>> A = poisson((6, 6, 6))
    >>> x, out = cp.ones(216), cp.empty(216)
    >>> b = cp.asarray(A @ x.get())
    >>> precondition_vcycle(on_cupy(amg(A, max_coarse=300)), b, out); bool(cp.allclose(out, x))  # one level is exact
    True
    """
    cycle.vcycle(_Tools, M, r, out, device=True)
