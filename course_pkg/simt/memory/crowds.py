"""Crowds: the threads that have read, or have updated, an element. Threads of a crowd may touch it in any order."""

import numpy as np

from course_pkg.simt.memory.order import NONE, Order, thread_of

MOST_PAIRS = 1 << 18  # most pairs (a lane, a thread that touched its unit) checked at once


class Crowd:
    """Threads that touched each unit, in a kernel that synchronises only whole blocks and whole warps.

    A crowd keeps at most four threads per unit: the last one, another lane of its warp, a thread in another warp of its
    block, and a thread of another block. A later thread is in order with the whole crowd if it is in order with these
    four. The reason is that for each thread that is no longer kept, a kept thread either comes after it, with a barrier
    between the two, or belongs to the same warp or block.
    """

    SLOTS = ("mate", "neighbour", "stranger")

    def __init__(self, units: int, order: Order):
        self.last = np.full(units, NONE, np.int64)
        self.stamp = np.zeros(units, np.int64)
        self._order = order
        self._slots: dict[str, np.ndarray] = {}
        self._stamps: dict[str, np.ndarray] = {}

    def _put(self, slot, units, entries, stamps):
        if slot not in self._slots:
            self._slots[slot] = np.full(len(self.last), NONE, np.int64)
            self._stamps[slot] = np.zeros(len(self.last), np.int64)
        self._slots[slot][units] = entries
        self._stamps[slot][units] = stamps

    def add(self, units, entry, stamps):
        """Add the threads of one statement; return which lanes share a unit with another one, and whose entry stays."""
        before, before_stamp = self.last[units], self.stamp[units]
        self.last[units] = entry
        self.stamp[units] = stamps
        now = self.last[units]
        moved = np.flatnonzero((before != NONE) & (thread_of(before) != thread_of(now)))
        if moved.size:
            self._displace(units[moved], before[moved], before_stamp[moved], now[moved])
        together = now != entry
        lost = np.flatnonzero(together)
        if lost.size:
            self._displace(units[lost], entry[lost], stamps[lost], now[lost])
        return together, now

    def _displace(self, units, old, old_stamp, now):
        """Move the entries that were replaced into the slots of the same warp, another warp or another block."""
        order = self._order
        abroad = ~order.same_block(old, now)
        in_warp = order.same_warp(old, now)
        for slot, chosen in zip(self.SLOTS, (in_warp, ~in_warp & ~abroad, abroad), strict=True):
            if chosen.any():
                self._put(slot, units[chosen], old[chosen], old_stamp[chosen])

    def meet(self, units):
        """Yield ``(entries, stamps)`` up to four times: each time one thread of the crowd of each given unit."""
        yield self.last[units], self.stamp[units]
        for slot, entries in self._slots.items():
            yield entries[units], self._stamps[slot][units]

    def pairs(self, units) -> None:
        """Return None: callers go through a crowd of at most four threads with :meth:`meet`."""

    def spread(self, shift) -> None:
        """Repeat the crowds of one block's memory for several blocks; ``shift`` is added to the entries."""
        times = len(shift) // len(self.last)
        self.last, self.stamp = moved(self.last, shift), np.tile(self.stamp, times)
        self._slots = {slot: moved(entries, shift) for slot, entries in self._slots.items()}
        self._stamps = {slot: np.tile(stamps, times) for slot, stamps in self._stamps.items()}


def moved(entries, shift):
    """Repeat entries until they are as many as ``shift``; add ``shift`` to those that stand for a thread."""
    repeated = np.tile(entries, len(shift) // len(entries))
    return np.where(repeated == NONE, NONE, repeated + shift)


class WholeCrowd:
    """All threads that touched each unit, each with its last access by each statement.

    This class is needed if one thread hands over its work to another by fences and atomics, or if a barrier names only
    some lanes of a warp. Then a later thread may be in order with one thread, but not with another thread of the same
    warp or block.
    """

    def __init__(self, units: int, order: Order):
        self._last = np.full(units, NONE, np.int64)
        self._units, self._entries, self._stamps = np.zeros((3, 0), np.int64)
        self._new: list[tuple] = []

    def add(self, units, entry, stamps):
        """Add the threads of one statement; return which lanes share a unit with another one, and whose entry stays."""
        self._last[units] = entry
        now = self._last[units]
        self._new.append((units, entry, stamps))
        return now != entry, now

    def _settle(self):
        """Sort by unit, thread and statement, and keep the last access of each."""
        if not self._new:
            return
        kept = (self._units, self._entries, self._stamps), *self._new
        units, entries, stamps = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        order = np.lexsort((entries, units))  # a stable sort: the latest of equal entries stays last
        units, entries, stamps = units[order], entries[order], stamps[order]
        last = np.append((units[1:] != units[:-1]) | (entries[1:] != entries[:-1]), True)
        self._units, self._entries, self._stamps = units[last], entries[last], stamps[last]
        self._new = []

    def _places(self, units):
        """Return two arrays: for each unit, the place of its first entry and the place after its last entry."""
        self._settle()
        return (np.searchsorted(self._units, units, side) for side in ("left", "right"))

    def pairs(self, units):
        """Return ``(lanes, entries, stamps)`` of all threads in the units' crowds; None if they are too many.

        ``lanes`` gives for each of these threads the position of its unit in ``units``.
        """
        at, end = self._places(units)
        sizes = end - at
        if sizes.sum() > MOST_PAIRS:
            return None
        lanes = np.repeat(np.arange(len(units)), sizes)
        places = np.arange(len(lanes)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + at[lanes]
        return lanes, self._entries[places], self._stamps[places]

    def meet(self, units):
        """Yield ``(entries, stamps)`` repeatedly: the next thread of each unit, until no unit has any left."""
        at, end = self._places(units)
        while (at < end).any():
            there = np.minimum(at, len(self._units) - 1)
            yield np.where(at < end, self._entries[there], NONE), self._stamps[there]
            at = at + 1
