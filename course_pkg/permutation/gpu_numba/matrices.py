"""Permutations of a matrix in compressed rows as CUDA kernels, in three steps.

row_lengths       how long is each row of the result?
(on the host)     their sums are the row pointers of the result
permute_rows      a warp copies a row to its new place
permute_symmetric as permute_rows, with new columns, and each entry at its place in the sorted row
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.checks import check_permute_matrix
from course_pkg.permutation.csr import CSR
from course_pkg.permutation.gpu_numba.vectors import THREADS_PER_BLOCK, invert

BLOCK_ROWS = (WARP, 8)  # each row of threads is a warp, and takes one row of the matrix


def to_device(A) -> CSR:
    """Copy a matrix in compressed rows to the GPU.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> to_device(csr_array(np.eye(2))).indices.copy_to_host()
    array([0, 1], dtype=int32)
    """
    return CSR(cuda.to_device(A.indptr), cuda.to_device(A.indices), cuda.to_device(A.data), A.shape)


def empty_like(A) -> CSR:
    """Return GPU memory for a matrix of the same shape, with as many entries of the same dtype, not initialised.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> empty_like(csr_array(np.eye(2))).indptr.shape
    (3,)
    """
    return CSR(*(cuda.device_array(a.shape, a.dtype) for a in (A.indptr, A.indices, A.data)), A.shape)


@cuda.jit
def row_lengths_kernel(perm, indptr, lengths):
    """One row per thread: the length of row i of the result is that of row ``perm[i]``."""
    i = cuda.grid(1)
    if i < perm.size:
        old = perm[i]
        lengths[i] = indptr[old + 1] - indptr[old]


@cuda.jit
def permute_rows_kernel(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    """One row per warp: its 32 lanes copy 32 neighbouring entries at a time, until the row ends."""
    i = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if i < perm.size:
        old = indptr[perm[i]]
        new = new_indptr[i]
        for k in range(cuda.threadIdx.x, new_indptr[i + 1] - new, WARP):
            new_indices[new + k] = indices[old + k]
            new_data[new + k] = data[old + k]


def permute_rows(perm, A, out):
    """Compute ``out = P A`` on the GPU. The host sums the lengths of the rows, so host and device synchronise.

    Parameters
    ----------
    perm : device array, shape (n,), int32 or int64
    A, out : CSR of device arrays
        :func:`to_device` and :func:`empty_like` make them.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = to_device(csr_array(np.array([[11.0, 12.0], [21.0, 0.0]]))); out = empty_like(A)
    >>> permute_rows(cuda.to_device(np.array([1, 0])), A, out); out.data.copy_to_host()
    array([21., 11., 12.])
    """
    check_permute_matrix(perm, A, out, device=True)
    _sum_lengths(perm, A, out)
    permute_rows_kernel[blocks_for(perm.size, BLOCK_ROWS[1]), BLOCK_ROWS](
        perm, A.indptr, A.indices, A.data, out.indptr, out.indices, out.data
    )


@cuda.jit
def permute_symmetric_kernel(perm, inverse, indptr, indices, data, new_indptr, new_indices, new_data):
    """As permute_rows, but each lane finds its entry's position by counting the entries of the row with lower columns.

    All lanes read the same entry at the same time, so that a row is read from memory once. The counting takes
    ``length²`` steps per row. This is little for rows with tens of entries, but too much for tens of thousands.
    """
    i = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if i < perm.size:
        old = indptr[perm[i]]
        new = new_indptr[i]
        length = new_indptr[i + 1] - new
        for k in range(cuda.threadIdx.x, length, WARP):
            column = inverse[indices[old + k]]
            place = new
            for other in range(length):
                if inverse[indices[old + other]] < column:
                    place += 1
            new_indices[place] = column
            new_data[place] = data[old + k]


def permute_symmetric(perm, A, out):
    """Compute ``out = P A Pᵀ`` on the GPU, with sorted columns; host and device synchronise.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = to_device(csr_array(np.array([[11.0, 12.0], [21.0, 0.0]]))); out = empty_like(A)
    >>> permute_symmetric(cuda.to_device(np.array([1, 0])), A, out); out.indices.copy_to_host()
    array([1, 0, 1], dtype=int32)
    """
    check_permute_matrix(perm, A, out, device=True, square=True)
    inverse = cuda.device_array(perm.size, np.int32)
    invert(perm, inverse)
    _sum_lengths(perm, A, out)
    permute_symmetric_kernel[blocks_for(perm.size, BLOCK_ROWS[1]), BLOCK_ROWS](
        perm, inverse, A.indptr, A.indices, A.data, out.indptr, out.indices, out.data
    )


def _sum_lengths(perm, A, out):
    """Write the row pointers of the result: lengths on the GPU, their sums on the host."""
    lengths = cuda.device_array(perm.size, np.int32)
    row_lengths_kernel[blocks_for(perm.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](perm, A.indptr, lengths)
    indptr = np.zeros(perm.size + 1, np.int32)
    np.cumsum(lengths.copy_to_host(), out=indptr[1:])
    out.indptr.copy_to_device(indptr)
