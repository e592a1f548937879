"""Arrays for the oracle of hazards: they record every access and check every index."""

import inspect
from typing import NamedTuple

import numpy as np


class Thread(NamedTuple):
    """A thread of the grid, as the hazards name it."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]


class Found(NamedTuple):
    """A hazard that needs no second access: bad index, unwritten element, divergent barrier."""

    kind: str
    line: int
    array: str | None
    index: tuple[int, ...] | None
    thread: Thread


class Access(NamedTuple):
    """One thread's access of one element; ``order`` is (barriers passed, warp barriers passed, warp)."""

    address: tuple
    thread: tuple
    line: int
    write: bool
    atomic: bool
    order: tuple[int, int, int]


class Recorded:
    """An array in global, shared or local memory, under its name in the kernel."""

    def __init__(self, run, data, name, space):
        self.run, self.data, self.name, self.space = run, data, name, space
        self.written = np.full(data.shape, space == "global")
        self.owner = None if space == "global" else (run.current.block, id(self))

    shape = property(lambda self: self.data.shape)
    size = property(lambda self: self.data.size)
    ndim = property(lambda self: self.data.ndim)
    dtype = property(lambda self: self.data.dtype)

    def __len__(self):
        return len(self.data)

    def address(self, index):
        """Where an element lies; the same for two names of one piece of memory."""
        if self.owner is not None:
            return (self.name, self.owner[0], index)
        start = self.data.__array_interface__["data"][0]
        return (start + sum(i * s for i, s in zip(index, self.data.strides, strict=True)),)

    def __getitem__(self, index):
        place = self._touch(index, _line(), write=False)
        return self.data.dtype.type(0) if place is None else self.data[place]

    def __setitem__(self, index, value):
        place = self._touch(index, _line(), write=True)
        if place is not None:
            self.data[place] = value

    def atomic(self, index, update):
        """Replace an element by ``update(old)`` and return the old value."""
        line = inspect.currentframe().f_back.f_back.f_lineno
        place = self._touch(index, line, write=True, atomic=True)
        if place is None:
            return self.data.dtype.type(0)
        old = self.data[place]
        self.data[place] = update(old)
        return old

    def _touch(self, index, line, write, atomic=False):
        """Check and note an access; return the element's place, or None outside the array."""
        written = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        if any(not -n <= i < n for i, n in zip(written, self.shape, strict=True)):
            self._report("out_of_bounds", line, written)
            return None
        if min(written) < 0:
            self._report("negative_index", line, written)
        place = tuple(i % n for i, n in zip(written, self.shape, strict=True))
        if (atomic or not write) and not self.written[place]:
            self._report("uninitialised", line, written)
        if write and not atomic:  # what is added to garbage is garbage
            self.written[place] = True
        if self.space != "local":
            self.run.note(self, place, line, write, atomic)
        return place

    def _report(self, kind, line, index):
        self.run.found.append(Found(kind, line, self.name, index, self.run.current))


def _line():
    return inspect.currentframe().f_back.f_back.f_lineno
