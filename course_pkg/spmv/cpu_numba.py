"""The product of a sparse matrix and a vector, compiled by Numba, on all cores: a fair competitor of the GPU."""

import numpy as np
from numba import get_num_threads, njit, prange

from course_pkg.core.parallel import parallel
from course_pkg.spmv.checks import check_product
from course_pkg.spmv.checks_jacobi import check_step
from course_pkg.spmv.formats import Csr


@njit
def _row_at(indptr, work):
    """Return, by bisection, the first row at whose end nonzeros and rows together have reached a given number."""
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
        # unsigned, because Numba tests each signed index: a negative one counts from the end
        k = np.uint64(indptr[first])
        for row in range(first, last):
            total, end = y.dtype.type(0), np.uint64(indptr[row + 1])
            while k < end:
                total += data[k] * x[np.uint32(indices[k])]
                k += np.uint64(1)
            y[row] = total


def spmv(A, x, y):
    """Compute ``y = A x``; each nonzero and its column index are read once.

    Each core takes consecutive rows, so that all cores get about the same number of nonzeros plus rows. No row is
    divided.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A, y = Csr.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))), np.empty(2)
    >>> spmv(A, np.array([10.0, 1.0]), y); y
    array([41.,  2.])
    """
    check_product(A, x, y, Csr, device=False)
    _spmv(A.indptr, A.indices, A.data, x, y, get_num_threads())


@parallel()
def _jacobi(indptr, indices, data, d, b, rows, x, out):
    for row in prange(out.size):
        total = 0.0
        for k in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            total += np.float64(data[k]) * np.float64(x[np.uint32(indices[k])])
        place = np.int64(row)
        if rows is not None:  # decided when Numba compiles, which it does once for an array and once for None
            place = np.int64(rows[row])
        out[place] = (b[row] - total) / d[row]


def jacobi_plain(system, x, out):
    """Compute ``out = (b - E x) / d``; each core takes an equal share of the rows, and sums are float64.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.jacobi import plain_system
    >>> system = plain_system(sp.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]])), np.array([6.0, 18.0]))
    >>> out = np.empty(2)
    >>> jacobi_plain(system, np.array([2.0, 1.0]), out); out
    array([1.25, 1.75])
    """
    check_step(system, x, out, "plain", device=False)
    _sweep(system, x, out)


def jacobi_row_permuted(system, x, out):
    """Compute ``out[rows] = (b - E x) / d``: as jacobi_plain, but results of adjacent rows are written far apart.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A = sp.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system, out = system_of("row_permuted", A, np.array([6.0, 18.0]), np.array([1, 0])), np.empty(2)
    >>> jacobi_row_permuted(system, np.array([2.0, 1.0]), out); out
    array([1.25, 1.75])
    """
    check_step(system, x, out, "row_permuted", device=False)
    _sweep(system, x, out)


def jacobi_symmetric(system, x, out):
    """Compute ``out = (b - E x) / d``, with x and out in the permuted order; the loop is that of jacobi_plain.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A = sp.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system, out = system_of("symmetric", A, np.array([6.0, 18.0]), np.array([1, 0])), np.empty(2)
    >>> jacobi_symmetric(system, system.taken(np.array([2.0, 1.0])), out); system.given(out)
    array([1.25, 1.75])
    """
    check_step(system, x, out, "symmetric", device=False)
    _sweep(system, x, out)


def _sweep(system, x, out):
    E = system.E
    _jacobi(E.indptr, E.indices, E.data, system.d, system.b, system.rows, x, out)
