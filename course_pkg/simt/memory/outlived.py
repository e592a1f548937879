"""What atomics have read and threads have stored, after the last value that depends on it is gone.

Such a read is like any plain read from then on: if another thread changes the element later, with no order between the
two, what was stored is a race. Only a swap may still prove it, or another store undo it (:mod:`.unproven`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_pkg.simt.memory.order import SITES

LEAST = 4096  # rows of a table that are kept without asking whether they are still needed


@dataclass(eq=False)
class Table:
    """Reads of one region by one kind of atomic: one row per thread, element and statement."""

    units: np.ndarray
    threads: np.ndarray
    stamps: np.ndarray
    numbers: np.ndarray
    reads: np.ndarray
    stored: np.ndarray
    needed: int = LEAST  # rows after those that nobody needs were dropped

    def take(self, rows) -> None:
        """Keep some of the rows."""
        for name in ("units", "threads", "stamps", "numbers", "reads", "stored"):
            setattr(self, name, getattr(self, name)[rows])


class Outlived:
    """The stored reads of a launch on whose values no other value depends any more.

    Parameters
    ----------
    unproven : Unproven
        The stores that a swap may still prove.
    """

    def __init__(self, unproven):
        self._unproven = unproven
        self._tables: dict[tuple, Table] = {}
        self._places: dict[int, object] = {}

    def add(self, watched, kept) -> None:
        """Take over the kept lanes of a :class:`.doubts.Watched`."""
        numbers = np.full(np.count_nonzero(kept), watched.number)
        columns = (watched.units, watched.threads, watched.stamps, watched.reads, watched.stored)
        units, threads, stamps, reads, stored = (one[kept] for one in columns)
        self._places[watched.number] = watched.place
        name = watched.region, watched.wave, watched.way
        table = self._tables.get(name)
        if table is None:
            self._tables[name] = Table(units, threads, stamps, numbers, reads, stored)
            return
        new = {"units": units, "threads": threads, "stamps": stamps, "numbers": numbers, "reads": reads}
        for column, more in {**new, "stored": stored}.items():
            setattr(table, column, np.concatenate([getattr(table, column), more]))
        if len(table.units) > 2 * table.needed:
            self._drop(table)

    def _drop(self, table: Table) -> None:
        """Drop the rows of stores that were undone or proved, and all but a thread's last stored read of an element."""
        pairs = zip(table.numbers.tolist(), table.threads.tolist(), strict=True)
        open_ = np.array([self._unproven.waits(*pair) for pair in pairs])
        last = np.zeros(len(open_), bool)
        rows = np.flatnonzero(table.stored)[::-1]
        of_each = np.stack([table.units[rows], table.threads[rows], table.reads[rows]])
        last[rows[np.unique(of_each, axis=1, return_index=True)[1]]] = True
        table.take(np.where(table.stored, last, open_))
        table.needed = max(LEAST, len(table.units))
        used = {number for one in self._tables.values() for number in one.numbers.tolist()}
        self._places = {number: place for number, place in self._places.items() if number in used}

    def changed(
        self, wave, region, way: tuple, inner, by_unit, entries, stamps, unordered
    ) -> Iterator[tuple]:
        """Yield ``(place, thread, entry)`` of each stored read that an atomic of kind ``way`` changes in no order."""
        for (where, of, kind), table in self._tables.items():
            if where is not region or of is not wave:
                continue
            asked = table.reads if kind == way and not way[2] else np.ones(len(table.units), bool)
            told = np.zeros(len(asked), bool)
            for row, change in first_and_last(table, asked, inner, by_unit, entries, stamps, unordered):
                thread, entry = int(table.threads[row]), int(entries[change])
                race = self._places[int(table.numbers[row])], thread, entry
                if table.stored[row] and not told[row]:
                    yield race
                elif not told[row]:
                    self._unproven.change(int(table.numbers[row]), thread, race)
                told[row] = True
            if told.any():
                table.take(~told)


def first_and_last(read, asked, inner, by_unit, entries, stamps, unordered) -> Iterator[tuple[int, int]]:
    """Yield ``(row, change)`` for each asked row of reads whose element is changed in no order with the read.

    Parameters
    ----------
    read : Watched or Table
    asked : ndarray of bool
    inner, by_unit : ndarray
        The units that are changed, ascending, and the order of the changes by unit.
    entries, stamps : ndarray
        Entries and stamps of the changes. If several changes concern one element, ``unordered`` is called for the first
        of them, then for the last one.
    unordered : callable
        Tells which changes are in no order with the reads.
    """
    for side, step in (("left", 0), ("right", -1)):
        rows = np.flatnonzero(asked)
        at = np.clip(np.searchsorted(inner, read.units[rows], side) + step, 0, len(inner) - 1)
        same = inner[at] == read.units[rows]
        rows, mine = rows[same], by_unit[at[same]]
        if rows.size:
            clash = unordered(read.threads[rows] * SITES, read.stamps[rows], entries[mine], stamps[mine])
            yield from zip(rows[clash].tolist(), mine[clash].tolist(), strict=True)
