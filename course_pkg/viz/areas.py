"""Programs as rectangles, as wide as their time and as high as their throughput: the area is the bytes moved."""

from dataclasses import dataclass

from course_pkg.core import CourseError
from course_pkg.core.sources import together
from course_pkg.core.units import format_time
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, INK, MEMORY, WASTED, pale

WIDTH, LEFT = 640.0, 8.0  # points
WIDER, GAP, HEAD = 824.0, 24.0, 26.0  # for several devices: width, gap between columns, room above them
ROW, TALL = 80.0, 50.0  # height of a program's row, and of the highest throughput in a row
DENSE = 74.0, 44.0  # the same two if there are several columns
FOOT = 24.0
TEXT, SMALL = 14.5, 13.0


def areas_picture(programs, *, t_peak_gb_s=None, note="") -> Picture:
    """Draw each program as a rectangle, as wide as its time and as high as its throughput.

    The part for bytes that had to move is blue, the part for all other bytes is grey.
    If all programs have to move the same bytes, the blue areas are equal.

    Parameters
    ----------
    programs : dict of str to Measurement
        By name. A measurement without a known number of moved bytes is left out.
    t_peak_gb_s : float, optional
        The peak bandwidth, drawn as a dashed line.
    note : str
        Where the numbers come from.

    Raises
    ------
    CourseError
        If no measurement says how many bytes it moves.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg.bench import compare
    >>> from course_pkg.core import Cost
    >>> found = compare({"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(64, 64), samples=2)
    >>> areas_picture({"copy": found["copy"]}).alt
    'copy: ... GB/s for ..., 128 B moved, of which 128 B had to move.'
    """
    rows = {name: m for name, m in programs.items() if m.throughput_gb_s and m.t_eff_gb_s}
    if not rows:
        raise CourseError("There is nothing to draw: no measurement says how many bytes it moves.")
    return _drawn({"": _Areas(rows, t_peak_gb_s, note)})


@dataclass(frozen=True)
class _Areas:
    """The programs of one device."""

    rows: dict
    peak: float | None
    note: str

    def said(self) -> str:
        listed = "; ".join(
            f"{name}: {m.throughput_gb_s:,.0f} GB/s for {format_time(m.median_s)}, {_bytes(m.cost.bytes)} moved, of "
            f"which {_bytes(m.cost.a_eff_bytes)} had to move"
            for name, m in self.rows.items()
        )
        return f"{listed}." + (f" T_peak: {self.peak:,.0f} GB/s." if self.peak else "")


def _drawn(each: dict[str, _Areas]) -> Picture:
    """Draw the programs of each device, given by its name, in a column; all columns have the same scales."""
    many = len(each) > 1
    width = WIDER if many else WIDTH
    room = (width - 2 * LEFT - GAP * (len(each) - 1)) / len(each)
    words = strip.NoteLines(together(one.note for one in each.values()), width)
    found = [m for one in each.values() for m in one.rows.values()]
    head, row, highest = (HEAD, *DENSE) if many else (0, ROW, TALL)
    wide = room / max(m.median_s for m in found)
    tall = highest / max([m.throughput_gb_s for m in found] + [one.peak for one in each.values() if one.peak])
    rows = max(len(one.rows) for one in each.values())
    height = row * rows + FOOT + words.height + head

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, width), ylim=(0, height))
        for k, (device, one) in enumerate(each.items()):
            left = LEFT + k * (room + GAP)
            for i, (name, m) in enumerate(one.rows.items()):
                y = height - head - (i + 1) * row
                number = f"{k}-{i}" if many else i
                _program(ax, name, m, y, (wide, tall), (left, room), above=y + highest + 7, number=number)
                if one.peak:
                    line = [y + one.peak * tall] * 2
                    ax.plot([left, left + room], line, color=BOUND, lw=1.8, ls="--", zorder=3)
            bound = f"T_peak {one.peak:,.0f} GB/s" if one.peak else ""
            if many:
                name = ": ".join(filter(None, (device, bound)))
                ax.text(left, height - 4, name, size=TEXT, weight="bold", va="top")
            elif bound:
                above = height - row * len(one.rows) + one.peak * tall + 5
                ax.text(left + room, above, bound, size=SMALL, weight="bold", ha="right", va="bottom")
        key = "as wide as its time, as high as its throughput: the area is the bytes that it moves"
        ax.text(LEFT, words.height + 2, key, size=SMALL, va="bottom")
        words.draw(ax)

    told = " ".join(f"{device}: {one.said()}" if many else one.said() for device, one in each.items())
    picture = draw(plot, f"{told} {words.text}", size=(width / 72, height / 72))
    picture.joined = _drawn, None if many else each[""]
    return picture


def _program(ax, name, m, y, scales, column, *, above, number):
    """Draw one rectangle from y upwards at the left of its column; its words stand above it, in it or at its right."""
    (wide, tall), (left, room) = scales, column
    needed = m.median_s * m.cost.a_eff_bytes / m.cost.bytes
    high, asides = m.throughput_gb_s * tall, []
    areas = [(0.0, needed, MEMORY, "white", f"{_bytes(m.cost.a_eff_bytes)} must move")]
    if needed < m.median_s:
        besides = f"{_bytes(m.cost.bytes - m.cost.a_eff_bytes)} moved besides"
        areas.append((needed, m.median_s, WASTED, INK, besides))
    for start, end, fill, ink, text in areas:
        x, width = left + start * wide, (end - start) * wide
        strip.bar(
            ax, x, y, width, high, f"area-{number}-{fill}", facecolor=pale(fill) if ink == INK else fill,
            edgecolor=fill, linewidth=1,
        )  # fmt: skip
        if strip.breadth(text, TEXT) + 10 < width and high > TEXT + 4:  # its words fit in the area
            ax.text(
                x + width / 2, y + high / 2, text, size=TEXT, color=ink, ha="center", va="center_baseline"
            )
        elif high <= TEXT + 4 or text == areas[-1][-1]:
            asides.append(text)
    aside = ", ".join(asides)
    end = left + m.median_s * wide
    if aside and end + strip.breadth(aside, TEXT) + 10 < left + room:
        ax.text(end + 8, y + high / 2, aside, size=TEXT, va="center_baseline")
    ax.text(left, above, name, size=TEXT, weight="bold", va="bottom", parse_math=False)
    after = left + 0.92 * strip.breadth(name, TEXT, weight="bold") + 16  # the page's font is narrower
    said = f"{m.throughput_gb_s:,.0f} GB/s for {format_time(m.median_s)}"
    ax.text(after, above, said, size=TEXT, va="bottom")


def _bytes(n):
    """Format a number of bytes with decimal units (1 kB = 1000 B), as GB/s has them."""
    power = max(p for p in (0, 3, 6, 9) if n >= 10**p or p == 0)
    return f"{n / 10**power:.3g} {('B', 'kB', 'MB', 'GB')[power // 3]}"
