"""The ladder: what share of a bound each variant reaches, rung by rung, and which counters changed on the way."""

from dataclasses import dataclass, field

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE_TEXT, INK, MEMORY, MUTED

WIDTH, ROW, TALL = 840.0, 29.5, 22.0  # points
HEAD, TOP, FOOT = 38.0, 2.0, 8.0
TEXT, SMALL = 14.5, 12.5
GAP = 18.0  # between columns
LEAST = 190.0  # of the longest bar
MOST_COUNTERS = 3


@dataclass(frozen=True)
class Rung:
    """A variant on the ladder.

    Attributes
    ----------
    name : str
    share : float
        What it reaches of the bound; 1 is the bound.
    counters : dict of str to str
        At most three, by name; every rung has the same ones.
    binds : str
        The clock that binds, or comes nearest; a column of its own if any rung names one.

    Examples
    --------
    >>> Rung("flat", 0.81, {"instructions": "37"}, "memory").share
    0.81
    """

    name: str
    share: float
    counters: dict[str, str] = field(default_factory=dict)
    binds: str = ""


def ladder_picture(rungs, *, bound="copy", note="", steps=True, ceiling=False) -> Picture:
    """Draw a bar for each rung, from the first downwards; a rung below the one before has its own colour.

    A rung is below another if the percentages that are shown say so. A line in each bar shows where the bar before it
    ended. A counter that differs from the rung before is set in bold.

    Parameters
    ----------
    rungs : sequence of Rung
    bound : str
        The name of what a share of 1 is.
    note : str
        Where the numbers come from, below the bars.
    steps : bool
        False where rungs are no steps of a way, but different problems: nothing is compared with the rung before, and
        the bars that end before the bound have the other colour.
    ceiling : bool
        True where the bound is a ceiling, such as T_peak: to end before it is no fault, and takes no colour.

    Raises
    ------
    CourseError
        If there is no rung, a share is not positive, or the rungs have different counters or too many.

    Examples
    --------
    >>> ladder_picture([Rung("flat", 0.8, {"loads": "7"}), Rung("tiled", 0.5, {"loads": "2"})]).alt
    'Share of copy. flat: 80%, loads 7; tiled: 50%, a fall, loads 2.'
    """
    rungs = list(rungs)
    _check(rungs)
    columns = _columns(rungs)
    words = strip.Note(note, WIDTH)
    height = HEAD + ROW * len(rungs) + FOOT + words.height + TOP
    befores = [rungs[i - 1] if steps and i else None for i in range(len(rungs))]
    falls = [
        before is not None and round(rung.share, 2) < round(before.share, 2)
        for rung, before in zip(rungs, befores, strict=True)
    ]

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        left = 8 + max(strip.breadth(rung.name, TEXT) for rung in rungs) + 10
        right = WIDTH - 8 - sum(wide + GAP for _, _, wide in columns)
        if right - left < LEAST:
            raise CourseError("The names and counters leave no room for the bars: shorten them.")
        after = strip.breadth("100% ", TEXT, weight="bold") + 8
        unit = (right - left - after) / max(1.0, *(rung.share for rung in rungs))
        base = height - TOP - HEAD
        _bound(ax, left + unit, base, base - ROW * len(rungs), bound)
        for i, (rung, fell) in enumerate(zip(rungs, falls, strict=True)):
            y = base - (i + 0.5) * ROW
            other = fell if steps else not ceiling and rung.share < 1
            _bar(ax, rung, y, left, unit, i, fell, other, befores[i] and befores[i].share)
        x = right
        for name, cells, wide in columns:
            x += GAP + wide
            _column(ax, name, cells, x, base, steps)
        words.draw(ax)

    listed = "; ".join(
        f"{rung.name}: {_percent(rung.share)}{', a fall' if fell else ''}"
        + "".join(f", {name} {value}" for name, value in rung.counters.items())
        + (f", longest clock {rung.binds}" if rung.binds else "")
        for rung, fell in zip(rungs, falls, strict=True)
    )
    return draw(plot, f"Share of {bound}. {listed}. {note}", size=(WIDTH / 72, height / 72))


def _check(rungs):
    if not rungs:
        raise CourseError("There is nothing to draw: pass at least one rung.")
    names = list(rungs[0].counters)
    if len(names) > MOST_COUNTERS:
        raise CourseError(f"Beside a ladder is room for {MOST_COUNTERS} counters, not for {len(names)}.")
    for rung in rungs:
        if not rung.share > 0:
            raise CourseError(f"The share of {rung.name} is {rung.share!r}: it must be positive.")
        if list(rung.counters) != names:
            raise CourseError(f"{rung.name} needs the counters {', '.join(names)}, in this order.")


def _columns(rungs):
    """Return for each column its name, its cells and its width in points."""
    found = {name: [rung.counters[name] for rung in rungs] for name in rungs[0].counters}
    if any(rung.binds for rung in rungs):
        found["longest clock"] = [rung.binds for rung in rungs]
    return [
        (
            name,
            cells,
            max(
                *(strip.breadth(line, SMALL) for line in _two_lines(name)),
                *(strip.breadth(str(cell), TEXT, weight="bold") for cell in cells),
            ),
        )
        for name, cells in found.items()
    ]


def _two_lines(name):
    """Return a name as one line or, if it has several words, as two lines of about the same length."""
    words = name.split(" ")
    ways = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return min(ways, key=lambda lines: max(map(len, lines))) if ways else (name,)


def _bound(ax, x, top, bottom, name):
    ax.plot([x, x], [bottom + 2, top + 5], color=BOUND, lw=2, ls="--", zorder=1)
    ax.text(x, top + 9, name, size=SMALL, weight="bold", ha="center", va="bottom")


def _bar(ax, rung, y, left, unit, number, fell, other, before):
    fill, wide = COMPUTE_TEXT if other else MEMORY, unit * rung.share
    ax.text(left - 10, y, rung.name, size=TEXT, ha="right", va="center_baseline", parse_math=False)
    bar = strip.bar(ax, left, y - TALL / 2, wide, TALL, f"rung-{number}", facecolor=fill, edgecolor="none")
    bar.set_zorder(2)
    if before is not None:  # where the rung before ended
        x = left + unit * before
        ax.plot([x, x], [y - TALL / 2 - 3, y + TALL / 2 + 3], color=INK, lw=1.6, zorder=3)
    text = f"{_percent(rung.share)}{' ▾' if fell else ''}"
    needed, tick = strip.breadth(text, TEXT, weight="bold") + 8, unit * (before or 0)
    start = tick if tick < needed + 8 else 0.0  # a text at the left would lie on the line
    inside = start + needed + 6 < wide
    end = (
        tick if wide < tick < wide + needed + 8 else wide
    )  # after the line, where it leaves no room before it
    x = left + (start if inside else end) + 8
    ax.text(
        x, y, text, size=TEXT, weight="bold", color="white" if inside else INK, va="center_baseline", zorder=4
    )


def _column(ax, name, cells, right, base, steps):
    lines = _two_lines(name)
    for i, line in enumerate(lines):
        ax.text(
            right,
            base + 9 + 15 * (len(lines) - 1 - i),
            line,
            size=SMALL,
            color=MUTED,
            ha="right",
            va="bottom",
        )
    for i, cell in enumerate(cells):
        y = base - (i + 0.5) * ROW
        changed = steps and i > 0 and cell != cells[i - 1]
        ax.text(
            right, y, cell, size=TEXT, ha="right", va="center_baseline", parse_math=False,
            weight="bold" if changed else "normal", color=INK if changed or i == 0 or not steps else MUTED,
        )  # fmt: skip


def _percent(share):
    return f"{share:.0%}"
