"""What the axes of several figures share."""

from functools import partial
from itertools import cycle
from math import inf

import matplotlib as mpl
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from course_pkg.core import CourseError
from course_pkg.viz.strip import folded
from course_pkg.viz.style import BOUND, MUTED, SERIES

LOWEST = 6.0  # points above the axis: where the lowest name beside it may stand
NOTE = 13  # the size of a note's letters, in points
RAISED = str.maketrans(
    "-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
)  # as text: Matplotlib takes longer to typeset a power than to draw its curve


def plain_log(axis, base=10):
    axis.set_major_locator(LogLocator(base=base, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())


def colours_of(names, among=None) -> dict[str, str]:
    """Return the colour of each series.

    Parameters
    ----------
    names : iterable of str
        Of the series of one picture.
    among : sequence of str, optional
        Of all series that pictures of a slider or of a lecture may have: each has the same colour in all of them.

    Raises
    ------
    CourseError
        If a name is not among them.

    Examples
    --------
    >>> colours_of(["H200"], among=["H100", "H200"]) == {"H200": SERIES[1]}
    True
    """
    names = list(names)
    among = names if among is None else list(among)
    if strangers := sorted(set(names) - set(among)):
        raise CourseError(f"{', '.join(strangers)} has no colour: name it among {', '.join(among)}.")
    found = dict(zip(among, cycle(SERIES), strict=False))
    return {name: found[name] for name in names}


def require_points(series) -> None:
    """Check that there is at least one line, and that each line has a point."""
    if not series or not all(series.values()):
        raise CourseError("There is nothing to draw: pass at least one line with at least one measurement.")


def draw_bound(ax, value) -> None:
    """Draw a bound on y as a dashed line; :func:`name_lines` writes its name."""
    ax.axhline(value, color=BOUND, lw=2, ls="--")


def name_lines(ax, ends, *, apart=17.0) -> None:
    """Write the names of lines right of the axes, each at the height at which its line ends, and none on another.

    None stands so low that it would be read with the numbers below the axis.

    Call it last: when the limits of y are final, and the note and the axes' words have taken their room.

    Parameters
    ----------
    ends : sequence of (float, str, str)
        Where each line ends, in data, its name and its colour.
    apart : float
        The least distance of two names in points.
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


def name_bars(ax, places, names, *, line=16.0) -> None:
    """Write the names of horizontal bars left of the axes, each flush with them, line by line.

    Matplotlib writes lines of one text from the left, at places that it computes with its own font: in the narrower
    font of a page they would not end together.

    Parameters
    ----------
    places : sequence of float
        Where each bar lies, in data.
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
    """Return rising places, moved as little as needed so that each two are so far apart, and none is below the lowest.

    Examples
    --------
    >>> spread([0, 1, 50], 10)
    [-4.5, 5.5, 50.0]
    >>> spread([0, 1, 50], 10, lowest=0.0)
    [0.0, 10.0, 50.0]
    """
    groups = []  # of places that touch: the sum of where their first would like to be, and how many they are
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
        later.append(note)  # of a panel: all panels have one note
        return
    lines = folded(note, letters(figure.bbox.width / figure.dpi))
    figure.supxlabel("\n".join(lines), fontsize=NOTE, color=MUTED, x=0.01, ha="left")


def letters(width) -> int:
    """Return how many letters of a note fit into so many inches."""
    return int(10.4 * width)
