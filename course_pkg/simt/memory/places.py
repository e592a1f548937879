"""Where a thread is in a launch, and how a sentence for learners names it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Thread:
    """A thread's place in a launch, as (x, y, z).

    Attributes
    ----------
    block, thread : tuple of int
    dimensions : tuple of int
        In how many dimensions the grid and the block extend: its name has so many indices.

    Examples
    --------
    >>> str(Thread(block=(1, 0, 0), thread=(31, 0, 0)))
    'thread 31 of block 1'
    >>> str(Thread(block=(1, 0, 0), thread=(0, 0, 0), dimensions=(1, 2)))
    'thread (0, 0) of block 1'
    """

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    dimensions: tuple[int, int] = field(default=(1, 1), compare=False)

    def __str__(self):
        of_grid, of_block = self.dimensions
        return f"thread {_short(self.thread, of_block)} of block {_short(self.block, of_grid)}"


def place(number: int, extent) -> tuple[int, int, int]:
    """Return the index (x, y, z) of a thread in a block, or a block in a grid, of these extents (x, y, z)."""
    nx, ny, _ = extent
    return int(number % nx), int(number // nx % ny), int(number // (nx * ny))


def dimensions_of(extent) -> int:
    """Return in how many dimensions a grid or block of this extent (x, y, z) has more than one element.

    Examples
    --------
    >>> dimensions_of((8, 1, 1)), dimensions_of((1, 8, 1))
    (1, 2)
    """
    return max((axis for axis, size in enumerate(extent, 1) if size > 1), default=1)


def _short(place, dimensions: int) -> str:
    """Write an index with so many dimensions, and more if a further one is not 0."""
    shown = max(dimensions, *(axis for axis, index in enumerate(place, 1) if index or axis == 1))
    return str(place[0]) if shown == 1 else f"({', '.join(map(str, place[:shown]))})"
