"""The Laplacian and the vectors of a solve by ``sstep`` on one GPU among several."""

from math import ceil, prod

import numpy as np

from course_pkg.cg.gpu_numba import row_pitch
from course_pkg.core import CourseError
from course_pkg.distributed.halo import slab_plan
from course_pkg.distributed.links import Link
from course_pkg.distributed.partition import Slab
from course_pkg.distributed.phases import ALLREDUCE, HALO, PRODUCT, SUMS, UPDATES, Phases
from course_pkg.distributed.room import Clocked, drawn_part
from course_pkg.sstep.gpu_numba.room import DeviceRoom
from course_pkg.sstep.problem import LARGEST, Laplacian

THINNEST = 3  # fewest planes of a slab
PHASES = {  # of the parts of a pass
    "powers": PRODUCT,
    "product": PRODUCT,
    "gram": SUMS,
    "moments": SUMS,
    "update": UPDATES,
    "project": UPDATES,
    "sum": ALLREDUCE,
}


class DeviceSlab(Laplacian):
    """This rank's planes of the 7-point Laplacian: what the methods of ``sstep/gpu_numba`` take as A.

    Parameters
    ----------
    grid : (nz, ny, nx)
        Of the whole grid, the same on all ranks.
    link : Link

    Attributes
    ----------
    shape : (planes, ny, nx)
        Of this rank's part of a vector.
    phases : Phases
        The clock that divides the host's time among phases.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.sstep.gpu_numba import pcg
    >>> b = cuda.to_device(np.ones((3, 4, 4)))
    >>> Serial(2).run(lambda comm: pcg(DeviceSlab((6, 4, 4), Staged(comm)), b).iterations)
    [9, 9]
    """

    def __init__(self, grid, link: Link):
        grid = tuple(grid)
        link.comm.agree("the shape of the grid", *grid)
        slab = Slab(grid, link.comm.rank, link.comm.ranks)
        if grid[0] // slab.ranks < THINNEST:
            raise CourseError(
                f"{grid[0]} planes on {slab.ranks} GPUs leave one with fewer than {THINNEST}: start fewer ranks, or "
                "take a larger problem."
            )
        self.slab, self.link, self.grid = slab, link, grid
        super().__init__(slab.shape)
        self.phases = Phases()

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)  # the base class is frozen, but this class sets attributes

    @property
    def room(self):
        """What makes the room of a solve."""
        return RankDeviceRoom


class OnGpus(Clocked):
    """What rooms on GPUs have in common: sums over all ranks are added on the GPUs, and graphs hold the messages.

    Examples
    --------
    >>> RankDeviceRoom.__mro__[1] is OnGpus
    True
    """

    def add(self, sums) -> None:
        """Add up sums over all ranks, on the GPUs."""
        with self.A.phases(ALLREDUCE):
            self.A.link.add(sums.reshape(sums.size), self.stream)

    def to_host(self, array) -> np.ndarray:
        """Wait for all that is queued, no longer than ranks may take to answer, and copy an array to the host."""
        with self.A.phases(ALLREDUCE):
            self.A.link.finish()
            return super().to_host(array)

    def collect(self, sums) -> np.ndarray:
        """Add up sums over all ranks on the GPUs, and copy them to the host, which waits for them."""
        if self.A.link.comm.ranks > 1:
            self.again(("sum", sums), self.add, sums)
        return self.to_host(sums)

    @property
    def repeats(self) -> bool:
        """Whether CUDA graphs may hold the parts of a pass, with their messages and sums."""
        return super().repeats and self.A.link.mixes(self.longest_message, self.dtype)

    @property
    def repeats_iterations(self) -> bool:
        """Whether CUDA graphs may hold whole iterations: not while phases are timed."""
        return self.repeats and not self.A.phases.apart

    def again(self, key, step, *arguments) -> None:
        """Do a part of a pass; if a graph may hold it, its phase is not divided further."""
        if not self.repeats or self.stream:
            super().again(key, step, *arguments)
            return
        with self.A.phases.whole(PHASES[key[0]]):
            super().again(key, step, *arguments)


class RankDeviceRoom(OnGpus, DeviceRoom):
    """This rank's parts of the vectors, in GPU memory.

    Halos are exchanged while products are computed, and sums over all ranks are added on the GPUs.

    Parameters
    ----------
    A : DeviceSlab
    b, x0 : device array
        This rank's parts.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.sstep import gpu_numba
    >>> def first_residual(comm):
    ...     A = DeviceSlab((6, 4, 4), Staged(comm))
    ...     room = RankDeviceRoom(gpu_numba, A, cuda.to_device(np.ones(A.shape)), None, None, 1e-6, 0.0, None)
    ...     return room.residual(room.x, room.r)
    >>> [round(norm, 6) for norm in Serial(2).run(first_residual)]
    [9.797959, 9.797959]
    """

    def __init__(self, ops, A, b, x0, M, rtol, atol, maxiter):
        if M is not None:
            raise CourseError(
                "The Laplacian of slabs has no rows for a preconditioner: with M, pass A as DeviceRows, or leave M out."
            )
        self.plane = A.shape[1] * row_pitch(A.shape[2], b.dtype)
        self.plan = slab_plan(A.slab)
        super().__init__(ops, A, b, x0, M, rtol, atol, maxiter)
        self.halo = {peer: self.zeros(self.plane) for peer, _ in self.plan.sends}

    @property
    def longest_message(self) -> int:
        """Number of elements of a plane."""
        return self.plane

    @property
    def unknowns(self) -> int:
        """Number of unknowns of all ranks."""
        return prod(self.A.grid)

    @property
    def longest(self) -> int:
        """Length of a vector on the rank with the most planes, which decides how many partial sums all ranks send."""
        return ceil(self.A.grid[0] / self.A.slab.ranks) * self.plane

    def circles(self) -> tuple[float, float]:
        """Return (0, 12)."""
        return 0.0, LARGEST

    def drawn(self, seed: int):
        """Return this rank's part of the vector that one rank would draw."""
        first = self.A.slab.first * self.A.slab.plane
        mine = drawn_part(seed, first, self.n).reshape(self.shape)
        return self.take(mine.astype(self.dtype))

    def fused(self, previous, current, step, product, out) -> None:
        """Compute product and next vector in one sweep during the halo exchange; then correct the outer planes."""
        link, below, size = self.A.link, self.A.slab.below, self.plane
        edges = {
            peer: slice(0, size) if peer == below else slice(self.stored - size, self.stored)
            for peer in self.halo
        }
        with self.A.phases(PRODUCT):
            link.start(
                [(p, current[where]) for p, where in edges.items()], list(self.halo.items()), self.stream
            )
            super().fused(previous, current, step, product, out)
            with self.A.phases(HALO):
                link.join(self.stream)
            for peer, where in edges.items():
                self._subtract(1.0, self.halo[peer], product[where])
                if step is not None:  # the product, times the first coefficient, is a term of the next vector
                    self._subtract(step[0], self.halo[peer], out[where])

    def _subtract(self, factor, plane, out) -> None:
        self.recurrence(plane, plane, out, 1.0, 0.0, factor, out)
