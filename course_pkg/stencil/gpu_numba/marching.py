"""The Laplacian by threads that march along z and keep the values that they have read in registers.

Each thread computes a chunk of ``planes`` planes. Where two chunks meet, planes are read by both threads. With longer
chunks, fewer planes are read twice; with shorter chunks, more threads are at work.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import blocks_for
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.stencil.gpu_numba.indexing import check_march, column, flattened
from course_pkg.stencil.tuning import planes_for

BLOCK_MARCHING, PLANES_MARCHING = (64, 4, 1), 16
BLOCK_VECTORISED = (64, 8, 1)


@cuda.jit
def laplacian_marching_kernel(u, nx, ny, nz, planes, out):
    """As the flat kernel, but a thread walks along z: each of its values is read once, and used for three planes.

    ``below``, ``centre`` and ``above`` are the queue. ``ahead`` is requested one plane early, so that it is loaded
    while this plane is computed. It is ``needed`` only if this thread has another plane to compute (``k + 1 < last``)
    whose upper neighbour lies in the grid (``k + 2 < nz``). Otherwise the load would be wasted, or out of bounds.
    Each ``np.uint32`` keeps an offset in 32 bits, where Numba would widen it to 64.
    """
    i, j, first, last, c = column(nx, ny, nz, planes, 1)
    if i < nx and j < ny:
        zero, plane = u.dtype.type(0), np.uint32(nx * ny)
        below = u[np.uint32(c - plane)] if first > 0 else zero
        centre = u[c]
        above = u[np.uint32(c + plane)] if np.uint32(first + 1) < nz else zero
        for k in range(first, last):
            needed = np.uint32(k + 1) < last and np.uint32(k + 2) < nz
            ahead = u[np.uint32(c + np.uint32(2 * plane))] if needed else zero
            west = u[np.uint32(c - 1)] if i > 0 else zero
            east = u[np.uint32(c + 1)] if np.uint32(i + 1) < nx else zero
            north = u[np.uint32(c - nx)] if j > 0 else zero
            south = u[np.uint32(c + nx)] if np.uint32(j + 1) < ny else zero
            out[c] = u.dtype.type(6) * centre - below - above - west - east - north - south
            below, centre, above = centre, above, ahead
            c = np.uint32(c + plane)


def laplacian_marching(u, out, threads_per_block=BLOCK_MARCHING, planes=PLANES_MARCHING):
    """Compute the 7-point Laplacian with a queue in registers: a thread loads each point of its column once.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> laplacian_marching(u, out); out.copy_to_host()[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    _launch(laplacian_marching_kernel, u, out, threads_per_block, planes)


@cuda.jit(device=True)
def load_plane(tile, u, centre, c, x, y, i, j, nx, ny):
    """Put a block's points of a plane into its tile, and load the halo around them; zero outside the grid."""
    zero, inside = u.dtype.type(0), i < nx and j < ny
    # all loads are issued before the first store has to wait for one
    west = u[np.uint32(c - 1)] if x == 1 and inside and i > 0 else zero
    east = u[np.uint32(c + 1)] if x == cuda.blockDim.x and inside and np.uint32(i + 1) < nx else zero
    north = u[np.uint32(c - nx)] if y == 1 and inside and j > 0 else zero
    south = u[np.uint32(c + nx)] if y == cuda.blockDim.y and inside and np.uint32(j + 1) < ny else zero
    tile[y, x] = centre
    if x == 1:
        tile[y, 0] = west
    if x == cuda.blockDim.x:
        tile[y, x + 1] = east
    if y == 1:
        tile[0, x] = north
    if y == cuda.blockDim.y:
        tile[y + 1, x] = south


@cache
def laplacian_marching_tiled_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, y, 1)."""
    shape = block[1] + 2, block[0] + 2

    @cuda.jit
    def laplacian_marching_tiled(u, nx, ny, nz, planes, out):
        """As marching, but threads exchange their values through a tile: fewer loads, and two barriers per plane."""
        tile = cuda.shared.array(shape, u.dtype)
        i, j, first, last, c = column(nx, ny, nz, planes, 1)
        x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
        zero, plane = u.dtype.type(0), np.uint32(nx * ny)
        inside = i < nx and j < ny
        below = u[np.uint32(c - plane)] if inside and first > 0 else zero
        centre = u[c] if inside else zero
        for k in range(first, last):
            above = u[np.uint32(c + plane)] if inside and np.uint32(k + 1) < nz else zero
            load_plane(tile, u, centre, c, x, y, i, j, nx, ny)
            cuda.syncthreads()
            if inside:
                total = u.dtype.type(6) * centre - below - above
                out[c] = total - tile[y, x - 1] - tile[y, x + 1] - tile[y - 1, x] - tile[y + 1, x]
            cuda.syncthreads()  # others may still read this plane; the next one must not replace it yet
            below, centre = centre, above
            c = np.uint32(c + plane)

    return laplacian_marching_tiled


def laplacian_marching_tiled(u, out, threads_per_block=BLOCK_MARCHING, planes=PLANES_MARCHING):
    """Compute the 7-point Laplacian with a queue in registers and a plane's tile in shared memory.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> laplacian_marching_tiled(u, out); out.copy_to_host()[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    block = check_march(threads_per_block, planes)  # at most 3 × 1,026 numbers: the tile of every block fits
    _launch(laplacian_marching_tiled_kernel(block), u, out, block, planes)


# With 32 registers per thread, 64 warps fit on a multiprocessor.
# The compiler would take 40, and only 48 would fit.
@cuda.jit(max_registers=32)
def laplacian_vectorised_kernel(u, nx, ny, nz, planes, out):
    """As marching, but two points per thread: one access moves both, so there are half as many loads and stores.

    Nothing is loaded one plane early: ``above`` is loaded in the step that uses it.
    """
    i, j, first, last, c = column(nx, ny, nz, planes, 2)
    if i < nx and j < ny:
        zero, six, plane = u.dtype.type(0), u.dtype.type(6), np.uint32(nx * ny)
        below0 = below1 = zero
        if first > 0:
            below0, below1 = load_pair(u, np.uint32(c - plane))
        centre0, centre1 = load_pair(u, c)
        for k in range(first, last):
            above0 = above1 = north0 = north1 = south0 = south1 = zero
            if np.uint32(k + 1) < nz:
                above0, above1 = load_pair(u, np.uint32(c + plane))
            if j > 0:
                north0, north1 = load_pair(u, np.uint32(c - nx))
            if np.uint32(j + 1) < ny:
                south0, south1 = load_pair(u, np.uint32(c + nx))
            west = u[np.uint32(c - 1)] if i > 0 else zero
            east = u[np.uint32(c + 2)] if np.uint32(i + 2) < nx else zero
            total0 = six * centre0 - below0 - above0 - west - centre1 - north0 - south0
            total1 = six * centre1 - below1 - above1 - centre0 - east - north1 - south1
            store_pair(out, c, total0, total1)
            below0, below1, centre0, centre1 = centre0, centre1, above0, above1
            c = np.uint32(c + plane)


def laplacian_vectorised(u, out, threads_per_block=BLOCK_VECTORISED, planes=None):
    """Compute the 7-point Laplacian, two points per thread: accesses of 128 bits in fp64, 64 in fp32; nx must be even.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> laplacian_vectorised(u, out); out.copy_to_host()[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    launch_vectorised(laplacian_vectorised_kernel, u, out, threads_per_block, planes)


def launch_marching(kernel, u, out, threads_per_block=BLOCK_MARCHING, planes=PLANES_MARCHING):
    """Launch the marching kernel, or the same kernel compiled in another way.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> launch_marching(laplacian_marching_kernel, u, out, planes=2); out.copy_to_host()[1, 1]
    array([1., 0., 0., 1.])
    """
    _launch(kernel, u, out, threads_per_block, planes)


def launch_vectorised(kernel, u, out, threads_per_block=BLOCK_VECTORISED, planes=None):
    """Launch the vectorised kernel, or the same kernel compiled in another way.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> launch_vectorised(laplacian_vectorised_kernel, u, out, planes=2); out.copy_to_host()[1, 1]
    array([1., 0., 0., 1.])
    """
    _launch(kernel, u, out, threads_per_block, planes, width=2)


def _launch(kernel, u, out, threads_per_block, planes, width=1):
    u_flat, sizes, out_flat = flattened(u, out, width)
    planes = planes_for(u) if planes is None else planes
    block = check_march(threads_per_block, planes)
    blocks = blocks_for(u.shape, block, planes=planes, width=width)
    kernel[blocks, block](u_flat, *sizes, np.uint32(min(planes, u.shape[0])), out_flat)
