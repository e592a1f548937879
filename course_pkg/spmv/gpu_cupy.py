"""The product of a sparse matrix and a vector by cuSPARSE, through CuPy."""

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from cupyx import cusparse
from cupyx.scipy.sparse import csr_matrix

from course_pkg.core import CourseError
from course_pkg.spmv.checks import check_product


def spmv(A, x, y):
    """Compute ``y = A x`` by cuSPARSE, as ``A @ x`` does, but into an array that exists; one precision.

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
