"""Fences, and the clocks that record what a fence makes ready to be published.

A clock is a dict. For a thread, a warp or a block it gives a time: the holder of the clock knows everything that the
thread, warp or block did before that time.
"""

import numpy as np

from course_pkg.simt.memory.order import BLOCK_SHIFT, WARP_SHIFT, Order
from course_pkg.simt.memory.warp_order import LANES

OWN = "own block's "  # prefix of the names in a clock that only threads of the same block may know


class Level:
    """What one kind of fence, for the device or for the block, has made ready to be published.

    Attributes
    ----------
    ready : ndarray of int64, shape (blocks, threads_per_block)
        Number of fences that the thread had passed at its last fence of this kind. Its accesses that have fewer fences
        before them are ready to be published.
    stamp : ndarray of int64, shape (blocks, threads_per_block)
        Stamp of that fence: how many barriers the thread's block and warp had passed.
    lanes : ndarray of int64, shape (blocks, threads_per_block, 32), or None
        At that fence, how far the thread was in order with each lane of its warp; None while lanes have no clocks.
    """

    def __init__(self, shape):
        self.ready, self.stamp = np.zeros((2, *shape), np.int64)
        self.lanes = None

    def fence(self, lanes, count, stamps, seen) -> None:
        """Let lanes pass a fence."""
        self.ready[lanes] = count[lanes]
        if seen is not None:
            if self.lanes is None:
                self.lanes = np.repeat(self.stamp[:, :, None] >> WARP_SHIFT, LANES, axis=2)
            self.lanes[lanes] = seen[lanes]
        self.stamp[lanes] = stamps[lanes]

    def clock(self, whom: str, thread: int, row: int, lane: int, order: Order) -> dict:
        """Return the clock that a thread publishes about itself and its warp; ``whom`` is the prefix of its keys."""
        if not self.ready[row, lane]:
            return {}
        clock = {(f"{whom}thread", thread): int(self.ready[row, lane])}
        if self.lanes is None:
            clock[f"{whom}warp", order.warp_of(thread)] = int(self.stamp[row, lane]) >> WARP_SHIFT
        else:
            clock[f"{whom}lanes", order.warp_of(thread)] = self.lanes[row, lane].copy()
        return clock


class Fences:
    """The fences that the threads of a wave have passed.

    Attributes
    ----------
    count : ndarray of int64, shape (blocks, threads_per_block)
        Number of fences that each thread has passed.
    device, block : Level
        A fence for the device is also a fence for the block.
    met, met_in_warp : ndarray of int64, shape (blocks, threads_per_block)
        The value of ``device.ready`` at the block's last barrier, and at the last barrier of the whole warp.
    own_in_warp : ndarray of int64, shape (blocks, threads_per_block)
        The value of ``block.ready`` at the last barrier of the whole warp.
    """

    def __init__(self, wave):
        shape = wave.blocks, wave.threads_per_block
        self.count, self.met, self.met_in_warp, self.own_in_warp = np.zeros((4, *shape), np.int64)
        self.device, self.block = Level(shape), Level(shape)

    def fence(self, lanes, stamps, for_device: bool, seen=None) -> None:
        """Let lanes pass a fence; ``lanes`` is an array of bool, shape (blocks, threads_per_block)."""
        self.count[lanes] += 1
        for level in (self.device, self.block) if for_device else (self.block,):
            level.fence(lanes, self.count, stamps, seen)

    def barrier(self, blocks) -> None:
        """Let blocks pass a barrier."""
        self.met[blocks] = self.device.ready[blocks]

    def warp_barrier(self, lanes) -> None:
        """Let whole warps pass a barrier; ``lanes`` is an array of bool, shape (blocks, threads_per_block)."""
        self.met_in_warp[lanes] = self.device.ready[lanes]
        self.own_in_warp[lanes] = self.block.ready[lanes]

    def clock(self, thread: int, row: int, lane: int, order: Order) -> dict:
        """Return the clock that an atomic of a thread publishes."""
        clock = self.block.clock(OWN, thread, row, lane, order) | self.device.clock(
            "", thread, row, lane, order
        )
        block = thread // order.threads_per_block
        if self.device.ready[row, lane]:
            clock["block", block] = int(self.device.stamp[row, lane]) >> BLOCK_SHIFT
        if self.met[row].any():
            clock["met", block] = self.met[row].copy()
        warp = slice(lane // LANES * LANES, (lane // LANES + 1) * LANES)
        if self.met_in_warp[row, warp].any():
            clock["met in warp", order.warp_of(thread)] = self.met_in_warp[row, warp].copy()
        if self.own_in_warp[row, warp].any():
            clock[OWN + "met in warp", order.warp_of(thread)] = self.own_in_warp[row, warp].copy()
        return clock
