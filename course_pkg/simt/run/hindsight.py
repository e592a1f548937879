"""What a value would be if an atomic that it comes from had been done earlier.

An atomic after a fence may tell its thread what others did before it (:mod:`course_pkg.simt.memory.handover`); it tells
when it changes the thread's way. So what it found is followed through arithmetic, casts, comparisons, votes, shuffles
and the block's own memory, beside what it would have found before the first publication of the element and before the
last one; where a branch or a loop comes to another end in both, the thread has learnt.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.simt.run.values import Value

FOLLOWED = ("shared", "local")


@dataclass(frozen=True, eq=False)
class Otherwise:
    """The two other values, along a dimension in front of a value's own, and the atomics that they come from."""

    data: np.ndarray
    events: frozenset


def follow(value: Value, compute, *operands: Value) -> Value:
    """Let a value be followed where one of its operands is; ``compute`` makes its data from theirs."""
    followed = [o.otherwise for o in operands if o.otherwise is not None]
    if followed:
        data = compute(*(o.data if o.otherwise is None else o.otherwise.data for o in operands))
        value.otherwise = Otherwise(data, frozenset().union(*(o.events for o in followed)))
    return value


def in_both(compute):
    """Apply a function of one array to each of the two other values by itself."""
    return lambda data: np.stack([compute(one) for one in data])


def decide(run, test: Value, mask) -> None:
    """Note who goes another way than it would have gone, where a branch or a loop parts the lanes."""
    if test.otherwise is None or run.races is None:
        return
    lanes = run.wave.spread(mask.full)
    other = np.stack([run.wave.spread(one)[lanes] for one in test.otherwise.data])
    decided = other != run.wave.spread(test.data)[lanes]
    run.races.handovers.learn(run.wave.thread_numbers[lanes], decided, test.otherwise.events)


def remember(run, place, value: Value) -> None:
    """Follow a value into the memory that it is stored to."""
    array, region = place.array, place.array.region
    if array.space not in FOLLOWED or (value.otherwise is None and region.otherwise is None):
        return
    name = str(array.dtype)
    if region.otherwise is None:
        region.otherwise = {}
    if name not in region.otherwise:
        region.otherwise[name] = Otherwise(np.stack([array.flat, array.flat]), frozenset())
    kept = region.otherwise[name]
    if value.otherwise is not None:
        kept = region.otherwise[name] = Otherwise(kept.data, kept.events | value.otherwise.events)
    shape, lanes = run.wave.shape, place.inside.full
    at = np.broadcast_to(place.at, shape)[lanes]
    data = np.stack([value.data, value.data]) if value.otherwise is None else value.otherwise.data
    for world, one in zip(kept.data, data, strict=True):
        world[at] = np.broadcast_to(one, shape)[lanes]


def recall(place, value: Value) -> None:
    """Follow a value out of the memory that it is loaded from."""
    region = place.array.region
    kept = region.otherwise.get(str(place.array.dtype)) if region.otherwise is not None else None
    if kept is not None:
        value.otherwise = Otherwise(kept.data.take(place.at, axis=1, mode="clip"), kept.events)
