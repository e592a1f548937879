"""The fields and scalars of a solve, all in GPU memory, and how the kernels are launched on them."""

from math import prod

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba.maps import DOT_BLOCKS, THREADS_MAP, copy_rows_kernel, dot_kernel, fill_kernel
from course_pkg.cg.gpu_numba.marches import AT_ONCE, Marches, row_pitch
from course_pkg.cg.gpu_numba.scalars import (
    KEPT,
    STATE_SIZE,
    THREADS_FINISH,
    TOTAL,
    alpha_kernel,
    beta_kernel,
    total_kernel,
)
from course_pkg.cg.gpu_numba.stencils import residual_kernel
from course_pkg.core import CourseError
from course_pkg.stencil.checks import MOST_POINTS

BLOCKS_ROWS = 1024  # blocks of the kernel that copies rows


class Workspace:
    """Fields, scalars and sums of one solve.

    Parameters
    ----------
    b : device array, shape (nz, ny, nx)
    swaps_p, stores_s : bool
        As in :class:`~course_pkg.cg.gpu_numba.solver.Iteration`.
    stored : dtype, optional
        Type of r, p and s; by default the type of b and x.
    at_once : int
        Number of blocks of the search kernel that the GPU runs at the same time.

    Attributes
    ----------
    b : device array, shape (n,)
        The caller's right-hand side, which is only read.
    x, r : device array
        Fields: vectors of ``pitch`` elements per row; the gap after a row is zero.
    p : pair of device arrays
        The search direction and the one before it; both are the same field if p is updated in place.
    s : device array
        ``A p``; if it is not stored, one of the fields ``p``.
    partial, state, history : device array, float64
        Sums of the blocks, the scalars (``scalars.py``), and delta of the latest iterations.

    Examples
    --------
    >>> w = Workspace(cuda.to_device(np.ones((3, 4, 5))), swaps_p=True, stores_s=False)
    >>> w.pitch, w.x.size, w.p[0] is w.p[1], w.s is w.p[0]
    (16, 192, False, True)
    """

    HALO = 0  # planes that a field has before its first and after its last one, if it is a part of a grid

    def __init__(self, b, *, swaps_p: bool, stores_s: bool, stored=None, at_once=AT_ONCE):
        self.shape, self.dtype = b.shape, np.dtype(b.dtype)
        self.stored = np.dtype(stored or b.dtype)
        nz, ny, nx = b.shape
        self.pitch = row_pitch(nx, self.stored)
        self.size = (nz + 2 * self.HALO) * ny * self.pitch
        self.sizes = tuple(np.uint32(n) for n in (nx, self.pitch, ny, nz))
        if self.size >= MOST_POINTS:
            raise CourseError(
                f"b has {b.size} points, and {self.size} with its rows padded to {self.pitch}, but 32-bit "
                f"offsets reach fewer than {MOST_POINTS}: let x be the longest direction, or divide the grid "
                "between several GPUs."
            )
        # raises if the grid needs too many blocks, before anything is allocated
        self.marches = Marches.on(self.shape, self.stored.itemsize, at_once)
        blocks = [prod(march.blocks(self.shape)) for march in vars(self.marches).values()]
        self.b = cuda.as_cuda_array(b).reshape(b.size)
        self.x = self._field(self.dtype)
        self.r, p = self._field(), self._field()
        self.p = (p, self._field()) if swaps_p else (p, p)
        self.s = self._field() if stores_s else p
        self.partial = cuda.device_array(max(DOT_BLOCKS, self._blocks_over_pairs, *blocks), np.float64)
        self.state, self.history = (cuda.to_device(np.zeros(n)) for n in (STATE_SIZE, KEPT))

    def _field(self, dtype=None):
        field = cuda.device_array(self.size, dtype or self.stored)
        self.fill(field)
        return field

    @property
    def _blocks_over_pairs(self) -> int:
        return -(-self.size // (2 * THREADS_MAP))

    def fill(self, field) -> None:
        """Fill a field with zeros."""
        self.over_pairs(fill_kernel, 0, np.dtype(field.dtype).type(0), field)

    def own(self, field):
        """Return a field without its halo."""
        return field

    def take(self, grid, field) -> None:
        """Copy a grid in GPU memory to a field."""
        nx, pitch = self.sizes[:2]
        source = cuda.as_cuda_array(grid).reshape(grid.size)
        copy_rows_kernel[BLOCKS_ROWS, THREADS_MAP](source, nx, nx, self.own(field), pitch)

    def grid(self, field):
        """Return a field as a new grid of b's shape."""
        nx, pitch = self.sizes[:2]
        out = cuda.device_array(self.b.size, self.dtype)
        copy_rows_kernel[BLOCKS_ROWS, THREADS_MAP](self.own(field), pitch, nx, out, nx)
        return out.reshape(self.shape)

    def over_pairs(self, kernel, stream, *args) -> int:
        """Launch a kernel with one thread per two numbers; return the number of its blocks."""
        kernel[self._blocks_over_pairs, THREADS_MAP, stream](*args)
        return self._blocks_over_pairs

    def marching(self, kernel, stream, before, after, march=None) -> int:
        """Launch a kernel whose threads march along z; return the number of its blocks.

        Parameters
        ----------
        before, after : tuple
            The kernel's arguments before the sizes, and after them.
        march : March, optional
            One of ``marches``; by default ``marches.stencil``.
        """
        march = march or self.marches.stencil
        blocks = march.blocks(self.shape)
        how = np.uint32(march.planes), np.uint32(march.shift)
        kernel[blocks, march.block, stream](*before, *self.sizes, *how, *after)
        return prod(blocks)

    def dot(self, a, b, stream) -> int:
        """Launch the kernel that computes the parts of ``<a, b>``; return the number of parts."""
        blocks = min(DOT_BLOCKS, self._blocks_over_pairs)
        dot_kernel[blocks, THREADS_MAP, stream](a, b, self.partial)
        return blocks

    def make_alpha(self, blocks: int, stream) -> None:
        """Launch the kernel that adds up the parts of ``blocks`` blocks and computes alpha."""
        alpha_kernel[1, THREADS_FINISH, stream](self.partial, np.int32(blocks), self.state)

    def make_beta(self, blocks: int, stream) -> None:
        """Launch the kernel that adds up the parts of ``blocks`` blocks, computes beta, and ends the iteration."""
        beta_kernel[1, THREADS_FINISH, stream](self.partial, np.int32(blocks), self.state, self.history)

    def residual(self, out) -> float:
        """Compute ``out = b - A x`` and return its norm; waits for the device."""
        blocks = self.marching(residual_kernel, 0, (self.b, self.x), (out, self.partial))
        total_kernel[1, THREADS_FINISH](self.partial, np.int32(blocks), self.state)
        return float(np.sqrt(self.state.copy_to_host()[TOTAL]))
