"""A tile of any halo and padding: the mean over a cross of points.

All threads of a block load the tile and its halo together. A thread need not load its own point.
"""

from functools import cache

from course_pkg import cuda
from course_pkg.core.checks import require_count
from course_pkg.device.launch import blocks_for, check_block, check_tile
from course_pkg.stencil.checks import check_cross

BLOCK_CROSS = (32, 8)


@cache
def cross_mean_tiled_kernel(block, halo, padding):
    """Return the kernel for a block (x, y), a halo, and a tile with ``padding`` unused columns."""
    bx, by = block
    width, height = bx + 2 * halo, by + 2 * halo
    shape, points = (height, width + padding), 4 * halo + 1

    @cuda.jit
    def cross_mean_tiled(u, out):
        """Unlike in laplacian_tiled, a thread may load any point of the tile, so the halo can have any width."""
        tile = cuda.shared.array(shape, u.dtype)
        ny, nx = u.shape
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = cuda.blockIdx.x * bx - halo, cuda.blockIdx.y * by - halo
        for ty in range(y, height, by):
            for tx in range(x, width, bx):
                i, j = left + tx, top + ty
                inside = i >= 0 and i < nx and j >= 0 and j < ny
                tile[ty, tx] = u[j, i] if inside else u.dtype.type(0)
        cuda.syncthreads()
        i, j = cuda.grid(2)
        if i < nx and j < ny:
            total = tile[y + halo, x + halo]
            for h in range(1, halo + 1):
                total += tile[y + halo, x + halo - h] + tile[y + halo, x + halo + h]
                total += tile[y + halo - h, x + halo] + tile[y + halo + h, x + halo]
            out[j, i] = total / u.dtype.type(points)

    return cross_mean_tiled


def cross_mean_tiled(u, halo, out, threads_per_block=BLOCK_CROSS, padding=0):
    """Compute the mean over a cross of ``4 halo + 1`` points from a tile in shared memory; u is zero outside the grid.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 5))), cuda.device_array((3, 5))
    >>> cross_mean_tiled(u, 1, out); out.copy_to_host()[1]
    array([0.8, 1. , 1. , 1. , 0.8])
    """
    check_cross(u, halo, out, device=True)
    block = check_block(threads_per_block, 2)
    require_count(padding=padding)
    check_tile(block, halo, u.dtype, padding=padding)
    kernel = cross_mean_tiled_kernel(block, int(halo), int(padding))
    kernel[blocks_for(u.shape, block), block](u, out)
