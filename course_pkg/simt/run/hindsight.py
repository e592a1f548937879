"""Hindsight: what would a value be if an atomic that it depends on had been done earlier?

A thread learns of a hand-over only if the value that its atomic found makes it take another branch
(:mod:`course_pkg.simt.memory.handover`). To see this, the interpreter carries other values along with the one that was
found: those that the atomic would have found at earlier times, or without one of the publications, called worlds. The
interpreter follows them through arithmetic, functions, votes, shuffles and memory. If a branch or a loop is decided
differently in a world, the thread has learnt of the hand-over.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from course_pkg.simt.memory.handover import ANYBODY, WORLDS
from course_pkg.simt.run.values import Value

FOLLOWED = ("global", "shared", "local")
MOST = 16  # atomics that one value is followed for; no thread learns from an older one


@dataclass(frozen=True, eq=False)
class Strand:
    """What a value would be if one atomic had found something else, while all other atomics found what they did find.

    Attributes
    ----------
    data : ndarray, shape (WORLDS, …)
        The value in each world, in front of the value's own dimensions.
    by : ndarray of int64
        For each lane, the thread whose atomic it was; ``ANYBODY`` if there were several.
    """

    data: np.ndarray
    by: np.ndarray


def follow(value: Value, compute, *operands: Value) -> Value:
    """Follow a value if one of its operands is followed; ``compute`` makes its data from theirs."""
    if any(o.otherwise for o in operands):
        strands = [o.otherwise or {} for o in operands]
        value.otherwise = {}
        for event in _newest({event for of_one in strands for event in of_one}):
            data = (of_one.get(event, o) for of_one, o in zip(strands, operands, strict=True))
            by = reduce(_common, (of_one[event].by for of_one in strands if event in of_one))
            value.otherwise[event] = Strand(compute(*(one.data for one in data)), by)
    return value


def follow_moved(value: Value, compute, operand: Value) -> Value:
    """Follow a value that lanes exchange; ``compute`` moves numbers between lanes."""
    if operand.otherwise:
        value.otherwise = {
            event: Strand(np.stack([compute(one) for one in strand.data]), compute(strand.by))
            for event, strand in operand.otherwise.items()
        }
    return value


def follow_vote(value: Value, compute, operand: Value) -> Value:
    """Follow the result of a vote, which many lanes decide together."""
    if operand.otherwise:
        anybody = np.array(ANYBODY).reshape((1,) * 6)
        value.otherwise = {
            event: Strand(np.stack([compute(one) for one in strand.data]), anybody)
            for event, strand in operand.otherwise.items()
        }
    return value


def _newest(events) -> list:
    """Return the events that are still followed: the last ``MOST``, and all doubts."""
    events = sorted(events)
    doubts = [e for e in events if e < 0]
    return doubts + events[len(doubts) :][-MOST:]


def _common(by, other):
    return by if by is other else np.where(by == other, by, ANYBODY)


def decide(run, test: Value, mask) -> None:
    """Note which threads take another branch than in one of the worlds, at a branch or at the test of a loop."""
    if not test.otherwise or run.races is None:
        return
    lanes = run.wave.spread(mask.full)
    threads, way = run.wave.thread_numbers[lanes], run.wave.spread(test.data)[lanes]
    for event, strand in test.otherwise.items():
        decided = np.stack([run.wave.spread(one)[lanes] for one in strand.data]) != way
        by = run.wave.spread(strand.by)[lanes]
        if event >= 0:
            run.races.handovers.learn(threads, decided, by, event)
        else:
            run.races.doubts.dispel(event, np.where(by == ANYBODY, threads, by)[decided.any(axis=0)])


def require_no_doubt(run, value: Value, lanes) -> None:
    """Report lanes that store a value in doubt: an atomic found it while others changed it, and it decided nothing."""
    if run.dry or not value.otherwise or run.races is None:
        return
    for event in (e for e in value.otherwise if e < 0):
        chosen = run.wave.spread(lanes.full)
        by = run.wave.spread(value.otherwise[event].by)[chosen]
        threads = np.where(by == ANYBODY, run.wave.thread_numbers[chosen], by)
        found = run.races.doubts.of(event, threads)
        if found is not None:
            run.log.fetched(run, *found)


def remember(run, place, value: Value) -> None:
    """Follow a value into memory when it is stored."""
    array, region = place.array, place.array.region
    if array.space not in FOLLOWED or not (value.otherwise or region.otherwise):
        return
    kept = region.otherwise.setdefault(memory_name(array), {})
    for event in value.otherwise or ():
        if event not in kept:
            worlds = np.repeat(array.flat[None], WORLDS, axis=0)
            kept[event] = Strand(worlds, np.full(array.flat.shape, ANYBODY))
    for event in set(kept) - set(_newest(kept)):
        del kept[event]
    shape, lanes = run.wave.shape, place.inside.full
    at = np.broadcast_to(place.at, shape)[lanes]
    plain = Strand(value.data[None].repeat(WORLDS, axis=0), np.array(ANYBODY))
    for event, strand in kept.items():
        new = (value.otherwise or {}).get(event, plain)
        for world, one in zip(strand.data, new.data, strict=True):
            world[at] = np.broadcast_to(one, shape)[lanes]
        strand.by[at] = np.broadcast_to(new.by, shape)[lanes]


def recall(place, value: Value) -> None:
    """Follow a value out of memory when it is loaded."""
    kept = place.array.region.otherwise
    kept = kept.get(memory_name(place.array)) if kept else None
    if kept:
        value.otherwise = {
            event: Strand(
                strand.data.take(place.at, axis=1, mode="clip"), strand.by.take(place.at, mode="clip")
            )
            for event, strand in kept.items()
        }


def memory_name(array) -> tuple:
    """Return a name for the memory of an array together with the type of its elements."""
    return array.flat.__array_interface__["data"][0], str(array.dtype)
