"""Uses of values in doubt: which of them are races, and what ends a doubt (:mod:`course_pkg.simt.memory.doubts`)."""

from dataclasses import replace

import numpy as np

from course_pkg.simt.memory.doubts import MANY, WATCH
from course_pkg.simt.memory.handover import ANYBODY
from course_pkg.simt.memory.publications import WORLDS
from course_pkg.simt.run.hindsight import Strand
from course_pkg.simt.run.values import Value


def integers_in_doubt(run, value: Value) -> list:
    """Return the doubts about integers that a value depends on."""
    doubts = run.races.doubts if run.races is not None else None
    some = (e for e in value.otherwise or () if MANY < e < 0) if doubts is not None else ()
    return [e for e in some if doubts.hazard_of(e) is None and not doubts.is_float(e)]


def require_no_doubt(run, value: Value, lanes, place=None, *, later=(), allowed=()) -> None:
    """Report lanes that store a value in doubt, or use it as an index or as a number of trips.

    A value is in doubt if an atomic found it while other threads changed it, and no branch has tested it since.
    ``place`` is the element where the value is stored; without it, no use of the value is allowed. Two stores are
    allowed: in local memory, and of a float in the same element in which an atomic has found it. The doubts ``later``
    are reported when the kernel ends, unless a swap proves the value before. The doubts ``allowed`` do not count here.
    """
    if run.dry or not value.otherwise or run.races is None:
        return
    for event in (e for e in value.otherwise if e < 0 and e not in allowed):
        chosen = run.wave.spread(lanes.full)
        if hazard := run.races.doubts.hazard_of(event):
            if place is None or place.array.space != "local":
                _report_if_used(run, value, event, chosen, hazard)
            continue
        lent, strand = run.races.doubts.unproven.lent, value.otherwise[event]
        if event in lent and (place is None or place.array.space != "local"):
            lends = event in later and place.array.space == "shared"
            chosen = _without_those_who_have_tested(run, event, strand, chosen, lends)
        threads = _whose(run, strand, chosen)
        if event == MANY:
            if place is None or place.array.space != "local":
                _require_none_of_many(run, value.otherwise[event].source, threads)
            continue
        if event in later:
            if place.array.space != "local":
                units = place.array.units(run.wave.spread(place.at)[chosen])
                if place.array.space == "shared":
                    known = run.wave.spread(strand.by)[chosen] != ANYBODY
                    lent.lend(event, threads, known, place.array.region, place.array.dtype.itemsize)
                run.races.doubts.put_off(event, threads, place.array.region, units)
            continue
        if place is not None and run.races.doubts.is_float(event):
            if place.array.space == "local":
                continue  # no other thread sees it, and it is followed further when it is loaded
            units = place.array.units(run.wave.spread(place.at)[chosen])
            other = ~run.races.doubts.same_place(event, place.array.region, threads, units)
            threads = threads[other]
        found = run.races.doubts.of(event, threads)
        if found is not None:
            run.log.fetched(run, *found)


def _without_those_who_have_tested(run, event: int, strand: Strand, chosen, lends: bool):
    """Return the lanes that use what was lent and have not tested it; note that they do, unless they lend it on."""
    lent = run.races.doubts.unproven.lent
    owners, threads = run.wave.spread(strand.by)[chosen], run.wave.thread_numbers[chosen]
    untested = ~lent.tested(event, owners, threads)
    if not lends:
        lent.misuse(event, owners[untested])
    left = chosen.copy()
    left[chosen] = untested
    return left


def _require_none_of_many(run, reads, threads) -> None:
    """Do what :func:`require_no_doubt` does for the watched reads that one strand names."""
    doubts = run.races.doubts
    for read, anyone in sorted(reads, key=lambda pair: pair[0].number):
        found = doubts.of_any(read.number) if anyone else doubts.of(read.number, threads)
        if found is not None:
            run.log.fetched(run, *found)


def put_off_doubts(run, place, value: Value) -> None:
    """Do what :func:`require_no_doubt` does for a plain store, which a swap may still prove or another store undo."""
    chosen, region = run.wave.spread(place.inside.full), place.array.region
    units = place.array.units(run.wave.spread(place.at)[chosen])
    run.races.doubts.unproven.overwrite(region, units, run.wave.thread_numbers[chosen])
    require_no_doubt(run, value, place.inside, place, later=integers_in_doubt(run, value))


def _whose(run, strand: Strand, chosen):
    """Return for each chosen lane the thread whose atomic a value depends on."""
    by = run.wave.spread(strand.by)[chosen]
    return np.where(by == ANYBODY, run.wave.thread_numbers[chosen], by)


def proved_by_swap(run, place, expected: Value, won) -> None:
    """Note that compare-and-swaps have won and changed their elements: each element held the expected value.

    If this value was found in the same element, and if no other value would have won, it is in doubt no longer.
    """
    chosen = run.wave.spread(won.full)
    for event in integers_in_doubt(run, expected) if won else ():
        threads, other, own = _of_swaps(run, place, event, expected, chosen)
        sure = other.all(axis=0) if event < WATCH else other.any(axis=0)
        run.races.doubts.prove(event, threads[sure & own])


def require_expected(run, place, expected: Value, stored: Value, won) -> None:
    """Report lanes whose swap has won and stores a value in doubt that its element did not hold.

    A reader who has found ``v`` may swap ``max(v, 0)`` for one more: whatever it had found, it would then have stored
    the same number, or the swap would not have won. So the number says nothing that the element did not say.
    """
    integers, chosen = integers_in_doubt(run, stored), run.wave.spread(won.full)
    for event in integers if won else ():
        left = chosen.copy()
        if event in (expected.otherwise or {}):
            _, other, own = _of_swaps(run, place, event, expected, chosen)
            alike = ~_differs(run, event, stored, chosen)
            left[chosen] = ~(own & (other | alike).all(axis=0))
        lanes = won.narrow(left.reshape(run.wave.shape))
        require_no_doubt(run, stored, lanes, allowed=[e for e in stored.otherwise if e != event])


def _of_swaps(run, place, event: int, expected: Value, chosen) -> tuple:
    """Return whose doubt it is, in which worlds a swap expects another number, and whether this was found there."""
    threads = _whose(run, expected.otherwise[event], chosen)
    units = place.array.units(run.wave.spread(place.at)[chosen])
    own = run.races.doubts.same_place(event, place.array.region, threads, units)
    return threads, _differs(run, event, expected, chosen), own


def _differs(run, event: int, value: Value, chosen) -> np.ndarray:
    """Return in which worlds of a doubt a value would be another one, for each chosen lane."""
    worlds = value.otherwise[event].data
    return np.stack([run.wave.spread(one)[chosen] for one in worlds]) != run.wave.spread(value.data)[chosen]


def in_doubt_like(run, value: Value, indices) -> None:
    """Let a value be in doubt if it was found by an index in doubt."""
    for index in indices:
        for event in integers_in_doubt(run, index):
            if value.data.dtype.kind == "b":
                worlds = np.repeat(~value.data[None], WORLDS, axis=0)
            else:
                steps = (1, -1, *range(2, WORLDS))
                worlds = np.stack([value.data + value.data.dtype.type(n) for n in steps])
            known = value.otherwise or {}
            value.otherwise = {**known, event: replace(index.otherwise[event], data=worlds, looks=False)}


def _report_if_used(run, value: Value, event: int, chosen, hazard) -> None:
    """Report a hazard if the stored value depends on what a lane that took no part would have supplied."""
    now = run.wave.spread(value.data)[chosen]
    for world in value.otherwise[event].data:
        if not np.array_equal(run.wave.spread(world)[chosen], now, equal_nan=now.dtype.kind in "fc"):
            run.log.add(hazard)
            return
