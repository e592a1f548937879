"""The data that plans move, as columns of blocks: one block for each field that a kernel reads or writes.

A plan is an object with ``kernels``, each with ``reads`` and ``writes`` (names of fields), and a ``program`` with the
number of its ``iterations`` and the ``family`` of fields that iterations use in turn. A family, or a field without one,
has one colour in all columns, dark where it is read and light where it is written.
"""

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.colors import to_rgb

from course_pkg.core import CourseError
from course_pkg.core.sources import together
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE, INK

WIDTH, TALL = 760.0, 262.0  # points; of the highest column
WIDER, LOWER = 824.0, 240.0  # for several devices, each with a dot and one more line of text
LEFT, RIGHT = 64.0, 752.0
HEAD, LEGEND = 22.0, 20.0  # room above the columns, and for the legend at the top
NAME, LINE = 12.0, 15.0  # below the columns: room around the names, and height of a line of a name
COLUMN, DOT = 0.52, 0.42  # shares of a column's room: its width, and the distance from its middle to its dot
HUES = ("#0072B2", "#8A4E86", "#007A5A", "#8C5A00", "#5B6570")
TEXT, SMALL = 14.5, 13.0
FILLED = 1  # a single device has the filled dot, which is number 1


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
        The measured value of a plan, in the same unit: a dot beside its column, with a line to the column's height.
    written : callable
        Turns numbers into text: a measured value, at its dot, and the sum of the blocks, above its column.
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
    return _drawn({"": _Passes(dict(plans), per_pass, axis, measured, written, note)})


@dataclass(frozen=True)
class _Passes:
    """The plans, and the values that were measured for them on one device."""

    plans: dict
    per_pass: float
    axis: str
    measured: dict[str, float]
    written: Callable[[float], str]
    note: str


def _drawn(each: dict[str, _Passes]) -> Picture:
    """Draw the plans of devices, by name; a pass has one height on all, so each time is relative to its GPU's copy."""
    one, many = next(iter(each.values())), len(each) > 1
    if any(list(other.plans) != list(one.plans) for other in each.values()):
        raise CourseError("Devices are drawn in one picture only if they have the same plans.")
    columns = {name: _Column(plan) for name, plan in one.plans.items()}
    fields = dict.fromkeys(c.of(f) for c in columns.values() for k in c.kernels for fs in k for f in fs)
    if len(fields) > len(HUES):
        raise CourseError(f"There are colours for {len(HUES)} fields, not for {len(fields)}.")
    hues = dict(zip(fields, HUES, strict=False))
    wide, tall = (WIDER, LOWER) if many else (WIDTH, TALL)
    right = RIGHT + wide - WIDTH
    words = strip.NoteLines(together(other.note for other in each.values()), wide)
    found = {
        name: {
            device: other.measured[name] / other.per_pass
            for device, other in each.items()
            if name in other.measured
        }
        for name in columns
    }
    unit = tall / max(
        [c.height for c in columns.values()] + [x for by in found.values() for x in by.values()]
    )
    room = (right - LEFT) / len(columns)
    names = {name: strip.folded(name, max(8, int(room / 8.2)))[:2] for name in columns}
    bottom = NAME + LINE * max(map(len, names.values())) + words.height
    head = HEAD + (LINE + 2) * (len(each) - 1)
    height = bottom + tall + head + LEGEND
    axis = "time, relative to each GPU's copy" if many else one.axis

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, wide), ylim=(0, height))
        ax.text(20, bottom + tall / 2, axis, size=SMALL, rotation=90, ha="center", va="center")
        ax.plot([LEFT - 12, right], [bottom] * 2, color=INK, lw=1.2)
        for i, (name, column) in enumerate(columns.items()):
            middle = LEFT + (i + (0.5 if not found[name] else 0.34 if many else 0.42)) * room
            column.draw(ax, middle, bottom, COLUMN * room, unit, hues)
            _name(ax, names[name], middle, bottom)
            if found[name]:
                said = {device: each[device].written(each[device].measured[name]) for device in found[name]}
                heights = {device: unit * x for device, x in found[name].items()}
                _dots(ax, middle, bottom, room, unit * column.end, heights, said)
            else:
                ax.text(middle, bottom + unit * column.height + 8, one.written(one.per_pass * column.end), size=17,
                        weight="bold", ha="center", va="bottom")  # fmt: skip
        x = _legend(ax, height - 14, right)
        if many:
            _devices(ax, height - 14, x, each)
        words.draw(ax)

    told = " ".join(
        f"{name}: "
        + "; ".join(
            (f"{device} " if many else "")
            + other.written(other.per_pass * c.end)
            + (f", measured {other.written(other.measured[name])}" if name in other.measured else "")
            for device, other in each.items()
        )
        + f". {c.said()}"
        for name, c in columns.items()
    )
    picture = draw(plot, f"{one.axis}. {told} {words.text}", size=(wide / 72, height / 72))
    picture.joined = _drawn, None if many else one
    return picture


class _Column:
    """The blocks of a plan, from the bottom upwards, with one stack for each of its iterations."""

    def __init__(self, plan):
        self.kernels = [(tuple(k.reads), tuple(k.writes)) for k in plan.kernels]
        self.family, turns = plan.program.family, plan.program.iterations
        each = -(-len(self.kernels) // turns)
        self.stacks = [self.kernels[i * each : (i + 1) * each] for i in range(turns)]

    def of(self, field) -> str:
        """Return the field that has the colour of a field."""
        return self.family.get(field, field)

    def _sum(self, kernels):
        return sum(len(reads) + len(writes) for reads, writes in kernels)

    @property
    def end(self) -> float:
        """The mean number of passes of an iteration."""
        return self._sum(self.kernels) / len(self.stacks)

    @property
    def height(self) -> float:
        """The number of passes in the highest stack."""
        return max(map(self._sum, self.stacks))

    def draw(self, ax, middle, bottom, width, unit, hues):
        wide = width / len(self.stacks)
        for turn, kernels in enumerate(self.stacks):
            x, y = middle - width / 2 + turn * wide, bottom
            for number, (reads, writes) in enumerate(kernels):
                start = y
                for names, light in ((reads, False), (writes, True)):
                    for name in names:
                        self._block(ax, name, x, y, wide, unit, hues[self.of(name)], light)
                        y += unit
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


def _dots(ax, middle, bottom, room, bound, found, said):
    """Draw a dot for each device, with a line to the column's height, and write their values above them."""
    edge, many = middle + COLUMN * room / 2, len(found) > 1
    xs = [edge + 12 + 20 * k for k in range(len(found))] if many else [middle + DOT * room]
    ax.plot([edge, xs[-1] + 8], [bottom + bound] * 2, color=BOUND, lw=1.8, ls="--", zorder=4)
    top = bottom + max(bound, *found.values()) + 9
    for k, (x, device) in enumerate(zip(xs, found, strict=True)):
        ax.plot([x, x], [bottom + bound, bottom + found[device]], color=COMPUTE, lw=2, zorder=4)
        _mark(ax, x, bottom + found[device], k if many else FILLED)
        y = top + (len(found) - 1 - k) * (LINE + 2)
        if many:
            _mark(ax, edge + 10, y + 6, k)
        ax.text(edge + (19 if many else 4), y, said[device], size=TEXT, weight="bold", va="bottom", zorder=6)


def _mark(ax, x, y, number):
    """Draw the dot of a device; that of the first device is hollow."""
    fill, edge = (COMPUTE, "white") if number else ("white", COMPUTE)
    ax.plot([x], [y], "o", color=fill, ms=10, mec=edge, mew=1 if number else 2.4, zorder=5)


def _legend(ax, y, right):
    """Write what dark, light and a frame mean, from the right edge leftwards; return where the words begin."""
    x = right
    marks = (("a kernel", "none", INK), ("written", "#d4dade", "#5B6570"), ("read", "#5B6570", "#5B6570"))
    for word, fill, edge in marks:
        x -= strip.breadth(word, SMALL)
        ax.text(x, y, word, size=SMALL, va="center_baseline")
        x -= 26
        strip.cell(
            ax, x, y - 6, 20, 12, f"legend-{word}", radius=2, facecolor=fill, edgecolor=edge, linewidth=1.8
        )
        x -= 18
    return x


def _devices(ax, y, right, names):
    """Write, left of the other words, which device's dots are hollow and which device's are filled."""
    x = right - 12
    for number, name in reversed(list(enumerate(names))):
        x -= strip.breadth(name, SMALL)
        ax.text(x, y, name, size=SMALL, va="center_baseline")
        x -= 12
        _mark(ax, x, y, number)
        x -= 20
