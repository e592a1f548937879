"""The 7-point Laplacian on a grid that is divided into slabs of planes, without a matrix."""

import numpy as np
from scipy.sparse import csr_array

from course_pkg.cg.problem import PoissonProblem
from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.halo import slab_plan
from course_pkg.distributed.operators import RankOperator
from course_pkg.distributed.partition import Slab
from course_pkg.distributed.phases import HALO, PRODUCT
from course_pkg.sstep.problem import LARGEST
from course_pkg.stencil.cpu_numba import laplacian

THINNEST = 3  # fewest planes that the functions of ``stencil`` accept


class SlabLaplacian(RankOperator):
    """The 7-point Laplacian on a grid that is divided into slabs of planes, without a matrix.

    Parameters
    ----------
    grid : (nz, ny, nx)
        Of the whole grid, the same on all ranks.
    comm : Communicator
    dtype : dtype

    Notes
    -----
    ``inside`` is the Laplacian of the slab with zeros around it; ``outside`` subtracts the neighbours' two planes.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.sstep.cpu_numba import pcg
    >>> def solve(comm):
    ...     A = SlabLaplacian((6, 4, 4), comm)
    ...     return pcg(A, np.ones(A.own_shape)).iterations
    >>> Serial(2).run(solve)
    [9, 9]
    """

    def __init__(self, grid, comm: Communicator, dtype="float64"):
        grid = tuple(grid)
        comm.agree("the shape of the grid", *grid)
        self.slab = Slab(grid, comm.rank, comm.ranks)
        self.grid, self.own_shape = grid, self.slab.shape
        self.first = self.slab.first * self.slab.plane
        super().__init__(comm, int(np.prod(grid)), dtype, slab_plan(self.slab))

    def inside(self, v, out, ops=None) -> None:
        """Compute the Laplacian of this slab alone; a slab of one or two planes is padded with zeros to three."""
        u, planes = v.reshape(self.own_shape), self.own_shape[0]
        if planes >= THINNEST:
            laplacian(u, out.reshape(self.own_shape))
            return
        padded = np.zeros((THINNEST, *self.own_shape[1:]), v.dtype)
        padded[:planes] = u
        product = np.empty_like(padded)
        laplacian(padded, product)
        out[:] = product[:planes].reshape(-1)

    def outside(self, halo, out, factor=1.0) -> None:
        """Subtract ``factor`` times the planes of the neighbours."""
        for (_, here), (_, there) in zip(self.exchange.plan.sends, self.exchange.plan.receives, strict=True):
            out[here] -= halo[there] if factor == 1.0 else out.dtype.type(factor) * halo[there]

    def recurrence(self, ops, previous, current, step, product, out) -> None:
        """Compute the product and, unless ``step`` is None, the next basis vector, during the halo exchange."""
        if self.own_shape[0] < THINNEST:
            self.multiply(current, product)
            if step is not None:
                with self.phases(PRODUCT):
                    ops.recurrence(previous, current, product, *step, out)
            return
        with self.phases(PRODUCT):
            self.exchange.start(current)
            grids = [
                None if v is None else v.reshape(self.own_shape) for v in (previous, current, product, out)
            ]
            ops.laplacian_recurrence(*grids[:2], *(step or (0.0, 0.0, 0.0)), *grids[2:])
            with self.phases(HALO):
                halo = self.exchange.finish()
            self.outside(halo, product)
            if step is not None:
                self.outside(halo, out, step[0])  # the product, times the first coefficient, is a term of out

    def own_block(self) -> csr_array:
        """Return the Laplacian of the slab with zeros around it."""
        planes, *plane = self.own_shape
        A = PoissonProblem(np.empty((max(planes, THINNEST), *plane), self.dtype)).matrix()
        return A if planes >= THINNEST else csr_array(A[: self.n, : self.n])

    def circles(self) -> tuple[float, float]:
        """Return (0, 12)."""
        return 0.0, LARGEST
