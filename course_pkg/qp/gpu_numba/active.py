"""Updates that skip zeros: an x_i that is 0 stays 0 and adds nothing to F, so its row and column of Q are not needed.

The kernels read only rows and columns of unknowns that are not 0. To test each x_j saves few bytes of a row, because
memory transfers whole sectors; and threads without work wait for the others. A list of the unknowns that
are not 0 (:func:`compact`) gives all threads work.

In these updates, a zero stays zero for ever. So a solver must also check its gradient: see ``Arrays.readmit``.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.core.checks import require_arrays, require_distinct, require_ndim, require_shape
from course_pkg.core.limits import ALL_LANES
from course_pkg.device.sums import block_total, warp_sum
from course_pkg.qp.checks import check_update
from course_pkg.qp.gpu_numba.finish import finish_row
from course_pkg.qp.tuning import (
    BLOCKS_COMPACTED,
    GATHERED,
    LISTED_TOGETHER,
    THREADS_COMPACTION,
    THREADS_PER_BLOCK,
)

WARPS = THREADS_PER_BLOCK // WARP
LISTED = THREADS_COMPACTION // WARP


@cuda.jit
def update_skip_kernel(Q, h, shift, x, out, parts):
    """A warp per row: it reads nothing if x_i is 0, and a lane reads no entry whose x_j is 0."""
    n = np.uint32(x.size)
    i = np.uint32(cuda.blockIdx.x * WARPS + cuda.threadIdx.x // WARP)
    lane, zero = np.uint32(cuda.threadIdx.x % WARP), x.dtype.type(0)
    if i < n and x[i] == zero:
        if lane == 0:
            out[i] = zero
            parts[i] = zero
    elif i < n:
        plus = minus = zero
        for j in range(lane, n, np.uint32(WARP)):
            x_j = x[j]
            if x_j != zero:
                q = Q[i, j]
                plus += max(q, zero) * x_j
                minus += max(-q, zero) * x_j
        plus, minus = warp_sum(plus), warp_sum(minus)
        if lane == 0:
            finish_row(i, plus, minus, h[i], shift, x, out, parts)


def update_skip(Q, h, shift, x, out, parts):
    """Compute one update and the parts F_i on the GPU, a warp per row; rows and columns of zeros are skipped.

    Parameters
    ----------
    Q : device array, shape (n, n)
    h, shift, x, out, parts : device array, shape (n,)

    Examples
    --------
    >>> Q, h, shift = map(cuda.to_device, (np.eye(2), np.array([-3.0, -1.0]), np.zeros(2)))
    >>> x, out, parts = cuda.to_device(np.array([1.0, 0.0])), cuda.device_array(2), cuda.device_array(2)
    >>> update_skip(Q, h, shift, x, out, parts); out.copy_to_host()
    array([3., 0.])
    """
    check_update(Q, h, shift, x, out, parts, device=True)
    update_skip_kernel[-(-x.size // WARPS), THREADS_PER_BLOCK](Q, h, shift, x, out, parts)


@cuda.jit
def compact_kernel(x, active, count):
    """List the indices of all x_i that are not 0, in order: one block; each warp has its own part of each round.

    A thread loads all its numbers of a round before it tests one. Ballots count the nonzeros of a warp, and the sum of
    the counts of earlier warps says where its part of the list begins: two barriers for each 16,384 unknowns.
    """
    found, flags = cuda.shared.array(LISTED, np.uint32), cuda.local.array(LISTED_TOGETHER, np.uint32)
    t, n = np.uint32(cuda.threadIdx.x), np.uint32(x.size)
    warp, lane, zero = np.uint32(t // WARP), np.uint32(t % WARP), x.dtype.type(0)
    below = np.uint32((np.uint32(1) << lane) - np.uint32(1))  # the lanes before this one
    before = np.uint32(0)  # listed in the rounds before
    for first in range(np.uint32(0), n, np.uint32(LISTED_TOGETHER * THREADS_COMPACTION)):
        begin = np.uint32(first + np.uint32(warp * (LISTED_TOGETHER * WARP)) + lane)
        for u in range(LISTED_TOGETHER):
            i = np.uint32(begin + np.uint32(u * WARP))
            flags[u] = i < n and x[min(i, np.uint32(n - 1))] != zero
        mine = np.uint32(0)
        for u in range(LISTED_TOGETHER):
            flags[u] = cuda.ballot_sync(ALL_LANES, flags[u])
            mine = np.uint32(mine + cuda.popc(flags[u]))
        if lane == 0:
            found[warp] = mine
        cuda.syncthreads()
        place, total = before, before
        for w in range(LISTED):
            if w < warp:
                place = np.uint32(place + found[w])
            total = np.uint32(total + found[w])
        for u in range(LISTED_TOGETHER):
            if flags[u] >> lane & np.uint32(1):
                active[np.uint32(place + np.uint32(cuda.popc(np.uint32(flags[u] & below))))] = np.uint32(
                    begin + np.uint32(u * WARP)
                )
            place = np.uint32(place + cuda.popc(flags[u]))
        before = total
        cuda.syncthreads()
    if t == 0:
        count[0] = before


def compact(x, active, count):
    """List the unknowns that are not 0 on the GPU: ``active[: count[0]]`` are their indices, in order; one block.

    Parameters
    ----------
    x : device array, shape (n,)
    active : device array, uint32, shape (n,)
    count : device array, uint32, shape (1,)

    Examples
    --------
    >>> x, (active, count) = cuda.to_device(np.array([0.0, 2.0, 0.0, 1.0])), lists(4)
    >>> compact(x, active, count); active.copy_to_host()[: count.copy_to_host()[0]]
    array([1, 3], dtype=uint32)
    """
    _check_lists(x, active, count)
    compact_kernel[1, THREADS_COMPACTION](x, active, count)


def lists(n: int):
    """Return device memory for the indices and the number of the unknowns that are not 0.

    Examples
    --------
    >>> [a.size for a in lists(5)]
    [5, 1]
    """
    return cuda.device_array(n, np.uint32), cuda.device_array(1, np.uint32)


@cache
def update_compacted_kernel(gathered):
    """Return the kernel whose threads load ``gathered`` numbers of a row at a time."""

    @cuda.jit
    def update_compacted(Q, h, shift, x, active, count, out, parts):
        """As update_skip, but rows and columns come from a list: no thread meets a zero, so all have work.

        Nor does a load of Q wait for a test of x_j: a thread has several in flight.
        """
        t, listed, zero = np.uint32(cuda.threadIdx.x), np.uint32(count[0]), x.dtype.type(0)
        columns, entries = cuda.local.array(gathered, x.dtype), cuda.local.array(gathered, x.dtype)
        for k in range(np.uint32(cuda.blockIdx.x), listed, np.uint32(cuda.gridDim.x)):
            i, last = np.uint32(active[k]), np.uint32(listed - 1)
            plus = minus = zero
            for begin in range(t, listed, np.uint32(gathered * THREADS_PER_BLOCK)):
                for u in range(gathered):
                    wanted = np.uint32(begin + np.uint32(u * THREADS_PER_BLOCK))
                    j = np.uint32(active[min(wanted, last)])
                    x_j = x[j]
                    columns[u] = x_j if wanted < listed else zero
                    entries[u] = Q[i, j]
                for u in range(gathered):
                    plus += max(entries[u], zero) * columns[u]
                    minus += max(-entries[u], zero) * columns[u]
            plus = block_total(plus)
            cuda.syncthreads()  # the sums of both share memory
            minus = block_total(minus)
            cuda.syncthreads()
            if t == 0:
                finish_row(i, x.dtype.type(plus), x.dtype.type(minus), h[i], shift, x, out, parts)
        for i in range(np.uint32(cuda.grid(1)), np.uint32(x.size), np.uint32(cuda.gridsize(1))):
            if x[i] == zero:
                out[i] = zero
                parts[i] = zero

    return update_compacted


def update_compacted(Q, h, shift, x, out, parts, active=None, count=None, listed=False):
    """Compute one update and the parts F_i on the GPU; only rows and columns of unknowns that are not 0 are read.

    Parameters
    ----------
    Q : device array, shape (n, n)
    h, shift, x, out, parts : device array, shape (n,)
    active, count : device array, from :func:`lists`, optional
        Allocated here when they are not given.
    listed : bool
        True if they already hold the list for this x, or for an earlier x that had fewer zeros.

    Examples
    --------
    >>> Q, h, shift = map(cuda.to_device, (np.eye(2), np.array([-3.0, -1.0]), np.zeros(2)))
    >>> x, out, parts = cuda.to_device(np.array([1.0, 0.0])), cuda.device_array(2), cuda.device_array(2)
    >>> update_compacted(Q, h, shift, x, out, parts); out.copy_to_host()
    array([3., 0.])
    """
    check_update(Q, h, shift, x, out, parts, device=True)
    if active is None or count is None:
        (active, count), listed = lists(x.size), False
    _check_lists(x, active, count)
    require_distinct(x=x, h=h, shift=shift, Q=Q, active=active, out=out)
    if not listed:
        compact_kernel[1, THREADS_COMPACTION](x, active, count)
    blocks = min(BLOCKS_COMPACTED, x.size)
    update_compacted_kernel(GATHERED)[blocks, THREADS_PER_BLOCK](Q, h, shift, x, active, count, out, parts)


def _check_lists(x, active, count):
    require_arrays(device=True, x=x)
    require_ndim(1, x=x)
    require_arrays(device=True, dtypes=("uint32",), active=active)
    require_arrays(device=True, dtypes=("uint32",), count=count)
    require_shape(x.shape, active=active)
    require_shape((1,), count=count)
    require_distinct(x=x, active=active, count=count)
