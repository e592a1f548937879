"""The diffusion step in a block (3-D), by the ideas that speed up the Laplacian.

Every kernel takes ``factor = dt lam / h²``, and leaves the boundary as it is. Where threads march along z, the threads
of a block lie in one plane, and each computes ``planes`` planes. All loads of a step are issued before the first of
them is used. The casts ``np.uint32`` are explained in ``indexing.py``.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import check_block, check_tile
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.stencil.checks import check_step
from course_pkg.stencil.gpu_numba.indexing import check_march, column, interior, launch_step, point, with_halo
from course_pkg.stencil.gpu_numba.marching import (
    BLOCK_MARCHING,
    PLANES_MARCHING,
    load_plane,
)
from course_pkg.stencil.gpu_numba.plain import BLOCK_3D
from course_pkg.stencil.gpu_numba.tiled import load_tile

BLOCK_VECTORISED_3D, PLANES_VECTORISED_3D = (64, 4, 1), 16


@cache
def diffusion_step_3d_tiled_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, y, z)."""
    shape = with_halo(block)

    @cuda.jit
    def diffusion_step_3d_tiled(T, Cp, factor, nx, ny, nz, out):
        """As the plain step, but threads of a block exchange T through a tile. Cp is read once, so without a tile."""
        tile = cuda.shared.array(shape, T.dtype)
        i, j, k, c = point(nx, ny)
        inside = i < nx and j < ny and k < nz
        capacity = Cp[c] if inside else T.dtype.type(0)
        load_tile(tile, T, c, i, j, k, nx, ny, nz)
        cuda.syncthreads()
        if inside:
            x, y, z = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1, cuda.threadIdx.z + 1
            new = centre = tile[z, y, x]
            if interior(i, nx) and interior(j, ny) and interior(k, nz):
                total = tile[z, y, x - 1] + tile[z, y, x + 1] + tile[z, y - 1, x] + tile[z, y + 1, x]
                total += tile[z - 1, y, x] + tile[z + 1, y, x] - T.dtype.type(6) * centre
                new += factor * total / capacity
            out[c] = new

    return diffusion_step_3d_tiled


def diffusion_step_3d_tiled(T, Cp, lam, dt, h, out, threads_per_block=BLOCK_3D):
    """Compute one fused diffusion step from a tile in shared memory; each block reads its points and halo once.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 3, 4)), np.ones((3, 3, 4)), cuda.device_array((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d_tiled(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    block = check_block(threads_per_block)
    check_step(3, T, Cp, lam, dt, h, out, device=True)
    check_tile(block, 1, T.dtype)
    launch_step(diffusion_step_3d_tiled_kernel(block), T, Cp, lam, dt, h, out, block)


@cuda.jit
def diffusion_step_3d_marching_kernel(T, Cp, factor, nx, ny, nz, planes, out):
    """As the plain step, but a thread walks along z: each T is read once by its column, and used for three planes.

    ``ahead`` is ``needed`` only if this thread has another plane to compute, whose upper neighbour lies in the grid.
    """
    i, j, first, last, c = column(nx, ny, nz, planes, 1)
    if i < nx and j < ny:
        zero, plane = T.dtype.type(0), np.uint32(nx * ny)
        below = T[np.uint32(c - plane)] if first > 0 else zero
        centre = T[c]
        above = T[np.uint32(c + plane)] if np.uint32(first + 1) < nz else zero
        for k in range(first, last):
            needed = np.uint32(k + 1) < last and np.uint32(k + 2) < nz
            ahead = T[np.uint32(c + np.uint32(2 * plane))] if needed else zero
            new = centre
            if interior(i, nx) and interior(j, ny) and interior(k, nz):
                west, east, capacity = T[np.uint32(c - 1)], T[np.uint32(c + 1)], Cp[c]
                north, south = T[np.uint32(c - nx)], T[np.uint32(c + nx)]
                total = west + east + north + south + below + above - T.dtype.type(6) * centre
                new += factor * total / capacity
            out[c] = new
            below, centre, above = centre, above, ahead
            c = np.uint32(c + plane)


def diffusion_step_3d_marching(
    T, Cp, lam, dt, h, out, threads_per_block=BLOCK_MARCHING, planes=PLANES_MARCHING
):
    """Compute one fused diffusion step with a queue in registers: a thread loads each point of its column once.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 3, 4)), np.ones((3, 3, 4)), cuda.device_array((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d_marching(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    block = check_march(threads_per_block, planes)
    launch_step(diffusion_step_3d_marching_kernel, T, Cp, lam, dt, h, out, block, length=planes)


@cache
def diffusion_step_3d_marching_tiled_kernel(block):
    """Return the kernel for blocks of ``block`` threads (x, y, 1)."""
    shape = block[1] + 2, block[0] + 2  # at most 3 × 1,026 numbers: the tile of every block fits

    @cuda.jit
    def diffusion_step_3d_marching_tiled(T, Cp, factor, nx, ny, nz, planes, out):
        """As marching, but the four neighbours in the plane come from the block's tile: two barriers per plane."""
        tile = cuda.shared.array(shape, T.dtype)
        i, j, first, last, c = column(nx, ny, nz, planes, 1)
        x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
        zero, plane, inside = T.dtype.type(0), np.uint32(nx * ny), i < nx and j < ny
        below = T[np.uint32(c - plane)] if inside and first > 0 else zero
        centre = T[c] if inside else zero
        for k in range(first, last):
            above = T[np.uint32(c + plane)] if inside and np.uint32(k + 1) < nz else zero
            capacity = Cp[c] if inside else zero
            load_plane(tile, T, centre, c, x, y, i, j, nx, ny)
            cuda.syncthreads()
            if inside:
                new = centre
                if interior(i, nx) and interior(j, ny) and interior(k, nz):
                    total = tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]
                    total += below + above - T.dtype.type(6) * centre
                    new += factor * total / capacity
                out[c] = new
            cuda.syncthreads()  # others may still read this plane; the next one must not replace it yet
            below, centre = centre, above
            c = np.uint32(c + plane)

    return diffusion_step_3d_marching_tiled


def diffusion_step_3d_marching_tiled(
    T, Cp, lam, dt, h, out, threads_per_block=BLOCK_MARCHING, planes=PLANES_MARCHING
):
    """Compute one fused diffusion step with a queue in registers and a plane's tile in shared memory.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 3, 4)), np.ones((3, 3, 4)), cuda.device_array((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d_marching_tiled(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    block = check_march(threads_per_block, planes)
    kernel = diffusion_step_3d_marching_tiled_kernel(block)
    launch_step(kernel, T, Cp, lam, dt, h, out, block, length=planes)


@cuda.jit
def diffusion_step_3d_vectorised_kernel(T, Cp, factor, nx, ny, nz, planes, out):
    """As marching, but two points per thread: one access moves both. Each of the two may lie on the boundary."""
    i, j, first, last, c = column(nx, ny, nz, planes, 2)
    if i < nx and j < ny:
        zero, six, plane = T.dtype.type(0), T.dtype.type(6), np.uint32(nx * ny)
        below0 = below1 = zero
        if first > 0:
            below0, below1 = load_pair(T, np.uint32(c - plane))
        centre0, centre1 = load_pair(T, c)
        for k in range(first, last):
            above0 = above1 = zero
            if np.uint32(k + 1) < nz:
                above0, above1 = load_pair(T, np.uint32(c + plane))
            new0, new1 = centre0, centre1
            if interior(j, ny) and interior(k, nz):
                capacity0, capacity1 = load_pair(Cp, c)
                north0, north1 = load_pair(T, np.uint32(c - nx))
                south0, south1 = load_pair(T, np.uint32(c + nx))
                west = T[np.uint32(c - 1)] if i > 0 else zero
                east = T[np.uint32(c + 2)] if np.uint32(i + 2) < nx else zero
                if i > 0:
                    total = west + centre1 + north0 + south0 + below0 + above0 - six * centre0
                    new0 += factor * total / capacity0
                if np.uint32(i + 2) < nx:
                    total = centre0 + east + north1 + south1 + below1 + above1 - six * centre1
                    new1 += factor * total / capacity1
            store_pair(out, c, new0, new1)
            below0, below1, centre0, centre1 = centre0, centre1, above0, above1
            c = np.uint32(c + plane)


def diffusion_step_3d_vectorised(
    T, Cp, lam, dt, h, out, threads_per_block=BLOCK_VECTORISED_3D, planes=PLANES_VECTORISED_3D
):
    """Compute one fused diffusion step, two points per thread: accesses of 128 bits in fp64, 64 in fp32; nx is even.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 3, 4)), np.ones((3, 3, 4)), cuda.device_array((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d_vectorised(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    block = check_march(threads_per_block, planes)
    launch_step(diffusion_step_3d_vectorised_kernel, T, Cp, lam, dt, h, out, block, length=planes, width=2)
