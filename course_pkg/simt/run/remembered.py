"""What is kept of values when they are stored in memory: what they would be in other worlds (:mod:`.hindsight`)."""

from copy import copy
from dataclasses import replace

import numpy as np

from course_pkg.simt.memory.doubts import MANY, WATCH
from course_pkg.simt.run.hindsight import MOST, Strand, named_many, newest, reads_of
from course_pkg.simt.run.owners import ANY_THREAD, NO_THREAD
from course_pkg.simt.run.values import Value

FOLLOWED = ("global", "shared", "local")


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
    many = [kept.pop(MANY)] if MANY in kept else []
    for event in value.otherwise or ():
        if event == MANY:
            many.append(value.otherwise[MANY])
        elif event not in kept:
            strand = value.otherwise[event]
            worlds = np.repeat(array.flat[None], len(strand.data), axis=0)
            kept[event] = replace(strand, data=worlds, by=np.full(array.flat.shape, NO_THREAD.item(0)))
    shape, lanes = run.wave.shape, place.inside.full
    at = np.broadcast_to(place.at, shape)[lanes]
    for event, strand in kept.items():
        new = (value.otherwise or {}).get(event)
        if new is None:
            new = Strand(np.broadcast_to(value.data, (len(strand.data), *value.data.shape)), NO_THREAD)
        for world, one in zip(strand.data.view(array.dtype), new.data, strict=True):
            world[at] = np.broadcast_to(one, shape)[lanes]
        strand.by[at] = np.broadcast_to(new.by, shape)[lanes]
    if len(kept) > MOST:
        for event in [e for e, strand in kept.items() if (strand.by == NO_THREAD.item(0)).all()]:
            del kept[event]  # all its elements were overwritten
    reads = {pair for one in many for pair in reads_of(MANY, one, array.space != "local")}
    for event in set(kept) - set(newest(kept)):
        strand = kept.pop(event)
        if event < WATCH:
            reads |= reads_of(event, strand, array.space != "local")
    if reads:  # kept for the whole memory, although only some elements depend on these reads
        kept[MANY] = Strand(array.flat, ANY_THREAD, source=frozenset(reads))


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
            if event != MANY
        }
        if MANY in kept:
            value.otherwise[MANY] = named_many(value.data, kept[MANY].source)


def memory_name(array) -> tuple:
    """Return a name for an array's memory: its address and the type of its elements."""
    return array.flat.__array_interface__["data"][0], str(array.dtype)


def _whatever_type(array) -> tuple:
    """Return a name for an array's memory that is the same for floats and for the integers that are their bits."""
    address, _ = memory_name(array)
    return address, array.dtype.itemsize
