"""What a quadratic program is: minimise F(x) = ½ xᵀQx + hᵀx over x ≥ 0."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS


@dataclass(frozen=True, eq=False)
class QuadraticProblem:
    """Minimise ½ xᵀQx + hᵀx over x ≥ 0, Q symmetric positive semidefinite; host memory.

    Attributes
    ----------
    Q : ndarray, shape (n, n)
    h : ndarray, shape (n,)
    name, source : str
        What it is, and where its data come from.

    Examples
    --------
    >>> p = QuadraticProblem(2 * np.eye(3), -np.ones(3), "small", "")
    >>> p.n, p.astype("float32").Q.dtype
    (3, dtype('float32'))
    """

    Q: np.ndarray
    h: np.ndarray
    name: str
    source: str

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.h.size

    def astype(self, dtype) -> "QuadraticProblem":
        """Return the same problem in another precision."""
        if np.dtype(dtype).name not in FLOATS:
            raise CourseError(f"dtype is {dtype}: the matrices are {' or '.join(FLOATS)}.")
        return QuadraticProblem(self.Q.astype(dtype), self.h.astype(dtype), self.name, self.source)


def least_squares(A, b, name: str, source: str) -> QuadraticProblem:
    """Return ``min ‖A x - b‖²`` over x ≥ 0 as a quadratic program: Q = AᵀA, h = -Aᵀb.

    Examples
    --------
    >>> least_squares(np.eye(2), np.array([1.0, -2.0]), "small", "").h
    array([-1.,  2.])
    """
    Q = A.T @ A
    return QuadraticProblem((Q + Q.T) / 2, -A.T @ b, name, source)
