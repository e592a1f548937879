"""Find races: accesses of two threads to one element that no barrier puts in order.

A GPU runs such a kernel without an error, and its result may be right by luck. For each element of a memory that a
kernel may write, a shadow records which thread wrote it last, which threads have read or updated it since then, and
when (:mod:`course_pkg.simt.memory.order`). The interpreter runs all threads in lock step, so the results never show a
race; races are found from the barriers that lie between two accesses.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.doubts import Doubts
from course_pkg.simt.memory.handover import Handovers
from course_pkg.simt.memory.order import NONE, SITES, Order

SWAPS = ("exch", "cas", "compare_and_swap")
MOST_PUT_OFF = 64  # exchanges of a statement that may turn out to be no race


@dataclass(frozen=True)
class Access:
    """What a shadow records of one statement's access to memory.

    Attributes
    ----------
    function : str
    line : int
    verb : str
        ``reads``, ``writes`` or ``updates``.
    operation : str
        The operation of an update: ``add``, ``exch``, …; operations that commute share one name. ``load`` stands for
        any operation that changes nothing.
    looks : bool
        Whether the kernel uses the old value that an update returns.
    floating : bool
        Whether the memory holds floating-point numbers; locks, flags and counters are integers.
    """

    function: str
    line: int
    verb: str
    operation: str = ""
    looks: bool = False
    floating: bool = False

    @property
    def place(self) -> tuple:
        """Function, line, and whether it is an atomic: another thread may know of this without a fence."""
        return self.function, self.line, bool(self.operation)

    @property
    def way(self) -> tuple:
        """The kind of an update: two updates of the same kind conflict with the same other updates."""
        return self.operation, self.looks, self.floating

    def disagrees(self, way: tuple) -> bool:
        """Tell whether the result depends on the order of this update and one of the kind ``way``.

        Sums, maxima and minima are the same in any order, as long as no thread uses an intermediate value. Locks, flags
        and counters are integers, and threads use their intermediate values by design. A floating-point number must
        not be read or overwritten while other threads update it, even if it is seen as an integer. Only comparisons
        and swaps may do that: a thread repeats them until no other thread's update has come in between.
        """
        operation, looks, _ = way
        if "load" in (self.operation, operation):
            load_looks = self.looks if self.operation == "load" else looks
            return self.floating and load_looks and not {self.operation, operation} <= {"cas", "load"}
        if self.floating and not self.operation == operation == "cas":
            order_shows = self.looks or looks or self.operation == "exch"
            return order_shows or self.operation != operation
        return self.operation != operation and not self.looks and not looks


class Races:
    """Checks accesses to memory that threads share.

    Parameters
    ----------
    threads_per_block : int
    in_parts : bool
        Whether the kernel has fences, or barriers for some lanes of a warp.
    added : frozenset of int, the sizes of constant integers that atomics take

    Attributes
    ----------
    compete : bool
        Whether the kernel uses what an atomic found that several threads have run.
    pairs : list of int
        The threads of races between two statements, in the order in which they were found.
    """

    def __init__(self, threads_per_block: int, in_parts: bool = False, added: frozenset = frozenset()):
        self.order = Order(threads_per_block)
        self.in_parts = in_parts
        self.handovers = Handovers(threads_per_block, in_parts, added)
        self.doubts = Doubts()
        self.compete, self.pairs = False, []
        self.sites: list[Access] = []
        # a lane that wrote the same value as another thread, and the entry of this other thread
        self.harmless: tuple[int, int] | None = None
        # elements, threads and entries of exchanges in no order with others, until the log has noted them
        self.put_off: list[tuple] = []
        self._numbers: dict[Access, int] = {}
        self._stored: dict[tuple, int] = {}

    def require_in_parts(self) -> None:
        """Stop if the kernel has a fence or a barrier of some lanes that the sketch of the kernel did not find.

        Raises
        ------
        SimtError
            If the sketch did not find it: the records kept so far (:class:`.crowds.Crowd`) would hide races.
        """
        if not self.in_parts:
            raise SimtError(
                "The interpreter did not find this fence, or this barrier of some lanes of a warp, when it read the "
                "kernel: call the function by its own name."
            )

    def site(self, access: Access) -> int:
        """Number a statement's access.

        Raises
        ------
        SimtError
            If there are more statements than an entry can number.
        """
        if access not in self._numbers:
            if len(self.sites) == SITES:
                raise SimtError(
                    f"The kernel touches memory in more than {SITES} statements: write them as loops."
                )
            self._numbers[access] = len(self.sites)
            self.sites.append(access)
        return self._numbers[access]

    def number_of(self, stored) -> int:
        """Return a number for a constant, which is the same in all threads of any launch; 0 for any other value."""
        if self.in_parts or not stored.constant:
            return 0
        return self._stored.setdefault((stored.type, stored.data.tobytes()), len(self._stored) + 1)

    def read(self, region, units, threads, stamps, site: int):
        """Note that threads read units; return which lanes clash with a write, and the entries of the writers."""
        shadow, mine = region.shadow, threads * SITES + site
        met = self._met_writer(shadow, units, mine, stamps)
        met = self._met_updaters(region, units, mine, stamps, met, unless="load")
        shadow.readers_of(self.order).add(units, mine, stamps)
        return met

    def write(self, region, units, threads, stamps, site: int, number: int = 0):
        """Note that threads write units; return which lanes clash, and the entries that they clash with.

        ``number`` stands for the constant that all of them write (:meth:`number_of`); it is 0 for any other value.
        Writes of the same constant do not clash with each other; the attribute ``harmless`` keeps one such pair.
        """
        shadow, mine = region.shadow, threads * SITES + site
        clash, other = self._met_writer(shadow, units, mine, stamps)
        if shadow.alike is not None:
            clash, other = self._met_crowd(shadow.alike, units, mine, stamps, (clash, other))
        before = shadow.numbers_at(units, number)
        last = (
            None if shadow.writer is None or not number else (shadow.writer[units], shadow.write_stamp[units])
        )
        now = shadow.write(units, mine, stamps)
        together = now != mine
        self.harmless = None
        if number:
            same = together | (clash & (before == number))
            clash &= ~same
            self._keep_alike(shadow, units, same, ((mine, stamps), (now, shadow.write_stamp[units]), last))
        else:
            clash, other = clash | together, np.where(together, now, other)
        met = clash, other
        if shadow.readers is not None:
            met = self._met_crowd(shadow.readers, units, mine, stamps, met)
        return self._met_updaters(region, units, mine, stamps, met)

    def _keep_alike(self, shadow, units, same, writers) -> None:
        """Keep in a crowd all threads that write the same value as another: the last of them cannot stand for all."""
        if not same.any():
            return
        lane = int(same.argmax())
        mine = int(writers[0][0][lane])
        for entries, stamps in (one for one in writers if one is not None):
            there = same & (entries != NONE)
            shadow.writers_alike(self.order).add(units[there], entries[there], stamps[there])
            if there[lane] and int(entries[lane]) != mine:
                self.harmless = lane, int(entries[lane])

    def update(self, region, units, threads, stamps, site: int):
        """Note that threads update units by atomics; return which lanes clash, and the entries that they clash with."""
        shadow, mine, access = region.shadow, threads * SITES + site, self.sites[site]
        met = self._met_writer(shadow, units, mine, stamps)
        for crowd in (shadow.readers if access.operation != "load" else None, shadow.alike):
            if crowd is not None:
                met = self._met_crowd(crowd, units, mine, stamps, met)
        for way, crowd in shadow.updaters.items():
            if access.disagrees(way):
                met = self._met_crowd(crowd, units, mine, stamps, met, region)
        together, now = shadow.updaters_by(access.way, self.order).add(units, mine, stamps)
        if access.disagrees(access.way):
            met = met[0] | together, np.where(together, now, met[1])
        return met

    def replace(self, values, region, units, threads, stamps, site: int):
        """Note that threads put integers into units by an atomic whose result the kernel does not use.

        The number of the last thread stays. So there is a race if threads store different numbers.
        """
        shadow, mine, access = region.shadow, threads * SITES + site, self.sites[site]
        before = shadow.updaters_by(access.way, self.order)
        clash, other = np.zeros(len(mine), bool), np.full(len(mine), NONE)
        differs = shadow.replaced_by(units) != values
        if differs.any():  # threads that release a lock all store the same number, so they do not race
            clash, other = self._met_crowd(before, units, mine, stamps, (clash, other))
            clash = clash & differs
        if clash.any() and self.handovers.active:
            clash = self._unless_seen(region, units, mine, clash, other)
        shadow.replaced[units] = values
        now = shadow.replaced[units]
        shadow.writer_of_replaced[units] = mine
        together = now != values
        other = np.where(together, shadow.writer_of_replaced[units], other)
        met = self.update(region, units, threads, stamps, site)
        lanes = np.flatnonzero(clash | together)
        if self.handovers.active and not access.floating and 0 < lanes.size <= MOST_PUT_OFF:
            self.put_off = [
                ((region, unit), thread, entry)
                for unit, thread, entry in zip(
                    units[lanes].tolist(), threads[lanes].tolist(), other[lanes].tolist(), strict=True
                )
            ]
            self.handovers.excuse(np.concatenate([other[lanes], mine[lanes]]), mine[lanes])
            return met
        return met[0] | clash | together, np.where(met[0], met[1], other)

    def fetched(self, region, units, threads, stamps, way, unchanged, reads):
        """Tell which lanes' atomics found an integer that other threads change, in no order with this atomic.

        Changes by the same kind of update matter only to lanes that only read.

        Parameters
        ----------
        way : tuple
            The kind of the lanes' own update, which has already been noted.
        unchanged : ndarray of bool
            True where the lane's update left the element as it was, so that it counts as a read.
        reads : ndarray of bool
            True where the lane's update would have changed no value of the element, so that the lane only reads.

        Returns
        -------
        doubt : ndarray of bool
        whom : ndarray of int64
            Entries of the other threads' updates; ``NONE`` where there is no doubt.
        over : ndarray of bool
            True where another thread overwrites the element: if the lane's update comes first, it is lost.
        """
        mine, whom = threads * SITES, np.full(len(threads), NONE)
        doubt, far, over = np.zeros((3, len(threads)), bool)
        crowds = region.shadow.updaters
        if way[2]:  # for floats, only successful swaps count: all other updates have been reported as races
            crowds = {("cas",): region.shadow.swappers_of(self.order)}
        for other, crowd in crowds.items():
            if other[0] == "load":
                continue
            alike = other[0] == way[0] and way[0] != "exch"
            who = reads if other == way else unchanged if alike else True
            overwrites = other[:2] == ("exch", False) and way[0] not in SWAPS
            for entry, stamp in crowd.meet(units):
                # a lane that has met a thread of another warp need not look further
                asked = who & ~(over if overwrites else far)
                if not asked.any():
                    break
                more = self._clash(entry, stamp, mine, stamps, asked)
                doubt, whom = doubt | more, np.where(more, entry, whom)
                far |= more & ~self.order.same_warp(entry, mine)
                over |= more & overwrites & ~unchanged
        return doubt, whom, over

    def unordered(self, entry, stamp, mine, stamps):
        """Tell which lanes' accesses are in no order with earlier accesses; all are given by entries and stamps."""
        return self._clash(entry, stamp, mine, stamps)

    def _met_writer(self, shadow, units, mine, stamps):
        if shadow.writer is None:
            return np.zeros(len(mine), bool), np.full(len(mine), NONE)
        entry, stamp = shadow.writer[units], shadow.write_stamp[units]
        return self._clash(entry, stamp, mine, stamps), entry

    def _met_crowd(self, crowd, units, mine, stamps, met, region=None):
        """Add the lanes that clash with a member of a crowd to ``met``; ``region``: that of a crowd of atomics."""
        clash, other = met
        pairs = crowd.pairs(units)
        if pairs is not None:  # most launches have no clash: one check of all pairs shows it
            lanes, entry, stamp = pairs
            if not self._clash(entry, stamp, mine[lanes], stamps[lanes]).any():
                return met
        for entry, stamp in crowd.meet(units):
            more = self._clash(entry, stamp, mine, stamps)
            if region is not None and self.handovers.active and more.any():
                more &= ~self.handovers.saw(region, units, entry, stamp, mine, more)
            if more.any():
                # if a lane has two clashes, report the one with another warp, which a syncwarp could not fix
                far = self.order.same_warp(other, mine) & ~self.order.same_warp(entry, mine)
                clash, other = clash | more, np.where(more & (~clash | far), entry, other)
        return clash, other

    def _met_updaters(self, region, units, mine, stamps, met, unless=""):
        clash, other = met
        for crowd in [one for way, one in region.shadow.updaters.items() if way[0] != unless]:
            clash, other = self._met_crowd(crowd, units, mine, stamps, (clash, other))
        if self.handovers.active and (clash & ~met[0]).any():
            clash = self._unless_seen(region, units, mine, clash & ~met[0], other) | clash & met[0]
        return clash, other

    def _unless_seen(self, region, units, mine, clash, other):
        """Return which lanes of ``clash`` do not know of all atomics that have changed their element."""
        seen = clash & self.handovers.saw_the_last(region, units, mine, clash)
        self.handovers.excuse(other[seen], mine[seen])
        return clash & ~seen

    def _clash(self, entry, stamp, mine, stamps, asked=True):
        clash = self.order.clash(entry, stamp, mine, stamps) & asked
        if self.handovers.active and clash.any():
            clash &= ~self.handovers.known(entry, stamp, mine, clash)
        return clash

    def excused(self) -> dict:
        """Return where each thread's accesses are that others knew by hand-overs alone.

        Returns
        -------
        dict
            For each thread a set of ``(function, line, whether the access is an atomic)``.
        """
        threads = self.handovers.excused
        return {thread: {self.sites[site].place for site in numbers} for thread, numbers in threads.items()}

    def access_of(self, entry: int) -> Access:
        """Return the access, as recorded for its statement, that an entry stands for."""
        return self.sites[entry % SITES]
