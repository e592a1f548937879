"""The four ways to swap when x exists in two precisions, as CUDA kernels; ``course_pkg/spmv/swap.py`` explains them.

Kernels:
    row_product        y64 = A x32; or y64 = A float32(x64) if there is no x32 (``jacobi_rows.py``)
    swap_product_both  as row_product, and y32 = float32(y64), while y64 is still in a register
    copy_both          x32 = float32(y64), x64 = y64
    copy_rounded       x32 = float32(y64)

A step takes A and :class:`~course_pkg.spmv.swap.Vectors`, and returns the vectors with which the next step begins: the
same arrays, under other names where pointers are swapped. Host and device are not synchronised.
"""

from functools import cache, partial

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import blocks_for
from course_pkg.spmv.checks_swap import check_swap
from course_pkg.spmv.gpu_numba.jacobi_rows import (
    lanes_or,
    launch_rows,
    row_number,
    row_product_kernel,
    row_total,
)
from course_pkg.spmv.swap import Vectors
from course_pkg.spmv.tuning import THREADS_PER_BLOCK


@cache
def swap_product_both_kernel(lanes):
    """Return the kernel for rows that ``lanes`` threads share."""
    number_of, total_of = row_number(lanes), row_total(lanes)

    @cuda.jit
    def swap_product_both(indptr, indices, data, x32, y64, y32):
        """As row_product, but y32 is another array than x32, because other threads still read x32."""
        row = number_of()
        total = total_of(indptr, indices, data, x32, row)
        if row < y64.size and cuda.threadIdx.x % lanes == 0:
            y64[row] = total
            y32[row] = np.float32(total)

    return swap_product_both


@cuda.jit
def copy_both_kernel(y64, x32, x64):
    """Copy y64 to both precisions of x: 8 bytes are read and 12 written per row."""
    i = cuda.grid(1)
    if i < y64.size:
        value = y64[i]
        x32[i] = np.float32(value)
        x64[i] = value


@cuda.jit
def copy_rounded_kernel(y64, x32):
    """As copy_both, but x64 gets its new value by a swap of pointers: 8 bytes are read and 4 written per row."""
    i = cuda.grid(1)
    if i < y64.size:
        x32[i] = np.float32(y64[i])


def swap_naive(A, vectors, *, lanes=None):
    """Compute ``y64 = A x32``, then copy y64 to x32 and x64; no pointer is swapped. Two launches.

    Parameters
    ----------
    A : Csr
        float32 or float64 values, in GPU memory.
    vectors : Vectors
        In GPU memory; overwritten.
    lanes : int, optional
        Threads that share a row; by default, as many as suit the mean row.

    Returns
    -------
    Vectors
        The vectors for the next step.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.formats import Csr
    >>> from course_pkg.spmv.swap import vectors_for
    >>> A = Csr.from_scipy(scipy.sparse.csr_array(np.array([[0.5, 0.5], [0.0, 1.0]])), np.float32).to_device()
    >>> swap_naive(A, vectors_for("naive", np.array([1.0, 2.0])).to_device()).x64.copy_to_host()
    array([1.5, 2. ])
    """
    check_swap(A, vectors, "naive")
    _product(row_product_kernel, A, (vectors.x32, vectors.y64), lanes)
    _copy(copy_both_kernel, vectors.y64, vectors.x32, vectors.x64)
    return vectors


def swap_cast(A, vectors, *, lanes=None):
    """Compute ``y64 = A float32(x64)``, then swap the pointers of x64 and y64. One launch; gathers of 8 bytes.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.formats import Csr
    >>> from course_pkg.spmv.swap import vectors_for
    >>> A = Csr.from_scipy(scipy.sparse.csr_array(np.array([[0.5, 0.5], [0.0, 1.0]])), np.float32).to_device()
    >>> swap_cast(A, vectors_for("cast", np.array([1.0, 2.0])).to_device()).x64.copy_to_host()
    array([1.5, 2. ])
    """
    check_swap(A, vectors, "cast")
    _product(partial(row_product_kernel, rounded=True), A, (vectors.x64, vectors.y64), lanes)
    return Vectors(x64=vectors.y64, y64=vectors.x64)


def swap_fused(A, vectors, *, lanes=None):
    """Compute ``y64 = A x32`` and y32 in one kernel, then swap the pointers of both pairs. One launch.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.formats import Csr
    >>> from course_pkg.spmv.swap import vectors_for
    >>> A = Csr.from_scipy(scipy.sparse.csr_array(np.array([[0.5, 0.5], [0.0, 1.0]])), np.float32).to_device()
    >>> swap_fused(A, vectors_for("fused", np.array([1.0, 2.0])).to_device()).x32.copy_to_host()
    array([1.5, 2. ], dtype=float32)
    """
    check_swap(A, vectors, "fused")
    _product(swap_product_both_kernel, A, (vectors.x32, vectors.y64, vectors.y32), lanes)
    return Vectors(x64=vectors.y64, y64=vectors.x64, x32=vectors.y32, y32=vectors.x32)


def swap_hybrid(A, vectors, *, lanes=None):
    """Compute ``y64 = A x32``, copy y64 to x32, then swap the pointers of x64 and y64. Two launches.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.formats import Csr
    >>> from course_pkg.spmv.swap import vectors_for
    >>> A = Csr.from_scipy(scipy.sparse.csr_array(np.array([[0.5, 0.5], [0.0, 1.0]])), np.float32).to_device()
    >>> swap_hybrid(A, vectors_for("hybrid", np.array([1.0, 2.0])).to_device()).x64.copy_to_host()
    array([1.5, 2. ])
    """
    check_swap(A, vectors, "hybrid")
    _product(row_product_kernel, A, (vectors.x32, vectors.y64), lanes)
    _copy(copy_rounded_kernel, vectors.y64, vectors.x32)
    return Vectors(x64=vectors.y64, y64=vectors.x64, x32=vectors.x32)


def _product(kernel, A, vectors, lanes):
    lanes = lanes_or(lanes, A)
    launch_rows(kernel(lanes), A.shape[0], lanes, A.indptr, A.indices, A.data, *vectors)


def _copy(kernel, y64, *out):
    kernel[blocks_for(y64.shape[0], THREADS_PER_BLOCK), THREADS_PER_BLOCK](y64, *out)
