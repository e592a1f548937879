"""The order of two accesses of different threads.

The time of an access is a stamp of three numbers: the barriers that the thread's block has passed, the barriers of its
warp, and the thread's own fences. Two accesses are in order if a barrier of their common block, or of their common
warp, lies between them. Accesses of two blocks of a launch are never in order, unless one block hands over to the other
(:mod:`course_pkg.simt.memory.handover`).
"""

import numpy as np

from course_pkg.simt.memory.warp_order import WarpOrder

# bits of each number in a stamp: no launch reaches so many barriers within its budget of statements
FIELD = 21
BLOCK_SHIFT, WARP_SHIFT = 2 * FIELD, FIELD
FIELD_OF_ONES = (1 << FIELD) - 1
SITES = 1 << 16  # an entry is SITES times the thread's number, plus the number of the statement
NONE = -1


def thread_of(entry):
    """Return the number of an entry's thread in the launch."""
    return entry // SITES


class Order:
    """Tells which accesses are put in order by barriers.

    Parameters
    ----------
    threads_per_block : int

    Attributes
    ----------
    of_lanes : WarpOrder or None
        The clocks of the lanes of the current wave; None until a barrier has taken only some lanes of a warp.
    """

    def __init__(self, threads_per_block: int):
        self.threads_per_block = threads_per_block
        self.of_lanes: WarpOrder | None = None
        self.warps = -(-threads_per_block // 32)

    def warp_of(self, thread):
        """Return the number of a thread's warp in the launch."""
        block, lane = divmod(thread, self.threads_per_block)
        return block * self.warps + lane // 32

    def same_warp(self, one, other):
        """Tell, for pairs of entries, whether both threads belong to the same warp."""
        return self.warp_of(thread_of(one)) == self.warp_of(thread_of(other))

    def same_block(self, one, other):
        """Tell, for pairs of entries, whether both threads belong to the same block."""
        return one // SITES // self.threads_per_block == other // SITES // self.threads_per_block

    def precedes(self, thread: int, stamp: int, me: int, now: int) -> bool:
        """Tell whether barriers put what a thread did before what another one, or the same one, does later."""
        if thread == me:
            return True
        if thread // self.threads_per_block != me // self.threads_per_block:
            return False
        if stamp >> BLOCK_SHIFT < now >> BLOCK_SHIFT:
            return True
        if self.warp_of(thread) != self.warp_of(me):
            return False
        if self.of_lanes is None:
            return stamp >> WARP_SHIFT < now >> WARP_SHIFT
        tick = stamp >> WARP_SHIFT & FIELD_OF_ONES
        return bool(self.of_lanes.later(*(np.array([one]) for one in (thread, tick, me)))[0])

    def clash(self, entry, stamp, mine, stamps):
        """Tell for each lane whether no barrier lies between its access and an earlier access of another thread.

        Parameters
        ----------
        entry, stamp : ndarray of int64
            The earlier access and its stamp; ``NONE`` where there was none.
        mine, stamps : ndarray of int64
            The lanes' own entries and stamps.
        """
        candidates = (entry != NONE) & (thread_of(entry) != thread_of(mine))
        if not candidates.any():
            return candidates
        later_barrier = stamp >> BLOCK_SHIFT < stamps >> BLOCK_SHIFT
        in_warp = self.same_warp(entry, mine)
        if self.of_lanes is None:
            in_warp &= stamp >> WARP_SHIFT < stamps >> WARP_SHIFT
        elif in_warp.any():
            tick = stamp[in_warp] >> WARP_SHIFT & FIELD_OF_ONES
            in_warp[in_warp] = self.of_lanes.later(thread_of(entry[in_warp]), tick, thread_of(mine[in_warp]))
        in_order = self.same_block(entry, mine) & later_barrier | in_warp
        return candidates & ~in_order
