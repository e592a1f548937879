"""What each element of a memory remembers of the threads that touched it, and when two of them are in order.

*When* is a stamp: the barriers that a thread's block has passed, then those of its warp, then its own fences. Two
accesses of different threads are in order when a barrier of their block, or of their warp, lies between; blocks are
never in order within one launch, unless one hands over to the other (:mod:`course_pkg.simt.memory.handover`).
"""

import numpy as np

FIELD = 21  # bits of a stamp's field: more barriers than a launch has the patience for
BLOCK_SHIFT, WARP_SHIFT = 2 * FIELD, FIELD
SITES = 4096  # an entry holds a thread's number and, below, the number of the statement
NONE = -1


def thread_of(entry):
    """Return the number of an entry's thread in the launch."""
    return entry // SITES


class Order:
    """Tells which accesses barriers put in order.

    Parameters
    ----------
    threads_per_block : int
    """

    def __init__(self, threads_per_block: int):
        self.threads_per_block = threads_per_block
        self.warps = -(-threads_per_block // 32)

    def warp_of(self, thread):
        """Return the number of a thread's warp in the launch."""
        block, lane = divmod(thread, self.threads_per_block)
        return block * self.warps + lane // 32

    def same_warp(self, one, other):
        """Tell for entries, in pairs, whether both are of one warp."""
        return self.warp_of(thread_of(one)) == self.warp_of(thread_of(other))

    def same_block(self, one, other):
        """Tell for entries, in pairs, whether both are of one block."""
        return one // SITES // self.threads_per_block == other // SITES // self.threads_per_block

    def clash(self, entry, stamp, mine, stamps):
        """Tell which lanes meet an earlier access of another thread that no barrier separates from theirs.

        Parameters
        ----------
        entry, stamp : ndarray of int64
            The earlier access and its stamp; ``NONE`` where there was none.
        mine, stamps : ndarray of int64
            The lanes' own.
        """
        candidates = (entry != NONE) & (thread_of(entry) != thread_of(mine))
        if not candidates.any():
            return candidates
        later_barrier = stamp >> BLOCK_SHIFT < stamps >> BLOCK_SHIFT
        later_in_warp = stamp >> WARP_SHIFT < stamps >> WARP_SHIFT
        in_order = self.same_block(entry, mine) & later_barrier | self.same_warp(entry, mine) & later_in_warp
        return candidates & ~in_order


class Crowd:
    """Threads that touched each unit, in no order among themselves.

    Kept are the last one, another lane of its warp, another warp of its block since the block's last barrier, and
    another block. A thread that is in order with these four is in order with all: whom they displaced came before
    a barrier that they came after, or is of a warp or a block that one of them stands for.
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
        """Let threads in, all by one statement; return the lanes that share a unit with another lane."""
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
        """Keep those whom the last ones displaced."""
        order = self._order
        abroad = ~order.same_block(old, now)
        in_warp = order.same_warp(old, now)
        for slot, chosen in zip(self.SLOTS, (in_warp, ~in_warp & ~abroad, abroad), strict=True):
            if chosen.any():
                self._put(slot, units[chosen], old[chosen], old_stamp[chosen])

    def meet(self, units):
        """Yield ``(entries, stamps)`` of those who were there."""
        yield self.last[units], self.stamp[units]
        for slot, entries in self._slots.items():
            yield entries[units], self._stamps[slot][units]


class Shadow:
    """Who touched each unit of a region.

    Attributes
    ----------
    writer, write_stamp : ndarray of int64
        The last thread that wrote, other than by an atomic, and when.
    readers, updaters : Crowd or None
        Those who read it, and those who updated it by atomics.
    """

    def __init__(self, units: int):
        self.units = units
        self.writer: np.ndarray | None = None
        self.write_stamp: np.ndarray | None = None
        self.readers: Crowd | None = None
        self.updaters: Crowd | None = None

    def crowd(self, which: str, order: Order) -> Crowd:
        """Return the readers or the updaters, and make room for them at the first."""
        if getattr(self, which) is None:
            setattr(self, which, Crowd(self.units, order))
        return getattr(self, which)

    def write(self, units, entry, stamps):
        """Note who writes; return whose entry stays where several do."""
        if self.writer is None:
            self.writer = np.full(self.units, NONE, np.int64)
            self.write_stamp = np.zeros(self.units, np.int64)
        self.writer[units] = entry
        self.write_stamp[units] = stamps
        return self.writer[units]
