"""The product with a matrix in two precisions as CUDA kernels; ``course_pkg/spmv/splitting.py`` explains both splits.

Kernels:
    splitting_rows_together     all rows in one launch: the float64 rows first, then the float32 ones
    splitting_rows              the rows of one precision; the results go to the rows' places in y
    splitting_entries_together  the float64 part and the float32 part of a row in one sum
    splitting_add               y = y + A_low x, after row_product has written y = A_high x

Each row is shared by ``lanes`` neighbouring threads. Sums are float64. Nothing synchronises.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.spmv.checks_splitting import check_split
from course_pkg.spmv.gpu_numba.jacobi_rows import (
    lanes_or,
    lanes_total,
    launch_rows,
    row_number,
    row_part,
    row_product_kernel,
    row_total,
)
from course_pkg.spmv.splitting import EntrySplit, RowSplit


@cache
def splitting_rows_together_kernel(lanes):
    """Return the kernel for rows that ``lanes`` threads share."""
    number_of, part_of, total_of = row_number(lanes), row_part(lanes), lanes_total(lanes)

    @cuda.jit
    def splitting_rows_together(
        high_indptr, high_indices, high_data, high_rows, low_indptr, low_indices, low_data, low_rows, x, y
    ):
        """A branch chooses the precision; at most one warp has rows of both, because they were sorted."""
        row = number_of()
        total, highs = 0.0, np.uint32(high_rows.size)
        if row < highs:
            total = part_of(high_indptr, high_indices, high_data, x, row)
        elif row < y.size:
            total = part_of(low_indptr, low_indices, low_data, x, np.uint32(row - highs))
        total = total_of(total)
        if row < y.size and cuda.threadIdx.x % lanes == 0:
            if row < highs:
                y[high_rows[row]] = total
            else:
                y[low_rows[np.uint32(row - highs)]] = total

    return splitting_rows_together


def splitting_rows_together(A, x, y, *, lanes=None):
    """Compute ``y = A x`` for a matrix with rows in two precisions; one launch.

    Parameters
    ----------
    A : RowSplit
        In GPU memory.
    x, y : device array, shape (columns,) and (rows,)
    lanes : int, optional
        Threads that share a row; by default, as many as suit the mean row.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.splitting import split_rows
    >>> A = split_rows(sp.csr_array(np.array([[4.0, 0.1], [0.0, 0.5]]))).to_device()
    >>> y = cuda.device_array(2)
    >>> splitting_rows_together(A, cuda.to_device(np.array([1.0, 10.0])), y); y.copy_to_host()
    array([5., 5.])
    """
    check_split(A, x, y, RowSplit)
    lanes = lanes_or(lanes, A)
    kernel = splitting_rows_together_kernel(lanes)
    launch_rows(kernel, A.shape[0], lanes, *_arrays(A.high), A.high_rows, *_arrays(A.low), A.low_rows, x, y)


@cache
def splitting_rows_kernel(lanes):
    """Return the kernel for rows that ``lanes`` threads share."""
    number_of, total_of = row_number(lanes), row_total(lanes)

    @cuda.jit
    def splitting_rows(indptr, indices, data, rows, x, y):
        """As splitting_rows_together, but each launch has rows of one precision, so no branch is needed."""
        row = number_of()
        total = total_of(indptr, indices, data, x, row)
        if row < rows.size and cuda.threadIdx.x % lanes == 0:
            y[rows[row]] = total

    return splitting_rows


def splitting_rows_apart(A, x, y, *, lanes=None):
    """Compute ``y = A x`` for a matrix with rows in two precisions; a launch for each precision that has rows.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.splitting import split_rows
    >>> A = split_rows(sp.csr_array(np.array([[4.0, 0.1], [0.0, 0.5]]))).to_device()
    >>> y = cuda.device_array(2)
    >>> splitting_rows_apart(A, cuda.to_device(np.array([1.0, 10.0])), y); y.copy_to_host()
    array([5., 5.])
    """
    check_split(A, x, y, RowSplit)
    lanes = lanes_or(lanes, A)
    for part, rows in ((A.high, A.high_rows), (A.low, A.low_rows)):
        if part.shape[0]:  # CUDA launches no empty grid
            launch_rows(splitting_rows_kernel(lanes), part.shape[0], lanes, *_arrays(part), rows, x, y)


@cache
def splitting_entries_together_kernel(lanes):
    """Return the kernel for rows that ``lanes`` threads share."""
    number_of, part_of, total_of = row_number(lanes), row_part(lanes), lanes_total(lanes)

    @cuda.jit
    def splitting_entries_together(
        high_indptr, high_indices, high_data, low_indptr, low_indices, low_data, x, y
    ):
        """Two short loops per row, one for each precision; their sums are added in a register."""
        row = number_of()
        total = 0.0
        if row < y.size:
            total = part_of(high_indptr, high_indices, high_data, x, row)
            total += part_of(low_indptr, low_indices, low_data, x, row)
        total = total_of(total)
        if row < y.size and cuda.threadIdx.x % lanes == 0:
            y[row] = total

    return splitting_entries_together


def splitting_entries_together(A, x, y, *, lanes=None):
    """Compute ``y = A_high x + A_low x``; one launch.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.splitting import split_entries
    >>> A = split_entries(sp.csr_array(np.array([[4.0, 0.1], [0.0, 0.5]]))).to_device()
    >>> y = cuda.device_array(2)
    >>> splitting_entries_together(A, cuda.to_device(np.array([1.0, 10.0])), y); y.copy_to_host()
    array([5., 5.])
    """
    check_split(A, x, y, EntrySplit)
    lanes = lanes_or(lanes, A)
    launch_rows(
        splitting_entries_together_kernel(lanes), A.shape[0], lanes, *_arrays(A.high), *_arrays(A.low), x, y
    )


@cache
def splitting_add_kernel(lanes):
    """Return the kernel for rows that ``lanes`` threads share."""
    number_of, total_of = row_number(lanes), row_total(lanes)

    @cuda.jit
    def splitting_add(indptr, indices, data, x, y):
        """As row_product, but y is read and written again: 16 bytes per row more than in a single launch."""
        row = number_of()
        total = total_of(indptr, indices, data, x, row)
        if row < y.size and cuda.threadIdx.x % lanes == 0:
            y[row] += total

    return splitting_add


def splitting_entries_apart(A, x, y, *, lanes=None):
    """Compute ``y = A_high x``, and then ``y = y + A_low x``; two launches.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.splitting import split_entries
    >>> A = split_entries(sp.csr_array(np.array([[4.0, 0.1], [0.0, 0.5]]))).to_device()
    >>> y = cuda.device_array(2)
    >>> splitting_entries_apart(A, cuda.to_device(np.array([1.0, 10.0])), y); y.copy_to_host()
    array([5., 5.])
    """
    check_split(A, x, y, EntrySplit)
    lanes = lanes_or(lanes, A)
    launch_rows(row_product_kernel(lanes), A.shape[0], lanes, *_arrays(A.high), x, y)
    launch_rows(splitting_add_kernel(lanes), A.shape[0], lanes, *_arrays(A.low), x, y)


def _arrays(part):
    return part.indptr, part.indices, part.data
