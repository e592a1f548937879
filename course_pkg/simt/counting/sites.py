"""Counts of requests, sectors, wavefronts, unique bytes, flops and active lanes, as the hardware counts them."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from course_pkg.core.access import BANK_BYTES, SECTOR_BYTES, WARP
from course_pkg.simt.counting.banks import distinct, wavefronts
from course_pkg.simt.counting.footprint import NOBODY, Footprint, count
from course_pkg.simt.front.source import SourceLine

KEPT_BLOCKS = 64
KEPT_PASSES = 32
NO_REGION = -1
SECTOR_SHIFT = SECTOR_BYTES.bit_length() - 1


@dataclass
class Site:
    """One kind of access to one array on one source line, and the counts of these accesses."""

    space: str
    kind: str
    array: str
    where: SourceLine
    itemsize: int
    width: int  # number of neighbouring elements per lane
    region: int  # number of the region; arrays that share memory share a region
    shape: tuple = ()  # the array's shape, as the kernel sees it
    byte0: int = 0  # where the array's memory begins in its region
    thread_accesses: int = 0
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    bank_conflicts: int = 0
    block_unique: int = 0  # number of elements, each counted once per block
    touched: np.ndarray | None = None  # one flag for each element of the region
    footprint: Footprint = field(default_factory=Footprint)  # what the blocks of this wave touched
    passes: list = field(default_factory=list)  # (blocks, addresses of shape (blocks, warps, 32))
    kept: int = 0


@dataclass
class Operations:
    """Arithmetic on one source line, by precision and kind."""

    counts: dict = field(default_factory=lambda: defaultdict(int))


class Counters:
    """Collects the counts while a kernel is interpreted."""

    def __init__(self, trace_blocks=None):
        self.sites: dict[tuple, Site] = {}
        self.flops: dict[SourceLine, Operations] = defaultdict(Operations)
        self.products: list = []
        self.sums: list = []  # additions that may fuse a product
        self.mixed: set = (
            set()
        )  # (space, kind, line) of accesses to several arrays at once that count as several
        self.in_loops: set = set()  # "load", "store": what loops do to local arrays at variable indices
        self.integer_ops = 0
        self.barriers = 0
        self.lanes_at_work = 0
        self.warp_instructions = 0
        self.group_unique: dict[tuple, int] = defaultdict(int)
        self.trace_blocks = set(range(KEPT_BLOCKS)) if trace_blocks is None else set(trace_blocks)
        self._traced: tuple | None = None  # a wave, and which of its blocks are traced

    def begin_again(self) -> None:
        """Forget all counts: the launch begins again."""
        Counters.__init__(self, self.trace_blocks)

    def issue(self, mask) -> None:
        """Count one instruction for each warp with an active lane."""
        self.lanes_at_work += mask.threads
        self.warp_instructions += mask.warps

    def operation(self, precision: str, kind: str, where: SourceLine, threads: int) -> None:
        """Count a floating-point operation."""
        self.flops[where].counts[precision, kind] += threads

    def table(self, where: SourceLine, requests: int, sectors: int) -> None:
        """Count loads of a function's coefficients, which no array of the kernel holds."""
        name = "global", "load", "coefficients", where, 16, 1
        site = self.sites.setdefault(name, Site(*name, NO_REGION))
        site.requests += requests
        site.sectors += sectors

    def zeros(self, array, where: SourceLine, mask) -> None:
        """Count the stores that fill a local array with zeros, a word of 4 bytes after the other."""
        words = -(-array.extent * array.dtype.itemsize // BANK_BYTES)
        name = "local", "store", array.name, where, BANK_BYTES, 1
        site = self.sites.setdefault(name, Site(*name, array.region.number))
        rows = mask.wave.by_warp(mask.full, False)
        site.thread_accesses += words * mask.threads
        site.requests += words * mask.warps
        site.sectors += words * int(rows.reshape(len(rows), -1, SECTOR_BYTES // BANK_BYTES).any(axis=2).sum())
        self.lanes_at_work += words * mask.threads
        self.warp_instructions += words * mask.warps

    def access(
        self,
        array,
        kind: str,
        where: SourceLine,
        offset,
        mask,
        together=False,
        width=1,
        behind=None,
        banks=None,
    ) -> None:
        """Count one access of the lanes in ``mask`` to elements ``offset`` of an array's memory.

        ``together``: the lanes of a warp combine their atomic updates into one. ``width``: each lane touches this
        number of neighbouring elements, which lie in one sector. ``offset`` broadcasts to the wave's shape; in shared
        and local memory it counts from the start of the copy of the block or thread. ``behind``: the lanes whose part
        of the same access, in other arrays, has been counted; their warps make no further request. ``banks``: offsets
        and lanes of an access to several arrays in shared memory, whose wavefronts are counted together; an empty tuple
        if they are counted with another array.
        """
        wave = mask.wave
        name = array.space, kind, array.name, where, array.dtype.itemsize, width
        site = self.sites.get(name)
        if site is None:
            shape = tuple(int(n.number) for n in array.shape)
            site = self.sites[name] = Site(*name, array.region.number, shape, array.byte0)
        site.thread_accesses += mask.threads
        words = max(1, array.dtype.itemsize // BANK_BYTES)
        warps = mask.warps if behind is None else mask.warps_without(behind)
        site.requests += warps * (words if array.space == "local" else 1)
        self.lanes_at_work += mask.threads
        self.warp_instructions += warps
        box = wave.box(offset, mask.data)  # all other blocks do what the blocks of this box do
        mask, times = mask.of_box(box), wave.blocks // box.blocks
        elements = box.spread(offset)
        rows = np.where(mask.rows, box.by_warp(elements, 0), -1)
        if array.space == "shared":
            if kind != "atomic" and banks != ():  # how often a bank serves an atomic is not documented
                self._shared(site, *(_rows(wave, *banks) if banks else (rows, times)))
        elif together:
            site.sectors += mask.warps * times
        elif kind == "atomic":
            site.sectors += atomic_sectors(rows, site, array.byte0) * times
        else:
            site.sectors += int(distinct(sector_numbers(rows, site, array.byte0)).sum()) * times
        for following in range(width):
            self._touch(site, array, elements + following, mask)
        self._keep(site, rows, array, wave, box)

    def _shared(self, site, rows, times):
        needed, least = wavefronts(
            np.where(rows < 0, -1, rows * site.itemsize), site.itemsize * site.width, site.kind
        )
        site.wavefronts += int(needed.sum()) * times
        site.bank_conflicts += int((needed - least).sum()) * times

    def _touch(self, site, array, elements, mask):
        """Remember which elements were touched, in the launch and by each block."""
        if mask.data is None:
            each, elements = np.full(len(elements), elements.shape[1]), elements.reshape(-1)
        else:
            chosen = mask.full.reshape(elements.shape)
            each, elements = np.count_nonzero(chosen, axis=1), elements[chosen]
        size = array.extent if array.space in ("shared", "local") else array.flat.size
        # a device function may be called with arrays of different sizes
        if site.touched is None or site.touched.size < size:
            known = site.touched if site.touched is not None else np.zeros(0, bool)
            site.touched = np.zeros(size, bool)
            site.touched[: known.size] = known
        site.touched[elements] = True
        if array.space != "local":
            site.footprint.add(mask.wave.count, each, elements)

    def _keep(self, site, rows, array, wave, box):
        """Keep the addresses of the traced blocks, for the picture of a warp's accesses."""
        if site.kept >= KEPT_PASSES * len(self.trace_blocks):
            return
        if self._traced is None or self._traced[0] is not wave:
            chosen = np.isin(wave.block_numbers, list(self.trace_blocks))
            self._traced = wave, np.flatnonzero(chosen)
        at = self._traced[1]
        if at.size:
            here = np.broadcast_to(box.block_in_wave, (*wave.count, 1, 1, 1)).reshape(-1)[at]
            mine = rows.reshape(box.blocks, box.warps_per_block, WARP)[here]
            offsets = np.where(mine < 0, -1, mine * site.itemsize + array.byte0)
            site.passes.append((wave.block_numbers[at], offsets))
            site.kept += at.size

    def end_of_wave(self, blocks: int) -> None:
        """Count what the blocks of the wave touched, and forget which elements those were.

        Parameters
        ----------
        blocks : int
            Number of blocks in the wave.
        """
        groups = defaultdict(list)
        for site in self.sites.values():
            if site.footprint:
                groups[site.space, site.kind, site.region, site.itemsize].append(site)
                groups[site.space, site.kind, site.array, site.itemsize].append(site)
        done = {}
        for sites in groups.values():
            for some in (sites, *([site] for site in sites)):
                members = tuple(id(s) for s in some)
                if members not in done:
                    done[members] = count([s.footprint for s in some], blocks)
        for name, sites in groups.items():
            self.group_unique[name] += done[tuple(id(s) for s in sites)]
        for site in self.sites.values():
            site.block_unique += done.get((id(site),), 0)
            site.footprint = Footprint()

    def finish(self) -> None:
        """Fuse additions with products, and subtract the multiplications whose results are then no longer needed.

        An addition fuses the first of its operands that is a product of the same basic block and that is used by
        additions alone: a product that something else needs is computed anyway.
        """
        for products, width, where, threads in self.sums:
            precision = getattr(width, "name", width)
            chosen = next((product for product in products if not product.used), None)
            for product in products:
                product.needed |= product is not chosen
            if chosen is not None:
                chosen.fused = True
                self.operation(precision, "add", where, -threads)
                self.operation(precision, "fma", where, threads)
        for product, width, where, threads in self.products:
            if product.fused and not (product.used or product.needed):
                self.operation(getattr(width, "name", width), product.instead, where, -threads)
        self.products.clear()
        self.sums.clear()


def _rows(wave, offset, mask) -> tuple:
    """Return the element of each lane of each warp of a box of blocks, and how often the wave repeats the box."""
    box = wave.box(offset, mask.data)
    rows = np.where(mask.of_box(box).rows, box.by_warp(box.spread(offset), 0), -1)
    return rows, wave.blocks // box.blocks


class Uncounted(Counters):
    """Counts nothing: for launches that are checked for hazards only."""

    def issue(self, mask) -> None:
        """Ignore an instruction."""

    def operation(self, precision: str, kind: str, where: SourceLine, threads: int) -> None:
        """Ignore a floating-point operation."""

    def table(self, where: SourceLine, requests: int, sectors: int) -> None:
        """Ignore loads of coefficients."""

    def access(
        self,
        array,
        kind: str,
        where: SourceLine,
        offset,
        mask,
        together=False,
        width=1,
        behind=None,
        banks=None,
    ) -> None:
        """Ignore an access."""


def sector_numbers(rows: np.ndarray, site, byte0: int) -> np.ndarray:
    """Number the sector of each lane's element; ``NOBODY`` for a lane that is switched off."""
    if site.space == "local":
        # local memory interleaves the threads: word i of all 32 threads of a warp lies side by side, then word i + 1
        word = rows * site.itemsize // BANK_BYTES
        lane = np.arange(WARP)
        sector = (word * WARP + lane) * BANK_BYTES // SECTOR_BYTES
        if site.itemsize > BANK_BYTES:
            pieces = sector[:, :, None] + np.arange(site.itemsize // BANK_BYTES) * (
                WARP * BANK_BYTES // SECTOR_BYTES
            )
            return np.where(rows[:, :, None] < 0, NOBODY, pieces).reshape(len(rows), -1)
    else:
        sector = (rows * site.itemsize + byte0) >> SECTOR_SHIFT
    return np.where(rows < 0, NOBODY, sector)


def atomic_sectors(rows: np.ndarray, site, byte0: int) -> int:
    """Count the sectors of atomic requests: lanes that update one element take turns, and each turn moves sectors."""
    order = np.argsort(rows, axis=1, kind="stable")
    elements = np.take_along_axis(rows, order, axis=1)
    lane = np.arange(WARP)
    begins = np.ones(elements.shape, bool)
    begins[:, 1:] = elements[:, 1:] != elements[:, :-1]
    turn = lane - np.maximum.accumulate(np.where(begins, lane, 0), axis=1)
    sector = sector_numbers(elements, site, byte0)
    return int(distinct(np.where(sector == NOBODY, NOBODY, sector * WARP + turn)).sum())
