"""Sums over the rows of a CSR matrix, for kernels that do more than ``y = A x``: device functions, and a product.

``lanes`` neighbouring threads, a power of two up to 32, share a row. Products and sums are float64 for all precisions
of the values and of x. Kernels with the same ``lanes`` add in the same order, so they give the same bits.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.limits import ALL_LANES
from course_pkg.device.launch import blocks_for
from course_pkg.spmv.tuning import LANES, THREADS_PER_BLOCK, lanes_for

MOST_THREADS = 2**32 - THREADS_PER_BLOCK  # per launch, because thread numbers have 32 bits


@cache
def row_number(lanes):
    """Return the device function that gives a thread its row: ``lanes`` neighbours have the same one.

    Numbers and offsets are unsigned 32-bit integers. A signed index may count from the end of an array, so Numba would
    test each one for this, in 64 bits.

    Examples
    --------
    >>> row_number(4) is row_number(4)
    True
    """
    shift = check_lanes(lanes).bit_length() - 1

    @cuda.jit(device=True)
    def row_number_of():
        """Return the number of this thread's row, which may be beyond the last row."""
        return np.uint32(np.uint32(cuda.grid(1)) >> np.uint32(shift))

    return row_number_of


def launch_rows(kernel, rows: int, lanes: int, *arguments) -> None:
    """Launch a kernel with ``lanes`` threads per row.

    Examples
    --------
    >>> A = np.array([0, 2], np.int32), np.array([0, 1], np.int32), np.array([0.5, 0.25], np.float32)
    >>> y = np.empty(1)
    >>> launch_rows(row_product_kernel(2), 1, 2, *A, np.array([1.0, 2.0]), y); y
    array([1.])
    """
    if rows * check_lanes(lanes) > MOST_THREADS:
        raise CourseError(f"{rows} rows by {lanes} threads each exceed offsets of 32 bits: use fewer lanes.")
    kernel[blocks_for(rows, THREADS_PER_BLOCK // lanes), THREADS_PER_BLOCK](*arguments)


def check_lanes(lanes) -> int:
    """Return the number of lanes; raise an error unless it is a power of two up to 32.

    Examples
    --------
    >>> check_lanes(3)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: lanes is 3: a row is shared by 1, 2, 4, 8, 16 or 32 threads of a warp.
    """
    if lanes not in (1, *LANES):
        raise CourseError(f"lanes is {lanes!r}: a row is shared by 1, 2, 4, 8, 16 or 32 threads of a warp.")
    return int(lanes)


@cache
def row_part(lanes, rounded=False):
    """Return the device function that sums a thread's share of a row; if ``rounded``, x is cast to float32 first.

    Examples
    --------
    >>> row_part(4) is row_part(4)
    True
    """

    @cuda.jit(device=True)
    def part_of(indptr, indices, data, x, row):
        """Return the sum of ``data * x`` over every ``lanes``-th nonzero of a row, beginning with this thread's own."""
        total = 0.0
        first = np.uint32(indptr[row] + cuda.threadIdx.x % lanes)
        for k in range(first, np.uint32(indptr[np.uint32(row + 1)]), np.uint32(lanes)):
            x_k = x[np.uint32(indices[k])]
            if rounded:
                x_k = np.float32(x_k)
            total += np.float64(data[k]) * np.float64(x_k)
        return total

    return part_of


@cache
def lanes_total(lanes):
    """Return the device function that sums a number over the threads of a row; all threads of a warp must call it.

    Examples
    --------
    >>> lanes_total(4) is lanes_total(4)
    True
    """
    rounds = check_lanes(lanes).bit_length() - 1

    @cuda.jit(device=True)
    def total_of(value):
        """Return, in the first thread of a row, the sum over its threads: shuffles, no memory."""
        for k in range(rounds):
            value += cuda.shfl_down_sync(ALL_LANES, value, lanes >> (k + 1))
        return value

    return total_of


@cache
def row_total(lanes, rounded=False):
    """Return the device function that sums a row; all threads of a warp call it, also those beyond the last row.

    Examples
    --------
    >>> row_total(4) is row_total(4)
    True
    """
    part_of, total_of = row_part(lanes, rounded), lanes_total(lanes)

    @cuda.jit(device=True)
    def row_total_of(indptr, indices, data, x, row):
        """Return, in the first thread of a row, the sum of ``data * x`` over the row."""
        total = 0.0
        if np.uint32(row + 1) < indptr.size:
            total = part_of(indptr, indices, data, x, row)
        return total_of(total)

    return row_total_of


@cache
def row_product_kernel(lanes, rounded=False):
    """Return the kernel of ``y = A x`` for rows that ``lanes`` threads share; :func:`row_part` explains ``rounded``.

    Examples
    --------
    >>> row_product_kernel(4).py_func.__name__
    'row_product'
    """
    number_of, total_of = row_number(lanes), row_total(lanes, rounded)

    @cuda.jit
    def row_product(indptr, indices, data, x, y):
        """Products and sums are float64 for all precisions of A, x and y: casts add instructions, but no traffic."""
        row = number_of()
        total = total_of(indptr, indices, data, x, row)
        if row < y.size and cuda.threadIdx.x % lanes == 0:
            y[row] = total

    return row_product


def lanes_or(lanes, A) -> int:
    """Return ``lanes``; if it is None, the number of lanes that suits the mean row of A.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.formats import Csr
    >>> lanes_or(None, Csr.from_scipy(sp.csr_array(np.ones((10, 7)))))
    4
    """
    return lanes_for(A) if lanes is None else lanes
