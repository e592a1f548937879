"""The memories of a GPU as nested boxes, with pipes between them whose widths show the flow."""

from dataclasses import dataclass

from matplotlib.patches import Polygon

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import MEMORY

WIDTH, TALL = 760.0, 258.0  # points
PAD, RING = 11.0, 172.0  # gap between a box and the one inside it; width of a box's own part, at its right
PIPE, MOST_FLOW, LEAST_FLOW = 70.0, 66.0, 2.5  # the length of a pipe, and its widths
TEXT, SMALL = 16.0, 13.0
HERE_TALL, HERE_BOX = 56.0, 84.0  # of the small picture
HERE_STEP, HERE_LEAST = 7.0, 14.0  # gap between its boxes, and the least height of the smallest one
HERE = "#CFE3F1"  # the fill of the memory that a slide is about


@dataclass(frozen=True)
class Level:
    """A memory of a GPU.

    Attributes
    ----------
    name : str
    facts : tuple of str
        At most four short lines, such as its size and who sees it.
    flow : float
        The flow from it to the next smaller memory, in any unit, which sets the width of its pipe. The smallest memory
        has none.
    said : str
        The flow in words.

    Examples
    --------
    >>> Level("L2", ("60 MiB", "seen by all threads"), 5112.0, "5,112 GB/s").name
    'L2'
    """

    name: str
    facts: tuple[str, ...] = ()
    flow: float = 0.0
    said: str = ""


MEMORIES = tuple(
    Level(name) for name in ("registers", "L1 and shared", "L2", "memory")
)  # of a GPU, without sizes


def memories_picture(levels, *, here=None, note="") -> Picture:
    """Draw memories inside each other, the smallest one first, with pipes whose widths show the flow.

    Parameters
    ----------
    levels : sequence of Level
        From the one next to the arithmetic to the largest: two to five.
    here : str, optional
        The name of the memory that is drawn filled.
    note : str
        Where the numbers come from.

    Raises
    ------
    CourseError
        If there are fewer than two or more than five memories, or ``here`` is none of them.

    Examples
    --------
    >>> memories_picture([Level("registers"), Level("memory", ("141 GB",), 4.3, "4.3 TB/s")]).alt
    'registers; memory (141 GB), 4.3 TB/s to registers.'
    """
    levels = list(levels)
    _check(levels, here)
    words = strip.NoteLines(note, WIDTH)
    most = max(level.flow for level in levels) or 1.0
    boxes = [_box(i, len(levels)) for i in range(len(levels))]

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(-words.height, TALL))
        for level, box in reversed(list(zip(levels, boxes, strict=True))):  # the largest lies beneath
            _nest(ax, level, box, filled=level.name == here)
        for i, level in enumerate(levels):
            _words(ax, level, (boxes[i - 1][2] if i else boxes[i][0]) + 12)
            if i:
                _pipe(ax, level, boxes[i - 1][2], most)
        words.draw(ax, -words.height)

    said = [
        level.name
        + (f" ({', '.join(level.facts)})" if level.facts else "")
        + (f", {level.said} to {levels[i - 1].name}" if i and level.said else "")
        for i, level in enumerate(levels)
    ]
    where = f" You are here: {here}." if here else ""
    return draw(plot, f"{'; '.join(said)}.{where} {note}", size=(WIDTH / 72, (TALL + words.height) / 72))


def here_picture(levels, here) -> Picture:
    """Draw the boxes alone, small, with the name of the one that a slide is about: "you are here".

    Parameters
    ----------
    levels : sequence of Level
        As for :func:`memories_picture`.
    here : str

    Examples
    --------
    >>> here_picture(MEMORIES, "L2").alt
    'You are here: L2, of registers, L1 and shared, L2, memory.'
    """
    levels = list(levels)
    _check(levels, here)
    chosen = [level.name for level in levels].index(here)
    step = min(HERE_STEP, (HERE_TALL - HERE_LEAST) / 2 / (len(levels) - 1))
    width = HERE_BOX + 16 + strip.breadth(here, 15, weight="bold")

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, width), ylim=(0, HERE_TALL))
        for i in range(len(levels) - 1, -1, -1):
            inset = step * (len(levels) - 1 - i)
            style = {"facecolor": MEMORY if i == chosen else "white", "edgecolor": MEMORY, "linewidth": 1.8}
            strip.cell(ax, 2 + inset, 2 + inset, HERE_BOX - 2 * inset, HERE_TALL - 4 - 2 * inset, f"here-{i}", radius=4,
                       **style)  # fmt: skip
        ax.text(HERE_BOX + 12, HERE_TALL / 2, here, size=15, weight="bold", va="center_baseline")

    named = ", ".join(level.name for level in levels)
    return Here(draw(plot, f"You are here: {here}, of {named}.", size=(width / 72, HERE_TALL / 72)))


class Here(Picture):
    """The small picture; a slide shows it in its upper right corner."""

    def __init__(self, picture: Picture):
        super().__init__(picture.svg, picture.alt)

    def _repr_html_(self):
        return super()._repr_html_().replace('class="course-figure"', 'class="course-here"')


def _check(levels, here):
    if not 2 <= len(levels) <= 5:
        raise CourseError(f"There is room for two to five memories, not for {len(levels)}.")
    names = [level.name for level in levels]
    if here is not None and here not in names:
        raise CourseError(f"{here} is none of the memories, which are {', '.join(names)}.")


def _box(i, count):
    """Return left, bottom, right and top of a memory's box; 0 is the smallest."""
    around = count - 1 - i
    return 4 + PAD * around, 4 + PAD * around, WIDTH - 4 - RING * around, TALL - 4 - PAD * around


def _nest(ax, level, box, *, filled):
    left, bottom, right, top = box
    ground = HERE if filled else "white"
    strip.cell(ax, left, bottom, right - left, top - bottom, f"memory-{level.name}", radius=9, facecolor=ground,
               edgecolor=MEMORY, linewidth=2.2)  # fmt: skip


def _words(ax, level, x):
    top = TALL - 52
    ax.text(x, top, level.name, size=TEXT, weight="bold", va="center_baseline")
    for i, fact in enumerate(level.facts):
        ax.text(x, top - 22 - 17 * i, fact, size=SMALL, va="center_baseline")


def _pipe(ax, level, boundary, most):
    """Draw what flows from a memory into the next smaller one, whose right side is the boundary."""
    wide = max(LEAST_FLOW, MOST_FLOW * level.flow / most)
    y, head = 90.0, 9 + 0.35 * wide
    tip, tail = boundary - 20, boundary + PIPE
    neck = tip + head
    shape = [
        (tail, y - wide / 2),
        (tail, y + wide / 2),
        (neck, y + wide / 2),
        (neck, y + wide / 2 + 5),
        (tip, y),
    ]
    shape += [(neck, y - wide / 2 - 5), (neck, y - wide / 2)]
    pipe = Polygon(shape, closed=True, facecolor=MEMORY, edgecolor="white", linewidth=1.2)
    pipe.set_gid(f"pipe-{level.name}")
    pipe.set_zorder(4)
    ax.add_artist(pipe)
    ax.text(boundary + 12, y - MOST_FLOW / 2 - 14, level.said, size=SMALL, weight="bold", va="center_baseline",
            zorder=5)  # fmt: skip
