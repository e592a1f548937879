"""What the axes of several figures share."""

from functools import partial
from itertools import cycle, pairwise
from math import inf

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from course_pkg.core import CourseError
from course_pkg.core.sources import OfDevice
from course_pkg.viz.strip import breadth, folded
from course_pkg.viz.style import BOUND, DEVICES, MUTED, SERIES

NARROW = 8.0  # inches: panels beside others are narrower
LOWEST = 6.0  # points: least height above the x axis of a name at a line's end
NOTE = 13  # the size of a note's letters, in points
RAISED = str.maketrans(
    "-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
)  # powers are plain text: Matplotlib takes longer to typeset a formula than to draw a curve


def plain_log(axis, base=10):
    axis.set_major_locator(LogLocator(base=base, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())


def plain_linear(axis):
    """Write the numbers of a linear axis as the text does: 3,000."""
    axis.set_major_formatter(
        FuncFormatter(lambda v, _: f"{v:,g}".replace("-", "−") if abs(v) < 1e6 else f"{v:g}")
    )


def thousands(ax) -> None:
    """Let :func:`plain_linear` write the linear axes that reach a thousand. The limits must be final."""
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        if axis.get_scale() == "linear" and 1e3 <= max(map(abs, limits)) < 1e6:
            plain_linear(axis)


def is_panel(figure) -> bool:
    """Return whether a figure is a panel beside others, with little room for names of ticks and of a legend."""
    return figure.bbox.width / figure.dpi <= NARROW


def colours_of(names, among=None) -> dict[str, str]:
    """Return the colour of each series; a device has the same one in every figure.

    Parameters
    ----------
    names : iterable of str
        The series of one picture; those that are devices as :class:`~course_pkg.core.sources.OfDevice`.
    among : sequence of str, optional
        All series that occur in a group of pictures, such as those of a slider or a lecture. Each series then has the
        same colour in the whole group.

    Raises
    ------
    CourseError
        If a name is not among them.

    Examples
    --------
    >>> colours_of(["s-step"], among=["CG", "s-step"]) == {"s-step": SERIES[1]}
    True
    >>> colours_of(["bytes", OfDevice("time, H200", "H200")]) == {"bytes": SERIES[0], "time, H200": DEVICES["H200"]}
    True
    """
    names = list(names)
    among = names if among is None else list(among)
    if strangers := sorted(set(names) - set(among)):
        raise CourseError(f"{', '.join(strangers)} has no colour: name it among {', '.join(among)}.")
    devices = [name for name in (*among, *names) if isinstance(name, OfDevice) and name.device in DEVICES]
    found = {name: DEVICES[name.device] for name in devices}
    free = [colour for colour in SERIES if colour not in found.values()]
    found |= zip([name for name in among if name not in found], cycle(free), strict=False)
    return {name: found[name] for name in names}


def require_points(series) -> None:
    """Check that there is at least one line, and that each line has a point."""
    if not series or not all(series.values()):
        raise CourseError("There is nothing to draw: pass at least one line with at least one measurement.")


def require_costs(measurements) -> None:
    """Check that each measurement says how many bytes it moves: a bandwidth that is unknown has no place on an axis."""
    for m in measurements:
        m.known_cost()


def draw_bound(ax, value) -> None:
    """Draw a bound on y as a dashed line; :func:`name_lines` writes its name."""
    ax.axhline(value, color=BOUND, lw=2, ls="--")


def name_lines(ax, ends, *, apart=17.0) -> None:
    """Write each line's name right of the axes, at the height at which the line ends; names never overlap.

    No name stands so low that it could be mistaken for a number below the x axis.

    Call this function last: the limits of y must be final, and the note and the labels must have their space.

    Parameters
    ----------
    ends : sequence of (float, str, str)
        For each line: the y at which it ends (in data coordinates), its name and its colour.
    apart : float
        The least distance between two names, in points.
    """
    figure = ax.get_figure(root=True)
    if (later := getattr(figure, "names_later", None)) is not None:
        write = partial(name_lines, ax, ends, apart=apart)
        later.append((write, mpl.rcParams["font.size"]))  # the limits of a panel are not final yet
        return
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
    high = ax.get_window_extent().height * 72 / figure.dpi
    to_share = ax.transScale.transform
    low, top = (to_share((1, y))[1] for y in ax.get_ylim())
    wanted = sorted(
        (high * (to_share((1, y))[1] - low) / (top - low), y, name, colour) for y, name, colour in ends
    )
    places = spread([place for place, *_ in wanted], apart, lowest=LOWEST)
    for (place, y, name, colour), found in zip(wanted, places, strict=True):
        ax.annotate(
            name, (1, y), xycoords=("axes fraction", "data"), xytext=(9, found - place), textcoords="offset points",
            color=colour, weight="bold", va="center", annotation_clip=False,
        )  # fmt: skip


def name_within(ax, x, y, name, colour) -> None:
    """Write a line's name beside its end within the axes, where no line passes, or as few as possible.

    Call this function after all lines are drawn, and after :func:`name_lines`.

    Parameters
    ----------
    x, y : float
        Where the line ends, in data coordinates.
    """
    figure = ax.get_figure(root=True)
    if (later := getattr(figure, "names_later", None)) is not None:
        later.append((partial(name_within, ax, x, y, name, colour), mpl.rcParams["font.size"]))
        return
    points, size = 72 / figure.dpi, mpl.rcParams["font.size"]
    wide, high = breadth(name, size, weight="bold"), 0.6 * size
    end = ax.transData.transform((x, y)) * points
    passed = np.concatenate([_along(line, points) for line in ax.lines]) - end

    def crossed(place):
        left, middle = place
        inside = (passed[:, 0] > left - 2) & (passed[:, 0] < left + wide + 2)
        return np.count_nonzero(inside & (abs(passed[:, 1] - middle) < high))

    right, centred, left = 7.0, -wide / 2, -wide - 7.0
    places = [(right, 10.0), (centred, 16.0), (centred, -16.0), (right, -12.0), (left, 12.0), (left, -12.0)]
    best = min(places, key=crossed)  # the first of those that fewest lines cross
    ax.annotate(
        name, (x, y), xytext=best, textcoords="offset points", color=colour, weight="bold", va="center"
    )


def _along(line, points):
    """Return places along a line, at most two points apart, in points."""
    corners = line.get_transform().transform(line.get_xydata()) * points
    parts = [np.linspace(one, two, 2 + int(np.hypot(*(two - one)) / 2)) for one, two in pairwise(corners)]
    return np.concatenate([corners, *parts])


def name_bars(ax, places, names, *, line=16.0) -> None:
    """Write the names of horizontal bars left of the axes, right-aligned, with each line as a text of its own.

    Matplotlib computes where the lines of one text begin from their widths in its own font. A page uses a narrower
    font, in which the right ends of such lines would no longer align.

    Parameters
    ----------
    places : sequence of float
        The y of each bar, in data coordinates.
    names : sequence of list of str
        The lines of each name.
    line : float
        The height of a line, in points.
    """
    ax.set_yticks(places, [""] * len(places))
    for place, lines in zip(places, names, strict=True):
        for i, text in enumerate(lines):
            ax.annotate(
                text, (0, place), xycoords=("axes fraction", "data"), xytext=(-8, line * ((len(lines) - 1) / 2 - i)),
                textcoords="offset points", ha="right", va="center", annotation_clip=False,
            )  # fmt: skip


def spread(places, apart, *, lowest=-inf) -> list[float]:
    """Move increasing positions as little as possible, with neighbours ``apart`` apart and none below ``lowest``.

    Examples
    --------
    >>> spread([0, 1, 50], 10)
    [-4.5, 5.5, 50.0]
    >>> spread([0, 1, 50], 10, lowest=0.0)
    [0.0, 10.0, 50.0]
    """
    # groups of positions that touch: (sum of the places that its members want for the first of them, their number)
    groups = []
    for place in (float(max(place, lowest)) for place in places):
        groups.append((place, 1))
        while len(groups) > 1:
            (first, n), (second, m) = groups[-2:]
            if first / n + apart * n <= second / m:
                break
            groups[-2:] = [(first + second - apart * n * m, n + m)]
    found = [total / n + apart * i for total, n in groups for i in range(n)]
    for i, place in enumerate(found):
        found[i] = max(place, found[i - 1] + apart if i else lowest)
    return found


def note_below(figure, note):
    if not note:
        return
    if (later := getattr(figure.get_figure(root=True), "notes_later", None)) is not None:
        later.append(note)  # panels share one note, which is written later
        return
    lines = folded(note, letters(figure.bbox.width / figure.dpi))
    figure.supxlabel("\n".join(lines), fontsize=NOTE, color=MUTED, x=0.01, ha="left")


def letters(width) -> int:
    """Return how many letters of a note fit into a width in inches."""
    return int(10.4 * width)
