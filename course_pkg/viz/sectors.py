"""The access strip of global memory: 32 lanes above the 32-byte sectors that they touch."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core.access import SECTOR_BYTES, WarpAccess
from course_pkg.core.units import format_bytes
from course_pkg.viz import strip
from course_pkg.viz.style import INK, MEMORY, MUTED, RULE, WASTED

LINE_BYTES = 128
WORD = 4  # bytes
TOP, TALL = 116.0, 36.0  # of the row of sectors, in points
CAPTION = 52.0
FEW_BREAKS = 5  # up to this many gaps are labelled with their size
MOST_A_BYTE = strip.PITCH / 8  # points per byte: 8 bytes take the width of one lane


@dataclass(frozen=True)
class Touched:
    """The sectors that a request touches, in the order of their addresses.

    Attributes
    ----------
    sectors : ndarray of int64, shape (n,)
        Address over 32.
    used : ndarray of bool, shape (n, 32)
        Whether a lane asked for this byte of this sector.
    requested : int
        Bytes that all lanes together asked for; a byte that several lanes asked for counts several times.
    """

    sectors: np.ndarray
    used: np.ndarray
    requested: int

    @property
    def used_bytes(self) -> int:
        return int(self.used.sum())

    @property
    def lines(self) -> np.ndarray:
        """Number of the 128-byte line of each sector."""
        return self.sectors * SECTOR_BYTES // LINE_BYTES

    @property
    def gaps(self) -> np.ndarray:
        """Number of bytes between each sector and the next."""
        return (np.diff(self.sectors) - 1) * SECTOR_BYTES


def pieces(access: WarpAccess) -> list[tuple[int, int, int]]:
    """Return (lane, first byte, bytes) of every stretch of memory that a lane at work asks for.

    Local memory is interleaved in words of 4 bytes: the same word of all 32 lanes lies side by side. In local memory,
    an access's offsets count from the start of the thread's own memory.
    """
    on = [(lane, int(first)) for lane, first in enumerate(access.offsets) if first >= 0]
    if access.space != "local":
        return [(lane, first, access.itemsize) for lane, first in on]
    return [
        (lane, (byte // WORD * strip.WARP + lane) * WORD + byte % WORD, min(WORD, access.itemsize))
        for lane, first in on
        for byte in range(first, first + access.itemsize, WORD)
    ]


def touched(access: WarpAccess) -> Touched:
    """Find the sectors that a request touches, and the bytes of them that it asks for."""
    wanted = np.unique([b for _, first, size in pieces(access) for b in range(first, first + size)]).astype(
        int
    )
    sectors = np.unique(wanted // SECTOR_BYTES)
    used = np.zeros((len(sectors), SECTOR_BYTES), dtype=bool)
    used[np.searchsorted(sectors, wanted // SECTOR_BYTES), wanted % SECTOR_BYTES] = True
    return Touched(sectors, used, (strip.WARP - _off(access)) * access.itemsize)


def headline(access: WarpAccess, memory: Touched) -> str:
    """Say what was asked for, what was moved and how much of that was used."""
    on = strip.WARP - _off(access)
    if not on:
        return "No lane of this warp is at work here: nothing is moved"
    sectors = access.sectors or len(memory.sectors)
    moved, used, asked = sectors * SECTOR_BYTES, memory.used_bytes, memory.requested
    verb = {"load": "ask", "store": "write"}.get(access.kind, "update")
    who = f"{strip.count(on, 'lane')} {verb}" + "s" * (on == 1)
    if used == asked:
        what = f"for {asked:,} B"
    elif used == access.itemsize:
        what = f"for the same {used} B"
    else:
        what = f"for {asked:,} B, {used:,} B of them distinct"
    if access.kind != "load":
        what = what.removeprefix("for ")
    return (
        f"{who} {what}: {strip.count(sectors, 'sector')}, {moved:,} B moved, {100 * used / moved:.3g}% used"
    )


def described(access: WarpAccess, memory: Touched) -> str:
    """Say in a sentence what the picture shows."""
    off = _off(access)
    if off == strip.WARP:
        return "All 32 lanes are hollow."
    unused = memory.used.size - memory.used_bytes
    apart = f" with {_gaps(memory)} between them" if memory.gaps.any() else ""
    return (
        f"The 32 lanes of a warp{f', {off} of them off,' if off else ''} above "
        f"{strip.count(len(memory.sectors), 'sector')} {_lines(memory)}{apart}: "
        f"{memory.used_bytes:,} B are coloured as used, {unused:,} B are grey."
    )


def draw_sectors(ax, access: WarpAccess, memory: Touched) -> None:
    """Draw the row of sectors and a ribbon from each lane at work to its bytes."""
    if not len(memory.sectors):
        return
    x, scale = _layout(memory)
    _frames(ax, memory, x, scale)
    for i in range(len(x)):
        _sector(ax, i, x[i], scale, memory.used[i], access)
    for lane, first, size in pieces(access):
        for left, right in _spans(first, size, memory.sectors, x, scale):
            strip.ribbon(ax, lane, left, right, TOP + 1, access)
    _breaks(ax, memory, x, scale)
    strip.side(ax, TOP - TALL / 2, strip.count(len(x), "sector"))
    strip.legend(ax, CAPTION, _legend(access, memory))
    ax.text(strip.LEFT, CAPTION, _caption(memory), size=11.5, color=INK, va="center_baseline")


def _layout(memory):
    """Return the left edge of each sector and the points per byte, so that the row is at most as wide as the lanes."""
    gaps, many = memory.gaps, (memory.gaps > 0).sum() > FEW_BREAKS
    shrink = min(1, 24 / len(memory.sectors))
    space = np.where(np.diff(memory.lines) > 0, 9 * shrink, 3 * shrink)
    space[gaps > 0] = 7 * shrink if many else 54
    room = strip.RIGHT - strip.LEFT - 8 - space.sum()
    scale = min(MOST_A_BYTE, room / (len(memory.sectors) * SECTOR_BYTES))
    width = scale * SECTOR_BYTES
    start = np.concatenate([[0], np.cumsum(space + width)])
    middle = (strip.LEFT + strip.RIGHT) / 2
    return middle - (start[-1] + width) / 2 + start, scale


def _frames(ax, memory, x, scale):
    """Draw the cache lines behind their sectors."""
    pad = min(2.6, 2.6 * 24 / len(x))
    for number in np.unique(memory.lines):
        (members,) = np.nonzero(memory.lines == number)
        # a line whose touched sectors are not neighbours gets several frames
        parts = np.split(members, np.nonzero(np.diff(memory.sectors[members]) > 1)[0] + 1)
        for part, piece in enumerate(parts):
            left, right = x[piece[0]] - pad, x[piece[-1]] + scale * SECTOR_BYTES + pad
            strip.cell(
                ax, left, TOP - TALL - 2.6, right - left, TALL + 5.2, f"line-{number}-{part}",
                radius=min(3, pad), facecolor="none", edgecolor=MUTED, linewidth=0.9,
            )  # fmt: skip


def _sector(ax, i, x, scale, used, access):
    strip.bar(
        ax, x, TOP - TALL, scale * SECTOR_BYTES, TALL, f"sector-{i}", facecolor=strip.UNUSED, edgecolor=WASTED
    )
    edges = np.flatnonzero(np.diff(np.concatenate([[0], used, [0]]).astype(int)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        strip.bar(
            ax, x + first * scale, TOP - TALL, (last - first) * scale, TALL, f"used-{i}-{first}-{last}",
            facecolor=strip.colour(access), edgecolor=MEMORY, linewidth=0.5,
        )  # fmt: skip
        size = access.itemsize if access.space != "local" else min(WORD, access.itemsize)
        if scale * size > 3:
            marks = x + np.arange(first + size, last, size) * scale
            ax.vlines(marks, TOP - TALL, TOP, color="white", linewidth=0.6, alpha=0.8)


def _spans(first, size, sectors, x, scale):
    """Yield the stretches of the row that an element covers: one for each sector in which it lies."""
    byte, end = first, first + size
    while byte < end:
        stop = min(end, (byte // SECTOR_BYTES + 1) * SECTOR_BYTES)
        left = x[np.searchsorted(sectors, byte // SECTOR_BYTES)] + byte % SECTOR_BYTES * scale
        yield left, left + (stop - byte) * scale
        byte = stop


def _breaks(ax, memory, x, scale):
    """Mark where addresses are left out; if there are few such gaps, write the bytes of each."""
    (where,) = np.nonzero(memory.gaps > 0)
    if len(where) > FEW_BREAKS:
        return
    y = TOP - TALL / 2
    for i in where:
        middle = (x[i] + scale * SECTOR_BYTES + x[i + 1]) / 2
        for shift in (-2.2, 2.2):
            ax.plot([middle + shift - 2.5, middle + shift + 2.5], [y - 11, y + 1], color=MUTED, lw=1.3)
        for side in (-1, 1):
            ax.plot([middle + side * 24, middle + side * 5], [y - 5] * 2, color=MUTED, lw=1.0)
        size = _bytes(int(memory.gaps[i]))
        ax.text(middle, y + 8, size, size=11.5, color=INK, ha="center", va="center_baseline")


def _caption(memory):
    lines = _lines(memory)
    return f"{lines}, {_gaps(memory)}" if (memory.gaps > 0).sum() > FEW_BREAKS else lines


def _lines(memory):
    return f"in {strip.count(len(np.unique(memory.lines)), 'cache line')} of {LINE_BYTES} B"


def _gaps(memory):
    gaps = memory.gaps[memory.gaps > 0]
    low, high = _bytes(int(gaps.min())), _bytes(int(gaps.max()))
    return f"gaps of {low}" if low == high else f"gaps of {low} to {high}"


def _legend(access, memory):
    entries = [(strip.colour(access), False, "used")]
    if not memory.used.all():
        entries.append((strip.UNUSED, False, "not used"))
    if _off(access):
        entries.append((RULE, True, "lane off"))
    return entries


def _off(access):
    return int((np.asarray(access.offsets) < 0).sum())


def _bytes(n):
    return f"{n:,} B" if n < 10_000 else format_bytes(n)
