"""A sparse matrix whose rows are divided among ranks; the halo may consist of any entries."""

import numpy as np
from scipy.sparse import csr_array, hstack

from course_pkg.core import CourseError
from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.halo import by_owner, csr_plan, needed, renumbered
from course_pkg.distributed.operators import RankOperator
from course_pkg.distributed.partition import offsets
from course_pkg.permutation.checks import check_csr
from course_pkg.spmv.cpu_numba import spmv
from course_pkg.spmv.formats import Csr
from course_pkg.sstep.bounds import gershgorin


class RowBlockMatrix(RankOperator):
    """A sparse matrix of which each rank owns consecutive rows; the halo may consist of any entries.

    Parameters
    ----------
    rows : scipy.sparse.csr_array, shape (own rows, all unknowns)
        This rank's rows, with global columns; the rows of rank 0 come first, then those of rank 1, and so on.
    comm : Communicator

    Attributes
    ----------
    offsets : ndarray of int64, shape (ranks + 1,)
    owned_columns : Csr
        All rows, with the columns that this rank owns.
    halo_columns : Csr or None
        The rows ``boundary_rows``, with the columns of the halo.

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
            raise CourseError(
                f"The ranks have {self.offsets[-1]} rows together, but A has {rows.shape[1]} columns."
            )
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
        """Return this rank's part of a matrix; every rank must pass the whole matrix."""
        first, last = (int(end) for end in offsets(A.shape[0], comm.ranks)[comm.rank : comm.rank + 2])
        return cls(csr_array(A[first:last]), comm)

    def _split(self, rows, columns, halo: int) -> None:
        """Split the matrix: one part has the owned columns of all rows, the other the rows that read the halo."""
        n = self.n
        local = csr_array((rows.data, columns, rows.indptr), shape=(n, n + halo))
        local.sort_indices()
        self.owned_columns = Csr.from_scipy(_sorted(local[:, :n]))
        beyond = _sorted(local[:, n:])
        self.boundary_rows = np.flatnonzero(np.diff(beyond.indptr))
        self.halo_columns = (
            Csr.from_scipy(_sorted(beyond[self.boundary_rows])) if self.boundary_rows.size else None
        )

    @property
    def local(self) -> Csr:
        """The rows in local numbering, owned columns first and then the halo; assembled from the two parts."""
        beyond = csr_array((self.n, self.exchange.plan.size), dtype=self.dtype)
        if self.halo_columns is not None:
            A = self.halo_columns
            ends = np.zeros(self.n + 1, np.int32)
            ends[self.boundary_rows + 1] = np.diff(A.indptr)
            beyond = csr_array((A.data, A.indices, np.cumsum(ends, dtype=np.int32)), shape=beyond.shape)
        return Csr.from_scipy(_sorted(hstack([self.own_block(), beyond], format="csr")))

    def inside(self, v, out, ops=None) -> None:
        """Multiply by the owned columns of all rows."""
        spmv(self.owned_columns, v, out)

    def outside(self, halo, out) -> None:
        """Add the columns of the halo, in the rows that have some."""
        if self.halo_columns is not None:
            more = np.empty(self.boundary_rows.size, out.dtype)
            spmv(self.halo_columns, halo, more)
            out[self.boundary_rows] += more

    def own_block(self) -> csr_array:
        """Return the rows and columns that this rank owns."""
        A = self.owned_columns
        return csr_array((A.data, A.indices, A.indptr), shape=A.shape)

    def circles(self) -> tuple[float, float]:
        """Return the union of all ranks' circles."""
        found = self.comm.gather(gershgorin(self.local))
        return max(0.0, float(found[:, 0].min())), float(found[:, 1].max())


def _sorted(A) -> csr_array:
    A = csr_array(A)
    A.sort_indices()
    return A
