"""The fields of conjugate gradient on one of several GPUs: slabs, with one plane of each neighbour at either end.

The methods of ``cg/gpu_numba`` run unchanged, because they launch all kernels through a workspace. The workspace here
launches instead the versions of the kernels for slabs with a halo, sends the planes that neighbours read, and adds up
sums over all ranks. Only r is sent. Each rank computes the halo of the search direction from that of r, by
``p = r + beta p``, instead of waiting for it.
"""

from math import prod

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba import (
    Workspace,
    advance_kernel,
    alpha_kernel,
    beta_kernel,
    residual_kernel,
    search_kernel,
    total_kernel,
)
from course_pkg.cg.gpu_numba.scalars import THREADS_FINISH, TOTAL
from course_pkg.cg.gpu_numba.stencils import residual_kernel_of, search_kernel_of
from course_pkg.core import CourseError
from course_pkg.core.access import WARP
from course_pkg.distributed.halo import slab_plan
from course_pkg.distributed.links import Link
from course_pkg.distributed.mailboxes import alpha_of_all_kernel, beta_of_all_kernel
from course_pkg.distributed.partition import Slab

ADVANCES = [advance_kernel(terms) for terms in range(3)]
TWINS = {
    search_kernel: search_kernel_of(halo=True),
    residual_kernel: residual_kernel_of(halo=True),
    **{ADVANCES[terms]: advance_kernel(terms, halo=True) for terms in range(3)},
}
APART = 3  # a slab needs at least this many planes for its outer planes to be computed first


class RankWorkspace(Workspace):
    """Fields, scalars and sums of a solve on one rank.

    Parameters
    ----------
    b : device array, shape (planes of this rank, ny, nx)
    link : Link
    grid : (nz, ny, nx)
        Of the whole grid.
    overlap : bool
        Whether the outer planes of r are computed first, and sent while the other planes are computed.
    swaps_p, stores_s : bool
        As in :class:`~course_pkg.cg.gpu_numba.solver.Iteration`. Here ``swaps_p`` must be True and ``stores_s`` False.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> def size(comm):
    ...     b = cuda.to_device(np.ones((4, 3, 5)))
    ...     w = RankWorkspace(b, Staged(comm), (8, 3, 5), swaps_p=True, stores_s=False)
    ...     return w.x.size, w.own(w.x).size, w.residual(w.r)
    >>> Serial(2).run(size)  # 4 planes of 3 rows of 16 numbers, and 2 planes of others
    [(288, 192, 10.954...), (288, 192, 10.954...)]
    """

    HALO = 1

    def __init__(self, b, link: Link, grid, *, overlap=True, swaps_p: bool, stores_s: bool):
        self.slab, self.link, self.overlap = Slab(tuple(grid), link.comm.rank, link.comm.ranks), link, overlap
        if tuple(b.shape) != self.slab.shape:
            raise CourseError(
                f"b has shape {tuple(b.shape)}, but {link.comm.name} owns {self.slab.shape} of the grid {tuple(grid)}."
            )
        if stores_s or not swaps_p:
            raise CourseError(
                "This method stores A p or has one field p: on several GPUs, use two_kernel or deferred_x."
            )
        super().__init__(b, swaps_p=swaps_p, stores_s=stores_s)
        ny, row = b.shape[1], self.pitch
        self.plane = ny * row
        sides = sum(prod(march.on((1, *b.shape[1:])).blocks((1, *b.shape[1:]))) for march in self._updates)
        self.partial = cuda.device_array(self.partial.size + sides, np.float64)
        self._sum = self.state[TOTAL : TOTAL + 1]

    @property
    def _updates(self):
        return self.marches.advance, self.marches.deferred

    def own(self, field):
        """Return the planes of a field that this rank owns."""
        return field[self.plane : field.size - self.plane]

    def marching(self, kernel, stream, before, after, march=None) -> int:
        """Launch a kernel's version for slabs, start to send the outer planes, and return the number of blocks."""
        if kernel not in ADVANCES:
            return self.whole(kernel, stream, before, after, march)
        twin, march, planes = TWINS[kernel], march or self.marches.stencil, self.shape[0]
        below, above = self.slab.below is not None, self.slab.above is not None
        if not self.overlap or planes < APART:
            blocks = self.whole(kernel, stream, before, after, march)
            self.swap(self.r, stream)
            return blocks
        blocks, outer = 0, ([(0, 3)] if below else []) + ([(planes - 1, planes + 2)] if above else [])
        for first, end in outer:
            blocks += self._part(twin, stream, before, after, march, first, end, blocks)
        self.swap(self.r, stream)
        return blocks + self._part(twin, stream, before, after, march, int(below), planes + 2 - above, blocks)

    def whole(self, kernel, stream, before, after, march=None) -> int:
        """Launch a kernel's version for slabs on all planes of this rank, send nothing, return the number of blocks."""
        march, end = march or self.marches.stencil, self.shape[0] + 2
        self.parts = self._part(TWINS[kernel], stream, before, after, march, 0, end, 0)
        return self.parts

    def _part(self, kernel, stream, before, after, march, first, end, blocks) -> int:
        """Launch a kernel on the planes from ``first`` to ``end``; it computes all but the first and the last."""
        shape = (end - first - 2, *self.shape[1:])
        march = march.on(shape)
        nx, pitch, ny, _ = self.sizes

        def part(array):
            if array is self.partial:
                return array[blocks:]
            return array[first * self.plane : end * self.plane] if array.size == self.size else array

        before, after = ([part(array) for array in arrays] for arrays in (before, after))
        how = np.uint32(end - first), np.uint32(march.planes), np.uint32(march.shift)
        launched = march.blocks(shape)
        kernel[launched, march.block, stream](*before, nx, pitch, ny, *how, *after)
        return prod(launched)

    def swap(self, field, stream) -> None:
        """Send the outer planes of a field, and receive its halo."""
        plan, plane = slab_plan(self.slab), self.plane
        here = {self.slab.below: plane, self.slab.above: field.size - 2 * plane}
        there = {self.slab.below: 0, self.slab.above: field.size - plane}
        sends, receives = (
            [(peer, field[offset[peer] : offset[peer] + plane]) for peer, _ in plan.sends]
            for offset in (here, there)
        )
        self.link.start(sends, receives, stream)

    def add_up_here(self, blocks: int, stream) -> None:
        """Add up this rank's partial sums, and leave the result in ``state[TOTAL]``."""
        total_kernel[1, THREADS_FINISH, stream](self.partial, np.int32(blocks), self.state)

    def add_up_all(self, stream) -> None:
        """Replace ``state[TOTAL]`` by its sum over all ranks."""
        self.link.add(self._sum, stream)

    def _add_up(self, blocks: int, stream) -> None:
        self.add_up_here(blocks, stream)
        self.link.join(stream)  # messages and sums in the same order on all ranks
        self.add_up_all(stream)

    def make_alpha(self, blocks: int, stream) -> None:
        """Queue what adds up the parts of all ranks and computes alpha; where there are mailboxes, it is one kernel."""
        if self.link.mailbox:
            self._in_one(alpha_of_all_kernel, blocks, stream, self.state)
        elif self.link.comm.ranks == 1:
            super().make_alpha(blocks, stream)
        else:
            self._add_up(blocks, stream)
            self._alpha(stream)

    def make_beta(self, blocks: int, stream) -> None:
        """As :meth:`make_alpha`, for beta."""
        if self.link.mailbox:
            self._in_one(beta_of_all_kernel, blocks, stream, self.state, self.history)
        elif self.link.comm.ranks == 1:
            super().make_beta(blocks, stream)
        else:
            self._add_up(blocks, stream)
            self._beta(stream)

    def _in_one(self, kernel, blocks, stream, *scalars) -> None:
        kernel[1, THREADS_FINISH, stream](self.partial, np.int32(blocks), *scalars, *self.link.mailbox)
        self.link.join(stream)  # after the sum: its number travels while planes do

    def scalars(self, stream) -> None:
        """Launch only the kernels that compute alpha and beta from the sums over all ranks."""
        self._alpha(stream)
        self._beta(stream)

    def _alpha(self, stream):
        alpha_kernel[1, WARP, stream](self._sum, np.int32(1), self.state)

    def _beta(self, stream):
        beta_kernel[1, WARP, stream](self._sum, np.int32(1), self.state, self.history)

    def residual(self, out) -> float:
        """Compute ``out = b - A x``, wait for the device, and return the norm of ``out`` over all ranks."""
        self.swap(self.x, 0)
        self.link.join(0)
        blocks = self.marching(residual_kernel, 0, (self.b, self.x), (out, self.partial))
        self.swap(out, 0)
        self._add_up(blocks, 0)
        self.link.finish()
        return float(np.sqrt(self.state.copy_to_host()[TOTAL]))
