"""The product by rows of CSR: one thread per row, or several neighbouring lanes of a warp per row."""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.limits import ALL_LANES
from course_pkg.device.launch import blocks_for
from course_pkg.spmv.checks import check_product
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.tuning import LANES, THREADS_PER_BLOCK, lanes_for


@cuda.jit
def spmv_csr_scalar_kernel(indptr, indices, data, x, y):
    """One thread per row: the 32 threads of a warp read at 32 places, which lie a row's length apart."""
    row = cuda.grid(1)
    if row < y.size:
        total = y.dtype.type(0)
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[indices[k]]
        y[row] = total


def spmv_csr_scalar(A, x, y):
    """Compute ``y = A x`` on the GPU, one thread per row of CSR; no synchronisation.

    Parameters
    ----------
    A : Csr, in GPU memory
    x, y : device array, shape (columns,) and (rows,)

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = Csr.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))).to_device()
    >>> x, y = cuda.to_device(np.array([10.0, 1.0])), cuda.device_array(2)
    >>> spmv_csr_scalar(A, x, y); y.copy_to_host()
    array([41.,  2.])
    """
    check_product(A, x, y, Csr, device=True)
    blocks = blocks_for(y.size, THREADS_PER_BLOCK)
    spmv_csr_scalar_kernel[blocks, THREADS_PER_BLOCK](A.indptr, A.indices, A.data, x, y)


@cache
def spmv_csr_vector_kernel(lanes):
    """Return the kernel for rows that are shared by ``lanes`` neighbouring lanes: 2, 4, 8, 16 or 32."""
    steps = lanes.bit_length() - 1

    @cuda.jit
    def spmv_csr_vector(indptr, indices, data, x, y):
        """As scalar, but lanes share a row: they read neighbouring numbers; lanes beyond the row's end do nothing.

        Offsets are unsigned numbers of 32 bits, for which Numba makes fewer instructions than for signed ones.
        """
        thread = np.uint32(cuda.grid(1))
        row, lane = np.uint32(thread // np.uint32(lanes)), np.uint32(thread % np.uint32(lanes))
        total = y.dtype.type(0)
        if row < y.size:
            first = np.uint32(indptr[row] + lane)
            for k in range(first, np.uint32(indptr[np.uint32(row + 1)]), np.uint32(lanes)):
                total += data[k] * x[np.uint32(indices[k])]
        for step in range(steps):  # all lanes of the warp take part, also those without a row
            total += cuda.shfl_xor_sync(ALL_LANES, total, lanes >> (step + 1))
        if lane == 0 and row < y.size:
            y[row] = total

    return spmv_csr_vector


def spmv_csr_vector(A, x, y, lanes=None, stream=0):
    """Compute ``y = A x`` on the GPU, several lanes per row of CSR; no synchronisation.

    Parameters
    ----------
    A : Csr, in GPU memory
    x, y : device array, shape (columns,) and (rows,)
    lanes : int, optional
        Lanes per row: 2, 4, 8, 16, or 32 for a whole warp. By default, :func:`~course_pkg.spmv.tuning.lanes_for` of A.
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = Csr.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))).to_device()
    >>> x, y = cuda.to_device(np.array([10.0, 1.0])), cuda.device_array(2)
    >>> spmv_csr_vector(A, x, y, lanes=32); y.copy_to_host()
    array([41.,  2.])
    """
    check_product(A, x, y, Csr, device=True)
    lanes = lanes_for(A) if lanes is None else lanes
    if lanes not in LANES:
        raise CourseError(f"lanes is {lanes!r}: a row is shared by {', '.join(map(str, LANES))} lanes.")
    blocks = blocks_for(y.size, THREADS_PER_BLOCK // lanes)
    spmv_csr_vector_kernel(lanes)[blocks, THREADS_PER_BLOCK, stream](A.indptr, A.indices, A.data, x, y)
