"""Hindsight: what would a value be if an atomic that it depends on had been done earlier?

A thread learns of a hand-over only if the value that its atomic found makes it take another branch
(:mod:`course_pkg.simt.memory.handover`). To see this, the interpreter keeps alternative values next to the value that
was found. They are the values that the atomic would have found at an earlier time, or without one of the publications.
Each alternative is called a world. The interpreter follows the worlds through arithmetic, functions, votes, shuffles
and memory. If a branch or a loop is decided differently in a world, the thread has learnt of the hand-over.

Doubts are followed in the same way (:mod:`course_pkg.simt.memory.doubts`). Their worlds hold other numbers that the
atomic might have found, or numbers in place of a value that a shuffle takes from a lane that does not take part.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from course_pkg.simt.front.typing import BOOL
from course_pkg.simt.memory.doubts import MANY, MOST_WATCHED, WATCH
from course_pkg.simt.memory.handover import ANYBODY
from course_pkg.simt.memory.publications import WORLDS
from course_pkg.simt.run.owners import ANY_THREAD, NO_THREAD, apart, common
from course_pkg.simt.run.values import Value

TOGETHER = 1 << 62  # the key of the world in which all atomics that change nothing were done earlier
IN_DOUBT = (
    TOGETHER + 1
)  # the key of the worlds in which all atomics whose results are in doubt have found other numbers
MOST = 16  # maximum number of hand-overs that are followed for one value: the newest


@dataclass(frozen=True, eq=False)
class Strand:
    """What a value would be if one atomic had found another value, and all other atomics had found what they did find.

    There are two exceptions. The strands with the keys ``TOGETHER`` and ``IN_DOUBT`` change what several atomics have
    found. The strand with the key ``MANY`` only names many watched reads, the oldest ones: no branch on the value ends
    their doubts.

    Attributes
    ----------
    data : ndarray, shape (at least WORLDS, …)
        The value in each world; more than WORLDS only where a number went up in steps. The first dimension is the
        world; the others are those of the value itself.
    by : ndarray of int64
        For each lane, the thread that executed the atomic; ``ANYBODY`` if there were several.
    looks : bool
        Whether the atomic changed nothing, in any lane of its statement. Only such an atomic could have been executed
        earlier without other effects. For example, an atomic that takes a ticket would have taken another thread's
        ticket.
    source : Watched or frozenset or None
        What a watched read has read; it is kept as long as a value depends on it. For ``MANY``, pairs of it and
        whether other threads than the lane's own may have read it.
    """

    data: np.ndarray
    by: np.ndarray
    looks: bool = False
    source: Any = None


def follow(value: Value, compute, *operands: Value, either=False) -> Value:
    """Follow a value if one of its operands is followed; ``compute`` makes the value's data from the operands' data.

    ``either``: whether the value is only one of its operands in each lane.
    """
    for operand in operands:  # there is rarely one; this loop takes less than half the time of any(…)
        if operand.otherwise:
            break
    else:
        return value
    strands = [o.otherwise or {} for o in operands] if either else apart(operands)
    value.otherwise = {}
    events = {event for of_one in strands for event in of_one} - set(_OF)
    followed = newest(events)
    if len(followed) < len(events):
        _namenamed_many(value, strands, events.difference(followed))
    for event in followed:
        data = (of_one.get(event, o) for of_one, o in zip(strands, operands, strict=True))
        same = [of_one[event] for of_one in strands if event in of_one]
        by = reduce(common, (strand.by for strand in same))
        data = compute(*(one.data for one in data))
        value.otherwise[event] = Strand(data, by, same[0].looks, same[0].source)
    for key, of in _OF.items():
        if len(of(value)) > 1:
            value.otherwise[key] = Strand(compute(*(_together(key, o) for o in operands)), ANY_THREAD)
    return value


def _namenamed_many(value: Value, strands: list, dropped) -> None:
    """Name the watched reads that are followed no further among those that the value depends on."""
    reads: set = set()
    for event in dropped:
        if event < WATCH:
            for of_one in strands:
                if event in of_one:
                    reads |= reads_of(event, of_one[event])
    if reads:
        value.otherwise[MANY] = named_many(value.data, frozenset(reads))


def reads_of(event: int, strand: Strand, anyone=False) -> frozenset:
    """Return pairs of the watched reads of a strand, and whether any thread may have read it."""
    if event == MANY:
        return frozenset((read, True) for read, _ in strand.source) if anyone else strand.source
    return frozenset([(strand.source, anyone)])


def named_many(data, reads: frozenset) -> Strand:
    return Strand(np.broadcast_to(data, (WORLDS, *data.shape)), ANY_THREAD, source=reads)


def with_many(strands: dict, others: dict) -> dict:
    """Return strands, with the many reads that others name."""
    if MANY in strands and MANY in others:
        reads = strands[MANY].source | others[MANY].source
        return {**strands, MANY: replace(strands[MANY], source=reads)}
    return strands


def follow_either(value: Value, choose, pick, new: Value, old: Value) -> Value:
    """Follow a value that is either ``new`` or ``old`` in each lane. A doubt about the value not taken has no effect.

    ``choose`` makes the value's data from the data of the two. ``pick`` does the same without converting types.
    """
    follow(value, choose, new, old, either=True)
    for event in [e for e in value.otherwise or () if MANY < e < 0]:
        ways = ((o.otherwise or {}).get(event) for o in (new, old))
        by = pick(*(NO_THREAD if strand is None else strand.by for strand in ways))
        value.otherwise[event] = replace(value.otherwise[event], by=by)
    return value


def looks_of(value: Value) -> list:
    """Return the atomics behind a value that only read their element, and from which a thread may learn something."""
    strands = (value.otherwise or {}).items()
    return [event for event, strand in strands if 0 <= event < TOGETHER and strand.looks]


def _in_doubt(value: Value) -> list:
    """Return the doubts about a value, and the watched reads that it depends on."""
    return [event for event in value.otherwise or () if MANY < event < 0]


_OF = {TOGETHER: looks_of, IN_DOUBT: _in_doubt}


def _together(key: int, value: Value):
    """Return what a value would be if all atomics of this kind had found something else."""
    strands = value.otherwise or {}
    if key in strands:
        return strands[key].data
    events = _OF[key](value)
    data = strands[events[0]].data[:WORLDS] if events else value.data
    for event in events[1:]:  # each event is stored in a separate element: see `remember`
        other = strands[event].data[:WORLDS]
        data = np.where(other == value.data, data, other)
    return data


def follow_moved(value: Value, compute, operand: Value) -> Value:
    """Follow a value that lanes exchange; ``compute`` moves data between lanes."""
    if operand.otherwise:
        value.otherwise = {
            event: replace(strand, data=_each(compute, strand.data), by=compute(strand.by))
            for event, strand in operand.otherwise.items()
            if event != MANY
        }
        _movenamed_many(value, operand)
    return value


def follow_vote(value: Value, compute, operand: Value) -> Value:
    """Follow the result of a vote, which many lanes decide together."""
    if operand.otherwise:
        value.otherwise = {
            event: replace(strand, data=_each(compute, strand.data), by=ANY_THREAD)
            for event, strand in operand.otherwise.items()
            if event != MANY
        }
        _movenamed_many(value, operand)
    return value


def _each(compute, worlds):
    return np.stack([compute(one) for one in worlds])


def _movenamed_many(value: Value, operand: Value) -> None:
    """Name the many reads that an operand depends on: other lanes' reads count, too."""
    if MANY in operand.otherwise:
        value.otherwise[MANY] = named_many(value.data, reads_of(MANY, operand.otherwise[MANY], anyone=True))


def newest(events) -> list:
    """Return the events to follow further: the newest hand-overs, the newest watched reads, and all doubts."""
    events = sorted(e for e in events if e > MANY)
    watched = [e for e in events if e < WATCH]
    doubts = [e for e in events if WATCH <= e < 0]
    told = [e for e in events if e >= 0]  # those of several owners count as one
    oldest = sorted({int(e) for e in told})[-MOST:][:1]
    return watched[:MOST_WATCHED] + doubts + [e for e in told if e >= oldest[0]]


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

    def others(strand):
        return np.stack([run.wave.spread(one)[lanes] for one in strand.data]) != way

    joint = {key: others(test.otherwise[key]) for key in _OF if key in test.otherwise}
    for event, strand in test.otherwise.items():
        if event in _OF:
            continue
        decided = others(strand)
        by = run.wave.spread(strand.by)[lanes]
        if event < 0 and (hazard := run.races.doubts.hazard_of(event)):
            if decided.any():
                run.log.add(hazard)
        elif event >= 0:
            if strand.looks and TOGETHER in joint:
                # either of two atomics alone may change `a ^ b`, although both together do not
                decided[:WORLDS] &= joint[TOGETHER]
                decided[WORLDS:] &= run.races.handovers.are_one(looks_of(test))
            run.races.handovers.learn(threads, decided, by, event)
        elif event == MANY:
            floats = frozenset(pair for pair in strand.source if pair[0].way[2])
            if floats:
                reads = {MANY: replace(strand, source=floats)}
                run.scopes[-1].update(with_many(reads, run.scopes[-1]))
        elif run.races.doubts.is_float(event):
            run.scopes[-1][event] = strand
        else:
            # the values that an atomic might find later are unknown, so a test counts only if it rejects all others
            lent = run.races.doubts.unproven.lent
            if event in lent:
                decided &= joint.get(IN_DOUBT, True)  # `a == b` tells nothing of a
            certain = decided.all(axis=0) if event < WATCH else decided.any(axis=0)
            if (
                event in lent
            ):  # the test concerns the thread itself, and no other one that has loaded the number
                borrowed = certain & lent.of(event, by)
                lent.test(event, by[borrowed], threads[borrowed])
                certain &= ~borrowed
            whose = np.where(by == ANYBODY, threads, by)
            run.races.doubts.dispel(event, whose[certain])
            if run.races.handovers.yielding:
                run.races.handovers.yielding.looked(run.races.doubts.read(event, whose))


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
