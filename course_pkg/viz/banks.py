"""The access strip of shared memory: 32 lanes above the 32 banks, and under each bank a stack of its words."""

from dataclasses import dataclass

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from course_pkg.core.access import BANK_BYTES, BANKS, WarpAccess
from course_pkg.viz import strip
from course_pkg.viz.style import BOUND, INK, MUTED, RULE, WASTED

HEAD_TOP, HEAD_TALL = 150.0, 13.0
WALL_TOP, WALL_BOTTOM = 133.0, 63.0
ROW_TALL = 22.0  # points: the greatest height of a row
CAPTION = 50.0


@dataclass(frozen=True)
class Stacks:
    """The 4-byte words that wait at each bank, in the order of the lanes that ask for them.

    Attributes
    ----------
    parts : tuple
        One entry for each part of the warp that is served on its own: for each of the 32 banks, a tuple of words
        (address divided by 4).
    lanes : int
        Number of active lanes.
    """

    parts: tuple[tuple[tuple[int, ...], ...], ...]
    lanes: int

    @property
    def words(self) -> set[int]:
        """The distinct words."""
        return {word for part in self.parts for bank in part for word in bank}

    @property
    def delivered(self) -> int:
        """Number of words that the banks deliver; a word that two parts of the warp want counts twice."""
        return sum(len(bank) for part in self.parts for bank in part)

    @property
    def heights(self) -> list[int]:
        """Number of words at the fullest bank, for each part of the warp."""
        return [max(map(len, part)) for part in self.parts]

    @property
    def banks(self) -> int:
        """Number of banks that are asked for at least one word."""
        return len({word % BANKS for word in self.words})

    @property
    def fewest(self) -> int:
        """Number of wavefronts that the same lanes would need without any bank conflict."""
        return max(len(self.parts), -(-self.delivered // BANKS))


def stacks(access: WarpAccess) -> Stacks:
    """Find the words that wait at each bank; lanes that want the same word share it.

    Elements of 8 bytes are served for one half-warp at a time, and elements of 16 bytes for one quarter-warp at a time.
    If the access took fewer wavefronts than this gives, the whole warp is taken as one part.
    """
    groups = np.split(np.asarray(access.offsets), {8: 2, 16: 4}.get(access.itemsize, 1))
    parts = [_stack(group, access.itemsize) for group in groups if (group >= 0).any()]
    found = Stacks(tuple(parts), int((np.asarray(access.offsets) >= 0).sum()))
    if sum(found.heights) > access.wavefronts and len(parts) > 1:
        return Stacks((_stack(access.offsets, access.itemsize),), found.lanes)
    return found


def _stack(offsets, itemsize):
    banks = [{} for _ in range(BANKS)]  # a dictionary, because it keeps the order
    for first in offsets:
        if first >= 0:
            for word in _words(int(first), itemsize):
                banks[word % BANKS][word] = None
    return tuple(map(tuple, banks))


def headline(access: WarpAccess, shared: Stacks) -> str:
    """Say what was asked for, how many wavefronts it took, and how few would be enough."""
    if not shared.lanes:
        return "No lane of this warp is at work here: no bank is asked"
    who = strip.count(shared.lanes, "lane")
    count, verb = len(shared.words), {"load": "read", "store": "write"}.get(access.kind, "update")
    words, where = strip.count(count, "word"), strip.count(shared.banks, "bank")
    verb += "s" if shared.lanes == 1 else ""
    took = strip.count(access.wavefronts, "wavefront")
    if access.wavefronts > shared.fewest:
        return f"{who} {verb} {words} in {where}: {took} where {shared.fewest} would do"
    return f"{who} {verb} {words} in {where}: {took}, no conflict"


def described(access: WarpAccess, shared: Stacks) -> str:
    """Say in a sentence what the picture shows."""
    off = len(access.offsets) - shared.lanes
    if not shared.lanes:
        return "All 32 lanes are hollow."
    return (
        f"The 32 lanes of a warp{f', {off} of them off,' if off else ''} above the 32 banks of shared memory: "
        f"the stacks are {sum(shared.heights)} high, {BANKS - shared.banks} banks have none."
    )


def draw_banks(ax, access: WarpAccess, shared: Stacks) -> None:
    """Draw the banks, the words that wait at each, and a ribbon from each lane at work to its banks."""
    if not shared.lanes:
        return
    _heads(ax, shared)
    for lane, first in enumerate(access.offsets):
        if first >= 0:
            for left, right in _runs(sorted({w % BANKS for w in _words(int(first), access.itemsize)})):
                strip.ribbon(ax, lane, _x(left) + 1, _x(right + 1) - 1, HEAD_TOP + 1, access)
    rows = max(access.wavefronts, sum(shared.heights))
    tall = min(ROW_TALL, (WALL_TOP - WALL_BOTTOM) / rows)
    _wall(ax, access, shared, rows, tall)
    if access.wavefronts > shared.fewest:
        y = WALL_TOP - shared.fewest * tall
        ax.plot([strip.LEFT - 4, strip.RIGHT], [y, y], color=BOUND, lw=1.6, ls="--", gid="bound")
        ax.plot([strip.LEFT - 4, strip.LEFT + 14], [CAPTION] * 2, color=BOUND, lw=1.6, ls="--")
        bound = strip.count(shared.fewest, "wavefront")
        ax.text(strip.LEFT + 19, CAPTION, f"bound: {bound}", size=11.5, color=INK, va="center_baseline")
    _brace(ax, access, rows * tall)
    strip.side(ax, HEAD_TOP - HEAD_TALL / 2, "32 banks")
    strip.legend(ax, CAPTION, _legend(access, shared, rows))


def _heads(ax, shared):
    asked = {word % BANKS for word in shared.words}
    for bank in range(BANKS):
        strip.cell(
            ax, _x(bank) + 0.9, HEAD_TOP - HEAD_TALL, strip.PITCH - 1.8, HEAD_TALL, f"bank-{bank}",
            radius=1.5, facecolor="none", edgecolor=MUTED, linewidth=0.8,
        )  # fmt: skip
        ax.text(
            _x(bank + 0.5), HEAD_TOP - HEAD_TALL / 2, str(bank),
            size=11.5, color=INK if bank in asked else MUTED, ha="center", va="center_baseline",
        )  # fmt: skip


def _wall(ax, access, shared, rows, tall):
    """Draw a slot for each bank and wavefront: filled with a word, or idle."""
    gap, width = min(1.5, tall / 5), strip.PITCH - 1.8
    style = {"facecolor": strip.colour(access), "edgecolor": "none"}
    idle, top = [], 0
    for part, height in zip(shared.parts, _shares(shared, rows), strict=True):
        for bank, words in enumerate(part):
            x = _x(bank) + 0.9
            for row in range(top, top + len(words)):
                low = WALL_TOP - (row + 1) * tall + gap
                strip.bar(ax, x, low, width, tall - gap, f"word-{bank}-{row}", **style)
            if len(words) < height:
                low = WALL_TOP - (top + height) * tall + gap
                idle.append(_box(x, low, width, (height - len(words)) * tall - gap))
        top += height
    if idle:  # one path, cut into slots by lines, keeps the file small
        slots = PathPatch(Path.make_compound_path(*idle), facecolor=strip.UNUSED, edgecolor=WASTED)
        slots.set_gid(f"idle-{rows * BANKS - shared.delivered}")
        ax.add_artist(slots)
        cuts = WALL_TOP - np.arange(1, rows) * tall + gap / 2
        ax.hlines(cuts, strip.LEFT, strip.RIGHT, color="white", linewidth=gap)


def _shares(shared, rows):
    """Return the rows of each part of the warp; the last part also gets wavefronts that no stack explains."""
    *before, last = shared.heights
    return [*before, last + rows - sum(shared.heights)]


def _box(x, y, width, height):
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
    return Path(corners, closed=True)


def _brace(ax, access, depth):
    """Draw a brace left of the wavefronts, with their number."""
    x, low, high = strip.LEFT - 4, WALL_TOP - depth + 0.5, WALL_TOP - 0.5
    ax.plot([x + 3, x, x, x + 3], [high, high, low, low], color=INK, lw=1.1)
    noun = "wavefront" if access.wavefronts == 1 else "wavefronts"
    lines = [str(access.wavefronts), noun] if depth > 26 else [f"{access.wavefronts} {noun}"]
    for i, line in enumerate(lines):  # each line ends at the brace, in whichever font
        strip.side(ax, (low + high) / 2 + 14 * ((len(lines) - 1) / 2 - i), line, size=11.5)


def _legend(access, shared, rows):
    entries = [(strip.colour(access), False, "4-byte word")]
    if rows * BANKS > shared.delivered:
        entries.append((strip.UNUSED, False, "bank idle"))
    if shared.lanes < len(access.offsets):
        entries.append((RULE, True, "lane off"))
    return entries


def _words(first, size):
    return range(first // BANK_BYTES, (first + size - 1) // BANK_BYTES + 1)


def _runs(banks):
    """Yield the first and last of each run of neighbours."""
    for run in np.split(banks, np.nonzero(np.diff(banks) > 1)[0] + 1):
        yield run[0], run[-1]


def _x(bank):
    return strip.LEFT + bank * strip.PITCH
