"""Reads of unwritten memory, whose values are followed until they are used.

A thread may read an element of shared or local memory that no thread has written. That does harm only if the value is
used: if it decides a branch, is an index, or is stored in global memory. Until then it may go by variables, arithmetic,
shuffles, votes, and by other elements of shared and local memory.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

NOWHERE = -1
LANES = 1 << 20  # more than the lanes of a wave
MOST_READS = 1000  # of one statement, that are told apart


class Reads:
    """The reads of a launch that found unwritten elements, to be reported when their values are used."""

    def __init__(self):
        self._reports: dict[tuple, list] = {}
        self._last: dict[tuple, int] = {}

    def add(self, name: tuple, lanes: np.ndarray, report: Callable) -> "Unwritten":
        """Keep a read.

        Parameters
        ----------
        name : tuple
            Function and line of the statement, and the name of the array.
        lanes : ndarray of bool
            The lanes that have read an unwritten element, in the wave's shape.
        report : callable
            Takes the number of a lane in the wave and reports this lane.
        """
        reports = self._reports.setdefault(name, [])
        if len(reports) < MOST_READS:
            numbers = np.arange(lanes.size).reshape(lanes.shape) + len(reports) * LANES
            self._last[name] = int(numbers[lanes][0])
            reports.append(report)
        else:
            numbers = self._last[name]
        return Unwritten(name, np.where(lanes, numbers, NOWHERE), self)

    def report(self, name: tuple, number: int) -> None:
        """Report the read of this number (:attr:`Unwritten.numbers`)."""
        read, lane = divmod(number, LANES)
        self._reports[name][read](lane)


@dataclass(frozen=True, eq=False)
class Unwritten:
    """Where the lanes of a value, or of a memory, have what a statement has read from unwritten elements.

    Attributes
    ----------
    name : tuple
        Function and line of the statement, and the name of the array.
    numbers : ndarray of int64
        Of each lane, in the wave's shape: the read, and the lane that has read. ``NOWHERE`` in lanes whose value does
        not depend on unwritten elements.
    reads : Reads
    """

    name: tuple
    numbers: np.ndarray
    reads: Any

    def within(self, lanes: np.ndarray) -> "Unwritten":
        """Return the same for these lanes only."""
        return self.moved(lambda numbers: np.where(lanes, numbers, NOWHERE))

    def moved(self, compute: Callable) -> "Unwritten":
        """Return the same for a value that lanes exchange; ``compute`` makes its numbers from these."""
        return replace(self, numbers=compute(self.numbers))

    def used_by(self, mask) -> None:
        """Report the read behind the first lane of ``mask`` that has such a value; these lanes use it."""
        used = self.numbers[mask.full & (self.numbers != NOWHERE)]
        if used.size:
            self.reads.report(self.name, int(used[0]))


def together(*several: tuple) -> tuple:
    """Return the reads behind a value that depends on several values; a statement's reads become one."""
    found: dict[tuple, Unwritten] = {}
    for one in (one for reads in several for one in reads):
        known = found.setdefault(one.name, one)
        if known is not one:
            numbers = np.where(known.numbers == NOWHERE, one.numbers, known.numbers)
            found[one.name] = replace(one, numbers=numbers)
    return tuple(found.values())


def of_choice(*pairs: tuple) -> tuple:
    """Return the reads behind a value that is another one in other lanes.

    Parameters
    ----------
    *pairs : tuple of (ndarray of bool, Value)
        The lanes that have each value.
    """
    reads = ((one.within(lanes),) for lanes, value in pairs for one in value.unwritten)
    return together(*(one for one in reads if (one[0].numbers != NOWHERE).any()))


def of_either(mask, new, old) -> tuple:
    """Return the reads behind a value that is ``new`` in these lanes and ``old`` in the others."""
    return of_choice((mask.full, new), (~mask.full, old)) if new.unwritten or old.unwritten else ()


def first_of(numbers: np.ndarray, voters: np.ndarray) -> np.ndarray:
    """Return the least number among some voters, along the last dimension; ``NOWHERE`` if none of them has one."""
    least = np.where(voters & (numbers != NOWHERE), numbers, np.iinfo(np.int64).max).min(axis=-1)
    return np.where(least == np.iinfo(np.int64).max, NOWHERE, least)


def keep(run, place, value) -> None:
    """Keep in shared and local memory which lanes store what was read from unwritten elements.

    In global memory, others find it after the launch, so that a store there is a use.
    """
    kept, lanes = place.array.region.unwritten, place.inside
    if place.array.space == "global":
        for read in value.unwritten:
            read.used_by(lanes)
        return
    if not (kept or value.unwritten):
        return
    units = _units(run, place)
    for numbers in kept.values():
        numbers[units] = NOWHERE
    for read in value.unwritten:
        if read.name not in kept:
            kept[read.name] = np.full(place.array.region.initialised.size, NOWHERE, np.int64)
        kept[read.name][units] = read.numbers[lanes.full][:, None]


def kept_at(run, place, reads) -> tuple:
    """Return the reads behind what lanes find in memory."""
    kept, found = place.array.region.unwritten, []
    units = _units(run, place) if kept else None
    for name, numbers in kept.items():
        there = numbers[units].max(axis=1)
        if (there != NOWHERE).any():
            of_lanes = np.full(run.wave.shape, NOWHERE, np.int64)
            of_lanes[place.inside.full] = there
            found.append(Unwritten(name, of_lanes, reads))
    return tuple(found)


def _units(run, place) -> np.ndarray:
    """Return the units of each lane's element, shape (lanes inside, units of an element)."""
    scale = place.array.dtype.itemsize // place.array.region.unit
    return run.wave.whole(place.at)[place.inside.full][:, None] * scale + np.arange(scale)
