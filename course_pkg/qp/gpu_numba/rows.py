"""Updates and the products Q⁺x and Q⁻x by one block for several rows of Q: every byte of Q is streamed once.

A thread owns some columns. It loads x_j once and multiplies it by the entries of ROWS rows, so that x, which comes
from the caches, is a small part of all loads. The loads of Q are marked as a stream, which leaves the caches to x.
Each thread has ROWS times UNROLL of them in flight at a time.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.device.sums import warp_sum
from course_pkg.qp.checks import check_split_product, check_update
from course_pkg.qp.gpu_numba.finish import finish_row
from course_pkg.qp.tuning import ROWS, THREADS_PER_BLOCK, UNROLL

WARPS = THREADS_PER_BLOCK // WARP


@cache
def sums_of_rows(rows, unroll):
    """Return the device function that puts each warp's parts of the sums of ``rows`` rows into shared memory."""

    @cuda.jit(device=True)
    def sums(Q, x, first, sums_plus, sums_minus):
        """Let the block multiply rows ``first`` to ``first + rows - 1`` by x; rows beyond the end are the last one."""
        n, t = np.uint32(x.size), np.uint32(cuda.threadIdx.x)
        last, zero = np.uint32(n - 1), x.dtype.type(0)
        plus, minus = cuda.local.array(rows, x.dtype), cuda.local.array(rows, x.dtype)
        columns, entries = cuda.local.array(unroll, x.dtype), cuda.local.array((unroll, rows), x.dtype)
        for r in range(rows):
            plus[r] = zero
            minus[r] = zero
        for begin in range(t, n, np.uint32(unroll * THREADS_PER_BLOCK)):
            for u in range(unroll):
                wanted = np.uint32(begin + np.uint32(u * THREADS_PER_BLOCK))
                # beyond the end, the last column counts 0 times: no branch between the loads
                j = min(wanted, last)
                x_j = x[j]
                columns[u] = x_j if wanted < n else zero
                for r in range(rows):
                    entries[u, r] = cuda.ldcs(Q, (min(np.uint32(first + np.uint32(r)), last), j))
            for u in range(unroll):
                for r in range(rows):
                    plus[r] += max(entries[u, r], zero) * columns[u]
                    minus[r] += max(-entries[u, r], zero) * columns[u]
        warp = np.uint32(t // WARP)
        for r in range(rows):
            total_plus, total_minus = warp_sum(plus[r]), warp_sum(minus[r])
            if t % WARP == 0:
                sums_plus[r, warp] = total_plus
                sums_minus[r, warp] = total_minus
        cuda.syncthreads()

    return sums


@cuda.jit(device=True)
def sum_of_warps(sums, r):
    """Return the sum of row r: the parts of all warps."""
    total = sums.dtype.type(0)
    for w in range(WARPS):
        total += sums[r, w]
    return total


@cache
def update_rows_kernel(rows, unroll):
    """Return the kernel whose blocks update ``rows`` unknowns; a thread asks for ``unroll`` columns at a time."""
    sums = sums_of_rows(rows, unroll)

    @cuda.jit
    def update_rows(Q, h, shift, x, out, parts):
        """A block per ``rows`` rows of Q; at the end a thread for each row adds up the warps' parts."""
        sums_plus = cuda.shared.array((rows, WARPS), x.dtype)
        sums_minus = cuda.shared.array((rows, WARPS), x.dtype)
        first, t = np.uint32(cuda.blockIdx.x * rows), np.uint32(cuda.threadIdx.x)
        sums(Q, x, first, sums_plus, sums_minus)
        i = np.uint32(first + t)
        if t < rows and i < x.size:
            plus, minus = sum_of_warps(sums_plus, t), sum_of_warps(sums_minus, t)
            finish_row(i, plus, minus, h[i], shift, x, out, parts)

    return update_rows


def update_rows(Q, h, shift, x, out, parts, rows=ROWS, unroll=UNROLL):
    """Compute one update and the parts F_i on the GPU, a block per ``rows`` rows; Q is read once, no synchronisation.

    Parameters
    ----------
    Q : device array, shape (n, n)
    h, shift, x, out, parts : device array, shape (n,)
    rows, unroll : int
        Rows of a block, and columns that a thread asks for at a time.

    Examples
    --------
    >>> Q, h, shift, x = map(cuda.to_device, (np.eye(2), np.array([-3.0, 1.0]), np.zeros(2), np.ones(2)))
    >>> out, parts = cuda.device_array(2), cuda.device_array(2)
    >>> update_rows(Q, h, shift, x, out, parts); out.copy_to_host(), parts.copy_to_host()
    (array([3., 0.]), array([-2.5,  1.5]))
    """
    check_update(Q, h, shift, x, out, parts, device=True)
    kernel = update_rows_kernel(rows, unroll)
    kernel[-(-x.size // rows), THREADS_PER_BLOCK](Q, h, shift, x, out, parts)


@cache
def split_product_kernel(rows, unroll):
    """Return the kernel of :func:`split_product`, with the same loop as :func:`update_rows_kernel`."""
    sums = sums_of_rows(rows, unroll)

    @cuda.jit
    def split_product(Q, x, out):
        """As update_rows, but the two sums of each row are the result."""
        sums_plus = cuda.shared.array((rows, WARPS), x.dtype)
        sums_minus = cuda.shared.array((rows, WARPS), x.dtype)
        first, t = np.uint32(cuda.blockIdx.x * rows), np.uint32(cuda.threadIdx.x)
        sums(Q, x, first, sums_plus, sums_minus)
        i = np.uint32(first + t)
        if t < rows and i < x.size:
            out[0, i] = sum_of_warps(sums_plus, t)
            out[1, i] = sum_of_warps(sums_minus, t)

    return split_product


def split_product(Q, x, out):
    """Compute ``out[0] = Q⁺x`` and ``out[1] = Q⁻x`` on the GPU; Q is read once, no synchronisation.

    Examples
    --------
    >>> Q, x = cuda.to_device(np.array([[2.0, -1.0], [-1.0, 2.0]])), cuda.to_device(np.array([1.0, 3.0]))
    >>> out = cuda.device_array((2, 2))
    >>> split_product(Q, x, out); out.copy_to_host()
    array([[2., 6.],
           [3., 1.]])
    """
    check_split_product(Q, x, out, device=True)
    split_product_kernel(ROWS, UNROLL)[-(-x.size // ROWS), THREADS_PER_BLOCK](Q, x, out)
