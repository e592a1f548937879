"""The products Q⁺x and Q⁻x where many x_j are 0: only the rows of Q of the others are read, and no entry in vain.

Q is symmetric, so column j of Q is row j, and the products are sums of rows: ``Q⁺x = Σ_j x_j · (row j of Q⁺)``. A
column that is left out is a whole row, which costs no bytes. This holds for all n sums, also for those of zeros, whose
gradient a solver must look at.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.qp.checks import check_split_product
from course_pkg.qp.gpu_numba.active import compact, lists
from course_pkg.qp.tuning import ROWS_AHEAD, THREADS_PER_BLOCK

WARPS = THREADS_PER_BLOCK // WARP


@cache
def split_product_listed_kernel(ahead):
    """Return the kernel whose warps ask for ``ahead`` rows at a time."""

    @cuda.jit
    def split_product_listed(Q, x, active, count, out):
        """A block per 32 columns, a lane per column: neighbours. The warps share the listed rows, then add up."""
        sums_plus = cuda.shared.array((WARPS, WARP), x.dtype)
        sums_minus = cuda.shared.array((WARPS, WARP), x.dtype)
        weights, entries = cuda.local.array(ahead, x.dtype), cuda.local.array(ahead, x.dtype)
        warp, lane = np.uint32(cuda.threadIdx.x // WARP), np.uint32(cuda.threadIdx.x % WARP)
        n, listed, zero = np.uint32(x.size), np.uint32(count[0]), x.dtype.type(0)
        i = np.uint32(np.uint32(cuda.blockIdx.x * WARP) + lane)
        column = min(i, np.uint32(n - 1))
        plus = minus = zero
        for begin in range(warp, listed, np.uint32(ahead * WARPS)):
            for u in range(ahead):
                wanted = np.uint32(begin + np.uint32(u * WARPS))
                j = np.uint32(active[min(wanted, np.uint32(listed - 1))])
                x_j = x[j]
                weights[u] = x_j if wanted < listed else zero  # beyond the end, the last row counts 0 times
                entries[u] = cuda.ldcs(Q, (j, column))
            for u in range(ahead):
                plus += max(entries[u], zero) * weights[u]
                minus += max(-entries[u], zero) * weights[u]
        sums_plus[warp, lane] = plus
        sums_minus[warp, lane] = minus
        cuda.syncthreads()
        if warp == 0 and i < n:
            for w in range(1, WARPS):
                plus += sums_plus[w, lane]
                minus += sums_minus[w, lane]
            out[0, i] = plus
            out[1, i] = minus

    return split_product_listed


def split_product_listed(Q, x, out, active=None, count=None, listed=False):
    """Compute ``out[0] = Q⁺x`` and ``out[1] = Q⁻x`` on the GPU; only rows of Q are read whose x_j is not 0.

    Parameters
    ----------
    Q : device array, shape (n, n)
        Symmetric.
    x : device array, shape (n,)
    out : device array, shape (2, n)
    active, count : device array, from :func:`~course_pkg.qp.gpu_numba.lists`, optional
        Allocated here when they are not given.
    listed : bool
        True if they already hold the list for this x, or for an earlier x that had fewer zeros.

    Examples
    --------
    >>> Q, x = cuda.to_device(np.array([[2.0, -1.0], [-1.0, 2.0]])), cuda.to_device(np.array([0.0, 3.0]))
    >>> out = cuda.device_array((2, 2))
    >>> split_product_listed(Q, x, out); out.copy_to_host()
    array([[0., 6.],
           [3., 0.]])
    """
    check_split_product(Q, x, out, device=True)
    if active is None or count is None:
        (active, count), listed = lists(x.size), False
    if not listed:
        compact(x, active, count)
    kernel = split_product_listed_kernel(ROWS_AHEAD)[-(-x.size // WARP), THREADS_PER_BLOCK]
    kernel(Q, x, active, count, out)
