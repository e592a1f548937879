"""The Gram matrix of a pass: all products of 2 s + 1 vectors with 2 s + 1 others in one sweep.

Kernels:
    gram_warps_kernel    up to 28 vectors: one warp or more for each tile of up to 7 × 7 sums (``warps``)
    gram_kernel          more vectors: some threads for each tile of 4 × 4 sums (``tiles``)
    finish_gram_kernel   adds the parts of all blocks in a fixed order; writes the upper triangle of a matrix
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.device.sums import block_total
from course_pkg.sstep.checks import check_gram
from course_pkg.sstep.gpu_numba.sums import tile_place, tiles_of
from course_pkg.sstep.gpu_numba.tiles import gram_kernel, points_of
from course_pkg.sstep.gpu_numba.warps import Tiling, gram_warps_kernel
from course_pkg.sstep.tuning import BLOCKS, MOST_BY_WARPS, THREADS, TILE


@cache
def finish_gram_kernel(edge):
    """Return the kernel for tiles of ``edge`` × ``edge`` sums."""
    elements = edge * edge

    @cuda.jit
    def finish_gram(partial, blocks, out):
        """As finish, but a block adds up one element of a tile; none below the diagonal or behind r is written."""
        count = np.uint32(out.shape[0])
        side, e = np.uint32((count + edge - 1) // edge), np.uint32(cuda.blockIdx.x)
        row, column = tile_place(np.uint32(e // np.uint32(elements)), side)
        i = np.uint32(row * edge + np.uint32(e // np.uint32(edge)) % np.uint32(edge))
        j = np.uint32(column * edge + e % np.uint32(edge))
        total = 0.0
        for k in range(cuda.threadIdx.x, blocks, cuda.blockDim.x):
            total += partial[np.uint32(e * np.uint32(blocks) + np.uint32(k))]
        total = block_total(total)
        if cuda.threadIdx.x == 0 and i <= j and j < count:
            out[i, j] = total

    return finish_gram


def gram(old, fresh, r, out, partial=None, warps=None, stream=0):
    """Compute the Gram matrix of a pass on the GPU: every vector is read once; no synchronisation.

    Parameters
    ----------
    old, fresh : device array, shape (2 s, n)
        ``old`` may be None.
    r : device array, shape (n,)
    out : device array, shape (m + 1, m + 1), float64
        m is 2 s, or s without ``old``; only the upper triangle is written.
    partial : device array, float64, optional
        Memory for the parts, from :func:`parts`; by default, new memory.
    warps : bool, optional
        Whether whole warps compute a tile; by default they do for up to 28 vectors, including r.
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> fresh, r = cuda.to_device(np.array([[1.0, 1.0], [2.0, 4.0]])), cuda.to_device(np.array([1.0, 3.0]))
    >>> out = cuda.to_device(np.zeros((2, 2)))
    >>> gram(None, fresh, r, out); out.copy_to_host()
    array([[ 6.,  4.],
           [ 0., 10.]])
    """
    s = check_gram(old, fresh, r, out, device=True)
    count, first = out.shape[0], old is None
    partial = parts(s) if partial is None else partial
    flat = fresh.reshape(fresh.size)
    arguments = flat if first else old.reshape(old.size), flat, r, partial
    if warps if warps is not None else count <= MOST_BY_WARPS:
        plan = Tiling(s, first)
        blocks = min(BLOCKS, -(-r.size // plan.points))
        gram_warps_kernel(s, first)[blocks, plan.threads, stream](*arguments)
        left, edge, elements = blocks * plan.share, plan.edge, plan.sums
    else:
        left, edge, elements = (
            min(BLOCKS, -(-r.size // points_of(count))),
            TILE,
            tiles_of(count) * TILE * TILE,
        )
        gram_kernel(s, first)[left, THREADS, stream](*arguments)
    finish_gram_kernel(edge)[elements, THREADS, stream](partial, np.int32(left), out)


def parts(s: int):
    """Return device memory for the blocks' parts of the sums of a pass of s vectors: moments or a Gram matrix.

    Examples
    --------
    >>> parts(1).size // 528  # a tile of 16 sums, or 9 sums from each of 6 warps
    54
    """
    plans = (Tiling(s, first) for first in (True, False))
    by_warps = [plan.sums * plan.share for plan in plans if plan.count <= MOST_BY_WARPS]
    return cuda.device_array(max(*by_warps, tiles_of(2 * s + 1) * TILE * TILE, 0) * BLOCKS, np.float64)
