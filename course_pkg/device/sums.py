"""Sums of a warp and of a block, for kernels: device functions.

- ``warp_sum``: shuffles, no memory and no barrier
- ``block_total``: each warp sums by shuffles, then the first warp sums the warps' sums; one barrier
- ``leave_total``: ``block_total``, and thread 0 writes it to an array, at the index of the block

Nothing depends on which block comes first, so the last digit is the same in every run.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.core.limits import ALL_LANES

MOST_WARPS = 32  # of the largest block


@cuda.jit(device=True)
def warp_sum(value):
    """Return, in lane 0, the sum of ``value`` over the warp: five shuffles, no memory and no barrier."""
    for k in range(5):
        value += cuda.shfl_down_sync(ALL_LANES, value, 16 >> k)
    return value


@cuda.jit(device=True)
def block_total(value):
    """Return, in thread 0, the sum of ``value`` over a block of whole warps, of one or two dimensions."""
    sums = cuda.shared.array(MOST_WARPS, np.float64)
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    total = warp_sum(value)
    if t % WARP == 0:
        sums[t // WARP] = total
    cuda.syncthreads()
    if t < WARP:  # the whole first warp, because lanes without a number must take part in the shuffles, too
        total = 0.0
        if t < cuda.blockDim.x * cuda.blockDim.y // WARP:
            total = sums[t]
        total = warp_sum(total)
    return total


@cuda.jit(device=True)
def leave_total(value, partial):
    """Write the block's sum of ``value`` to ``partial``, at the index of the block."""
    total = block_total(value)
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        block = cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y
        partial[block * cuda.gridDim.x + cuda.blockIdx.x] = total
