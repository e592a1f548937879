"""Systems for s-step methods, a matrix-free operator, and blocks of vectors with which kernels are tested and timed."""

from dataclasses import dataclass

import numpy as np

from course_pkg.cg.problem import PUBLISHED, PoissonProblem
from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS, require_count
from course_pkg.stencil import reference

__all__ = ["PUBLISHED", "BlockProblem", "Laplacian", "PoissonProblem"]

LARGEST = 12.0  # the eigenvalues of the 7-point Laplacian are smaller, on every grid


@dataclass(frozen=True)
class Laplacian:
    """The 7-point Laplacian on a grid, zero outside, without a matrix: 6 on the diagonal, -1 for each neighbour.

    Solvers that know this operator fuse its product with the operation that follows.

    Attributes
    ----------
    shape : (nz, ny, nx)

    Examples
    --------
    >>> A = Laplacian((3, 3, 3))
    >>> (A @ np.ones(27))[12:15], A.n
    (array([1., 0., 1.]), 27)
    """

    shape: tuple[int, int, int]

    def __post_init__(self):
        if len(self.shape) != 3 or min(self.shape) < 3:
            raise CourseError(f"shape is {self.shape}: pass three sizes of at least 3.")

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return int(np.prod(self.shape))

    def __matmul__(self, u):
        grid = np.ascontiguousarray(u).reshape(self.shape)
        out = np.empty_like(grid)
        reference.laplacian(grid, out)
        return out.reshape(u.shape)


@dataclass(frozen=True)
class BlockProblem:
    """The data of one pass of an s-step method: two blocks of 2 s vectors, coefficients, x and r; host memory.

    A block holds s vectors Q_j and, after them, their products A Q_j; each vector is contiguous.

    Attributes
    ----------
    old, fresh : ndarray, shape (2 s, n)
    beta, C : ndarray, shape (s, s) and (2 s, s), float64
    alpha, a : ndarray, shape (s,) and (2 s,), float64
    x, r : ndarray, shape (n,)

    Examples
    --------
    >>> p = BlockProblem.drawn(100, s=3)
    >>> p.s, p.old.shape, p.C.shape
    (3, (6, 100), (6, 3))
    """

    old: np.ndarray
    fresh: np.ndarray
    beta: np.ndarray
    C: np.ndarray
    alpha: np.ndarray
    a: np.ndarray
    x: np.ndarray
    r: np.ndarray

    @property
    def s(self) -> int:
        """Number of vectors that a pass adds, without their products."""
        return len(self.alpha)

    @classmethod
    def drawn(cls, n: int, s: int, dtype="float64", seed: int = 0) -> "BlockProblem":
        """Return a problem whose numbers are drawn uniformly from [-1, 1)."""
        require_count(n=n, s=s)
        if np.dtype(dtype).name not in FLOATS:
            raise CourseError(f"dtype is {dtype}: vectors are {' or '.join(FLOATS)}.")
        rng = np.random.default_rng(seed)
        blocks = [rng.uniform(-1, 1, (2 * s, n)).astype(dtype) for _ in range(2)]
        small = [rng.uniform(-1, 1, shape) for shape in ((s, s), (2 * s, s), s, 2 * s)]
        return cls(*blocks, *small, *(rng.uniform(-1, 1, n).astype(dtype) for _ in range(2)))
