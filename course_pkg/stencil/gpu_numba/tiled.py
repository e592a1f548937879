"""The Laplacian through shared memory, in small steps: each kernel adds one thing to the kernel before it.

Each tiled kernel is compiled for one size of block, because the compiler must know the size of the tile.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import blocks_for, check_block, check_tile
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.stencil.gpu_numba.indexing import column, flattened, point, with_halo

BLOCK_TILED = (32, 4, 2)


@cuda.jit
def centre_flat_kernel(u, nx, ny, nz, out):
    """The flat Laplacian without its neighbours: the same compulsory traffic, and one load."""
    i, j, k, c = point(nx, ny)
    if i < nx and j < ny and k < nz:
        out[c] = u.dtype.type(6) * u[c]


def centre_flat(u, out, threads_per_block=BLOCK_TILED):
    """Compute ``out = 6 u``, the Laplacian without its neighbours.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> centre_flat(u, out); out.copy_to_host()[1, 1]
    array([6., 6., 6., 6.])
    """
    _launch(centre_flat_kernel, u, out, threads_per_block)


@cuda.jit
def centre_pairs_kernel(u, nx, ny, nz, out):
    """As centre_flat, but one access moves two points: half as many loads and stores for the same bytes."""
    i, j, k, _, c = column(nx, ny, nz, cuda.blockDim.z, 2)
    k, c = np.uint32(k + cuda.threadIdx.z), np.uint32(c + np.uint32(cuda.threadIdx.z * np.uint32(nx * ny)))
    if i < nx and j < ny and k < nz:
        six = u.dtype.type(6)
        first, second = load_pair(u, c)
        store_pair(out, c, six * first, six * second)


def centre_pairs(u, out, threads_per_block=BLOCK_TILED):
    """Compute ``out = 6 u``, two points per thread; nx must be even.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> centre_pairs(u, out); out.copy_to_host()[1, 1]
    array([6., 6., 6., 6.])
    """
    _launch(centre_pairs_kernel, u, out, threads_per_block, width=2)


@cache
def centre_tiled_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, y, z)."""
    shape = block[2], block[1], block[0]

    @cuda.jit
    def centre_tiled(u, nx, ny, nz, out):
        """As centre_flat, but through a tile in shared memory: shows the cost of the tile and its barrier alone."""
        tile = cuda.shared.array(shape, u.dtype)
        x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
        i, j, k, c = point(nx, ny)
        inside = i < nx and j < ny and k < nz
        if inside:
            tile[z, y, x] = u[c]
        cuda.syncthreads()
        if inside:
            out[c] = u.dtype.type(6) * tile[z, y, x]

    return centre_tiled


def centre_tiled(u, out, threads_per_block=BLOCK_TILED):
    """Compute ``out = 6 u`` by way of shared memory.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> centre_tiled(u, out); out.copy_to_host()[1, 1]
    array([6., 6., 6., 6.])
    """
    _launch(centre_tiled_kernel, u, out, threads_per_block, halo=0)


@cuda.jit(device=True)
def load_tile(tile, u, c, i, j, k, nx, ny, nz):
    """Load a block's points and their halo; zero outside the grid. Threads at a face of the block load its halo."""
    x, y, z = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1, cuda.threadIdx.z + 1
    zero, plane = u.dtype.type(0), np.uint32(nx * ny)
    inside = i < nx and j < ny and k < nz
    # all loads are issued before the first store has to wait for one
    centre = u[c] if inside else zero
    west = u[np.uint32(c - 1)] if x == 1 and inside and i > 0 else zero
    east = u[np.uint32(c + 1)] if x == cuda.blockDim.x and inside and np.uint32(i + 1) < nx else zero
    north = u[np.uint32(c - nx)] if y == 1 and inside and j > 0 else zero
    south = u[np.uint32(c + nx)] if y == cuda.blockDim.y and inside and np.uint32(j + 1) < ny else zero
    below = u[np.uint32(c - plane)] if z == 1 and inside and k > 0 else zero
    above = u[np.uint32(c + plane)] if z == cuda.blockDim.z and inside and np.uint32(k + 1) < nz else zero
    tile[z, y, x] = centre
    if x == 1:
        tile[z, y, 0] = west
    if x == cuda.blockDim.x:
        tile[z, y, x + 1] = east
    if y == 1:
        tile[z, 0, x] = north
    if y == cuda.blockDim.y:
        tile[z, y + 1, x] = south
    if z == 1:
        tile[0, y, x] = below
    if z == cuda.blockDim.z:
        tile[z + 1, y, x] = above


@cache
def centre_tiled_halo_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, y, z)."""
    shape = with_halo(block)

    @cuda.jit
    def centre_tiled_halo(u, nx, ny, nz, out):
        """As centre_tiled, but the halo is loaded, too; no thread uses it, so this shows the cost of the halo alone."""
        tile = cuda.shared.array(shape, u.dtype)
        i, j, k, c = point(nx, ny)
        load_tile(tile, u, c, i, j, k, nx, ny, nz)
        cuda.syncthreads()
        if i < nx and j < ny and k < nz:
            x, y, z = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1, cuda.threadIdx.z + 1
            out[c] = u.dtype.type(6) * tile[z, y, x]

    return centre_tiled_halo


def centre_tiled_halo(u, out, threads_per_block=BLOCK_TILED):
    """Compute ``out = 6 u`` by way of shared memory, with a halo that no thread reads.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> centre_tiled_halo(u, out); out.copy_to_host()[1, 1]
    array([6., 6., 6., 6.])
    """
    _launch(centre_tiled_halo_kernel, u, out, threads_per_block, halo=1)


@cache
def laplacian_tiled_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, y, z)."""
    shape = with_halo(block)

    @cuda.jit
    def laplacian_tiled(u, nx, ny, nz, out):
        """As centre_tiled_halo, but the neighbours are read from the tile, instead of from L1 as in the flat kernel."""
        tile = cuda.shared.array(shape, u.dtype)
        i, j, k, c = point(nx, ny)
        load_tile(tile, u, c, i, j, k, nx, ny, nz)
        cuda.syncthreads()
        if i < nx and j < ny and k < nz:
            x, y, z = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1, cuda.threadIdx.z + 1
            total = u.dtype.type(6) * tile[z, y, x] - tile[z, y, x - 1] - tile[z, y, x + 1]
            total -= tile[z, y - 1, x] + tile[z, y + 1, x]
            out[c] = total - tile[z - 1, y, x] - tile[z + 1, y, x]

    return laplacian_tiled


def laplacian_tiled(u, out, threads_per_block=BLOCK_TILED):
    """Compute the 7-point Laplacian from a tile in shared memory; each block reads its points and its halo once.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> laplacian_tiled(u, out); out.copy_to_host()[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    _launch(laplacian_tiled_kernel, u, out, threads_per_block, halo=1)


def _launch(kernel, u, out, threads_per_block, halo=None, width=1):
    """Check the arguments, choose the kernel for the block, and launch it; ``halo`` is None if there is no tile."""
    u_flat, sizes, out_flat = flattened(u, out, width)
    block = check_block(threads_per_block)
    if halo is not None:
        check_tile(block, halo, u.dtype)
        kernel = kernel(block)
    blocks = blocks_for(u.shape, block, width=width)
    kernel[blocks, block](u_flat, *sizes, out_flat)
