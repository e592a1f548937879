"""What plans move, as columns of blocks: one block for each field that a kernel reads or writes.

A plan is an object with ``kernels``, each with ``reads`` and ``writes`` (names of fields), and a ``program`` with the
number of its ``iterations``. A field has one colour in all columns, dark where it is read and light where it is
written.
"""

import re

from matplotlib.colors import to_rgb

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE, INK

WIDTH, TALL = 760.0, 262.0  # points; of the highest column
LEFT, RIGHT = 64.0, 752.0
HEAD, LEGEND = 22.0, 20.0  # above the columns, and above them all
NAME, LINE = 12.0, 15.0  # below the columns: around their names, and a line of these
COLUMN, DOT = 0.52, 0.42  # of a column's room: its width, and from its middle to its dot
HUES = ("#0072B2", "#8A4E86", "#007A5A", "#8C5A00", "#5B6570")
TEXT, SMALL = 14.5, 12.5


def passes_picture(plans, *, per_pass, axis, measured=None, written="{:g}".format, note="") -> Picture:
    """Draw a column for each plan: its kernels as frames, from the bottom upwards, with a block for each field.

    If a plan has several iterations, each has a column of its own, and the column's number is their mean.

    Parameters
    ----------
    plans : dict of str to plan
        See above; the names stand below.
    per_pass : float
        What one pass over one field costs, in the unit of the axis.
    axis : str
        What the height shows, with its unit.
    measured : dict of str to float, optional
        What was measured of a plan, in the same unit: a dot beside its column, with a line to the column's height.
    written : callable
        Turns a number into text: the measured one at its dot, and the sum of the blocks above its column.
    note : str
        Where the numbers come from.

    Raises
    ------
    CourseError
        If there is no plan, something was measured of a plan that is not drawn, or there are more fields than colours.

    Examples
    --------
    >>> from course_pkg.cg.fusion import TWO_KERNEL
    >>> passes_picture({"two kernels": TWO_KERNEL}, per_pass=8, axis="bytes per point").alt
    'bytes per point. two kernels: 64. Kernel 1 reads r, p and writes p; kernel 2 reads p, x, r and writes x, r.'
    """
    measured = measured or {}
    if not plans:
        raise CourseError("There is nothing to draw: pass at least one plan.")
    if strange := set(measured) - set(plans):
        raise CourseError(f"{', '.join(sorted(strange))}: measured, but no such plan is drawn.")
    columns = {name: _Column(plan, per_pass) for name, plan in plans.items()}
    fields = dict.fromkeys(base(f) for c in columns.values() for k in c.kernels for fs in k for f in fs)
    if len(fields) > len(HUES):
        raise CourseError(f"There are colours for {len(HUES)} fields, not for {len(fields)}.")
    hues = dict(zip(fields, HUES, strict=False))
    words = strip.Note(note, WIDTH)
    unit = TALL / max([c.height for c in columns.values()] + list(measured.values()))
    room = (RIGHT - LEFT) / len(columns)
    names = {name: strip.folded(name, max(8, int(room / 8.2)))[:2] for name in columns}
    bottom = NAME + LINE * max(map(len, names.values())) + words.height
    height = bottom + TALL + HEAD + LEGEND

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        ax.text(20, bottom + TALL / 2, axis, size=SMALL, rotation=90, ha="center", va="center")
        ax.plot([LEFT - 12, RIGHT], [bottom] * 2, color=INK, lw=1.2)
        for i, (name, column) in enumerate(columns.items()):
            middle = LEFT + (i + (0.5 if name not in measured else 0.42)) * room
            column.draw(ax, middle, bottom, COLUMN * room, unit, hues)
            _name(ax, names[name], middle, bottom)
            if name in measured:
                _dot(
                    ax,
                    middle,
                    bottom,
                    room,
                    unit * column.end,
                    unit * measured[name],
                    written(measured[name]),
                )
            else:
                ax.text(middle, bottom + unit * column.height + 8, written(column.end), size=17, weight="bold",
                        ha="center", va="bottom")  # fmt: skip
        _legend(ax, height - 14)
        words.draw(ax)

    found = {name: f", measured {written(value)}" for name, value in measured.items()}
    said = [f"{name}: {written(c.end)}{found.get(name, '')}. {c.said()}" for name, c in columns.items()]
    return draw(plot, f"{axis}. {' '.join(said)} {note}", size=(WIDTH / 72, height / 72))


def base(field) -> str:
    """Return a field's name without the number of its copy: p1 and p2 are p, and have its colour."""
    return re.sub(r"\d+$", "", field)


class _Column:
    """The blocks of a plan, from the bottom upwards; one stack for each of its iterations."""

    def __init__(self, plan, per_pass):
        self.per_pass = per_pass
        self.kernels = [(tuple(k.reads), tuple(k.writes)) for k in plan.kernels]
        turns = plan.program.iterations
        each = -(-len(self.kernels) // turns)
        self.stacks = [self.kernels[i * each : (i + 1) * each] for i in range(turns)]

    def _sum(self, kernels):
        return self.per_pass * sum(len(reads) + len(writes) for reads, writes in kernels)

    @property
    def end(self) -> float:
        """What the plan costs per iteration."""
        return self._sum(self.kernels) / len(self.stacks)

    @property
    def height(self) -> float:
        """The height of its highest stack."""
        return max(map(self._sum, self.stacks))

    def draw(self, ax, middle, bottom, width, unit, hues):
        wide = width / len(self.stacks)
        for turn, kernels in enumerate(self.stacks):
            x, y = middle - width / 2 + turn * wide, bottom
            for number, (reads, writes) in enumerate(kernels):
                start = y
                for names, light in ((reads, False), (writes, True)):
                    for name in names:
                        self._block(ax, name, x, y, wide, unit * self.per_pass, hues[base(name)], light)
                        y += unit * self.per_pass
                strip.cell(ax, x + 1.5, start + 1.5, wide - 3, y - start - 3, f"kernel-{turn}-{number}", radius=4,
                           facecolor="none", edgecolor=INK, linewidth=2.2, zorder=3)  # fmt: skip

    @staticmethod
    def _block(ax, name, x, y, width, tall, hue, light):
        pale = tuple(0.22 * c + 0.78 for c in to_rgb(hue))
        strip.bar(ax, x + 5, y + 1.2, width - 10, tall - 2.4, f"block-{name}", facecolor=pale if light else hue,
                  edgecolor=hue, linewidth=1.4, zorder=2)  # fmt: skip
        ax.text(x + width / 2, y + 0.56 * tall, name, size=min(13.5, 0.82 * tall), weight="bold", zorder=4,
                color=INK if light else "white", ha="center", va="center_baseline")  # fmt: skip

    def said(self) -> str:
        each = "; ".join(
            f"kernel {i} reads {', '.join(reads)}{f' and writes {listed}' if (listed := ', '.join(writes)) else ''}"
            for i, (reads, writes) in enumerate(self.kernels, 1)
        )
        return f"{each[0].upper()}{each[1:]}."


def _name(ax, lines, middle, bottom):
    for i, line in enumerate(lines):
        ax.text(middle, bottom - 7 - LINE * i, line, size=SMALL, ha="center", va="top", parse_math=False)


def _dot(ax, middle, bottom, room, bound, found, text):
    x = middle + DOT * room
    ax.plot([middle + COLUMN * room / 2, x + 8], [bottom + bound] * 2, color=BOUND, lw=1.8, ls="--", zorder=4)
    ax.plot([x, x], [bottom + bound, bottom + found], color=COMPUTE, lw=2, zorder=4)
    ax.plot([x], [bottom + found], "o", color=COMPUTE, ms=10, mec="white", zorder=5)
    ax.text(middle + COLUMN * room / 2 + 4, bottom + max(found, bound) + 9, text, size=TEXT, weight="bold",
            va="bottom", zorder=6)  # fmt: skip


def _legend(ax, y):
    """Write what dark, light and a frame mean, from the right edge leftwards."""
    x = RIGHT
    marks = (("a kernel", "none", INK), ("written", "#d4dade", "#5B6570"), ("read", "#5B6570", "#5B6570"))
    for word, fill, edge in marks:
        x -= strip.breadth(word, SMALL)
        ax.text(x, y, word, size=SMALL, va="center_baseline")
        x -= 26
        strip.cell(
            ax, x, y - 6, 20, 12, f"legend-{word}", radius=2, facecolor=fill, edgecolor=edge, linewidth=1.8
        )
        x -= 18
