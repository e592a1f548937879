"""Vectors for the streaming operations, and rings of links for chains of loads."""

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


@dataclass(frozen=True)
class Ring:
    """Links ``i = links[i]`` that visit memory in random order and return to the start after one lap.

    Every ``stride``-th element is a link; the elements between them are not read. With a link in each cache line, the
    footprint of a chain is the whole array.

    Attributes
    ----------
    links : ndarray, uint32, shape (n,)
        Host memory. A chain starts at element 0, or at any other link.
    stride : int
        Distance of the links, in elements.

    Examples
    --------
    >>> Ring.random(8, stride=2, seed=1).links
    array([2, 0, 4, 0, 6, 0, 0, 0], dtype=uint32)
    """

    links: np.ndarray
    stride: int

    @property
    def lap(self) -> int:
        """The number of links, and so of the steps that lead back to the start."""
        return self.links.size // self.stride

    @classmethod
    def random(cls, n: int, stride: int = 1, seed: int = 0) -> "Ring":
        """Draw a ring of ``n / stride`` links in random order, so that no step can be predicted."""
        require_count(n=n, stride=stride)
        if not 1 <= stride <= n <= 2**32 or n % stride:
            raise CourseError(
                f"n is {n}, stride {stride}: n must be a multiple of the stride, and at most 2^32."
            )
        order = np.random.default_rng(seed).permutation(n // stride).astype(np.uint32) * np.uint32(stride)
        links = np.zeros(n, np.uint32)
        links[order] = np.roll(order, -1)
        return cls(links, stride)
