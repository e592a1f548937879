"""The diffusion step in a plate (2-D), by the ideas that speed up the Laplacian.

Every kernel takes ``factor = dt lam / h²``, and leaves the boundary as it is. Where threads march along y, a block is
one row of threads, and each thread computes ``rows`` rows. All loads of a step are issued before the first of them is
used. The casts ``np.uint32`` are explained in ``indexing.py``.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import check_block
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.stencil.gpu_numba.indexing import check_march, column_2d, interior, launch_step, point_2d
from course_pkg.stencil.gpu_numba.marching import load_plane
from course_pkg.stencil.gpu_numba.plain import BLOCK_2D

BLOCK_MARCHING_2D, ROWS_MARCHING = (128, 1), 16
BLOCK_VECTORISED_2D, ROWS_VECTORISED = (64, 1), 4


@cache
def diffusion_step_2d_tiled_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, y)."""
    shape = block[1] + 2, block[0] + 2  # at most 3 × 1,026 numbers: the tile of every block fits

    @cuda.jit
    def diffusion_step_2d_tiled(T, Cp, factor, nx, ny, out):
        """As the plain step, but threads of a block exchange T through a tile. Cp is read once, so without a tile."""
        tile = cuda.shared.array(shape, T.dtype)
        i, j, c = point_2d(nx)
        x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
        zero, inside = T.dtype.type(0), i < nx and j < ny
        centre = T[c] if inside else zero
        capacity = Cp[c] if inside else zero
        load_plane(tile, T, centre, c, x, y, i, j, nx, ny)
        cuda.syncthreads()
        if inside:
            new = centre
            if interior(i, nx) and interior(j, ny):
                total = tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]
                total -= T.dtype.type(4) * centre
                new += factor * total / capacity
            out[c] = new

    return diffusion_step_2d_tiled


def diffusion_step_2d_tiled(T, Cp, lam, dt, h, out, threads_per_block=BLOCK_2D):
    """Compute one fused diffusion step from a tile in shared memory; each block reads its points and halo once.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), cuda.device_array((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d_tiled(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    block = check_block(threads_per_block, 2)
    launch_step(diffusion_step_2d_tiled_kernel(block), T, Cp, lam, dt, h, out, block)


@cuda.jit
def diffusion_step_2d_marching_kernel(T, Cp, factor, nx, ny, rows, out):
    """As the plain step, but a thread walks along y: each T is read once by its column, and used for three rows.

    ``ahead`` is ``needed`` only if this thread has another row to compute, and the row after that lies in the grid.
    """
    i, first, last, c = column_2d(nx, ny, rows, 1)
    if i < nx:
        zero = T.dtype.type(0)
        north = T[np.uint32(c - nx)] if first > 0 else zero
        centre = T[c]
        south = T[np.uint32(c + nx)] if np.uint32(first + 1) < ny else zero
        for j in range(first, last):
            needed = np.uint32(j + 1) < last and np.uint32(j + 2) < ny
            ahead = T[np.uint32(c + np.uint32(2 * nx))] if needed else zero
            new = centre
            if interior(i, nx) and interior(j, ny):
                west, east, capacity = T[np.uint32(c - 1)], T[np.uint32(c + 1)], Cp[c]
                total = west + east + north + south - T.dtype.type(4) * centre
                new += factor * total / capacity
            out[c] = new
            north, centre, south = centre, south, ahead
            c = np.uint32(c + nx)


def diffusion_step_2d_marching(
    T, Cp, lam, dt, h, out, threads_per_block=BLOCK_MARCHING_2D, rows=ROWS_MARCHING
):
    """Compute one fused diffusion step with a queue in registers: a thread loads each point of its column once.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), cuda.device_array((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d_marching(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    block = check_march(threads_per_block, rows, 2)
    launch_step(diffusion_step_2d_marching_kernel, T, Cp, lam, dt, h, out, block, length=rows)


@cuda.jit(device=True)
def load_row(tile, T, centre, c, x, i, nx):
    """Put a block's points of a row into its tile, and load the halo at its ends; zero outside the grid."""
    zero = T.dtype.type(0)
    # all loads are issued before the first store has to wait for one
    west = T[np.uint32(c - 1)] if x == 1 and i > 0 else zero
    east = T[np.uint32(c + 1)] if x == cuda.blockDim.x and np.uint32(i + 1) < nx else zero
    tile[x] = centre
    if x == 1:
        tile[0] = west
    if x == cuda.blockDim.x:
        tile[x + 1] = east


@cache
def diffusion_step_2d_marching_tiled_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, 1)."""
    length = block[0] + 2

    @cuda.jit
    def diffusion_step_2d_marching_tiled(T, Cp, factor, nx, ny, rows, out):
        """As marching, but both neighbours along x come from a tile of one row: fewer loads, two barriers per row."""
        tile = cuda.shared.array(length, T.dtype)
        i, first, last, c = column_2d(nx, ny, rows, 1)
        x, zero, inside = cuda.threadIdx.x + 1, T.dtype.type(0), i < nx
        north = T[np.uint32(c - nx)] if inside and first > 0 else zero
        centre = T[c] if inside else zero
        for j in range(first, last):
            south = T[np.uint32(c + nx)] if inside and np.uint32(j + 1) < ny else zero
            capacity = Cp[c] if inside else zero
            load_row(tile, T, centre, c, x, i, nx)
            cuda.syncthreads()
            if inside:
                new = centre
                if interior(i, nx) and interior(j, ny):
                    total = tile[x - 1] + tile[x + 1] + north + south - T.dtype.type(4) * centre
                    new += factor * total / capacity
                out[c] = new
            cuda.syncthreads()  # others may still read this row; the next one must not replace it yet
            north, centre = centre, south
            c = np.uint32(c + nx)

    return diffusion_step_2d_marching_tiled


def diffusion_step_2d_marching_tiled(
    T, Cp, lam, dt, h, out, threads_per_block=BLOCK_MARCHING_2D, rows=ROWS_MARCHING
):
    """Compute one fused diffusion step with a queue in registers and a row's tile in shared memory.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), cuda.device_array((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d_marching_tiled(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    block = check_march(threads_per_block, rows, 2)
    kernel = diffusion_step_2d_marching_tiled_kernel(block)
    launch_step(kernel, T, Cp, lam, dt, h, out, block, length=rows)


@cuda.jit
def diffusion_step_2d_vectorised_kernel(T, Cp, factor, nx, ny, rows, out):
    """As marching, but two points per thread: one access moves both. Each of the two may lie on the boundary."""
    i, first, last, c = column_2d(nx, ny, rows, 2)
    if i < nx:
        zero, four = T.dtype.type(0), T.dtype.type(4)
        north0 = north1 = zero
        if first > 0:
            north0, north1 = load_pair(T, np.uint32(c - nx))
        centre0, centre1 = load_pair(T, c)
        for j in range(first, last):
            south0 = south1 = zero
            if np.uint32(j + 1) < ny:
                south0, south1 = load_pair(T, np.uint32(c + nx))
            new0, new1 = centre0, centre1
            if interior(j, ny):
                capacity0, capacity1 = load_pair(Cp, c)
                west = T[np.uint32(c - 1)] if i > 0 else zero
                east = T[np.uint32(c + 2)] if np.uint32(i + 2) < nx else zero
                if i > 0:
                    total = west + centre1 + north0 + south0 - four * centre0
                    new0 += factor * total / capacity0
                if np.uint32(i + 2) < nx:
                    total = centre0 + east + north1 + south1 - four * centre1
                    new1 += factor * total / capacity1
            store_pair(out, c, new0, new1)
            north0, north1, centre0, centre1 = centre0, centre1, south0, south1
            c = np.uint32(c + nx)


def diffusion_step_2d_vectorised(
    T, Cp, lam, dt, h, out, threads_per_block=BLOCK_VECTORISED_2D, rows=ROWS_VECTORISED
):
    """Compute one fused diffusion step, two points per thread: accesses of 128 bits in fp64, 64 in fp32; nx is even.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), cuda.device_array((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d_vectorised(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    block = check_march(threads_per_block, rows, 2)
    launch_step(diffusion_step_2d_vectorised_kernel, T, Cp, lam, dt, h, out, block, length=rows, width=2)
