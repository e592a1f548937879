"""The moments of a pass: in one sweep, each block of threads writes its part of each sum; a small kernel adds these.

Kernels:
    moments_kernel   2 s + 1 dot products: a thread keeps all its sums, over its own points, in registers
    finish_kernel    adds the parts of all blocks in a fixed order: the same digits in every run

Every vector is read once, however many sums it takes part in. A library call for each product would read them again
each time. Offsets are unsigned numbers of 32 bits.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.device.sums import block_total, warp_sum
from course_pkg.sstep.checks import check_moments
from course_pkg.sstep.tuning import BLOCKS, THREADS, TILE

WARPS = THREADS // WARP


@cache
def moments_kernel(s):
    """Return the kernel for s vectors and the last product; each thread has s + 2 loads in flight at a time."""
    count = 2 * s + 1

    @cuda.jit
    def moments(block, r, partial):
        """Load each number once for all its sums: a thread keeps its part of every sum in a register to the end."""
        parts = cuda.shared.array((count, WARPS), np.float64)
        totals, q = cuda.local.array(count, np.float64), cuda.local.array(s, np.float64)
        for k in range(count):
            totals[k] = 0.0
        n, t = np.uint32(r.size), np.uint32(cuda.threadIdx.x)
        for i in range(np.uint32(cuda.grid(1)), n, np.uint32(cuda.gridsize(1))):
            for k in range(s):
                q[k] = block[np.uint32(np.uint32(k) * n + i)]
            last, here = np.float64(block[np.uint32(np.uint32(2 * s - 1) * n + i)]), np.float64(r[i])
            for k in range(s):
                totals[k] += q[k] * here
                totals[s + k] += q[k] * last
            totals[2 * s] += here * here
        for k in range(count):
            total = warp_sum(totals[k])
            if t % WARP == 0:
                parts[k, t // WARP] = total
        cuda.syncthreads()
        if t < count:
            total = 0.0
            for w in range(WARPS):
                total += parts[t, w]
            partial[np.uint32(t * cuda.gridDim.x + cuda.blockIdx.x)] = total

    return moments


@cuda.jit
def finish_kernel(partial, blocks, out):
    """Add up the parts of ``blocks`` blocks; there is one block for each sum."""
    total = 0.0
    for i in range(cuda.threadIdx.x, blocks, cuda.blockDim.x):
        total += partial[np.uint32(cuda.blockIdx.x * blocks + i)]
    total = block_total(total)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


def moments(block, r, out, partial=None, stream=0):
    """Compute 2 s + 1 sums on the GPU: s + 2 vectors are read once; no synchronisation.

    Parameters
    ----------
    block : device array, shape (2 s, n)
    r : device array, shape (n,)
    out : device array, shape (2 s + 1,), float64
    partial : device array, float64, optional
        Memory for the parts, from :func:`~course_pkg.sstep.gpu_numba.gram_matrix.parts`; by default, new memory.
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> block, r = cuda.to_device(np.array([[1.0, 1.0], [2.0, 4.0]])), cuda.to_device(np.array([1.0, 3.0]))
    >>> out = cuda.device_array(3)
    >>> moments(block, r, out); out.copy_to_host()
    array([ 4.,  6., 10.])
    """
    s = check_moments(block, r, out, device=True)
    blocks = blocks_of(r.size)
    partial = cuda.device_array((2 * s + 1) * blocks, np.float64) if partial is None else partial
    moments_kernel(s)[blocks, THREADS, stream](block.reshape(block.size), r, partial)
    finish_kernel[2 * s + 1, THREADS, stream](partial, np.int32(blocks), out)


def blocks_of(n: int) -> int:
    """Return the number of blocks for a sweep over n points: one wave, or fewer for short vectors.

    Examples
    --------
    >>> blocks_of(1000), blocks_of(10**8)
    (4, 528)
    """
    return min(BLOCKS, -(-n // THREADS))


@cuda.jit(device=True)
def tile_place(tile, side):
    """Return row and column of tile number ``tile``; tiles are numbered along the rows of the upper triangle."""
    row, rest = np.uint32(0), np.uint32(tile)
    while rest >= np.uint32(side - row):
        rest = np.uint32(rest - np.uint32(side - row))
        row = np.uint32(row + 1)
    return row, np.uint32(row + rest)


def tiles_of(count: int) -> int:
    """Return the number of tiles in the upper triangle of a matrix of ``count`` rows.

    Examples
    --------
    >>> tiles_of(4), tiles_of(5), tiles_of(65)
    (1, 3, 153)
    """
    side = -(-count // TILE)
    return side * (side + 1) // 2
