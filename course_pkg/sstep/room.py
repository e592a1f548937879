"""A room: the vectors of a solve and the operations of one library. With it, each method is written only once.

Methods decide on the order of operations; a room knows where the vectors live and which functions work on them. This is
the room in host memory, for ``reference.py`` and ``cpu_numba.py``. Rooms in GPU memory allocate and copy in other ways.
"""

from functools import cache

import numpy as np

from course_pkg.core.systems import check_system, squared
from course_pkg.precond import cycle
from course_pkg.precond import reference as plain_preconditioners
from course_pkg.precond.preconditioners import Preconditioner
from course_pkg.sstep.bases import Basis
from course_pkg.sstep.bounds import gershgorin
from course_pkg.sstep.problem import Laplacian


class Room:
    """Vectors in host memory, and the operations of a module.

    Parameters
    ----------
    ops : module
        Has the operations that ``reference.py`` explains.
    A : Laplacian, matrix or callable
    b, x0 : ndarray
        Arrays of any shape; the room stores them as vectors. x0 may be None.
    M : Preconditioner, matrix or callable, optional
        Applies the inverse of a preconditioner.

    Attributes
    ----------
    products, reductions : int
        Numbers of products with A and of reductions; a solver reports both.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> room.residual(room.x, room.r), room.products
    (8.0, 1)
    """

    preconditioners = plain_preconditioners  # the module that applies preconditioners of ``precond/``

    def __init__(self, ops, A, b, x0, M, rtol, atol, maxiter):
        self.check(b, x0, rtol, atol, maxiter)
        self.ops, self.A, self.M, self.shape = ops, A, M, b.shape
        self.products = self.reductions = 0
        self.dtype, self.n = np.dtype(b.dtype), int(np.prod(b.shape))
        self.b = self.take(b)
        self.x = self.vector() if x0 is None else self.take(x0)
        self.r = self.vector()

    @property
    def rows(self):
        """The operator, with its rows in host memory, as Gershgorin's circles need it."""
        return self.A

    @property
    def unknowns(self) -> int:
        """Number of unknowns of the whole system; if several ranks share it, this room holds ``n`` of them."""
        return self.n

    @property
    def has_rows(self) -> bool:
        """Whether the rows of A are known: True unless A is a function."""
        return not callable(self.A)

    @property
    def fuses(self) -> bool:
        """Whether one sweep computes both a product and the next vector of a basis."""
        return isinstance(self.A, Laplacian) and self.M is None

    def circles(self) -> tuple[float, float]:
        """Return an interval with all eigenvalues of A, by Gershgorin's circles."""
        return gershgorin(self.rows)

    # ---- memory

    def check(self, b, x0, rtol, atol, maxiter) -> None:
        """Check the arguments of a solve."""
        check_system(b, x0, rtol, atol, maxiter)

    def zeros(self, shape, dtype=None):
        """Return zeros where the vectors live."""
        return np.zeros(shape, dtype or self.dtype)

    def vector(self):
        """Return a vector of zeros."""
        return self.zeros(self.n)

    def block(self, s: int):
        """Return a block of zeros: s vectors and their products."""
        return self.zeros((2 * s, self.n))

    def kept(self, shape):
        """Return float64 memory for the sums of a pass, in which only zeros stand where no sum is written."""
        return self.zeros(shape, np.float64)

    def numbers(self, array):
        """Return an array of numbers where scalar work is done."""
        return array

    def few(self, shape, what):
        """Return memory for sums or coefficients of an iteration where scalar work is done."""
        return np.zeros(shape)

    def take(self, array):
        """Return a copy of an array of b's shape as a vector."""
        return np.array(array).reshape(-1)

    def drawn(self, seed: int):
        """Return a vector of normal random numbers."""
        return self.take(np.random.default_rng(seed).standard_normal(self.shape).astype(self.dtype))

    def give(self, vector):
        """Return a vector in b's shape."""
        return vector.reshape(self.shape)

    def to_host(self, array) -> np.ndarray:
        """Return an array in host memory."""
        return array

    def put(self, array):
        """Return an array of coefficients where the vectors live."""
        return np.ascontiguousarray(array, np.float64)

    def copy(self, source, target) -> None:
        """Copy a vector."""
        target[:] = source

    # ---- operations

    def multiply(self, v, out) -> None:
        """Compute ``out = A v``."""
        self.products += 1
        if isinstance(self.A, Laplacian):
            grid = v.reshape(self.A.shape)
            self.ops.laplacian_recurrence(grid, grid, 0.0, 0.0, 0.0, out.reshape(self.A.shape))
        else:
            out[:] = _applied(self.A, v.reshape(self.shape)).reshape(-1)

    def precondition(self, v, out) -> None:
        """Compute ``out = M v``."""
        if isinstance(self.M, Preconditioner):
            cycle.apply(self.preconditioners, self.M, v, out)
        else:
            out[:] = _applied(self.M, v.reshape(self.shape)).reshape(-1)

    def combine(self, a, v, g, w, out) -> None:
        """Compute ``out = a v + g w``."""
        self.recurrence(w, v, v, a, 0.0, -g, out)

    def recurrence(self, previous, current, product, a, c, g, out) -> None:
        """Compute ``out = a (product - c current) - g previous``."""
        self.ops.recurrence(previous, current, product, a, c, g, out)

    def follow(self, v, number, w, out) -> None:
        """Compute ``out = v + number[0] w``; ``number`` is an array of one number where scalar work is done."""
        self.combine(1.0, v, float(number[0]), w, out)

    # ---- iterations whose scalar work may be done where the vectors live

    most_ahead = 0  # most passes of several iterations that are queued together: none, where vectors are in host memory

    def looks(self, queued: int) -> bool:
        """Return whether the host is to look at the numbers, now that this many iterations are queued."""
        return True

    def iteration(self, key, step, *arguments) -> None:
        """Do ``step(*arguments)``, an iteration in which the host does not look at any number."""
        step(*arguments)

    def scalar(self, function, *arguments) -> None:
        """Do scalar work: call a function of ``scalars.py``."""
        function(*arguments)

    def totals(self, out, *pairs) -> None:
        """Write the dot products of pairs of vectors to where scalar work is done; one reduction."""
        out[:] = self.dots(*pairs)

    def gram_of_iteration(self, old, fresh):
        """Return what :meth:`gram` returns, with the sums with r, where scalar work is done."""
        return self.gram(old, fresh, self.r)

    def moments_of_iteration(self, block):
        """Return what :meth:`moments` returns, where scalar work is done."""
        return self.moments(block, self.r)

    def total(self, sums):
        """Return sums over all points of the system, given the sums over the points that this room holds."""
        return sums

    def collect(self, sums) -> np.ndarray:
        """Do what :meth:`total` does, and return the result in host memory."""
        return self.total(self.to_host(sums))

    def dots(self, *pairs) -> list[float]:
        """Return the dot products of pairs of vectors: one reduction."""
        self.reductions += 1
        return self.total([float(np.dot(*(v.astype(np.float64) for v in pair))) for pair in pairs])

    def residual(self, x, out) -> float:
        """Compute ``out = b - A x`` and return its norm; one reduction."""
        self.multiply(x, out)
        self.combine(1.0, self.b, -1.0, out, out)
        self.reductions += 1
        return float(np.sqrt(self.total([squared(out)])[0]))

    def powers(self, r, basis: Basis, block) -> None:
        """Fill a block with the vectors of a basis and their products: S_0 = M r, then the recurrence (pMPK).

        Vectors of the block that the basis leaves over stay as they are.
        """
        room = len(block) // 2
        Q, AQ = block[:room], block[room:]
        self.copy(r, Q[0]) if self.M is None else self.precondition(r, Q[0])
        steps = [*zip(basis.a, basis.c, basis.g, strict=True), None]
        with np.errstate(over="ignore", invalid="ignore"):  # the method reports it from the sums
            for j, step in enumerate(steps):
                self.advance(Q, AQ, j, step)

    def advance(self, Q, AQ, j, step) -> None:
        """Compute the product of A with vector j and, unless ``step`` is None, vector j + 1 of the basis."""
        previous = Q[max(j - 1, 0)]
        if self.fuses:
            self.products += 1
            self.fused(previous, Q[j], step, AQ[j], None if step is None else Q[j + 1])
            return
        self.multiply(Q[j], AQ[j])
        if step is not None:
            product = AQ[j] if self.M is None else Q[j + 1]
            if self.M is not None:
                self.precondition(AQ[j], product)
            self.recurrence(previous, Q[j], product, *step, Q[j + 1])

    def fused(self, previous, current, step, product, out) -> None:
        """Compute the product with the Laplacian and the next vector of the basis in one sweep."""
        grids = [None if v is None else v.reshape(self.A.shape) for v in (previous, current, product, out)]
        self.ops.laplacian_recurrence(*grids[:2], *(step or (0.0, 0.0, 0.0)), *grids[2:])

    def moments(self, block, r) -> np.ndarray:
        """Return the 2 s moments and r·r: one reduction."""
        self.reductions += 1
        out = self.kept(len(block) + 1)
        with np.errstate(over="ignore", invalid="ignore"):
            self.ops.moments(block, r, out)
        return self.collect(out)

    def gram(self, old, fresh, r, length=None) -> np.ndarray:
        """Return the Gram matrix; its last column holds the sums with r: one reduction.

        Only the first ``length`` vectors of the fresh block take part, by default all of them.
        """
        self.reductions += 1
        s = len(fresh) // 2
        m = s if old is None else 2 * s
        out = self.kept((m + 1, m + 1))
        with np.errstate(over="ignore", invalid="ignore"):
            self.sums(old, fresh, r, out)
        sums = self.collect(out)
        if length is not None and length < s:
            part = np.r_[: m - s + length, m]
            sums = sums[part[:, None], part]
        return np.where(_lower(len(sums)), sums.T, sums)  # only the upper half was summed

    def sums(self, old, fresh, r, out) -> None:
        """Write the Gram matrix of a pass to ``out``."""
        self.ops.gram(old, fresh, r, out)

    def update(self, old, fresh, beta, alpha, out) -> None:
        """Update a block, x and r by the coefficients of the moments."""
        self.ops.update_block(old, fresh, self.put(beta), self.put(alpha), self.x, self.r, out)

    def project(self, old, fresh, C, a, out) -> None:
        """Update a block, x and r by the coefficients of the Gram matrix."""
        self.ops.project_block(old, fresh, self.put(C), self.put(a), self.x, self.r, out)


def room_for(room, ops, A, *arguments) -> Room:
    """Return the room of A if A has its own, as an operator on many ranks does; otherwise one of the class ``room``.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> room_for(Room, reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None).n
    64
    """
    return getattr(A, "room", room)(ops, A, *arguments)


@cache
def _lower(m):
    """Return where a matrix of m rows is below its diagonal."""
    return np.tri(m, k=-1, dtype=bool)


def _applied(operator, v):
    return operator(v) if callable(operator) else operator @ v
