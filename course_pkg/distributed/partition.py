"""Partitions: each rank owns consecutive rows of a vector, or consecutive planes of a grid. Pure arithmetic."""

from dataclasses import dataclass
from math import prod

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count


def offsets(n: int, ranks: int, what: str = "rows") -> np.ndarray:
    """Return where the part of each rank begins: rank k owns ``offsets[k]`` to ``offsets[k + 1]``, without the last.

    Parts are consecutive, cover 0 to n - 1, and differ by at most one in length.

    Parameters
    ----------
    n, ranks : int
    what : str
        The name of what is divided, for error messages.

    Returns
    -------
    ndarray of int64, shape (ranks + 1,)

    Raises
    ------
    CourseError
        If there are too few entries, so that a rank would own nothing.

    Examples
    --------
    >>> offsets(10, 3)
    array([ 0,  3,  6, 10])
    >>> offsets(2, 3, "planes")
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: 2 planes cannot be divided among 3 ranks: start at most 2 ranks, or take ...
    """
    require_count(n=n, ranks=ranks)
    if ranks < 1:
        raise CourseError("ranks is 0: at least one rank is needed.")
    if n < ranks:
        raise CourseError(
            f"{n} {what} cannot be divided among {ranks} ranks: start at most {n} ranks, or take a larger problem."
        )
    return np.arange(ranks + 1, dtype=np.int64) * n // ranks


def owner_of(entries, offsets) -> np.ndarray:
    """Return the rank that owns each entry.

    Parameters
    ----------
    entries : array of int
        Global numbers, each at least 0 and less than ``offsets[-1]``.
    offsets : ndarray, shape (ranks + 1,)

    Examples
    --------
    >>> owner_of([0, 2, 3, 9], offsets(10, 3))
    array([0, 0, 1, 2])
    """
    entries = np.asarray(entries)
    if entries.size and not (entries.min() >= 0 and entries.max() < offsets[-1]):
        raise CourseError(f"Entries are numbered from 0 to {offsets[-1] - 1}: one of these lies outside.")
    return np.searchsorted(offsets, entries, side="right") - 1


@dataclass(frozen=True)
class Slab:
    """The planes of a grid that one rank owns: those with ``first <= k < last``, k the slowest index.

    Attributes
    ----------
    grid : (nz, ny, nx)
        Of the whole grid.
    rank, ranks : int

    Examples
    --------
    >>> slab = Slab((8, 4, 4), rank=1, ranks=3)
    >>> slab.first, slab.last, slab.shape, slab.below, slab.above
    (2, 5, (3, 4, 4), 0, 2)
    """

    grid: tuple[int, int, int]
    rank: int
    ranks: int

    def __post_init__(self):
        grid = tuple(self.grid)
        require_count(rank=self.rank, **{f"grid[{i}]": n for i, n in enumerate(grid)})
        if len(grid) != 3 or min(grid) < 3:
            raise CourseError(f"grid is {grid}: pass three sizes of at least 3.")
        if self.rank >= self.ranks:
            raise CourseError(
                f"rank is {self.rank}: {self.ranks} ranks are numbered from 0 to {self.ranks - 1}."
            )
        offsets(grid[0], self.ranks, "planes")

    @property
    def first(self) -> int:
        """The first plane."""
        return int(offsets(self.grid[0], self.ranks)[self.rank])

    @property
    def last(self) -> int:
        """The plane after the last."""
        return int(offsets(self.grid[0], self.ranks)[self.rank + 1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of this rank's part of a field."""
        return (self.last - self.first, *self.grid[1:])

    @property
    def plane(self) -> int:
        """Number of points in a plane."""
        return prod(self.grid[1:])

    @property
    def below(self) -> int | None:
        """The rank that owns the plane before the first; None at the boundary."""
        return self.rank - 1 if self.rank > 0 else None

    @property
    def above(self) -> int | None:
        """The rank that owns the plane after the last; None at the boundary."""
        return self.rank + 1 if self.rank < self.ranks - 1 else None
