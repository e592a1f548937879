"""A sparse matrix whose rows are divided among GPUs; the halo may consist of any entries.

- ``permute_vector_kernel`` gathers the entries that another GPU reads (``permutation/gpu_numba``)
- ``add_rows_kernel`` adds the part of the product that needs the halo to the rows that have one
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.checks import require_arrays, require_shape
from course_pkg.core.systems import check_stops
from course_pkg.device.launch import blocks_for
from course_pkg.distributed.gpu_room import OnGpus
from course_pkg.distributed.links import Link
from course_pkg.distributed.phases import HALO, PRODUCT, Phases
from course_pkg.distributed.room import drawn_part
from course_pkg.distributed.rows import RowBlockMatrix
from course_pkg.permutation.gpu_numba import permute_vector_kernel
from course_pkg.precond.preconditioners import Preconditioner
from course_pkg.spmv.gpu_numba import spmv_csr_vector
from course_pkg.sstep.gpu_numba.room import LINE, DeviceRoom
from course_pkg.sstep.tuning import THREADS


@cuda.jit
def add_rows_kernel(more, rows, out):
    """Compute ``out[rows[i]] += more[i]``; each row is there once, so no two threads add to the same one."""
    i = np.uint32(cuda.grid(1))
    if i < more.size:
        row = np.uint32(rows[i])
        out[row] += more[i]


class DeviceRows:
    """This rank's rows of a sparse matrix, in GPU memory: what the methods of ``sstep/gpu_numba`` take as A.

    The product with the columns that this rank owns is computed during the halo exchange.

    Parameters
    ----------
    rows : RowBlockMatrix
        Of the communicator ``link.comm``.
    link : Link

    Attributes
    ----------
    own_shape : (n,)
        Of this rank's part of a vector.
    longest_message : int
        Number of elements of the longest message between any two ranks.
    phases : Phases
        The clock that divides the host's time among phases.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.sstep.gpu_numba import pcg
    >>> def solve(comm):
    ...     A = DeviceRows(RowBlockMatrix.of(poisson((6, 4, 4)), comm), Staged(comm))
    ...     return pcg(A, cuda.to_device(np.ones(A.own_shape))).iterations
    >>> Serial(2).run(solve)
    [9, 9]
    """

    def __init__(self, rows: RowBlockMatrix, link: Link):
        self.rows, self.link, self.own_shape, self.phases = rows, link, rows.own_shape, Phases()
        self.inside = rows.owned_columns.to_device()
        self.outside = None if rows.halo_columns is None else rows.halo_columns.to_device()
        self.boundary = cuda.to_device(rows.boundary_rows.astype(np.int32))
        plan, dtype = rows.exchange.plan, rows.dtype
        self.more = cuda.device_array(max(1, rows.boundary_rows.size), dtype)
        self.halo = cuda.device_array(max(1, plan.size), dtype)
        self._sends = [
            (peer, cuda.to_device(where.astype(np.int32)), cuda.device_array(len(where), dtype))
            for peer, where in plan.sends
        ]
        self._receives = [(peer, self.halo[where]) for peer, where in plan.receives]
        mine = max(
            (array.size for array in (*(s[2] for s in self._sends), *(r[1] for r in self._receives))),
            default=0,
        )
        self.longest_message = int(link.comm.gather(mine).max())  # all ranks decide alike

    @property
    def room(self):
        """What makes the room of a solve."""
        return RankRowsRoom

    def multiply(self, v, out, stream=0) -> None:
        """Compute this rank's part of ``out = A v`` during the halo exchange, then add what needs the halo."""
        with self.phases(PRODUCT):
            for _, where, buffer in self._sends:
                blocks = blocks_for(buffer.size, THREADS)
                permute_vector_kernel[blocks, THREADS, stream](where, v, buffer)
            self.link.start([(peer, buffer) for peer, _, buffer in self._sends], self._receives, stream)
            spmv_csr_vector(self.inside, v, out, stream=stream)
            with self.phases(HALO):
                self.link.join(stream)
            if self.outside is not None:
                spmv_csr_vector(self.outside, self.halo, self.more, stream=stream)
                blocks = blocks_for(self.more.size, THREADS)
                add_rows_kernel[blocks, THREADS, stream](self.more, self.boundary, out)


class RankRowsRoom(OnGpus, DeviceRoom):
    """This rank's parts of the vectors of a solve with stored rows, in GPU memory.

    Parameters
    ----------
    A : DeviceRows
    b, x0 : device array, shape (n,)
        This rank's parts.
    M : Preconditioner in GPU memory, optional
        Works on this rank's part alone, such as ``block_jacobi(A.rows, amg).to_device()``.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.operators import block_jacobi
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.precond.build import amg
    >>> from course_pkg.sstep.gpu_numba import pcg
    >>> def solve(comm):
    ...     A = DeviceRows(RowBlockMatrix.of(poisson((6, 6, 6)), comm), Staged(comm))
    ...     M = block_jacobi(A.rows, amg).to_device()
    ...     return pcg(A, cuda.to_device(np.ones(A.own_shape)), M=M).iterations
    >>> Serial(2).run(solve)
    [6, 6]
    """

    def check(self, b, x0, rtol, atol, maxiter) -> None:
        """Check this rank's parts, and choose the size of vectors."""
        A = self.A
        check_stops(rtol, atol, maxiter)
        arrays = {"b": b} if x0 is None else {"b": b, "x0": x0}
        require_arrays(device=True, dtypes=(A.rows.dtype.name,), **arrays)
        require_shape(A.own_shape, **arrays)
        if self.M is not None and not (isinstance(self.M, Preconditioner) and self.M.n == b.size):
            raise CourseError(
                "M must be a preconditioner in GPU memory for this rank's rows: make it by "
                "block_jacobi(A.rows, …).to_device()."
            )
        self.stored = -(-b.size // LINE) * LINE

    @property
    def unknowns(self) -> int:
        """Number of unknowns of all ranks."""
        return self.A.rows.unknowns

    @property
    def longest_message(self) -> int:
        """Number of elements of the longest message between any two ranks."""
        return self.A.longest_message

    @property
    def longest(self) -> int:
        """Length of a vector on the rank with the most rows."""
        return -(-int(np.diff(self.A.rows.offsets).max()) // LINE) * LINE

    def circles(self) -> tuple[float, float]:
        """Return the union of all ranks' circles."""
        return self.A.rows.circles()

    def drawn(self, seed: int):
        """Return this rank's part of the vector that one rank would draw."""
        return self.take(drawn_part(seed, self.A.rows.first, self.n).astype(self.dtype))

    def _multiply(self, v, out) -> None:
        self.A.multiply(v[: self.n], out[: self.n], self.stream)
