"""The lanes of a launch: one array represents all threads of a box of blocks.

A value that every thread holds is a NumPy array that broadcasts to six dimensions: block z, y, x, then thread z, y,
x. ``threadIdx.x`` has only its own dimension, a kernel's argument has none, and a value loaded from memory usually has
all six. So index arithmetic runs on small arrays as long as possible. If the last three dimensions are flattened, the
threads of a block stand in the order of their numbers in CUDA.
"""

from functools import cached_property
from math import prod

import numpy as np

from course_pkg.core.access import WARP

AXES = "zyx"


class Wave:
    """The threads of a box of blocks, run together.

    Parameters
    ----------
    grid, block : tuple of int, (z, y, x)
        Extents of the whole launch.
    first, count : tuple of int, (z, y, x)
        First block of the box, and its extent.
    """

    def __init__(self, grid, block, first, count):
        self.grid, self.block, self.first, self.count = grid, block, first, count
        self.shape = (*count, *block)
        self.threads = prod(self.shape)
        self.blocks = prod(count)
        self.threads_per_block = prod(block)
        self.warps_per_block = -(-self.threads_per_block // WARP)
        self.everyone = Mask(self, None)
        self.nobody = Mask(self, np.zeros((1,) * 6, bool))
        self._boxes: dict[tuple, Wave] = {}

    def box(self, *arrays) -> "Wave":
        """Return the smallest box of first blocks such that every other block behaves like one of these.

        Parameters
        ----------
        *arrays : ndarray or None
            Data that decide what the blocks do. If no array extends along a direction of the grid, all blocks in
            this direction do the same.
        """
        shapes = [a.shape for a in arrays if a is not None and np.ndim(a) == 6]
        count = tuple(n if any(s[d] > 1 for s in shapes) else 1 for d, n in enumerate(self.count))
        if count == self.count:
            return self
        if count not in self._boxes:
            self._boxes[count] = Wave(self.grid, self.block, self.first, count)
        return self._boxes[count]

    def thread_index(self, axis: str) -> np.ndarray:
        """``threadIdx`` along an axis, int32."""
        return self._indices[1][AXES.index(axis)]

    def block_index(self, axis: str) -> np.ndarray:
        """``blockIdx`` along an axis, int32."""
        return self._indices[0][AXES.index(axis)]

    @cached_property
    def _indices(self) -> tuple[list, list]:
        blocks = [np.arange(f, f + n, dtype=np.int32) for f, n in zip(self.first, self.count, strict=True)]
        threads = [np.arange(n, dtype=np.int32) for n in self.block]
        return tuple(
            [a.reshape(_along(k + d)) for d, a in enumerate(some)] for k, some in ((0, blocks), (3, threads))
        )

    def whole(self, a: np.ndarray) -> np.ndarray:
        """Return one element per lane, in the wave's shape."""
        return a if getattr(a, "shape", None) == self.shape else np.broadcast_to(a, self.shape)

    @cached_property
    def block_numbers(self) -> np.ndarray:
        """Number of each block in the launch, shape (blocks,), int64; x runs fastest."""
        z, y, x = (self.block_index(a).astype(np.int64).reshape(-1) for a in AXES)
        _, ny, nx = self.grid
        return ((z[:, None, None] * ny + y[:, None]) * nx + x).reshape(-1)

    @cached_property
    def thread_numbers(self) -> np.ndarray:
        """Number of each thread in the launch, shape (blocks, threads_per_block), int64."""
        return self.block_numbers[:, None] * self.threads_per_block + np.arange(self.threads_per_block)

    @cached_property
    def thread_in_block(self) -> np.ndarray:
        """Number of each thread in its block, broadcasting to ``shape``, int64."""
        return np.arange(self.threads_per_block, dtype=np.int64).reshape(1, 1, 1, *self.block)

    @cached_property
    def block_in_wave(self) -> np.ndarray:
        """Number of each block in this wave, broadcasting to ``shape``, int64."""
        return np.arange(self.blocks, dtype=np.int64).reshape(*self.count, 1, 1, 1)

    def spread(self, a) -> np.ndarray:
        """Return one element per thread, shape (blocks, threads_per_block); a view if possible."""
        return self.whole(a).reshape(self.blocks, self.threads_per_block)

    def by_warp(self, a, fill) -> np.ndarray:
        """Return one row per warp, shape (blocks * warps_per_block, 32); lanes beyond the block get ``fill``.

        ``a`` broadcasts to ``shape``, or comes from :meth:`spread`.
        """
        a = a if np.ndim(a) == 2 else self.spread(a)
        missing = self.warps_per_block * WARP - self.threads_per_block
        if missing:
            whole = np.full((self.blocks, self.warps_per_block * WARP), fill, a.dtype)
            whole[:, : self.threads_per_block] = a
            a = whole
        return a.reshape(-1, WARP)

    def from_warps(self, a) -> np.ndarray:
        """Undo :meth:`by_warp`."""
        a = a.reshape(self.blocks, self.warps_per_block * WARP)[:, : self.threads_per_block]
        return a.reshape(self.shape)


class Mask:
    """The active lanes of a wave. A mask is immutable, so that its counts are computed only once."""

    def __init__(self, wave: Wave, data):
        self.wave, self.data = wave, data
        self._within: dict[int, tuple[Mask, bool]] = {}
        self._of_box: Mask | None = None

    @cached_property
    def threads(self) -> int:
        """Number of active lanes."""
        if self.data is None:
            return self.wave.threads
        return int(np.count_nonzero(self.data)) * (self.wave.threads // self.data.size)

    @cached_property
    def full(self) -> np.ndarray:
        """One bool per lane, in the wave's shape."""
        if self.data is None:
            return np.ones(self.wave.shape, bool)
        return np.ascontiguousarray(self.wave.whole(self.data))

    @cached_property
    def rows(self) -> np.ndarray:
        """One row of 32 lanes per warp."""
        return self.wave.by_warp(self.full, False)

    @cached_property
    def warps(self) -> int:
        """Number of warps with an active lane."""
        if self.data is None:
            return self.wave.blocks * self.wave.warps_per_block
        box = self.wave.box(self.data)
        return int(np.count_nonzero(self.of_box(box).rows.any(axis=1))) * (self.wave.blocks // box.blocks)

    def warps_without(self, other: "Mask") -> int:
        """Return the number of warps with an active lane, and with none of another mask."""
        return int(np.count_nonzero(self.rows.any(axis=1) & ~other.rows.any(axis=1)))

    def of_box(self, box: Wave) -> "Mask":
        """Return the active lanes in a box of blocks that represents the whole wave (:meth:`Wave.box`)."""
        if box is self.wave:
            return self
        if self._of_box is None or self._of_box.wave is not box:
            self._of_box = Mask(box, self.data)
        return self._of_box

    def __bool__(self):
        return self.threads > 0

    def narrow(self, condition: np.ndarray) -> "Mask":
        """Return the lanes in which the condition holds; the same mask if it holds in all."""
        holds = np.count_nonzero(condition)
        if holds == condition.size:
            return self
        if self.data is None:
            new = Mask(self.wave, condition)
            new.threads = int(holds) * (self.wave.threads // condition.size)
            return new
        new = Mask(self.wave, self.data & condition)
        return self if new.threads == self.threads else new

    def split(self, condition: np.ndarray) -> tuple["Mask", "Mask"]:
        """Return two masks: the active lanes in which the condition holds, and the other active lanes."""
        yes = self.narrow(condition)
        if yes is self:
            return self, self.wave.nobody
        return (yes, self.narrow(~condition)) if yes else (self.wave.nobody, self)

    def minus(self, other: "Mask") -> "Mask":
        """Return the lanes that are not in the other mask."""
        if other is self or other.data is None:
            return self.wave.nobody
        return self.narrow(~other.data) if other else self

    def within(self, other: "Mask") -> bool:
        """Return whether the other mask contains all lanes of this one; the answer is cached."""
        if other is self or other.data is None:
            return True
        if id(other) not in self._within:
            self._within[id(other)] = (
                other,
                not self.minus(other),
            )  # the mask is kept alive, so that no other mask gets its id
        return self._within[id(other)][1]

    def union(self, other: "Mask") -> "Mask":
        """Return the lanes that are in at least one of the two masks."""
        if other is self or not other or self.data is None:
            return self
        if not self or other.data is None:
            return other
        return Mask(self.wave, self.data | other.data)


def waves(grid, block, most_threads: int):
    """Split a launch into boxes of whole blocks, and yield them in the order of their block numbers.

    Parameters
    ----------
    grid, block : tuple of int, (z, y, x)
    most_threads : int
        Maximum number of threads in a box; a box always has at least one block.
    """
    room = max(1, most_threads // prod(block))
    nz, ny, nx = grid
    if nx > room:
        count = (1, 1, room)
    elif nx * ny > room:
        count = (1, room // nx, nx)
    else:
        count = (min(nz, room // (nx * ny)), ny, nx)
    for z in range(0, nz, count[0]):
        for y in range(0, ny, count[1]):
            for x in range(0, nx, count[2]):
                first = z, y, x
                yield Wave(
                    grid,
                    block,
                    first,
                    tuple(min(c, n - f) for c, n, f in zip(count, grid, first, strict=True)),
                )


def _along(d: int) -> tuple[int, ...]:
    return tuple(-1 if k == d else 1 for k in range(6))
