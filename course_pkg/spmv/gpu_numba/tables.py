"""The product by tables that are stored column by column: a warp reads 32 neighbours, and uses every fetched byte.

In all kernels, a thread computes one row. All offsets are unsigned 32-bit integers. A signed index may count from the
end of an array, so Numba would test each one for this, in 64 bits.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.device.launch import blocks_for
from course_pkg.spmv.checks import check_product
from course_pkg.spmv.formats import Ell, EllR, SellCSigma
from course_pkg.spmv.tuning import THREADS_PER_BLOCK, unroll_for


@cuda.jit
def spmv_ell_kernel(width, indices, data, pitch, x, y):
    """One thread per row of a table: neighbouring threads read neighbours in each column, padding included."""
    row = np.uint32(cuda.grid(1))
    if row < y.size:
        total = y.dtype.type(0)
        k = row
        for _ in range(width):
            column = indices[k]
            if column >= 0:
                total += data[k] * x[np.uint32(column)]
            k = np.uint32(k + pitch)
        y[row] = total


def spmv_ell(A, x, y):
    """Compute ``y = A x`` on the GPU from a table as wide as the longest row; no synchronisation.

    Parameters
    ----------
    A : Ell, in GPU memory
    x, y : device array, shape (columns,) and (rows,)

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = Ell.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))).to_device()
    >>> x, y = cuda.to_device(np.array([10.0, 1.0])), cuda.device_array(2)
    >>> spmv_ell(A, x, y); y.copy_to_host()
    array([41.,  2.])
    """
    check_product(A, x, y, Ell, device=True)
    blocks = blocks_for(y.size, THREADS_PER_BLOCK)
    width, pitch = np.uint32(A.width), np.uint32(A.pitch)
    spmv_ell_kernel[blocks, THREADS_PER_BLOCK](width, A.indices, A.data, pitch, x, y)


@cuda.jit
def spmv_ellr_kernel(lengths, indices, data, pitch, x, y):
    """As ell, but each thread reads the length of its row (4 bytes) and stops there, so no padding is read."""
    row = np.uint32(cuda.grid(1))
    if row < y.size:
        total = y.dtype.type(0)
        for j in range(lengths[row]):
            k = np.uint32(row + np.uint32(j) * pitch)
            total += data[k] * x[np.uint32(indices[k])]
        y[row] = total


def spmv_ellr(A, x, y):
    """Compute ``y = A x`` on the GPU from a table with row lengths; no synchronisation.

    Parameters
    ----------
    A : EllR, in GPU memory
    x, y : device array, shape (columns,) and (rows,)

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = EllR.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))).to_device()
    >>> x, y = cuda.to_device(np.array([10.0, 1.0])), cuda.device_array(2)
    >>> spmv_ellr(A, x, y); y.copy_to_host()
    array([41.,  2.])
    """
    check_product(A, x, y, EllR, device=True)
    blocks = blocks_for(y.size, THREADS_PER_BLOCK)
    spmv_ellr_kernel[blocks, THREADS_PER_BLOCK](A.lengths, A.indices, A.data, np.uint32(A.pitch), x, y)


@cache
def spmv_sell_kernel(chunk, unroll, sorted_rows):
    """Return the kernel for slices of ``chunk`` rows; a thread requests ``unroll`` nonzeros of its row at a time."""

    @cuda.jit
    def spmv_sell(offsets, perm, indices, data, x, y):
        """As ell, but each slice is as wide as its own longest row. A thread asks for several nonzeros at a time.

        Beyond the slice's end, it loads its last nonzero once more, and does not use it. So there is no branch between
        the loads, and all of them are issued before the first one has arrived. Each nonzero is read only once, so it is
        loaded by ``ldcs``: it is evicted first, and x stays in the caches.
        """
        i = np.uint32(cuda.grid(1))
        if i < y.size:
            row = np.uint32(perm[i]) if sorted_rows else i  # loaded early: nothing waits for it at the end
            piece, lane = np.uint32(i // np.uint32(chunk)), np.uint32(i % np.uint32(chunk))
            k = np.uint32(offsets[piece] + lane)
            end = np.uint32(offsets[np.uint32(piece + 1)])
            last = np.uint32(end - np.uint32(chunk) + lane)
            zero = y.dtype.type(0)
            total = zero
            while k < end:
                for j in range(unroll):
                    wanted = np.uint32(k + np.uint32(j * chunk))
                    at = min(wanted, last)
                    column = cuda.ldcs(indices, at)
                    product = cuda.ldcs(data, at) * x[np.uint32(max(column, 0))]
                    total += product if wanted == at and column >= 0 else zero
                k = np.uint32(k + np.uint32(unroll * chunk))
            y[row] = total

    return spmv_sell


def spmv_sell(A, x, y, unroll=None, in_order=True):
    """Compute ``y = A x`` on the GPU from slices of rows that were sorted by length; no synchronisation.

    Parameters
    ----------
    A : SellCSigma, in GPU memory
    x, y : device array, shape (columns,) and (rows,)
    unroll : int, optional
        Nonzeros of a row that a thread loads before it uses one; by default,
        :func:`~course_pkg.spmv.tuning.unroll_for` of A.
    in_order : bool
        If True, each element of y goes to its row's place. If False, y stays sorted: ``y[i]`` is the result of row
        ``A.perm[i]``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = SellCSigma.from_scipy(sp.csr_array(np.array([[4.0, 0.0], [1.0, 2.0]])), sigma=2).to_device()
    >>> x, y = cuda.to_device(np.array([10.0, 1.0])), cuda.device_array(2)
    >>> spmv_sell(A, x, y); y.copy_to_host()
    array([40., 12.])
    >>> spmv_sell(A, x, y, in_order=False); y.copy_to_host()
    array([12., 40.])
    """
    check_product(A, x, y, SellCSigma, device=True)
    unroll = unroll_for(A) if unroll is None else unroll
    require_count(unroll=unroll)
    if unroll < 1:
        raise CourseError("unroll is 0: a thread asks for at least 1 nonzero at a time.")
    kernel = spmv_sell_kernel(A.chunk, int(unroll), bool(in_order and A.sigma > 1))
    blocks = blocks_for(y.size, THREADS_PER_BLOCK)
    kernel[blocks, THREADS_PER_BLOCK](A.offsets, A.perm, A.indices, A.data, x, y)
