"""The room of one rank among several: the methods of ``sstep/solver.py`` run in it without knowing of ranks."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.systems import check_system
from course_pkg.distributed.phases import ALLREDUCE, PRECONDITION, SUMS, UPDATES
from course_pkg.precond import cpu_numba as precond
from course_pkg.sstep.room import Room

DRAWN = 2**16  # number of random numbers that are drawn in one call


class Clocked:
    """A mixin that counts the time of a room's operations by phases, with the clock ``A.phases``.

    Among the base classes of a room, it must precede the class whose operations it times.

    Examples
    --------
    >>> RankRoom.__mro__[1] is Clocked
    True
    """

    def advance(self, Q, AQ, j, step) -> None:
        """Compute the product of vector j and, unless ``step`` is None, vector j + 1."""
        with self.A.phases(UPDATES):
            super().advance(Q, AQ, j, step)

    def precondition(self, v, out) -> None:
        """Compute ``out = M v`` on this rank alone."""
        with self.A.phases(PRECONDITION):
            super().precondition(v, out)

    def copy(self, source, target) -> None:
        """Copy a vector."""
        with self.A.phases(UPDATES):
            super().copy(source, target)

    def combine(self, a, v, g, w, out) -> None:
        """Compute ``out = a v + g w``."""
        with self.A.phases(UPDATES):
            super().combine(a, v, g, w, out)

    def follow(self, v, number, w, out) -> None:
        """Compute ``out = v + number[0] w``."""
        with self.A.phases(UPDATES):
            super().follow(v, number, w, out)

    def update(self, old, fresh, beta, alpha, out) -> None:
        """Update a block, x and r by the coefficients of the moments."""
        with self.A.phases(UPDATES):
            super().update(old, fresh, beta, alpha, out)

    def project(self, old, fresh, C, a, out) -> None:
        """Update a block, x and r by the coefficients of the Gram matrix."""
        with self.A.phases(UPDATES):
            super().project(old, fresh, C, a, out)

    def dots(self, *pairs) -> list[float]:
        """Return dot products; one reduction."""
        with self.A.phases(SUMS):
            return [float(total) for total in super().dots(*pairs)]

    def totals(self, out, *pairs) -> None:
        """Write dot products to where scalar work is done; one reduction."""
        with self.A.phases(SUMS):
            super().totals(out, *pairs)

    def moments(self, block, r) -> np.ndarray:
        """Return the 2 s moments and r·r; one reduction."""
        with self.A.phases(SUMS):
            return super().moments(block, r)

    def sums(self, old, fresh, r, out) -> None:
        """Compute this rank's sums of a pass."""
        with self.A.phases(SUMS):
            super().sums(old, fresh, r, out)


def drawn_part(seed: int, first: int, n: int) -> np.ndarray:
    """Return n normal random numbers of those that a single rank would draw; those before ``first`` are drawn, too.

    Examples
    --------
    >>> bool((drawn_part(1, 0, 5)[2:] == drawn_part(1, 2, 3)).all())
    True
    """
    rng, mine = np.random.default_rng(seed), np.empty(n)
    while first:
        first -= rng.standard_normal(min(first, DRAWN)).size
    rng.standard_normal(out=mine)
    return mine


class RankRoom(Clocked, Room):
    """This rank's parts of the vectors; products fetch the halo, and sums are taken over all ranks.

    Parameters
    ----------
    A : SlabLaplacian or RowBlockMatrix
    b, x0 : ndarray
        This rank's parts.
    M : Preconditioner or callable, optional
        Works on this rank's part alone.

    Examples
    --------
    >>> from course_pkg.distributed.slabs import SlabLaplacian
    >>> from course_pkg.distributed.serial import Serial
    >>> from course_pkg.sstep import cpu_numba
    >>> def first_residual(comm):
    ...     A = SlabLaplacian((4, 4, 4), comm)
    ...     room = RankRoom(cpu_numba, A, np.ones(A.own_shape), None, None, 1e-6, 0.0, None)
    ...     return room.residual(room.x, room.r)
    >>> Serial(2).run(first_residual)
    [8.0, 8.0]
    """

    preconditioners = precond

    def __init__(self, ops, A, b, x0, M, rtol, atol, maxiter):
        self.A = A
        super().__init__(ops, A, b, x0, M, rtol, atol, maxiter)

    def check(self, b, x0, rtol, atol, maxiter) -> None:
        """Check this rank's parts; norms are those of the whole vectors."""
        A = self.A
        for name, array in (("b", b), ("x0", x0)):
            shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
            if array is not None and (shape != A.own_shape or dtype != A.dtype):
                raise CourseError(
                    f"{name} has shape {shape} and dtype {dtype}, but the part of {A.comm.name} has {A.own_shape} and "
                    f"{A.dtype}: make it with A.part({name}), or of that shape."
                )
        check_system(b, x0, rtol, atol, maxiter, A.vectors.inner)

    @property
    def unknowns(self) -> int:
        """Number of unknowns of all ranks."""
        return self.A.unknowns

    @property
    def has_rows(self) -> bool:
        """Return True, because both operators know their rows."""
        return True

    @property
    def fuses(self) -> bool:
        """True if one sweep computes both the product and the next vector of a basis."""
        return hasattr(self.A, "recurrence") and self.M is None

    def circles(self) -> tuple[float, float]:
        """Return an interval with all eigenvalues of A."""
        return self.A.circles()

    def drawn(self, seed: int):
        """Return this rank's part of the vector that one rank would draw."""
        return drawn_part(seed, self.A.first, self.n).astype(self.dtype)

    def total(self, sums):
        """Add up sums over all ranks. This is the only communication of a reduction."""
        with self.A.phases(ALLREDUCE):
            return self.A.comm.sum(sums)

    def multiply(self, v, out) -> None:
        """Compute ``out = A v``."""
        self.products += 1
        self.A.multiply(v, out)

    def fused(self, previous, current, step, product, out) -> None:
        """Compute the product and the next vector in one sweep."""
        self.A.recurrence(self.ops, previous, current, step, product, out)
