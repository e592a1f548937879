"""The product of a sparse matrix and a vector, compiled by Numba, on all cores: a fair competitor of the GPU."""

import numpy as np
from numba import get_num_threads, njit, prange

from course_pkg.core.parallel import parallel
from course_pkg.spmv.checks import check_product
from course_pkg.spmv.formats import Csr


@njit
def _row_at(indptr, work):
    """Return the first row before whose end there are at least so many nonzeros and rows, by bisection."""
    low, high = 0, indptr.size - 1
    while low < high:
        middle = (low + high) // 2
        if indptr[middle + 1] + middle < work:
            low = middle + 1
        else:
            high = middle
    return low


@parallel()
def _spmv(indptr, indices, data, x, y, shares):
    work = y.size + data.size
    for share in prange(shares):
        first = _row_at(indptr, share * work // shares)
        last = _row_at(indptr, (share + 1) * work // shares)
        # unsigned numbers, because Numba lets a negative index count from the end, and tests each one for it
        k = np.uint64(indptr[first])
        for row in range(first, last):
            total, end = y.dtype.type(0), np.uint64(indptr[row + 1])
            while k < end:
                total += data[k] * x[np.uint32(indices[k])]
                k += np.uint64(1)
            y[row] = total


def spmv(A, x, y):
    """Compute ``y = A x``; each nonzero and its column index are read once.

    Each core takes consecutive rows with an equal share of all nonzeros and rows together. One row is never divided.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A, y = Csr.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))), np.empty(2)
    >>> spmv(A, np.array([10.0, 1.0]), y); y
    array([41.,  2.])
    """
    check_product(A, x, y, Csr, device=False)
    _spmv(A.indptr, A.indices, A.data, x, y, get_num_threads())
