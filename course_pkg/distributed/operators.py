"""The base class of operators whose vectors are divided among ranks. They multiply while the halo is in transit.

``A = inside + outside``: ``inside`` has the columns that the rank owns, and ``outside`` has those of the halo. The
product with ``inside`` is computed during the halo exchange. Then the product with ``outside`` is added, which changes
only a few entries. Through ``A.room`` and ``A.vectors``, a solver works on several ranks without knowing of them.
``slabs.py`` has the Laplacian, and ``rows.py`` sparse matrices.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.sparse import csr_array

from course_pkg.core import CourseError
from course_pkg.core.systems import dot
from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.halo import HaloExchange
from course_pkg.distributed.phases import ALLREDUCE, HALO, PRODUCT, SUMS, Phases


class RankVectors:
    """Dot products and sizes of vectors that are divided among ranks; ``core.systems.Whole`` explains both.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.distributed.slabs import SlabLaplacian
    >>> Serial(2).run(lambda comm: SlabLaplacian((4, 3, 3), comm).vectors.inner(np.ones(18), np.ones(18)))
    [36.0, 36.0]
    """

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

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.distributed.slabs import SlabLaplacian
    >>> A, _ = Serial(2).run(lambda comm: SlabLaplacian((4, 3, 3), comm))
    >>> A.own_shape, A.n, A.unknowns
    ((2, 3, 3), 18, 36)
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
        """Return an interval that contains all eigenvalues, from the Gershgorin circles of all ranks' rows."""

    def multiply(self, v, out, ops=None) -> None:
        """Compute this rank's part of ``out = A v``; v and out are one-dimensional. The halo is exchanged meanwhile."""
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
        """Return a copy of this rank's part of a whole vector."""
        if whole.size != self.unknowns:
            raise CourseError(f"The vector has {whole.size} entries, but A has {self.unknowns} unknowns.")
        return whole.reshape(-1)[self.first : self.first + self.n].reshape(self.own_shape).copy()

    def whole(self, part) -> np.ndarray:
        """Return the whole vector, float64, on every rank; for small problems and for tests."""
        found = np.zeros(self.unknowns)
        found[self.first : self.first + self.n] = part.reshape(-1)
        return self.comm.sum(found)


def block_jacobi(A: RankOperator, build):
    """Return a preconditioner that each rank builds from its own rows and columns, and applies without a message.

    With AMG on each rank this is block Jacobi, which is symmetric and positive definite. It ignores the couplings
    between ranks, so a solver needs more iterations on more ranks.

    Parameters
    ----------
    A : SlabLaplacian or RowBlockMatrix
    build : callable
        From ``precond/build.py``, such as ``amg``.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.distributed.slabs import SlabLaplacian
    >>> from course_pkg.precond.build import amg
    >>> from course_pkg.sstep.cpu_numba import pcg
    >>> def solve(comm):
    ...     A = SlabLaplacian((8, 8, 8), comm)
    ...     return pcg(A, np.ones(A.own_shape), M=block_jacobi(A, amg)).iterations
    >>> [Serial(ranks).run(solve)[0] for ranks in (1, 2)]
    [8, 13]
    """
    return build(A.own_block())
