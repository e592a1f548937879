"""Preconditioners as plain arrays, set up by ``build.py``: each approximates ``A⁻¹`` by a positive definite operator.

- ``Identity`` copies r
- ``Diagonal``: division by the diagonal (Jacobi), or by the sums of absolute values of the rows (ℓ1-Jacobi)
- ``Polynomial``: some steps of Chebyshev's method, a polynomial in A, scaled by its diagonal
- ``Multigrid``: a V-cycle over coarser and coarser matrices, smoothed by steps of Jacobi's method

To apply each takes only sparse matrix-vector products and maps. For example, a step of Jacobi's method,
``(b - E x) / d`` with ``A = E + diag(d)``, is one product with E that ends with a division (``spmv/jacobi.py``). The
d of a smoother need not be A's diagonal: with ``d = diagonal / omega`` it is the weighted method.

Why they are positive definite. Jacobi: d is positive. Chebyshev: ``1 - t p(t)`` is below 1 in absolute value on
(0, hi], so the polynomial p is positive there, and hi is an upper bound of the eigenvalues by Gershgorin's circles.
V-cycle: the smoother is the same before and after the correction, restriction is the transpose of prolongation, and
coarse matrices are ``Pᵀ A P``. Such a cycle is positive definite if the smoother converges, that is, if ``2 d - A`` is
positive definite. ℓ1-Jacobi always converges; the weighted one does because omega is 4/3 over Gershgorin's bound.

Sources: A. H. Baker, R. D. Falgout, T. V. Kolev, U. M. Yang, Multigrid smoothers for ultraparallel computing, SIAM J.
Sci. Comput. 33, 2011 (ℓ1-Jacobi); Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, 2003, Algorithm
12.1 (Chebyshev); P. Vaněk, J. Mandel, M. Brezina, Algebraic multigrid by smoothed aggregation, Computing 56, 1996;
Y. Notay, An aggregation-based algebraic multigrid method, ETNA 37, 2010 (pairwise).
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from course_pkg.spmv.formats import Csr


class Preconditioner:
    """What all preconditioners do: their arrays can be copied to a GPU.

    Examples
    --------
    >>> type(Diagonal(np.array([4.0, 2.0])).to_device().d).__name__ != "ndarray"
    True
    """

    def to_device(self):
        """Return the same preconditioner with its arrays in GPU memory."""
        from course_pkg import cuda

        def moved(value):
            if isinstance(value, tuple):
                return tuple(map(moved, value))
            if isinstance(value, (Csr, Preconditioner)):
                return value.to_device()
            return cuda.to_device(value) if isinstance(value, np.ndarray) else value

        return replace(self, **{f.name: moved(getattr(self, f.name)) for f in fields(self)})


@dataclass(frozen=True, eq=False)
class Identity(Preconditioner):
    """No preconditioner, for n unknowns.

    Examples
    --------
    >>> Identity(3).sizes()
    {'n': 3}
    """

    n: int

    def sizes(self) -> dict:
        """Return the arguments of its function in ``cost.py``, except the dtype."""
        return {"n": self.n}


@dataclass(frozen=True, eq=False)
class Diagonal(Preconditioner):
    """Division by d.

    Attributes
    ----------
    d : array, shape (n,)
        Positive.

    Examples
    --------
    >>> Diagonal(np.array([4.0, 2.0])).n
    2
    """

    d: Any

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.d.shape[0]

    def sizes(self) -> dict:
        """Return the arguments of its function in ``cost.py``, except the dtype."""
        return {"n": self.n}


@dataclass(frozen=True, eq=False)
class Polynomial(Preconditioner):
    """Steps of Chebyshev's method for ``A z = r`` from z = 0, with A scaled by its diagonal.

    Attributes
    ----------
    E : Csr
        A without its diagonal.
    d : array, shape (n,)
        The diagonal.
    steps : tuple of (float, float)
        For each step, a and b of ``p = a (residual / d) + b p``, ``z += p``; b is 0 in the first.

    Examples
    --------
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.precond.build import chebyshev
    >>> chebyshev(poisson((4, 4)), degree=2).sizes()
    {'n': 16, 'nnz': 64, 'degree': 2}
    """

    E: Csr
    d: Any
    steps: tuple[tuple[float, float], ...]

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.d.shape[0]

    def sizes(self) -> dict:
        """Return the arguments of its function in ``cost.py``, except the dtype."""
        return {"n": self.n, "nnz": self.E.nonzeros, "degree": len(self.steps) - 1}


@dataclass(frozen=True, eq=False)
class Level(Preconditioner):
    """A level of a hierarchy above the coarsest one.

    Attributes
    ----------
    E : Csr, shape (n, n)
        ``A - diag(d)``.
    d : array, shape (n,)
        What the smoother divides by.
    P, R : Csr, shape (n, coarse) and (coarse, n)
        Prolongation, and restriction, which is its transpose.

    Examples
    --------
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.precond.build import amg
    >>> amg(poisson((8, 8, 8)), max_coarse=100).levels[0].P.shape
    (512, 64)
    """

    E: Csr
    d: Any
    P: Csr
    R: Csr


@dataclass(frozen=True, eq=False)
class Multigrid(Preconditioner):
    """A hierarchy of levels, the finest first, and the inverse of the coarsest matrix.

    Attributes
    ----------
    levels : tuple of Level
    inverse : Csr
        The inverse of the coarsest matrix, a small matrix without zeros: on this level, one product solves exactly.
    sweeps : int
        Steps of the smoother before, and after, the correction.

    Examples
    --------
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.precond.build import amg
    >>> M = amg(poisson((8, 8, 8)), max_coarse=100)
    >>> [level.R.shape for level in M.levels], round(M.complexity, 1)
    ([(64, 512)], 2.3)
    """

    levels: tuple[Level, ...]
    inverse: Csr
    sweeps: int

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.levels[0].d.shape[0] if self.levels else self.inverse.shape[0]

    @property
    def complexity(self) -> float:
        """Operator complexity: the nonzeros of all levels divided by those of the finest."""
        counts = [level.E.nonzeros for level in self.levels] + [self.inverse.nonzeros]
        return sum(counts) / counts[0]

    def sizes(self) -> dict:
        """Return the arguments of its function in ``cost.py``, except the dtype."""
        levels = tuple((lv.E.shape[0], lv.E.nonzeros, lv.P.shape[1], lv.P.nonzeros) for lv in self.levels)
        return {"n": self.n, "nnz": self.inverse.nonzeros, "levels": levels, "sweeps": self.sweeps}
