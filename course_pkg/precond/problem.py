"""Matrices to precondition, each with a residual to apply the preconditioner to."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS
from course_pkg.permutation.problem import problem


@dataclass(frozen=True)
class PreconditionProblem:
    """A symmetric positive definite matrix, and a vector that a preconditioner is applied to.

    Attributes
    ----------
    A : scipy.sparse.csr_array, shape (n, n)
    r : ndarray, shape (n,)
        Host memory.

    Examples
    --------
    >>> p = PreconditionProblem.named("poisson_3d", size=4)
    >>> p.A.shape, p.r.shape
    ((64, 64), (64,))
    """

    A: object
    r: np.ndarray

    @classmethod
    def named(
        cls, name: str, size: int | None = None, dtype="float64", seed: int = 0
    ) -> "PreconditionProblem":
        """Make the matrix of this name (``permutation/problem.py`` has the list), and draw r from [-1, 1).

        Raises
        ------
        CourseError
            If there is no such matrix, or it is not symmetric positive definite.
        """
        if np.dtype(dtype).name not in FLOATS:
            raise CourseError(f"dtype is {dtype}: numbers are {' or '.join(FLOATS)}.")
        sparse = problem(name, size, seed)
        if not sparse.spd:
            raise CourseError(f"{name} is not symmetric positive definite: choose another matrix.")
        A = sparse.matrix.astype(dtype, copy=False)
        return cls(A, np.random.default_rng(seed).uniform(-1, 1, A.shape[0]).astype(dtype))
