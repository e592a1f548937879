"""Where a thread's point lies in a grid that is seen as a vector: offsets of 32 bits, counted from the first point.

Numba computes the sum or product of two 32-bit integers in 64 bits. A GPU computes addresses in 32 bits with fewer
instructions, so the kernels cast each intermediate result back: that is what every ``np.uint32(…)`` is for.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.device.launch import blocks_for, check_block
from course_pkg.stencil.checks import check_laplacian, check_pairs, check_points, check_step

MARCHES = {
    2: ("y", "row"),
    3: ("z", "plane"),
}  # by number of dimensions: the direction of a march, and what a thread computes in one step


@cuda.jit(device=True)
def point(nx, ny):
    """Return this thread's i, j, k, and the offset of its point."""
    i = np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    j = np.uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    k = np.uint32(cuda.blockIdx.z * cuda.blockDim.z + cuda.threadIdx.z)
    return i, j, k, np.uint32(np.uint32(np.uint32(k * ny) + j) * nx + i)


@cuda.jit(device=True)
def column(nx, ny, nz, planes, width):
    """Return where this thread's column begins: i, j, its first plane, the plane after its last, and the offset.

    Neighbouring threads are ``width`` points apart along x.
    """
    i = np.uint32(width * np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
    j = np.uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    first = np.uint32(cuda.blockIdx.z * planes)
    last = min(np.uint32(first + planes), nz)
    return i, j, first, last, np.uint32(np.uint32(np.uint32(first * ny) + j) * nx + i)


@cuda.jit(device=True)
def point_2d(nx):
    """Return this thread's i, j, and the offset of its point in a plane."""
    i = np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    j = np.uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    return i, j, np.uint32(np.uint32(j * nx) + i)


@cuda.jit(device=True)
def column_2d(nx, ny, rows, width):
    """Return where this thread's column begins in a plane: i, its first row, the row after its last, and the offset.

    Neighbouring threads are ``width`` points apart along x.
    """
    i = np.uint32(width * np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
    first = np.uint32(cuda.blockIdx.y * rows)
    last = min(np.uint32(first + rows), ny)
    return i, first, last, np.uint32(np.uint32(first * nx) + i)


@cuda.jit(device=True)
def interior(i, n):
    """Return whether point ``i`` of a row of ``n`` points has a neighbour on both sides."""
    return i > 0 and np.uint32(i + 1) < n


def flattened(u, out, width=1):
    """Check the grids of a Laplacian for ``width`` points per thread; return vectors, and (nx, ny, nz) as uint32.

    Raises
    ------
    CourseError
        If they do not fit, or hold more points than 32 bits can count.
    """
    check_laplacian(u, out, device=True)
    check_points(u)
    if width == 2:
        check_pairs(u, out)
    nx, ny, nz = (np.uint32(n) for n in reversed(u.shape))
    return u.reshape(u.size), (nx, ny, nz), out.reshape(out.size)


def launch_step(kernel, T, Cp, lam, dt, h, out, block, *, length=None, width=1) -> None:
    """Check the grids of a diffusion step, cover them with blocks, and launch a kernel that takes them as vectors.

    Parameters
    ----------
    block : tuple of int
        Checked by :func:`check_block` or :func:`check_march`; as many numbers as the grids have dimensions.
    length : int, optional
        Rows or planes that a thread computes when it marches.
    width : int
        Points along x that a thread computes: 1, or 2 for pairs.

    Raises
    ------
    CourseError
        If they do not fit, hold more points than 32 bits can count, or cannot be taken in pairs.
    """
    ndim = len(block)
    check_step(ndim, T, Cp, lam, dt, h, out, device=True)
    check_points(T, "T", f"diffusion_step_{ndim}d")
    if width == 2:
        check_pairs(T, Cp, out)
    sizes = [np.uint32(n) for n in reversed(T.shape)]
    if length is not None:
        sizes.append(np.uint32(min(length, T.shape[0])))
    factor = T.dtype.type(dt * lam / h**2)
    blocks = blocks_for(T.shape, block, planes=length, width=width)
    kernel[blocks, block](T.reshape(T.size), Cp.reshape(Cp.size), factor, *sizes, out.reshape(out.size))


def check_march(threads_per_block, length, ndim: int = 3) -> tuple[int, ...]:
    """Check the block and the length of a march, and return the block's threads as a tuple.

    A block has one thread in the direction of the march; ``length`` is the number of planes or rows of each thread.
    """
    direction, step = MARCHES[ndim]
    block = check_block(threads_per_block, ndim)
    if block[-1] != 1:
        raise CourseError(
            f"threads_per_block is {block}: threads that march along {direction} stand in one {step}, "
            "so the last number is 1."
        )
    require_count(**{f"{step}s": length})
    if length < 1:
        raise CourseError(f"{step}s is 0: a thread takes at least one {step}.")
    return block


def with_halo(block) -> tuple[int, ...]:
    """Return the shape of a block's tile with a halo of one point: (z, y, x)."""
    return tuple(n + 2 for n in reversed(block))
