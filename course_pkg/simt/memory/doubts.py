"""Doubts: an atomic read an integer that other threads change at the same time. Is that a flag, or is it a race?

An atomic may read a lock, a flag or a counter while other threads change it: the value that it finds decides which
branch its thread takes. But it is a race if an atomic reads data that another thread stores at that time, for example
in a tile before the barrier. At the atomic itself the two cases look alike. So the value is in doubt until it has
decided a branch. If a thread stores a value in doubt, or uses it as an index, that is a race.

It does not matter which of the two came first in this run. So a value that an atomic reads without changing it, or
exchanges, is watched, even if nobody has changed the element yet. If another thread changes it later, with no order
between the two, the value is in doubt from then on. If the value has been stored by then, that is a race. When a branch
uses a watched value, it is not known yet which number the other thread will put there. So the branch ends the watch
only if every other number would have led to the other side of the branch. A test of one bit, or of the sign, does not
end it: half of all numbers lead to the same side.

A value can also be proved by a compare-and-swap of the element in which it was found: if the swap wins, the element has
not changed. So a plain store of a value in doubt is reported only when the kernel ends (:mod:`.unproven`). An element
that is loaded by an index in doubt is in doubt, too.

All of this applies to integers. A floating-point number is data, and no branch ends the doubt about it: whatever a
thread does because of such a number is in doubt, too (:mod:`course_pkg.simt.run.sway`).
"""

import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.memory.outlived import Outlived, first_and_last
from course_pkg.simt.memory.unproven import Unproven

WATCH = -(1 << 40)  # numbers below this belong to watched values, which may become doubts
MANY = -(1 << 61)  # in place of the oldest watched values that one value depends on, if these are many
MOST_WATCHED = 64  # the newest watched values that one value depends on are told apart


@dataclass(eq=False)
class Doubt:
    """What one atomic statement found in doubt.

    Attributes
    ----------
    place : Place
        The access of the atomic.
    entries : dict of int to int
        For each thread in doubt, the entry of the thread that changed the element.
    read : tuple of ndarray
        Threads, and the unit that the atomic of each has read.
    """

    place: Any
    entries: dict
    read: tuple = ()
    lost: tuple = ()  # threads whose updates may be overwritten, unless a branch shows that they came in time
    hazard: Any = None  # what to report if a thread uses a value from a lane that did not take part


@dataclass(eq=False)
class Watched:
    """What one atomic statement read, as long as a value of the kernel depends on it.

    The kernel's values hold the object, and nothing else does. When none depends on it any more, what has been stored
    until then outlives it (:class:`.outlived.Outlived`).

    Attributes
    ----------
    place : Place
    wave : Wave
    region : Region
    units, threads, stamps : ndarray of int64
        One item for each lane of the atomic.
    way : tuple
        The kind of update that the atomic does.
    reads : ndarray of bool
        The lanes whose atomic only reads. For these lanes, changes by atomics of the same kind matter, too.
    open : ndarray of bool
        The lanes whose value has decided no branch and is in no doubt.
    stored : ndarray of bool
        The lanes whose value was stored, or used as an index.
    put_off : ndarray of bool
        The lanes whose value was stored where a swap may still prove it.
    number : int
        The number of the doubt about it.
    doubt : Doubt
    """

    place: Any
    wave: Any
    region: Any
    units: np.ndarray
    threads: np.ndarray
    stamps: np.ndarray
    way: tuple
    reads: np.ndarray
    open: np.ndarray
    stored: np.ndarray = field(init=False)
    put_off: np.ndarray = field(init=False)
    number: int = 0
    doubt: Doubt = field(init=False)
    outlived: Outlived | None = None

    def __post_init__(self):
        self.stored, self.put_off = np.zeros((2, len(self.units)), bool)
        self.doubt = Doubt(self.place, {}, (self.threads, self.units))

    def __del__(self):
        kept = self.open & (self.stored | self.put_off)
        if self.outlived is not None and kept.any():
            self.outlived.add(self, kept)


class Doubts:
    """The doubts of a launch. Their numbers are negative, unlike those of hand-overs.

    Attributes
    ----------
    unproven : Unproven
        What threads have stored although it was in doubt.
    """

    def __init__(self):
        self.unproven = Unproven()
        self._known: list[Doubt] = []
        self._absent: dict[tuple, int] = {}
        self._watched: weakref.WeakValueDictionary[int, Watched] = weakref.WeakValueDictionary()
        self._last = WATCH
        self._outlived = Outlived(self.unproven)

    def add(self, place, threads, entries, units, lost) -> int:
        """Keep a doubt about what threads read; return its number. Updates by the ``lost`` ones may be overwritten."""
        entries = dict(zip(threads.tolist(), entries.tolist(), strict=True))
        self._known.append(Doubt(place, entries, (threads, units), tuple(lost.tolist())))
        return -len(self._known)

    def lost(self):
        """Yield ``(place, thread, entry)`` for each statement with an update that may be lost; then forget them."""
        for doubt in self._known:
            for thread in doubt.lost:
                if thread in doubt.entries:
                    yield doubt.place, thread, doubt.entries[thread]
                    break
            doubt.lost = ()

    def absent(self, hazard) -> int:
        """Keep a doubt about values from lanes that did not take part; return its number: one per line of source."""
        where = hazard.function, hazard.line
        if where not in self._absent:
            self._known.append(Doubt(None, {}, hazard=hazard))
            self._absent[where] = -len(self._known)
        return self._absent[where]

    def hazard_of(self, event: int):
        """Return the hazard of a doubt about a value from a lane that did not take part; None for any other doubt."""
        return self._known[-event - 1].hazard if WATCH <= event < 0 else None

    def watch(self, watched: Watched, known: dict) -> int:
        """Watch what an atomic read; return the number of the doubt about it. ``known``: its entries so far."""
        self._last -= 1
        watched.number, watched.outlived = self._last, self._outlived
        watched.doubt.entries.update(known)
        self._watched[self._last] = watched
        return self._last

    def is_float(self, event: int) -> bool:
        """Tell whether a doubt is about a floating-point number."""
        watched = self._watched.get(int(event))
        return watched is not None and watched.way[2]

    def same_place(self, event: int, region, threads, units):
        """Tell which threads read the given unit in the atomic that a doubt belongs to."""
        doubt = self._of(event)[1]
        if doubt.place is None or doubt.place.array.region is not region:
            return np.zeros(len(threads), bool)
        read = dict(zip(*(one.tolist() for one in doubt.read), strict=True))
        same = [read.get(t) == u for t, u in zip(threads.tolist(), units.tolist(), strict=True)]
        return np.array(same, bool)

    def changed(self, wave, region, units, entries, stamps, way: tuple, unordered):
        """Note changes of elements by an atomic of kind ``way``; yield ``(place, thread, entry)`` of each race.

        Parameters
        ----------
        entries : ndarray of int64
            The entries of the changes (:mod:`course_pkg.simt.memory.order`).
        unordered : callable
            Tells which changes are in no order with the watched reads. It takes entries and stamps of both.
        """
        by_unit = np.argsort(units, kind="stable")
        changes = units[by_unit], by_unit, entries, stamps, unordered
        for watched in list(self._watched.values()):
            if watched.region is not region or watched.wave is not wave:
                continue
            alike = watched.way == way and not way[2]
            asked = watched.open & watched.reads if alike else watched.open
            for lane, change in first_and_last(watched, asked, *changes):
                watched.open[lane] = False
                thread, entry = int(watched.threads[lane]), int(entries[change])
                if watched.stored[lane]:
                    yield watched.place, thread, entry
                else:
                    watched.doubt.entries[thread] = entry
                    self.unproven.change(watched.number, thread, (watched.place, thread, entry))
        yield from self._outlived.changed(wave, region, way, *changes)

    def dispel(self, event: int, threads) -> None:
        """Forget the doubt of threads that have taken another branch because of the value."""
        watched, doubt = self._of(event)
        for thread in np.unique(threads).tolist():
            doubt.entries.pop(thread, None)
        if watched is not None:
            watched.open &= ~np.isin(watched.threads, threads)

    def read(self, event: int, threads) -> list:
        """Return which element each of the threads has read that is watched, as ``((region, unit), thread)``."""
        watched, _ = self._of(event)
        lanes = () if watched is None else np.flatnonzero(np.isin(watched.threads, threads))
        return [((watched.region, int(watched.units[at])), int(watched.threads[at])) for at in lanes]

    def of(self, event: int, threads):
        """Return ``(place, thread, entry)`` of the first of the threads that is still in doubt, or None."""
        watched, doubt = self._of(event)
        for thread in threads.tolist() if doubt.entries else ():
            if thread in doubt.entries:
                return doubt.place, thread, doubt.entries[thread]
        if watched is not None:
            watched.stored |= np.isin(watched.threads, threads)
        return None

    def of_any(self, event: int):
        """Do what :meth:`of` does for all threads that read the value: any of them may have handed it on."""
        watched, _ = self._of(event)
        return None if watched is None else self.of(event, watched.threads)

    def put_off(self, event: int, threads, region, units) -> None:
        """Note that threads store values that may be in doubt: the last of them may still be proved by a swap."""
        event, (watched, doubt) = int(event), self._of(event)
        if watched is None and not doubt.entries:
            return
        still = {}
        if watched is not None:
            lanes = np.flatnonzero(watched.open)
            still = dict(zip(watched.threads[lanes].tolist(), lanes.tolist(), strict=True))
        for thread, unit in zip(threads.tolist(), units.tolist(), strict=True):
            if thread in doubt.entries:
                self.unproven.keep(event, region, unit, thread, (doubt.place, thread, doubt.entries[thread]))
            elif thread in still:
                self.unproven.keep(event, region, unit, thread, None)
                watched.put_off[still[thread]] = True

    def prove(self, event: int, threads) -> None:
        """End the doubts about threads whose swap has succeeded, and about what they have stored since."""
        self.dispel(event, threads)
        for thread in threads.tolist():
            self.unproven.prove(int(event), thread)

    def _of(self, event: int) -> tuple[Watched | None, Doubt]:
        if event < WATCH:
            watched = self._watched.get(int(event))
            return watched, Doubt(None, {}) if watched is None else watched.doubt
        return None, self._known[-event - 1]
