"""Hindsight: what would a value be if an atomic that it depends on had been done earlier?

A thread learns of a hand-over only if the value that its atomic found makes it take another branch
(:mod:`course_pkg.simt.memory.handover`). To see this, the interpreter keeps alternative values next to the value that
was found. They are the values that the atomic would have found at an earlier time, or without one of the publications.
Each alternative is called a world. The interpreter follows the worlds through arithmetic, functions, votes, shuffles
and memory. If a branch or a loop is decided differently in a world, the thread has learnt of the hand-over.

Doubts are followed in the same way (:mod:`course_pkg.simt.memory.doubts`). Their worlds hold other numbers that the
atomic might have found, or numbers in place of a value that a shuffle takes from a lane that does not take part.
"""

from copy import copy
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from course_pkg.simt.front.typing import BOOL
from course_pkg.simt.memory.doubts import MOST_WATCHED, WATCH
from course_pkg.simt.memory.handover import ANYBODY, WORLDS
from course_pkg.simt.run.values import Value

FOLLOWED = ("global", "shared", "local")
TOGETHER = 1 << 62  # the key of the world in which all atomics that change nothing were done earlier
_NO_THREAD = np.full((1,) * 6, -2)  # marks that no thread is involved; differs from ANYBODY
MOST = 16  # maximum number of hand-overs that are followed for one value: the newest


@dataclass(frozen=True, eq=False)
class Strand:
    """What a value would be if one atomic had found another value, and all other atomics had found what they did find.

    The strand with the key ``TOGETHER`` is the exception: it changes what several atomics have found.

    Attributes
    ----------
    data : ndarray, shape (WORLDS, …)
        The value in each world. The first dimension is the world; the others are those of the value itself.
    by : ndarray of int64
        For each lane, the thread that executed the atomic; ``ANYBODY`` if there were several.
    looks : bool
        Whether the atomic changed nothing, in any lane of its statement. Only such an atomic could have been executed
        earlier without other effects. For example, an atomic that takes a ticket would have taken another thread's
        ticket.
    """

    data: np.ndarray
    by: np.ndarray
    looks: bool = False


def follow(value: Value, compute, *operands: Value) -> Value:
    """Follow a value if one of its operands is followed; ``compute`` makes the value's data from the operands' data."""
    for operand in operands:  # there is rarely one; this loop takes less than half the time of any(…)
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
    """Follow a value that is either ``new`` or ``old`` in each lane. A doubt about the value not taken has no effect.

    ``choose`` makes the value's data from the data of the two. ``pick`` does the same without converting types.
    """
    follow(value, choose, new, old)
    for event in [e for e in value.otherwise or () if e < 0]:
        ways = ((o.otherwise or {}).get(event) for o in (new, old))
        by = pick(*(_NO_THREAD if strand is None else strand.by for strand in ways))
        value.otherwise[event] = replace(value.otherwise[event], by=by)
    return value


def looks_of(value: Value) -> list:
    """Return the atomics behind a value that only read their element, and from which a thread may learn something."""
    strands = (value.otherwise or {}).items()
    return [event for event, strand in strands if 0 <= event < TOGETHER and strand.looks]


def _together(value: Value):
    """Return what a value would be if all atomics that only read had been executed earlier."""
    strands = value.otherwise or {}
    if TOGETHER in strands:
        return strands[TOGETHER].data
    events = looks_of(value)
    data = strands[events[0]].data if events else value.data
    for event in events[1:]:  # each event is stored in a separate element: see `remember`
        other = strands[event].data
        data = np.where(other == value.data, data, other)
    return data


def follow_moved(value: Value, compute, operand: Value) -> Value:
    """Follow a value that lanes exchange; ``compute`` moves data between lanes."""
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
    """Return the events to follow further: the newest hand-overs, the newest watched reads, and all doubts."""
    events = sorted(events)
    watched = [e for e in events if e < WATCH]
    doubts = [e for e in events if WATCH <= e < 0]
    return watched[:MOST_WATCHED] + doubts + events[len(watched) + len(doubts) :][-MOST:]


def _common(by, other):
    if by is other:
        return by
    both = np.where(by == other, by, ANYBODY)
    return np.where(by == _NO_THREAD, other, np.where(other == _NO_THREAD, by, both))


def decide(run, test: Value, mask) -> None:
    """Compare the branch that threads take with the branches of their worlds, wherever a test decides what they run.

    A thread that would take another branch in a world learns of the hand-over. A test of an integer in doubt may end
    the doubt, and a test of a float in doubt adds it to the innermost scope (:mod:`course_pkg.simt.run.sway`). A test
    that depends on a value from a lane that did not take part is reported.
    """
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
                # either of two atomics alone may change `a ^ b`, although both together do not
                decided &= np.stack([run.wave.spread(one)[lanes] for one in all_of_them.data]) != way
            run.races.handovers.learn(threads, decided, by, event)
        elif run.races.doubts.is_float(event):
            run.scopes[-1][event] = strand.by
        else:
            # the values that an atomic might find later are unknown, so a test counts only if it rejects all others
            certain = decided.all(axis=0) if event < WATCH else decided.any(axis=0)
            run.races.doubts.dispel(event, np.where(by == ANYBODY, threads, by)[certain])


def decide_by_trips(run, trips: Value, at, lanes) -> None:
    """Do what :func:`decide` does where threads begin trip ``at`` of a ``for``, or leave the loop."""
    if trips.otherwise:
        test = run.view(trips, at < trips.data, BOOL, trips.key)
        decide(run, follow(test, lambda data: at < data, trips), lanes)


def may_be_a_branch(trips: Value) -> bool:
    """Return whether a loop has at most one trip in every world. Such a loop acts like an ``if``."""
    strands = trips.otherwise.values()
    return max(int(data.max()) for data in (trips.data, *(s.data for s in strands)) if data.size) <= 1


def from_nobody(value: Value, moved, event: int, lanes) -> None:
    """Follow a shuffled value in the lanes whose source lane took no part. There, the value could be any number."""
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


def remember(run, place, value: Value) -> None:
    """Store the worlds of a value when the value is stored in memory."""
    array, region = place.array, place.array.region
    if value.otherwise and run.races is not None:  # values from no lane are reported when stored
        left = {e: s for e, s in value.otherwise.items() if run.races.doubts.hazard_of(e) is None}
        if len(left) < len(value.otherwise):
            value = copy(value)
            value.otherwise = left
    if array.space not in FOLLOWED or not (value.otherwise or region.otherwise):
        return
    kept = region.otherwise.setdefault(_whatever_type(array), {})
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
        for world, one in zip(strand.data.view(array.dtype), new.data, strict=True):
            world[at] = np.broadcast_to(one, shape)[lanes]
        strand.by[at] = np.broadcast_to(new.by, shape)[lanes]


def recall(place, value: Value) -> None:
    """Load the worlds of a value when the value is loaded from memory."""
    kept = place.array.region.otherwise
    kept = kept.get(_whatever_type(place.array)) if kept else None
    if kept:
        value.otherwise = {
            event: replace(
                strand,
                data=strand.data.view(place.array.dtype).take(place.at, axis=1, mode="clip"),
                by=strand.by.take(place.at, mode="clip"),
            )
            for event, strand in kept.items()
        }


def memory_name(array) -> tuple:
    """Return a name for an array's memory: its address and the type of its elements."""
    return array.flat.__array_interface__["data"][0], str(array.dtype)


def _whatever_type(array) -> tuple:
    """Return a name for an array's memory that is the same for floats and for the integers that are their bits."""
    address, _ = memory_name(array)
    return address, array.dtype.itemsize
