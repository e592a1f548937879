"""Hindsight: what would a value be if an atomic that it depends on had been done earlier?

A thread learns of a hand-over only if the value that its atomic found makes it take another branch
(:mod:`course_pkg.simt.memory.handover`). To see this, the interpreter carries other values along with the one that was
found: those that the atomic would have found at earlier times, or without one of the publications, called worlds. The
interpreter follows them through arithmetic, functions, votes, shuffles and memory. If a branch or a loop is decided
differently in a world, the thread has learnt of the hand-over.
"""

from copy import copy
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from course_pkg.simt.front.typing import BOOL
from course_pkg.simt.memory.doubts import WATCH
from course_pkg.simt.memory.handover import ANYBODY, WORLDS
from course_pkg.simt.run.values import Value

FOLLOWED = ("global", "shared", "local")
TOGETHER = 1 << 62  # the key of the world in which all atomics that change nothing were done earlier
_NO_THREAD = np.full((1,) * 6, -2)  # unlike ANYBODY
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
    looks : bool
        Whether the atomic changed nothing. Only such an atomic could have come earlier;
        an earlier ticket would be another thread's.
    """

    data: np.ndarray
    by: np.ndarray
    looks: bool = False


def follow(value: Value, compute, *operands: Value) -> Value:
    """Follow a value if one of its operands is followed; ``compute`` makes its data from theirs."""
    for operand in operands:  # nearly always none: a loop takes less than half as long as any(…)
        if operand.otherwise:
            break
    else:
        return value
    strands = [o.otherwise or {} for o in operands]
    value.otherwise = {}
    for event in _newest({event for of_one in strands for event in of_one} - {TOGETHER}):
        data = (of_one.get(event, o) for of_one, o in zip(strands, operands, strict=True))
        same = [of_one[event] for of_one in strands if event in of_one]
        by = reduce(_common, (strand.by for strand in same))
        value.otherwise[event] = Strand(compute(*(one.data for one in data)), by, same[0].looks)
    if len(looks_of(value)) > 1:
        value.otherwise[TOGETHER] = Strand(
            compute(*map(_together, operands)), np.array(ANYBODY).reshape((1,) * 6)
        )
    return value


def follow_either(value: Value, choose, pick, new: Value, old: Value) -> Value:
    """Follow a value that is one of two in each lane; a lane is in no doubt because of the other one.

    ``choose`` makes the value's data from theirs; ``pick`` does the same and converts no type.
    """
    follow(value, choose, new, old)
    for event in [e for e in value.otherwise or () if e < 0]:
        ways = ((o.otherwise or {}).get(event) for o in (new, old))
        by = pick(*(_NO_THREAD if strand is None else strand.by for strand in ways))
        value.otherwise[event] = replace(value.otherwise[event], by=by)
    return value


def looks_of(value: Value) -> list:
    """Return the atomics behind a value that only look: they change nothing, and may tell a thread something."""
    strands = (value.otherwise or {}).items()
    return [event for event, strand in strands if 0 <= event < TOGETHER and strand.looks]


def _together(value: Value):
    """Return what a value would be if all atomics that only look had been done earlier."""
    strands = value.otherwise or {}
    if TOGETHER in strands:
        return strands[TOGETHER].data
    events = looks_of(value)
    data = strands[events[0]].data if events else value.data
    for event in events[1:]:  # each of them is stored in a separate element: see `remember`
        other = strands[event].data
        data = np.where(other == value.data, data, other)
    return data


def follow_moved(value: Value, compute, operand: Value) -> Value:
    """Follow a value that lanes exchange; ``compute`` moves numbers between lanes."""
    if operand.otherwise:
        value.otherwise = {
            event: replace(
                strand, data=np.stack([compute(one) for one in strand.data]), by=compute(strand.by)
            )
            for event, strand in operand.otherwise.items()
        }
    return value


def follow_vote(value: Value, compute, operand: Value) -> Value:
    """Follow the result of a vote, which many lanes decide together."""
    if operand.otherwise:
        anybody = np.array(ANYBODY).reshape((1,) * 6)
        value.otherwise = {
            event: replace(strand, data=np.stack([compute(one) for one in strand.data]), by=anybody)
            for event, strand in operand.otherwise.items()
        }
    return value


def _newest(events) -> list:
    """Return the events that are still followed: the last ``MOST``, the last ``MOST`` watched, and all doubts."""
    events = sorted(events)
    watched = [e for e in events if e < WATCH]
    doubts = [e for e in events if WATCH <= e < 0]
    return watched[:MOST] + doubts + events[len(watched) + len(doubts) :][-MOST:]


def _common(by, other):
    if by is other:
        return by
    both = np.where(by == other, by, ANYBODY)
    return np.where(by == _NO_THREAD, other, np.where(other == _NO_THREAD, by, both))


def decide(run, test: Value, mask) -> None:
    """Note which threads take another branch than in one of the worlds, at a branch or at the test of a loop."""
    if not test.otherwise or run.races is None:
        return
    lanes = run.wave.spread(mask.full)
    threads, way = run.wave.thread_numbers[lanes], run.wave.spread(test.data)[lanes]
    all_of_them = test.otherwise.get(TOGETHER)
    for event, strand in test.otherwise.items():
        if event == TOGETHER:
            continue
        decided = np.stack([run.wave.spread(one)[lanes] for one in strand.data]) != way
        by = run.wave.spread(strand.by)[lanes]
        if event < 0 and (hazard := run.races.doubts.hazard_of(event)):
            if decided.any():
                run.log.add(hazard)
        elif event >= 0:
            if strand.looks and all_of_them is not None:
                # each of two atomics may change `a ^ b` alone, while both together do not
                decided &= np.stack([run.wave.spread(one)[lanes] for one in all_of_them.data]) != way
            run.races.handovers.learn(threads, decided, by, event)
        elif run.races.doubts.is_float(event):
            run.scopes[-1][event] = strand.by
        else:
            # numbers that an atomic might find later are not known: only a test that rejects all others is a test of it
            certain = decided.all(axis=0) if event < WATCH else decided.any(axis=0)
            run.races.doubts.dispel(event, np.where(by == ANYBODY, threads, by)[certain])


def decide_by_trips(run, trips: Value, at, lanes) -> None:
    """Note which threads begin a trip of a ``for``, or end the loop, but would not with another number of trips."""
    if trips.otherwise:
        test = run.view(trips, at < trips.data, BOOL, trips.key)
        decide(run, follow(test, lambda data: at < data, trips), lanes)


def may_be_a_branch(trips: Value) -> bool:
    """Return whether a loop has at most one trip, whatever its atomics found: then it acts as an ``if``."""
    strands = trips.otherwise.values()
    return max(int(data.max()) for data in (trips.data, *(s.data for s in strands)) if data.size) <= 1


def require_no_doubt(run, value: Value, lanes, place=None) -> None:
    """Report lanes that store a value in doubt: an atomic found it while others changed it, and no branch used it.

    A float may be compared and swapped with one that was found in the same element. ``place`` is where it is stored.
    """
    if run.dry or not value.otherwise or run.races is None:
        return
    for event in (e for e in value.otherwise if e < 0):
        chosen = run.wave.spread(lanes.full)
        if hazard := run.races.doubts.hazard_of(event):
            if place is None or place.array.space != "local":
                _report_if_used(run, value, event, chosen, hazard)
            continue
        by = run.wave.spread(value.otherwise[event].by)[chosen]
        threads = np.where(by == ANYBODY, run.wave.thread_numbers[chosen], by)
        if place is not None and run.races.doubts.is_float(event):
            if place.array.space == "local":
                continue  # no other thread sees it; it is followed from there
            units = place.array.units(run.wave.spread(place.at)[chosen])
            other = ~run.races.doubts.same_place(event, place.array.region, threads, units)
            threads = threads[other]
        found = run.races.doubts.of(event, threads)
        if found is not None:
            run.log.fetched(run, *found)


def from_nobody(value: Value, moved, event: int, lanes) -> None:
    """Follow a value that some lanes took from a lane which gave none: they might have found anything."""
    kind = moved.dtype.kind
    some = (
        (0, 1, -1, 7, 1 << 20, -(1 << 20), 3) if kind in "iu" else (0.0, 1.0, -1.0, 0.3, 1e30, -1e30, np.nan)
    )
    known = value.otherwise or {}
    before = known[event].data if event in known else [moved] * WORLDS
    worlds = np.stack(
        [np.where(lanes, moved.dtype.type(one), w) for one, w in zip(some, before, strict=True)]
    )
    value.otherwise = {**known, event: Strand(worlds, np.array(ANYBODY).reshape((1,) * 6))}


def _report_if_used(run, value: Value, event: int, chosen, hazard) -> None:
    """Report a value from a lane that took no part, if what is stored would differ with another one."""
    now = run.wave.spread(value.data)[chosen]
    for world in value.otherwise[event].data:
        if not np.array_equal(run.wave.spread(world)[chosen], now, equal_nan=now.dtype.kind in "fc"):
            run.log.add(hazard)
            return


def remember(run, place, value: Value) -> None:
    """Follow a value into memory when it is stored."""
    array, region = place.array, place.array.region
    if value.otherwise and run.races is not None:  # what came of no lane is reported where it is stored
        left = {e: s for e, s in value.otherwise.items() if run.races.doubts.hazard_of(e) is None}
        if len(left) < len(value.otherwise):
            value = copy(value)
            value.otherwise = left
    if array.space not in FOLLOWED or not (value.otherwise or region.otherwise):
        return
    kept = region.otherwise.setdefault(memory_name(array), {})
    for event in value.otherwise or ():
        if event not in kept:
            worlds = np.repeat(array.flat[None], WORLDS, axis=0)
            looks = value.otherwise[event].looks
            kept[event] = Strand(worlds, np.full(array.flat.shape, ANYBODY), looks)
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
            event: replace(
                strand,
                data=strand.data.take(place.at, axis=1, mode="clip"),
                by=strand.by.take(place.at, mode="clip"),
            )
            for event, strand in kept.items()
        }


def memory_name(array) -> tuple:
    """Return a name for the memory of an array together with the type of its elements."""
    return array.flat.__array_interface__["data"][0], str(array.dtype)
