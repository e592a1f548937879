"""What a value would be if an atomic that it comes from had been done earlier.

An atomic after a fence may tell its thread what others did before it (:mod:`course_pkg.simt.memory.handover`); it
tells when it changes the thread's way. So what it found is followed through arithmetic, functions, votes, shuffles and
memory, beside what it would have found at some earlier times, the worlds. Where a branch or a loop comes to another end
in these, the thread has learnt.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.simt.memory.handover import ANYBODY, WORLDS
from course_pkg.simt.run.values import Value

FOLLOWED = ("global", "shared", "local")


@dataclass(frozen=True, eq=False)
class Otherwise:
    """The other values, along a dimension in front of a value's own, and where they come from.

    Attributes
    ----------
    data : ndarray, shape (WORLDS, …)
    events : frozenset of int
        The atomics.
    by : ndarray of int64
        The thread whose atomic it was, for each lane; ``ANYBODY`` where it was that of several.
    """

    data: np.ndarray
    events: frozenset
    by: np.ndarray


def follow(value: Value, compute, *operands: Value) -> Value:
    """Let a value be followed where one of its operands is; ``compute`` makes its data from theirs."""
    followed = [o.otherwise for o in operands if o.otherwise is not None]
    if followed:
        data = compute(*(o.data if o.otherwise is None else o.otherwise.data for o in operands))
        by = followed[0].by
        for other in followed[1:]:
            by = np.where(by == other.by, by, ANYBODY)
        value.otherwise = Otherwise(data, frozenset().union(*(o.events for o in followed)), by)
    return value


def follow_moved(value: Value, compute, operand: Value) -> Value:
    """Let a value be followed that lanes hand to each other; ``compute`` moves numbers between lanes."""
    if operand.otherwise is not None:
        data = np.stack([compute(one) for one in operand.otherwise.data])
        value.otherwise = Otherwise(data, operand.otherwise.events, compute(operand.otherwise.by))
    return value


def follow_vote(value: Value, compute, operand: Value) -> Value:
    """Let a value be followed that many lanes decide together."""
    if operand.otherwise is not None:
        data = np.stack([compute(one) for one in operand.otherwise.data])
        value.otherwise = Otherwise(data, operand.otherwise.events, np.array(ANYBODY).reshape((1,) * 6))
    return value


def decide(run, test: Value, mask) -> None:
    """Note who goes another way than it would have gone, where a branch or a loop parts the lanes."""
    if test.otherwise is None or run.races is None:
        return
    lanes = run.wave.spread(mask.full)
    other = np.stack([run.wave.spread(one)[lanes] for one in test.otherwise.data])
    decided = other != run.wave.spread(test.data)[lanes]
    by, threads = run.wave.spread(test.otherwise.by)[lanes], run.wave.thread_numbers[lanes]
    events = test.otherwise.events
    run.races.handovers.learn(threads, decided, by, [e for e in events if e >= 0])
    some = decided.any(axis=0)
    for event in (e for e in events if e < 0 and some.any()):
        run.races.doubts.dispel(event, np.where(by == ANYBODY, threads, by)[some])


def require_no_doubt(run, value: Value, lanes) -> None:
    """Tell of lanes that store what an atomic found while others changed it, though it has not decided anything."""
    if value.otherwise is None or run.races is None:
        return
    for event in (e for e in value.otherwise.events if e < 0):
        chosen = run.wave.spread(lanes.full)
        by = run.wave.spread(value.otherwise.by)[chosen]
        threads = np.where(by == ANYBODY, run.wave.thread_numbers[chosen], by)
        found = run.races.doubts.of(event, threads)
        if found is not None:
            run.log.fetched(run, *found)


def remember(run, place, value: Value) -> None:
    """Follow a value into the memory that it is stored to."""
    array, region = place.array, place.array.region
    if array.space not in FOLLOWED or (value.otherwise is None and region.otherwise is None):
        return
    name = memory_name(array)
    if region.otherwise is None:
        region.otherwise = {}
    if name not in region.otherwise:
        worlds, by = np.repeat(array.flat[None], WORLDS, axis=0), np.full(array.flat.shape, ANYBODY)
        region.otherwise[name] = Otherwise(worlds, frozenset(), by)
    kept = region.otherwise[name]
    if value.otherwise is not None:
        kept = region.otherwise[name] = Otherwise(kept.data, kept.events | value.otherwise.events, kept.by)
    shape, lanes = run.wave.shape, place.inside.full
    at = np.broadcast_to(place.at, shape)[lanes]
    data = value.data[None].repeat(WORLDS, axis=0) if value.otherwise is None else value.otherwise.data
    for world, one in zip(kept.data, data, strict=True):
        world[at] = np.broadcast_to(one, shape)[lanes]
    by = np.array(ANYBODY) if value.otherwise is None else value.otherwise.by
    kept.by[at] = np.broadcast_to(by, shape)[lanes]


def recall(place, value: Value) -> None:
    """Follow a value out of the memory that it is loaded from."""
    region = place.array.region
    kept = region.otherwise.get(memory_name(place.array)) if region.otherwise is not None else None
    if kept is not None:
        by = kept.by.take(place.at, mode="clip")
        value.otherwise = Otherwise(kept.data.take(place.at, axis=1, mode="clip"), kept.events, by)


def memory_name(array) -> tuple:
    """Name the memory behind an array, seen as elements of its type."""
    return array.flat.__array_interface__["data"][0], str(array.dtype)
