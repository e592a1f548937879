"""When two accesses of different threads are in order.

*When* is a stamp: the barriers that a thread's block has passed, then those of its warp, then its own fences. Two
accesses of different threads are in order when a barrier of their block, or of their warp, lies between; blocks are
never in order within one launch, unless one hands over to the other (:mod:`course_pkg.simt.memory.handover`).
"""

from course_pkg.simt.memory.warp_order import WarpOrder

FIELD = 21  # bits of a stamp's field: more barriers than a launch has the patience for
BLOCK_SHIFT, WARP_SHIFT = 2 * FIELD, FIELD
FIELD_OF_ONES = (1 << FIELD) - 1
SITES = 1 << 16  # an entry holds a thread's number and, below, the number of the statement
NONE = -1


def thread_of(entry):
    """Return the number of an entry's thread in the launch."""
    return entry // SITES


class Order:
    """Tells which accesses barriers put in order.

    Parameters
    ----------
    threads_per_block : int

    Attributes
    ----------
    of_lanes : WarpOrder or None
        The clocks of the lanes of the wave that is run, once a barrier has taken only some lanes of a warp.
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
        in_warp = self.same_warp(entry, mine)
        if self.of_lanes is None:
            in_warp &= stamp >> WARP_SHIFT < stamps >> WARP_SHIFT
        elif in_warp.any():
            tick = stamp[in_warp] >> WARP_SHIFT & FIELD_OF_ONES
            in_warp[in_warp] = self.of_lanes.later(thread_of(entry[in_warp]), tick, thread_of(mine[in_warp]))
        in_order = self.same_block(entry, mine) & later_barrier | in_warp
        return candidates & ~in_order
