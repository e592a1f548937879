"""Vectors for the streaming operations."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS, require_count


@dataclass(frozen=True)
class VectorProblem:
    """Two input vectors, a scalar, and an output. The output is NaN, which reveals elements that were not written.

    Attributes
    ----------
    a, b, out : ndarray, shape (n,)
        Host memory.
    s : float
        The scalar of scale and triad.

    Examples
    --------
    >>> p = VectorProblem.random(4, "float32", seed=1)
    >>> p.a.dtype, p.s, p.out
    (dtype('float32'), 3.0, array([nan, nan, nan, nan], dtype=float32))
    """

    a: np.ndarray
    b: np.ndarray
    s: float
    out: np.ndarray

    @classmethod
    def random(cls, n: int, dtype="float64", seed: int = 0) -> "VectorProblem":
        """Draw ``a`` and ``b`` uniformly from [-1, 1)."""
        require_count(n=n)
        if n < 1:
            raise CourseError(f"n is {n}: a vector needs at least one element.")
        if np.dtype(dtype).name not in FLOATS:
            raise CourseError(f"dtype is {dtype}: the vectors are {' or '.join(FLOATS)}.")
        rng = np.random.default_rng(seed)
        a, b = (rng.uniform(-1.0, 1.0, n).astype(dtype, copy=False) for _ in range(2))
        return cls(a, b, 3.0, np.full(n, np.nan, dtype))
