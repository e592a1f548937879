"""The ladder: each variant's share of a bound, rung by rung, and the counters that changed from one to the next."""

from dataclasses import dataclass, field

from course_pkg.core import CourseError
from course_pkg.core.sources import together
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE_TEXT, INK, MEMORY, MUTED

WIDTH, ROW, TALL = 824.0, 29.5, 22.0  # points
NARROW, APART = 17.5, 8.0  # with several devices: height of a bar, and gap between rungs
DENSE, MANY = 15.5, 5  # the same height, and a smaller gap, from this number of rungs on
HEAD, TOP, FOOT = 38.0, 2.0, 8.0
TEXT, SMALL = 14.5, 13.0
GAP = 18.0  # between the columns of the table
LEAST = 190.0  # least length of the longest bar
END = 40.0  # how far the bound's name may reach beyond its line
MOST_COUNTERS = 3
MISSING = "not recorded"


@dataclass(frozen=True)
class Rung:
    """A variant on the ladder.

    Attributes
    ----------
    name : str
    share : float
        The share of the bound that it reaches; 1 is the bound.
    counters : dict of str to str
        At most three, by name; every rung has the same ones.
    binds : str
        The clock that binds, or comes nearest to it. If any rung names one, there is a column for it.

    Examples
    --------
    >>> Rung("flat", 0.81, {"instructions": "37"}, "memory").share
    0.81
    """

    name: str
    share: float
    counters: dict[str, str] = field(default_factory=dict)
    binds: str = ""


def ladder_picture(rungs, *, bound="copy", bound_gb_s=None, note="", steps=True, ceiling=False) -> Picture:
    """Draw a bar for each rung, from the top down; a rung with a lower share than the one before has its own colour.

    Shares are compared as they are shown, in whole percent. A line in each bar shows where the bar before it
    ended. A counter that differs from the rung before is set in bold.
    Ladders of several devices become one: each rung has a bar for each device, relative to the device's own bound.

    Parameters
    ----------
    rungs : sequence of Rung
    bound : str
        The name of the bound, which is a share of 1.
    bound_gb_s : float, optional
        The bound on this device, in GB/s.
    note : str
        Where the numbers come from, below the bars.
    steps : bool
        False if the rungs are different problems and not successive steps. Then no rung is compared with the one
        before, and the bars that end before the bound have the other colour.
    ceiling : bool
        True if the bound is a ceiling, such as T_peak. A bar that ends before it then keeps its usual colour.

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
    return _drawn({"": _Ladder(rungs, bound, bound_gb_s, note, steps, ceiling)})


@dataclass(frozen=True)
class _Ladder:
    """The rungs of one device."""

    rungs: list[Rung]
    bound: str
    bound_gb_s: float | None
    note: str
    steps: bool
    ceiling: bool

    def before(self, i) -> Rung | None:
        return self.rungs[i - 1] if self.steps and i else None

    def fell(self, i) -> bool:
        before = self.before(i)
        return before is not None and round(self.rungs[i].share, 2) < round(before.share, 2)

    def said(self, names) -> str:
        return "; ".join(self._told(name) for name in names)

    def _told(self, name) -> str:
        if (i := self.at(name)) is None:
            return f"{name}: {MISSING}"
        rung = self.rungs[i]
        return (
            f"{name}: {_percent(rung.share)}{', a fall' if self.fell(i) else ''}"
            + "".join(f", {counter} {value}" for counter, value in rung.counters.items())
            + (f", longest clock {rung.binds}" if rung.binds else "")
        )

    def at(self, name) -> int | None:
        """Return the index of the rung with this name; None if this device has no such rung."""
        return next((i for i, rung in enumerate(self.rungs) if rung.name == name), None)


def _drawn(ladders: dict[str, _Ladder]) -> Picture:
    """Draw the ladder of each device, given by its name; a single ladder is drawn without a name."""
    names = list(dict.fromkeys(rung.name for one in ladders.values() for rung in one.rungs))
    columns = _columns(names, ladders)
    words = strip.NoteLines(together(one.note for one in ladders.values()), WIDTH)
    many = len(ladders) > 1
    dense = len(names) >= MANY
    tall = TALL if not many else DENSE if dense else NARROW
    pitch = ROW if not many else tall + (1 if dense else 2)
    row = pitch * len(ladders) + (0 if not many else APART / 2 if dense else APART)
    height = HEAD + row * len(names) + FOOT + words.height + TOP

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        named = max(strip.breadth(name, SMALL) for name in ladders) + 8 if many else 0
        left = 8 + max(strip.breadth(name, TEXT) for name in names) + 10 + named
        right = WIDTH - 8 - sum(wide + GAP for _, _, wide in columns)
        if right - left < LEAST:
            raise CourseError("The names and counters leave no room for the bars: shorten them.")
        after = strip.breadth("100% ", TEXT, weight="bold") + 8
        unit = (right - left - after) / max(
            1.0, *(rung.share for one in ladders.values() for rung in one.rungs)
        )
        base = height - TOP - HEAD
        _bound(ax, left + unit, base, base - row * len(names), _bounds(ladders))
        for i, name in enumerate(names):
            y = base - (i + 0.5) * row
            ax.text(left - named - 10, y, name, size=TEXT, ha="right", va="center_baseline", parse_math=False)
            for k, (device, one) in enumerate(ladders.items()):
                at = y + ((len(ladders) - 1) / 2 - k) * pitch
                if many:
                    ax.text(left - 8, at, device, size=SMALL, color=MUTED, ha="right", va="center_baseline")
                if (place := one.at(name)) is None:
                    ax.text(left + 8, at, MISSING, size=SMALL, color=MUTED, va="center_baseline")
                else:
                    _bar(ax, one, place, at, left, unit, tall, f"rung-{i}-{k}" if many else f"rung-{i}")
        x = right
        for name, cells, wide in columns:
            x += GAP + wide
            _head(ax, name, x, base)
            _column(ax, names, cells, ladders, x, base, row, pitch)
        words.draw(ax)

    told = (
        " ".join(f"{device}: {one.said(names)}." for device, one in ladders.items())
        if many
        else f"{ladders[''].said(names)}."
    )
    picture = draw(plot, f"Share of {_bounds(ladders)}. {told} {words.text}", size=(WIDTH / 72, height / 72))
    picture.joined = _drawn, None if many else ladders[""]
    return picture


def _bounds(ladders) -> str:
    """Return the bound's name, and what it is on each device."""
    names = list(dict.fromkeys(one.bound for one in ladders.values()))
    if len(names) > 1:
        return "; ".join(f"{device}: {one.bound}" for device, one in ladders.items())
    each = [f"{device} {one.bound_gb_s:,.0f}".strip() for device, one in ladders.items() if one.bound_gb_s]
    return f"{names[0]}: {', '.join(each)} GB/s" if each else names[0]


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


def _columns(names, ladders):
    """Return for each column its name, its cells by rung and device, and its width in points."""
    heads = list(dict.fromkeys(head for one in ladders.values() for head in one.rungs[0].counters))
    found = {
        head: {
            (name, device): one.rungs[place].counters.get(head, "")
            if (place := one.at(name)) is not None
            else ""
            for name in names
            for device, one in ladders.items()
        }
        for head in heads
    }
    if any(rung.binds for one in ladders.values() for rung in one.rungs):
        found["longest clock"] = {
            (name, device): one.rungs[place].binds if (place := one.at(name)) is not None else ""
            for name in names
            for device, one in ladders.items()
        }
    return [
        (
            head,
            cells,
            max(
                *(strip.breadth(line, SMALL) for line in _two_lines(head)),
                *(strip.breadth(str(cell), TEXT, weight="bold") for cell in cells.values()),
            ),
        )
        for head, cells in found.items()
    ]


def _two_lines(name):
    """Return a name as one line or, if it has several words, as two lines of about the same length."""
    words = name.split(" ")
    ways = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return min(ways, key=lambda lines: max(map(len, lines))) if ways else (name,)


def _bound(ax, x, top, bottom, name):
    ax.plot([x, x], [bottom + 2, top + 5], color=BOUND, lw=2, ls="--", zorder=1)
    half = strip.breadth(name, SMALL, weight="bold") / 2
    align = {"ha": "center"} if half < END else {"ha": "right"}  # a long name would lie on the columns' heads
    ax.text(x + (0 if half < END else END), top + 9, name, size=SMALL, weight="bold", va="bottom", **align)


def _bar(ax, ladder, i, y, left, unit, tall, gid):
    rung, fell, before = ladder.rungs[i], ladder.fell(i), ladder.before(i)
    other = fell if ladder.steps else not ladder.ceiling and rung.share < 1
    wide = unit * rung.share
    fill = COMPUTE_TEXT if other else MEMORY
    bar = strip.bar(ax, left, y - tall / 2, wide, tall, gid, facecolor=fill, edgecolor="none")
    bar.set_zorder(2)
    if before is not None:  # where the rung before ended
        x = left + unit * before.share
        ax.plot([x, x], [y - tall / 2 - 3, y + tall / 2 + 3] if tall == TALL else [y - tall / 2, y + tall / 2],
                color=INK, lw=1.6, zorder=3)  # fmt: skip
    text = f"{_percent(rung.share)}{' ▾' if fell else ''}"
    needed, tick = strip.breadth(text, TEXT, weight="bold") + 8, unit * (before.share if before else 0)
    start = tick if tick < needed + 8 else 0.0  # a text at the left would lie on the line
    inside = start + needed + 6 < wide
    end = tick if wide < tick < wide + needed + 8 else wide  # after the line, if there is no room before it
    x = left + (start if inside else end) + 8
    ax.text(
        x, y, text, size=TEXT, weight="bold", color="white" if inside else INK, va="center_baseline", zorder=4
    )


def _head(ax, name, right, base):
    lines = _two_lines(name)
    for i, line in enumerate(lines):
        y = base + 9 + 15 * (len(lines) - 1 - i)
        ax.text(right, y, line, size=SMALL, color=MUTED, ha="right", va="bottom")


def _column(ax, names, cells, ladders, right, base, row, pitch):
    """Write the cells of a column: one for each rung if its devices agree, otherwise one for each device."""
    for i, name in enumerate(names):
        y = base - (i + 0.5) * row
        found = [cells[name, device] for device in ladders]
        alike = len(set(found)) == 1
        for k, (device, one) in enumerate(ladders.items()):
            if alike and k:
                break
            before = i > 0 and cells[names[i - 1], device]
            changed = one.steps and i > 0 and found[k] != before
            ax.text(
                right, y if alike else y + ((len(ladders) - 1) / 2 - k) * pitch, found[k], size=TEXT, ha="right",
                va="center_baseline", parse_math=False, weight="bold" if changed else "normal",
                color=INK if changed or i == 0 or not one.steps else MUTED,
            )  # fmt: skip


def _percent(share):
    return f"{share:.0%}"
