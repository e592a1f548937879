"""Finding what a GPU would forgive only by luck: races, divergent barriers, indices astray, memory nobody wrote.

Each element of a memory that a kernel both reads and writes has a shadow: who wrote it last, who read it since, and
when. *When* counts the barriers that the block, and the warp, have passed. Two accesses of different threads are in
order when a barrier of their block, or of their warp, lies between; blocks are never in order within one launch.
"""

from dataclasses import dataclass

import numpy as np

BLOCK_SHIFT = 24  # a stamp holds the block's barriers above, the warp's below
NONE = -1


@dataclass(frozen=True)
class Thread:
    """A thread's place in a launch, as (x, y, z)."""

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


@dataclass(eq=False)
class Access:
    """A statement's access, as the shadow remembers it."""

    function: str
    line: int
    verb: str  # "reads", "writes" or "updates"
    atomic: bool = False


class Shadow:
    """Who touched each unit of a region last."""

    def __init__(self, units: int):
        self.writer = np.full(units, NONE, np.int64)
        self.write_stamp = np.zeros(units, np.int64)
        self.reader: np.ndarray | None = None
        self._units = units

    def with_readers(self) -> "Shadow":
        """Make room for readers: the last one, another of its block, and one of another block."""
        if self.reader is None:
            self.reader = np.full(self._units, NONE, np.int64)
            self.read_stamp = np.zeros(self._units, np.int64)
            self.second = np.full(self._units, NONE, np.int64)
            self.foreign = np.full(self._units, NONE, np.int64)
        return self


class Races:
    """Checks accesses to memory that threads share.

    Parameters
    ----------
    threads_per_block : int
    """

    SITES = 4096  # an entry holds a thread's number and, below, the number of the statement

    def __init__(self, threads_per_block: int):
        self.threads_per_block = threads_per_block
        self.sites: list[Access] = []
        self._numbers: dict[tuple, int] = {}

    def site(self, access: Access) -> int:
        """Number a statement's access."""
        name = access.function, access.line, access.verb
        if name not in self._numbers:
            self._numbers[name] = len(self.sites)
            self.sites.append(access)
        return self._numbers[name] % self.SITES

    def read(self, shadow, units, threads, stamps, site: int):
        """Note that threads read units; return the lanes that clash with a write, and whose."""
        shadow.with_readers()
        entry = threads * self.SITES + site
        writer = shadow.writer[units]
        clash = self._clash(writer, shadow.write_stamp[units], threads, stamps)
        last, last_stamp = shadow.reader[units], shadow.read_stamp[units]
        second = shadow.second[units]
        shadow.reader[units] = entry
        shadow.read_stamp[units] = stamps
        now = shadow.reader[units]
        self._keep_second(shadow, units, entry, now, stamps, last, last_stamp, second)
        return clash, writer

    def _keep_second(self, shadow, units, entry, now, stamps, last, last_stamp, second):
        """Keep a second reader of the same barrier interval, and one of another block, where there are any."""
        block = self._block(now)
        same_interval = (last_stamp >> BLOCK_SHIFT) == (stamps >> BLOCK_SHIFT)
        known, differs = last != NONE, self._thread(last) != self._thread(now)
        home = known & (self._block(last) == block)
        keep = np.where(home & same_interval & differs, last, NONE)
        keep = np.where((keep == NONE) & home & same_interval & (second != NONE), second, keep)
        shadow.second[units] = keep
        lost = self._thread(entry) != self._thread(now)
        here = self._block(entry) == block
        for others in (lost & here, lost & here & ~self.same_warp(entry, now)):  # the last one stays
            shadow.second[units[others]] = entry[others]
        abroad = lost & ~here
        shadow.foreign[units[abroad]] = entry[abroad]
        old_abroad = known & ~home
        shadow.foreign[units[old_abroad]] = last[old_abroad]

    def write(self, shadow, units, threads, stamps, site: int, atomic=False):
        """Note that threads write units; return the lanes that clash, and with whom."""
        entry = threads * self.SITES + site
        before, before_stamp = shadow.writer[units], shadow.write_stamp[units]
        clash = self._clash(before, before_stamp, threads, stamps)
        if atomic:
            clash &= ~self._is_atomic(before)
        other = before
        shadow.writer[units] = entry
        shadow.write_stamp[units] = stamps
        if not atomic:
            now = shadow.writer[units]
            lost = self._thread(now) != threads
            clash, other = clash | lost, np.where(lost, now, other)
        if shadow.reader is not None:
            for whom, when in (
                (shadow.reader[units], shadow.read_stamp[units]),
                (shadow.second[units], shadow.read_stamp[units]),
                (shadow.foreign[units], stamps),
            ):
                more = self._clash(whom, when, threads, stamps)
                # of two that clash, name the one of another warp: no syncwarp would mend that
                better = more & (~clash | (self.same_warp(other, entry) & ~self.same_warp(whom, entry)))
                clash, other = clash | more, np.where(better, whom, other)
        return clash, other

    def _clash(self, entry, stamp, threads, stamps):
        """Which lanes meet an access of another thread that no barrier separates from theirs."""
        thread = self._thread(entry)
        same_block = thread // self.threads_per_block == threads // self.threads_per_block
        same_warp = self.same_warp(entry, threads * self.SITES)
        in_order = same_block & (stamp >> BLOCK_SHIFT < stamps >> BLOCK_SHIFT) | (
            same_warp & (stamp < stamps)
        )
        return (entry != NONE) & (thread != threads) & ~in_order

    def _thread(self, entry):
        return entry // self.SITES

    def same_warp(self, one, other):
        """Tell for entries, in pairs, whether both are of one warp."""
        a, b = self._thread(one), self._thread(other)
        lane = self.threads_per_block
        return (a // lane == b // lane) & (a % lane // 32 == b % lane // 32)

    def _block(self, entry):
        return entry // self.SITES // self.threads_per_block

    def _is_atomic(self, entry):
        known = entry != NONE
        atomic = np.array([s.atomic for s in self.sites] or [False])
        return atomic[np.where(known, entry % self.SITES, 0)] & known

    def access_of(self, entry: int) -> Access:
        """Return the statement behind an entry."""
        return self.sites[entry % self.SITES]


def place(number: int, extent) -> tuple[int, int, int]:
    """Return the index (x, y, z) of a thread in a block, or a block in a grid, of these extents (x, y, z)."""
    nx, ny, _ = extent
    return int(number % nx), int(number // nx % ny), int(number // (nx * ny))


def _short(place) -> str:
    """Write an index without the trailing dimensions that are 0."""
    x, y, z = place
    return f"({x}, {y}, {z})" if z else f"({x}, {y})" if y else str(x)
