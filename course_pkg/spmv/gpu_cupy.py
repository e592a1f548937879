"""The product of a sparse matrix and a vector by cuSPARSE, and a step of Jacobi's method with it, through CuPy."""

from dataclasses import replace

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from cupyx import cusparse
from cupyx.scipy.sparse import csr_matrix

from course_pkg.core import CourseError
from course_pkg.spmv.checks import check_product
from course_pkg.spmv.checks_jacobi import check_step


def spmv(A, x, y):
    """Compute ``y = A x`` by cuSPARSE into an existing array; A, x and y must have the same precision.

    Parameters
    ----------
    A : cupyx.scipy.sparse.csr_matrix
        :func:`matrix` makes it from a :class:`~course_pkg.spmv.formats.Csr`.
    x, y : cupy.ndarray, shape (columns,) and (rows,)

    Examples
    --------
    >>> A, y = csr_matrix(cp.array([[4.0, 1.0], [0.0, 2.0]])), cp.empty(2)
    >>> spmv(A, cp.array([10.0, 1.0]), y); y
    array([41.,  2.])
    """
    check_product(A, x, y, csr_matrix, device=True)
    if A.dtype != x.dtype:
        raise CourseError(f"A has dtype {A.dtype} but x has {x.dtype}: CuPy's cuSPARSE takes one precision.")
    cusparse.spmv(A, x, y=y, alpha=1.0, beta=0.0)


def matrix(A):
    """Return a Csr as a CuPy matrix; its arrays are shared if they are in GPU memory.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.formats import Csr
    >>> matrix(Csr.from_scipy(sp.csr_array(np.eye(2)))).nnz
    2
    """
    return csr_matrix(tuple(map(cp.asarray, (A.data, A.indices, A.indptr))), shape=A.shape)


def jacobi_system(system):
    """Return a :class:`~course_pkg.spmv.jacobi.JacobiSystem` in GPU memory, with E as a matrix of CuPy.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from course_pkg.spmv.jacobi import plain_system
    >>> jacobi_system(plain_system(sp.csr_array(np.eye(2)), np.ones(2))).E.nnz
    0
    """
    rows = None if system.rows is None else cp.asarray(system.rows)
    return replace(system, E=matrix(system.E), d=cp.asarray(system.d), b=cp.asarray(system.b), rows=rows)


_solve_row = cp.ElementwiseKernel("T b, T E_x, T d", "T out", "out = (b - E_x) / d", "solve_row")
_solve_and_scatter = cp.ElementwiseKernel(
    "T b, T E_x, T d, I place", "raw T out", "out[place] = (b - E_x) / d", "solve_and_scatter"
)


def jacobi_plain(system, x, out):
    """Compute ``out = (b - E x) / d``: the product by cuSPARSE, then one element-wise kernel.

    Parameters
    ----------
    system : JacobiSystem
        From :func:`jacobi_system`.
    x, out : cupy.ndarray, shape (n,)

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from course_pkg.spmv.jacobi import plain_system
    >>> A, b = sp.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]])), np.array([6.0, 18.0])
    >>> out = cp.empty(2)
    >>> jacobi_plain(jacobi_system(plain_system(A, b)), cp.array([2.0, 1.0]), out); out
    array([1.25, 1.75])
    """
    check_step(system, x, out, "plain", device=True)
    _solve_in_place(system, x, out)


def jacobi_row_permuted(system, x, out):
    """Compute ``out[rows] = (b - E x) / d``: as jacobi_plain, but the product is written to additional memory.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A, b = sp.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]])), np.array([6.0, 18.0])
    >>> system, out = system_of("row_permuted", A, b, np.array([1, 0])), cp.empty(2)
    >>> jacobi_row_permuted(jacobi_system(system), cp.array([2.0, 1.0]), out); out
    array([1.25, 1.75])
    """
    check_step(system, x, out, "row_permuted", device=True)
    E_x = cp.empty_like(out)  # memory from CuPy's pool, so only the first step calls the driver
    cusparse.spmv(system.E, x, y=E_x, alpha=1.0, beta=0.0)
    _solve_and_scatter(system.b, E_x, system.d, system.rows, out)


def jacobi_symmetric(system, x, out):
    """Compute ``out = (b - E x) / d``, with x and out in the permuted order.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A, b = sp.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]])), np.array([6.0, 18.0])
    >>> system, out = system_of("symmetric", A, b, np.array([1, 0])), cp.empty(2)
    >>> jacobi_symmetric(jacobi_system(system), cp.asarray(system.taken(np.array([2.0, 1.0]))), out)
    >>> system.given(out.get())
    array([1.25, 1.75])
    """
    check_step(system, x, out, "symmetric", device=True)
    _solve_in_place(system, x, out)


def _solve_in_place(system, x, out):
    cusparse.spmv(system.E, x, y=out, alpha=1.0, beta=0.0)
    _solve_row(system.b, out, system.d, out)
