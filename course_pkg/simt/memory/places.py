"""Where a thread is in a launch, and how a sentence for learners names it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Thread:
    """A thread's place in a launch, as (x, y, z).

    Attributes
    ----------
    block, thread : tuple of int
    dimensions : tuple of int
        Number of dimensions of the grid and of the block: messages give as many indices.

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

    @property
    def lines(self) -> tuple[str, str]:
        """The words of the message in two lines, for a narrow column."""
        of_grid, of_block = self.dimensions
        return f"thread {_short(self.thread, of_block)}", f"of block {_short(self.block, of_grid)}"

    def __str__(self):
        return " ".join(self.lines)


def place(number: int, extent) -> tuple[int, int, int]:
    """Return the index (x, y, z) of a thread in a block, or of a block in a grid, whose size is ``extent``."""
    nx, ny, _ = extent
    return int(number % nx), int(number // nx % ny), int(number // (nx * ny))


def dimensions_of(extent) -> int:
    """Return the number of dimensions of a grid or block, not counting trailing dimensions of extent 1.

    Examples
    --------
    >>> dimensions_of((8, 1, 1)), dimensions_of((1, 8, 1))
    (1, 2)
    """
    return max((axis for axis, size in enumerate(extent, 1) if size > 1), default=1)


def place_of_thread(wave, block: int, thread: int) -> Thread:
    """Return the indices of a thread of the wave, given as row and column."""
    return launch_thread(wave, int(wave.block_numbers[block]) * wave.threads_per_block + thread)


def launch_thread(wave, number: int) -> Thread:
    """Return the indices of a thread, given its number in the launch."""
    block, thread = divmod(number, wave.threads_per_block)
    grid, shape = wave.grid[::-1], wave.block[::-1]
    return Thread(place(block, grid), place(thread, shape), (dimensions_of(grid), dimensions_of(shape)))


def _short(place, dimensions: int) -> str:
    """Write the first ``dimensions`` parts of an index, and further ones if they are not 0."""
    shown = max(dimensions, *(axis for axis, index in enumerate(place, 1) if index or axis == 1))
    return str(place[0]) if shown == 1 else f"({', '.join(map(str, place[:shown]))})"
