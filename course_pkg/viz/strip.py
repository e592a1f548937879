"""The parts that both access strips share: the sheet, the row of lanes, the ribbons, the words around them."""

import re
import textwrap
from functools import lru_cache

from matplotlib.colors import to_rgba
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from course_pkg.core.access import WARP
from course_pkg.viz.style import COMPUTE, GAIN, INK, MEMORY, MEMORY_WRITE, MUTED, RC, WASTED, pale

WIDTH, HEIGHT = 619.2, 237.6  # points: 8.6 by 3.3 inches
LEFT, RIGHT = 84.0, 612.0
LANE_TOP, LANE_HEIGHT = 199.0, 17.0
LANE_BOTTOM = LANE_TOP - LANE_HEIGHT
PITCH = (RIGHT - LEFT) / WARP  # distance between lanes, and between banks: there are 32 of both
SIDE = 76.0  # where the labels left of the rows end
NBSP = "\N{NO-BREAK SPACE}"
UNUSED = to_rgba(WASTED, 0.45)  # light enough to differ from the lighter blue; the edge gives it contrast


def sheet(figure):
    """Return axes over the whole figure whose unit is the point."""
    figure.set_layout_engine("none")  # everything is placed by hand
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    return ax


def colour(access) -> str:
    """Return the blue of memory: the lighter one if the access writes."""
    return MEMORY if access.kind == "load" else MEMORY_WRITE


def cell(ax, x, y, width, height, gid, *, radius=2.5, **style):
    """Draw a box with round corners, added as an artist: add_patch would also compute an extent that is not used."""
    box = FancyBboxPatch((x, y), width, height, boxstyle=f"round,pad=0,rounding_size={radius}", **style)
    box.set_gid(gid)
    return ax.add_artist(box)


def bar(ax, x, y, width, height, gid, **style):
    """Draw a box with sharp corners."""
    box = Rectangle((x, y), width, height, **style)
    box.set_gid(gid)
    return ax.add_artist(box)


def lanes(ax, access) -> None:
    """Draw the warp: lanes at work filled and numbered, the others hollow."""
    edge = colour(access)
    fill, ink = (MEMORY, "white") if edge == MEMORY else (pale(edge), INK)
    for lane in range(WARP):
        on = access.offsets[lane] >= 0
        cell(
            ax,
            LEFT + lane * PITCH + 0.9,
            LANE_BOTTOM,
            PITCH - 1.8,
            LANE_HEIGHT,
            f"lane-{lane}" if on else f"off-{lane}",
            facecolor=fill if on else "none",
            edgecolor=edge if on else MUTED,
            linewidth=0.8,
            alpha=1 if on else 0.75,
        )
        middle = (LEFT + (lane + 0.5) * PITCH, LANE_BOTTOM + LANE_HEIGHT / 2)
        ax.text(*middle, str(lane), size=11.5, color=ink if on else MUTED, ha="center", va="center_baseline")
    side(ax, middle[1], "32 lanes")


def side(ax, y, text, **style) -> None:
    """Name a row at its left."""
    ax.text(SIDE, y, text, **{"size": 12, "color": INK, "ha": "right", "va": "center", **style})


def ribbon(ax, lane, left, right, bottom, access) -> None:
    """Draw the flow from a lane to the bytes between `left` and `right`."""
    a, b = LEFT + lane * PITCH + 1.6, LEFT + (lane + 1) * PITCH - 1.6
    top, waist = LANE_BOTTOM - 1, (LANE_BOTTOM + bottom) / 2
    points = [(a, top), (a, waist), (left, waist), (left, bottom)]
    points += [(right, bottom), (right, waist), (b, waist), (b, top), (a, top)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    fill = colour(access)
    flow = PathPatch(
        Path(points, codes), facecolor=fill, alpha=0.30, edgecolor=fill, linewidth=0.5, zorder=0.5
    )
    flow.set_gid(f"ribbon-{lane}-{left:.2f}")
    ax.add_artist(flow)


def words(ax, access, headline: str) -> None:
    """Write the headline at the top; at the bottom, the source line of the access, its instruction and its warp."""
    size = 15.5
    size *= min(1, (WIDTH - 14) / breadth(headline, size, weight="bold"))
    ax.text(7, HEIGHT - 8, headline, size=size, weight="bold", va="top")
    number = f"{access.line}  "
    code = shortened(number + access.source.strip(), 11.5, WIDTH - 20, family="monospace")
    ax.text(7, 26, code, size=11.5, family="monospace", va="baseline", parse_math=False)
    owner = shortened(whose(access), 11.5, WIDTH - 14)
    ax.text(7, 8.5, owner, size=11.5, color=MUTED, va="baseline", parse_math=False)


def count(n, noun) -> str:
    """Return a number and its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def whose(access) -> str:
    """Say which instruction of which warp this is."""
    link = "of" if access.kind == "load" else "to" if access.kind == "store" else "on"
    block = ",".join(map(str, access.block))
    return (
        f"{access.space} {access.kind} {link} {access.array}, {access.itemsize} B per lane · {access.function} · "
        f"block ({block}), warp {access.warp}, trip {access.repetition}"
    )


def _font(family, weight="normal"):
    name = "DejaVu Sans Mono" if family == "monospace" else RC["font.sans-serif"]
    return FontProperties(family=name, weight=weight)


@lru_cache(1024)  # the frames of a slider repeat their words
def breadth(text, size, *, family="sans-serif", weight="normal") -> float:
    """Return the width of a text in points."""
    # a pair of dollars would start mathematics here; S is about as wide
    letters = TextPath((0, 0), text.replace("$", "S"), size=size, prop=_font(family, weight)).vertices
    return float(letters[:, 0].max()) if len(letters) else 0.0


def shortened(text, size, width, *, family="sans-serif") -> str:
    """Return the text, cut with an ellipsis where it is wider than `width` points; unknown letters become boxes."""
    known = _letters(family)
    text = "".join(c if ord(c) in known else "□" for c in text.expandtabs(4))
    if breadth(text, size, family=family) > width:
        keep = int(1.1 * len(text) * width / breadth(text, size, family=family))
        while breadth(text[:keep] + " …", size, family=family) > width:
            keep -= 1
        text = text[:keep] + " …"
    return text


def verdict(ax, x, y, good, gid, size=9.0) -> None:
    """Draw a tick or a cross with its middle at (x, y): as lines, since few fonts have these characters."""
    tick = [(-1, 0.1), (-0.3, -0.7), (1, 0.9)]
    strokes = [tick] if good else [[(-0.8, -0.8), (0.8, 0.8)], [(-0.8, 0.8), (0.8, -0.8)]]
    for i, stroke in enumerate(strokes):
        path = Path([(x + size * a, y + size * b) for a, b in stroke])
        mark = PathPatch(
            path, facecolor="none", edgecolor=GAIN if good else COMPUTE, linewidth=3.4, capstyle="round"
        )
        mark.set_gid(f"{gid}-{i}")
        mark.set_zorder(5)
        ax.add_artist(mark)


def folded(text, letters) -> list[str]:
    """Break a text into lines of at most so many letters; remove backquotes, but do not break what they enclose."""
    whole = re.sub("`([^`]*)`", lambda command: command[1].replace(" ", NBSP), text)
    return [line.replace(NBSP, " ") for part in whole.splitlines() for line in textwrap.wrap(part, letters)]


class NoteLines:
    """Where the numbers of a picture come from, in lines at its bottom; ``height`` is the room that they take."""

    SIZE, PITCH = 13.0, 16.5

    def __init__(self, text, width):
        self.text, self.lines = text, folded(text, int(width / (0.52 * self.SIZE)))
        self.height = self.PITCH * len(self.lines) + (4 if self.lines else 0)

    def draw(self, ax, bottom=0.0):
        for i, line in enumerate(reversed(self.lines)):
            ax.text(
                8,
                bottom + 4 + self.PITCH * i,
                line,
                size=self.SIZE,
                color=MUTED,
                va="bottom",
                parse_math=False,
            )


@lru_cache
def _letters(family):
    return frozenset(get_font(findfont(_font(family))).get_charmap())


def legend(ax, y, entries) -> None:
    """Write what the colours mean, from the right edge leftwards; entries are (colour, hollow or not, text)."""
    x = RIGHT
    for fill, hollow, text in reversed(entries):
        x -= breadth(text, 11)
        ax.text(x, y, text, size=11.5, color=INK, va="center_baseline")
        x -= 14
        box = (
            {"facecolor": "none", "edgecolor": MUTED}
            if hollow
            else {"facecolor": fill, "edgecolor": WASTED if fill == UNUSED else "none"}
        )
        cell(ax, x, y - 4.5, 9, 9, f"legend-{text}", radius=1.5, linewidth=0.8, **box)
        x -= 14
