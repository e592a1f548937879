"""Operators whose vectors are divided among ranks: each multiplies its own part while the halo is on its way.

Both have the same shape. ``A = inside + outside``: ``inside`` has the columns that the rank owns and is multiplied first;
``outside`` has those of the halo, and adds to few entries what has come meanwhile. Solvers get from ``A.room`` and
``A.vectors`` what they need to know of ranks.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import csr_array, hstack

from course_pkg.cg.problem import PoissonProblem
from course_pkg.core import CourseError
from course_pkg.core.systems import dot
from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.halo import HaloExchange, by_owner, csr_plan, needed, renumbered, slab_plan
from course_pkg.distributed.partition import Slab, offsets
from course_pkg.distributed.phases import ALLREDUCE, HALO, PRODUCT, SUMS, Phases
from course_pkg.permutation.checks import check_csr
from course_pkg.spmv.cpu_numba import spmv
from course_pkg.spmv.formats import Csr
from course_pkg.sstep.bounds import gershgorin
from course_pkg.sstep.problem import LARGEST
from course_pkg.stencil.cpu_numba import laplacian

THINNEST = 3  # planes that the functions of ``stencil`` take


class RankVectors:
    """Dot products and sizes of vectors that are divided among ranks; ``core.systems.Whole`` explains both."""

    def __init__(self, operator: "RankOperator"):
        self.operator = operator

    def inner(self, u, v) -> float:
        """Return the dot product of two vectors; one reduction."""
        with self.operator.phases(SUMS):
            mine = dot(u, v)
        with self.operator.phases(ALLREDUCE):
            return float(self.operator.comm.sum([mine])[0])

    def unknowns(self, b) -> int:
        """Return how many unknowns the system has on all ranks."""
        return self.operator.unknowns


class RankOperator(ABC):
    """What the two operators have in common.

    Attributes
    ----------
    comm : Communicator
    own_shape : tuple of int
        Shape of this rank's part of a vector.
    n, unknowns, first : int
        Entries of this rank, of all ranks, and of the ranks before this one.
    phases : Phases
        Where the time goes.
    """

    own_shape: tuple[int, ...]
    first: int

    def __init__(self, comm: Communicator, unknowns: int, dtype, plan):
        self.comm, self.unknowns, self.dtype = comm, unknowns, np.dtype(dtype)
        self.exchange, self.phases = HaloExchange(comm, plan, self.dtype), Phases()

    @property
    def n(self) -> int:
        """Entries of this rank."""
        return int(np.prod(self.own_shape))

    @property
    def vectors(self) -> RankVectors:
        """Dot products of this operator's vectors, for solvers."""
        return RankVectors(self)

    @property
    def room(self):
        """What makes the room of a solve by ``sstep``."""
        from course_pkg.distributed.room import RankRoom

        return RankRoom

    @abstractmethod
    def inside(self, v, out, ops=None) -> None:
        """Compute the part of ``out = A v`` that needs no halo."""

    @abstractmethod
    def outside(self, halo, out) -> None:
        """Add the part that needs the halo."""

    @abstractmethod
    def own_block(self) -> csr_array:
        """Return the rows and columns that this rank owns, as a matrix in compressed rows."""

    @abstractmethod
    def circles(self) -> tuple[float, float]:
        """Return an interval with all eigenvalues, by Gershgorin's circles of all ranks' rows."""

    def multiply(self, v, out, ops=None) -> None:
        """Compute ``out = A v`` for this rank's part, of one dimension; the halo travels meanwhile."""
        with self.phases(PRODUCT):
            self.exchange.start(v)
            self.inside(v, out, ops)
            with self.phases(HALO):
                halo = self.exchange.finish()
            self.outside(halo, out)

    def __matmul__(self, v):
        if v.shape != self.own_shape or v.dtype != self.dtype:
            raise CourseError(
                f"{self.comm.name} multiplies arrays of shape {self.own_shape} and {self.dtype}, not {v.shape} and "
                f"{v.dtype}: pass its own part."
            )
        out = np.empty(self.n, self.dtype)
        self.multiply(np.ascontiguousarray(v).reshape(-1), out)
        return out.reshape(v.shape)

    def part(self, whole):
        """Return a copy of this rank's part of a vector that is known as a whole."""
        if whole.size != self.unknowns:
            raise CourseError(f"The vector has {whole.size} entries, but A has {self.unknowns} unknowns.")
        return whole.reshape(-1)[self.first : self.first + self.n].reshape(self.own_shape).copy()

    def whole(self, part) -> np.ndarray:
        """Return the whole vector, float64, on every rank; for small problems and for tests."""
        found = np.zeros(self.unknowns)
        found[self.first : self.first + self.n] = part.reshape(-1)
        return self.comm.sum(found)


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
    ``inside`` is the Laplacian of the slab with zeros around it; ``outside`` subtracts the two planes beside it.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.sstep.cpu_numba import pcg
    >>> def solve(comm):
    ...     A = SlabLaplacian((6, 4, 4), comm)
    ...     return pcg(A, np.ones(A.own_shape)).iterations
    >>> Serial(2).run(solve)
    [6, 6]
    """

    def __init__(self, grid, comm: Communicator, dtype="float64"):
        grid = tuple(grid)
        comm.agree("the shape of the grid", *grid)
        self.slab = Slab(grid, comm.rank, comm.ranks)
        self.grid, self.own_shape = grid, self.slab.shape
        self.first = self.slab.first * self.slab.plane
        super().__init__(comm, int(np.prod(grid)), dtype, slab_plan(self.slab))

    def inside(self, v, out, ops=None) -> None:
        """Compute the Laplacian of the slab alone; a slab of one or two planes is padded for it."""
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
        """Compute the product and, unless ``step`` is None, the next vector of a basis; the halo travels meanwhile."""
        if self.own_shape[0] < THINNEST:
            self.multiply(current, product)
            if step is not None:
                with self.phases(PRODUCT):
                    ops.recurrence(previous, current, product, *step, out)
            return
        with self.phases(PRODUCT):
            self.exchange.start(current)
            grids = [None if v is None else v.reshape(self.own_shape) for v in (previous, current, product, out)]
            ops.laplacian_recurrence(*grids[:2], *(step or (0.0, 0.0, 0.0)), *grids[2:])
            with self.phases(HALO):
                halo = self.exchange.finish()
            self.outside(halo, product)
            if step is not None:
                self.outside(halo, out, step[0])  # out holds the product times the first coefficient

    def own_block(self) -> csr_array:
        """Return the Laplacian of the slab with zeros around it."""
        planes, *plane = self.own_shape
        A = PoissonProblem(np.empty((max(planes, THINNEST), *plane), self.dtype)).matrix()
        return A if planes >= THINNEST else _sorted(A[: self.n, : self.n])

    def circles(self) -> tuple[float, float]:
        """Return (0, 12)."""
        return 0.0, LARGEST


class RowBlockMatrix(RankOperator):
    """A sparse matrix of which each rank has consecutive rows, and a halo of any form.

    Parameters
    ----------
    rows : scipy.sparse.csr_array, shape (own rows, all unknowns)
        This rank's rows, with global columns; the ranks have theirs in order.
    comm : Communicator

    Attributes
    ----------
    offsets : ndarray of int64, shape (ranks + 1,)

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.permutation.problem import poisson
    >>> def multiply(comm):
    ...     A = RowBlockMatrix.of(poisson((4, 4)), comm)
    ...     return A.whole(A @ A.part(np.ones(16)))[:5], A.local.shape
    >>> Serial(3).run(multiply)[1]
    (array([2., 1., 1., 2., 1.]), (5, 13))
    """

    def __init__(self, rows, comm: Communicator):
        check_csr(rows)
        self.offsets = np.concatenate([[0], np.cumsum(comm.gather(rows.shape[0])[:, 0])]).astype(np.int64)
        comm.agree("the number of columns of A", rows.shape[1])
        if self.offsets[-1] != rows.shape[1]:
            raise CourseError(f"The ranks have {self.offsets[-1]} rows together, but A has {rows.shape[1]} columns.")
        first, last = (int(end) for end in self.offsets[comm.rank : comm.rank + 2])
        if first == last:
            raise CourseError(f"{comm.name} has no rows: start fewer ranks.")
        self.first, self.own_shape = first, (last - first,)
        halo = needed(rows.indices, first, last)
        theirs = by_owner(halo, self.offsets)
        nothing = np.empty(0, np.int64)
        asked = comm.exchange([theirs.get(peer, nothing) for peer in range(comm.ranks)])
        plan = csr_plan(comm.rank, self.offsets, halo, {p: e for p, e in enumerate(asked) if p != comm.rank})
        super().__init__(comm, rows.shape[1], rows.dtype, plan)
        self._split(rows, renumbered(rows.indices, first, last, halo), len(halo))

    @classmethod
    def of(cls, A, comm: Communicator) -> "RowBlockMatrix":
        """Return this rank's part of a matrix that every rank has as a whole."""
        first, last = (int(end) for end in offsets(A.shape[0], comm.ranks)[comm.rank : comm.rank + 2])
        return cls(csr_array(A[first:last]), comm)

    def _split(self, rows, columns, halo: int) -> None:
        """Keep the rows as a whole, and by columns: all owned ones, and those of the halo in the rows that have some."""
        n = self.n
        local = csr_array((rows.data, columns, rows.indptr), shape=(n, n + halo))
        local.sort_indices()
        self._inside = Csr.from_scipy(_sorted(local[:, :n]))
        beyond = _sorted(local[:, n:])
        self.boundary_rows = np.flatnonzero(np.diff(beyond.indptr))
        self._outside = Csr.from_scipy(_sorted(beyond[self.boundary_rows])) if self.boundary_rows.size else None

    @property
    def local(self) -> Csr:
        """The rows in this rank's own numbers, owned columns first, then the halo; made anew from its two parts."""
        beyond = csr_array((self.n, self.exchange.plan.size), dtype=self.dtype)
        if self._outside is not None:
            A = self._outside
            ends = np.zeros(self.n + 1, np.int32)
            ends[self.boundary_rows + 1] = np.diff(A.indptr)
            beyond = csr_array((A.data, A.indices, np.cumsum(ends, dtype=np.int32)), shape=beyond.shape)
        return Csr.from_scipy(_sorted(hstack([self.own_block(), beyond], format="csr")))

    def inside(self, v, out, ops=None) -> None:
        """Multiply by the owned columns of all rows."""
        spmv(self._inside, v, out)

    def outside(self, halo, out) -> None:
        """Add the columns of the halo, in the rows that have some."""
        if self._outside is not None:
            more = np.empty(self.boundary_rows.size, out.dtype)
            spmv(self._outside, halo, more)
            out[self.boundary_rows] += more

    def own_block(self) -> csr_array:
        """Return the rows and columns that this rank owns."""
        A = self._inside
        return csr_array((A.data, A.indices, A.indptr), shape=A.shape)

    def circles(self) -> tuple[float, float]:
        """Return the union of all ranks' circles."""
        found = self.comm.gather(gershgorin(self.local))
        return max(0.0, float(found[:, 0].min())), float(found[:, 1].max())


def _sorted(A) -> csr_array:
    A = csr_array(A)
    A.sort_indices()
    return A


def block_jacobi(A: RankOperator, build):
    """Return a preconditioner that each rank builds from its own rows and columns, and applies without a message.

    With AMG on each rank this is block Jacobi: symmetric and positive definite, but it knows nothing of what couples the
    ranks, so iterations grow with their number.

    Parameters
    ----------
    A : SlabLaplacian or RowBlockMatrix
    build : callable
        From ``precond/build.py``, such as ``amg``.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.precond.build import amg
    >>> from course_pkg.sstep.cpu_numba import pcg
    >>> def solve(comm):
    ...     A = SlabLaplacian((8, 8, 8), comm)
    ...     return pcg(A, np.ones(A.own_shape), M=block_jacobi(A, amg)).iterations
    >>> [Serial(ranks).run(solve)[0] for ranks in (1, 2)]
    [1, 7]
    """
    return build(A.own_block())
