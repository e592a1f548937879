"""The matrices of this topic, each with a vector to multiply."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS
from course_pkg.permutation.problem import SparseProblem, problem


@dataclass(frozen=True)
class ProductProblem:
    """A sparse matrix, and a vector to multiply it with.

    Attributes
    ----------
    sparse : SparseProblem
        The matrix, with its name and source.
    x, y : ndarray, shape (columns,) and (rows,)
        In host memory. y is filled with NaN, which reveals rows that were not written.

    Examples
    --------
    >>> p = ProductProblem.named("poisson_2d", size=3, dtype="float32")
    >>> p.matrix.dtype, p.x.dtype, p.y[:2]
    (dtype('float32'), dtype('float32'), array([nan, nan], dtype=float32))
    """

    sparse: SparseProblem
    x: np.ndarray
    y: np.ndarray
    values: str

    @classmethod
    def named(cls, name: str, size: int | None = None, dtype="float64", values=None, seed: int = 0):
        """Make the matrix of this name, and draw x uniformly from [-1, 1).

        Parameters
        ----------
        dtype, values
            Precision of the vectors, and precision of the matrix; by default, both are the same.
        """
        for what, kind in (("dtype", dtype), ("values", values or dtype)):
            if np.dtype(kind).name not in FLOATS:
                raise CourseError(f"{what} is {kind}: numbers are {' or '.join(FLOATS)}.")
        sparse = problem(name, size, seed)
        rows, columns = sparse.matrix.shape
        x = np.random.default_rng(seed).uniform(-1, 1, columns).astype(dtype)
        return cls(sparse, x, np.full(rows, np.nan, dtype), np.dtype(values or dtype).name)

    @property
    def matrix(self):
        """The matrix as a ``scipy.sparse.csr_array``, in the precision ``values``."""
        return self.sparse.matrix.astype(self.values, copy=False)
