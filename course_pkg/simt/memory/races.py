"""Finding what a GPU would forgive only by luck: races, divergent barriers, indices astray, memory nobody wrote.

Each element of a memory that a kernel may write has a shadow: who wrote it last, who read it or updated it since, and
when (:mod:`course_pkg.simt.memory.order`). Lock step never shows a race; the barriers between two accesses do.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.doubts import Doubts
from course_pkg.simt.memory.handover import Handovers
from course_pkg.simt.memory.order import NONE, SITES, Order


@dataclass(frozen=True)
class Thread:
    """A thread's place in a launch, as (x, y, z).

    Examples
    --------
    >>> str(Thread(block=(1, 0, 0), thread=(31, 0, 0)))
    'thread 31 of block 1'
    """

    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self):
        return f"thread {_short(self.thread)} of block {_short(self.block)}"


@dataclass(frozen=True)
class Hazard:
    """Something that is wrong with a kernel, though its result may look right.

    Attributes
    ----------
    kind : str
        ``race``, ``missing_syncwarp``, ``divergent_barrier``, ``out_of_bounds``, ``negative_index`` or
        ``uninitialised``.
    line : int
    array : str or None
    index : tuple of int or None
        As the kernel wrote it.
    threads : tuple of Thread
        The one that was caught, and the one it disagrees with.
    message : str
        One sentence for a learner.
    function : str
    other_line : int or None
        Where the other thread touched the element.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import sum_kernel
    >>> found = simt.profile(sum_kernel[2, 256], np.ones(256), np.empty(1))  # two blocks, one result
    >>> found.hazards[0].kind, found.hazards[0].array
    ('race', 'out')
    """

    kind: str
    line: int
    array: str | None
    index: tuple[int, ...] | None
    threads: tuple[Thread, ...]
    message: str
    function: str
    other_line: int | None = None

    def __str__(self):
        return self.message


@dataclass(frozen=True)
class Access:
    """A statement's access, as the shadow remembers it.

    Attributes
    ----------
    function : str
    line : int
    verb : str
        ``reads``, ``writes`` or ``updates``.
    operation : str
        Of an update: ``add``, ``exch``, …; of those that commute, one name.
    looks : bool
        Whether the kernel uses what an update found.
    floating : bool
        Whether the element is a floating-point number: no lock, flag or counter.
    """

    function: str
    line: int
    verb: str
    operation: str = ""
    looks: bool = False
    floating: bool = False

    @property
    def way(self) -> tuple:
        """The way of an update: two that are done in one way disagree with the same others."""
        return self.operation, self.looks, self.floating

    def disagrees(self, way: tuple) -> bool:
        """Tell whether this update and one done in some way, in no order, leave the result to luck.

        Sums, maxima and minima come out the same in any order as long as nobody looks at what is there in between.
        Locks, flags and counters are looked at in between, by design: they are integers. A number that is computed
        with is not to be read, or overwritten, while others update it.
        """
        operation, looks, _ = way
        if self.floating:
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
    """

    def __init__(self, threads_per_block: int, in_parts: bool = False):
        self.order = Order(threads_per_block)
        self.in_parts = in_parts
        self.handovers = Handovers(threads_per_block)
        self.doubts = Doubts()
        self.sites: list[Access] = []
        self._numbers: dict[Access, int] = {}

    def require_in_parts(self) -> None:
        """Stop where threads are put in order in a way that the sketch of the kernel did not meet.

        Raises
        ------
        SimtError
            If it did not: the crowds that were kept so far would hide races.
        """
        if not self.in_parts:
            raise SimtError(
                "A fence, or a barrier of some lanes of a warp, cannot be foreseen: call it by its own name."
            )

    def site(self, access: Access) -> int:
        """Number a statement's access.

        Raises
        ------
        SimtError
            When there are more statements than an entry has room for.
        """
        if access not in self._numbers:
            if len(self.sites) == SITES:
                raise SimtError(
                    f"The kernel touches memory in more than {SITES} statements: write them as loops."
                )
            self._numbers[access] = len(self.sites)
            self.sites.append(access)
        return self._numbers[access]

    def read(self, region, units, threads, stamps, site: int):
        """Note that threads read units; return the lanes that clash with a write, and whose."""
        shadow, mine = region.shadow, threads * SITES + site
        met = self._met_writer(shadow, units, mine, stamps)
        met = self._met_updaters(region, units, mine, stamps, met)
        shadow.readers_of(self.order).add(units, mine, stamps)
        return met

    def write(self, region, units, threads, stamps, site: int):
        """Note that threads write units; return the lanes that clash, and with whom."""
        shadow, mine = region.shadow, threads * SITES + site
        clash, other = self._met_writer(shadow, units, mine, stamps)
        now = shadow.write(units, mine, stamps)
        together = now != mine
        met = clash | together, np.where(together, now, other)
        if shadow.readers is not None:
            met = self._met_crowd(shadow.readers, units, mine, stamps, met)
        return self._met_updaters(region, units, mine, stamps, met)

    def update(self, region, units, threads, stamps, site: int):
        """Note that threads update units by an atomic; return the lanes that clash, and with whom."""
        shadow, mine, access = region.shadow, threads * SITES + site, self.sites[site]
        met = self._met_writer(shadow, units, mine, stamps)
        if shadow.readers is not None:
            met = self._met_crowd(shadow.readers, units, mine, stamps, met)
        for way, crowd in shadow.updaters.items():
            if access.disagrees(way):
                met = self._met_crowd(crowd, units, mine, stamps, met)
        together, now = shadow.updaters_by(access.way, self.order).add(units, mine, stamps)
        if access.disagrees(access.way):
            met = met[0] | together, np.where(together, now, met[1])
        return met

    def fetched(self, region, units, threads, stamps, way, unchanged):
        """Tell which lanes' atomics found an integer that others change in another way and in no order; and whose.

        Parameters
        ----------
        way : tuple
            Of the lanes' own update, which has been noted.
        unchanged : ndarray of bool
            Where it left the element as it was: then it only reads.
        """
        mine, doubt, whom = threads * SITES, np.zeros(len(threads), bool), np.full(len(threads), NONE)
        for other, crowd in region.shadow.updaters.items():
            if other == way:
                continue
            alike = other[0] == way[0] and way[0] != "exch"
            for entry, stamp in crowd.meet(units):
                more = self._clash(entry, stamp, mine, stamps) & (unchanged if alike else True)
                doubt, whom = doubt | more, np.where(more, entry, whom)
        return doubt, whom

    def _met_writer(self, shadow, units, mine, stamps):
        if shadow.writer is None:
            return np.zeros(len(mine), bool), np.full(len(mine), NONE)
        entry, stamp = shadow.writer[units], shadow.write_stamp[units]
        return self._clash(entry, stamp, mine, stamps), entry

    def _met_crowd(self, crowd, units, mine, stamps, met):
        """Look for a clash with a crowd."""
        clash, other = met
        for entry, stamp in crowd.meet(units):
            more = self._clash(entry, stamp, mine, stamps)
            if more.any():
                # of two that clash, name the one of another warp: no syncwarp would mend that
                far = self.order.same_warp(other, mine) & ~self.order.same_warp(entry, mine)
                clash, other = clash | more, np.where(more & (~clash | far), entry, other)
        return clash, other

    def _met_updaters(self, region, units, mine, stamps, met):
        clash, other = met
        for crowd in region.shadow.updaters.values():
            clash, other = self._met_crowd(crowd, units, mine, stamps, (clash, other))
        if self.handovers.active and (clash & ~met[0]).any():
            clash = clash & (met[0] | ~self.handovers.saw_the_last(region, units, mine, clash))
        return clash, other

    def _clash(self, entry, stamp, mine, stamps):
        clash = self.order.clash(entry, stamp, mine, stamps)
        if self.handovers.active and clash.any():
            clash &= ~self.handovers.known(entry, stamp, mine, clash)
        return clash

    def access_of(self, entry: int) -> Access:
        """Return the statement behind an entry."""
        return self.sites[entry % SITES]


def place(number: int, extent) -> tuple[int, int, int]:
    """Return the index (x, y, z) of a thread in a block, or a block in a grid, of these extents (x, y, z)."""
    nx, ny, _ = extent
    return int(number % nx), int(number // nx % ny), int(number // (nx * ny))


def _short(place) -> str:
    """Write an index without the trailing dimensions that are 0."""
    x, y, z = place
    return f"({x}, {y}, {z})" if z else f"({x}, {y})" if y else str(x)
