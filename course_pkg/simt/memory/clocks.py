"""Clocks: what a thread knows of the others: for each thread, warp or block, the time up to which it knows its work."""

import numpy as np

from course_pkg.simt.memory.fences import OWN
from course_pkg.simt.memory.order import BLOCK_SHIFT, FIELD_OF_ONES, WARP_SHIFT, Order
from course_pkg.simt.memory.warp_order import LANES


def join(clock: dict, other: dict) -> None:
    """Add to a clock everything that another one knows."""
    for key, value in other.items():
        mine = clock.get(key)
        if isinstance(value, np.ndarray) and mine is not None:
            value = np.maximum(mine, value)
        elif mine is not None and mine > value:
            value = mine
        clock[key] = value


def met_in_warp(clock: dict, whom: str, warp: int, lane: int, fences: int) -> bool:
    """Tell whether a lane had fenced an access before a barrier of its warp that a clock contains."""
    met = clock.get((f"{whom}met in warp", warp))
    return met is not None and met[lane] > fences


def knows(order: Order, thread: int, stamp: int, me: int, clocks: list[dict]) -> bool:
    """Tell whether a thread that has these clocks knows of an earlier access of another thread."""
    per_block = order.threads_per_block
    block, fences = thread // per_block, stamp & FIELD_OF_ONES
    lane, warp, here = thread % per_block, order.warp_of(thread), block == me // per_block
    for clock in clocks:
        met = clock.get(("met", block))
        if clock.get(("block", block), 0) > stamp >> BLOCK_SHIFT:
            return True
        if met is not None and met[lane] > fences:
            return True
        for whom in ("", OWN) if here else ("",):
            if met_in_warp(clock, whom, warp, lane % LANES, fences):
                return True
            if _in_clock(order, clock, whom, thread, stamp):
                return True
    return False


def _in_clock(order: Order, clock: dict, whom: str, thread: int, stamp: int) -> bool:
    """Tell whether a clock contains a thread's access, under the thread's name or its warp's."""
    warp, tick = order.warp_of(thread), stamp >> WARP_SHIFT
    lanes = clock.get((f"{whom}lanes", warp))
    return (
        clock.get((f"{whom}thread", thread), 0) > stamp & FIELD_OF_ONES
        or clock.get((f"{whom}warp", warp), 0) > tick
        or (lanes is not None and lanes[thread % order.threads_per_block % LANES] > tick)
    )
