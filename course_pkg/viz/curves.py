"""Line plots with a name at the end of each line: residuals against iterations, conditions or bytes against s."""

import matplotlib as mpl

from course_pkg.core import CourseError
from course_pkg.viz.axes import colours_of, name_lines, note_below, plain_log, require_points, thousands
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND

LOGS = ("", "x", "y", "xy")
TEXT = 15.5  # large, because on a slide the picture is shrunk to leave room for text
MISSING = "not recorded"
MANY = 24  # a line with more points than this has no dots: they would touch


def curves_picture(
    series,
    *,
    xlabel,
    ylabel,
    log="",
    lines=None,
    ticks=None,
    yticks=None,
    ylim=None,
    bands=None,
    marks=None,
    among=None,
    height=3.9,
    note="",
) -> Picture:
    """Draw a line for each series, with its name at its end.

    Parameters
    ----------
    series : dict of str to sequence of (float, float)
        Points (x, y) by name, in the order of x. All lines should end at about the same x, because their names stand at
        the right.
        A series without points is listed at the bottom as not recorded, and other lines keep their colours.
    xlabel, ylabel : str
        With units.
    log : str
        Which axes are logarithmic: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    lines : dict of str to float, optional
        Values of y that are drawn dashed, by name: bounds and tolerances.
    ticks, yticks : sequence of float, optional
        Where the axes have numbers.
    ylim : (float, float), optional
        What is shown of y; lines are cut there.
    bands : dict of str to sequence of (float, float, float), optional
        For some of the series, points (x, lowest, highest): the range of y that is as likely as the line,
        shaded around it.
    marks : dict of str to sequence of (float, float), optional
        Single points (x, y), such as published ones; the name of each group stands at the height of its first.
    among : sequence of str, optional
        All series of the pictures in one slider. Pass it if a picture lacks some of them: each then keeps its colour.
    height : float
        Height in inches; the width is 9.6. If several lines of text stand below the figure,
        choose less, so that letters stay large.
    note : str
        Where the numbers come from.

    Raises
    ------
    CourseError
        If there is nothing to draw, an axis is unknown, or a series is not among those that have a colour.

    Examples
    --------
    >>> curves_picture({"CG": [(0, 1.0), (8, 1e-6)]}, xlabel="iterations", ylabel="residual", log="y").alt
    'residual against iterations. CG: from 1 at 0 to 1e-06 at 8.'
    """
    require_points({name: points for name, points in series.items() if points})
    if log not in LOGS:
        raise CourseError(f"log is {log!r}: pass one of {', '.join(map(repr, LOGS))}.")
    lines, bands, marks = lines or {}, bands or {}, marks or {}
    if strangers := sorted(set(bands) - set(series)):
        raise CourseError(f"There is a band of {', '.join(strangers)}, but no line of this name.")
    colours = colours_of(series, among)

    def plot(figure):
        ax = figure.subplots()
        ends, absent = [(y, name, BOUND) for name, y in lines.items()], []
        for name, points in series.items():
            colour = colours[name]
            if not points:
                absent.append((name, colour))
                continue
            ax.plot(*zip(*points, strict=True), "o-" if len(points) <= MANY else "-", color=colour)
            ends.append((points[-1][1], name, colour))
            if name in bands:
                ax.fill_between(*zip(*bands[name], strict=True), color=colour, alpha=0.2, lw=0)
        for name, points in marks.items():
            ax.plot(*zip(*points, strict=True), "D", color=BOUND, ms=8, zorder=4)
            ends.append((points[0][1], name, BOUND))
        for y in lines.values():
            ax.axhline(y, color=BOUND, lw=2, ls="--")
        if "x" in log:
            ax.set_xscale("log")
            plain_log(ax.xaxis)
        if "y" in log:
            ax.set_yscale("log")
            if _fits_plain(series):
                plain_log(ax.yaxis)
        thousands(ax)
        for axis, places in ((ax.xaxis, ticks), (ax.yaxis, yticks)):
            if places is not None:
                axis.set_ticks(list(places), [f"{t:,g}" for t in places])
                axis.set_tick_params(which="minor", length=0)
        ax.tick_params(labelsize=TEXT)
        ax.xaxis.label.set_size(TEXT)
        ax.yaxis.label.set_size(TEXT)
        if ylim is not None:
            ax.set_ylim(*ylim)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        low, high = ax.get_ylim()
        ax.set_ylim(low, high)
        for name, colour in absent:  # in two lines, which take less of the width
            ends += [(low + 1e-3 * (high - low), f"{name}:", colour), (low, MISSING, colour)]
        note_below(figure, note)
        with mpl.rc_context({"font.size": TEXT}):
            name_lines(ax, [(min(max(y, low), high), name, colour) for y, name, colour in ends], apart=20.0)

    told = "; ".join(
        f"{name}: from {_number(p[0][1])} at {_number(p[0][0])} to {_number(p[-1][1])} at {_number(p[-1][0])}"
        if p
        else f"{name}: {MISSING}"
        for name, p in ((name, list(points)) for name, points in series.items())
    )
    dashed = "".join(f" {name}: {_number(y)}." for name, y in lines.items())
    shaded = "".join(
        f" The band of {name} at {_number(b[-1][0])} is from {_number(b[-1][1])} to {_number(b[-1][2])}."
        for name, b in ((name, list(band)) for name, band in bands.items())
    )
    marked = "".join(
        f" {name}: {', '.join(f'{_number(y)} at {_number(x)}' for x, y in points)}."
        for name, points in marks.items()
    )
    return draw(
        plot, f"{ylabel} against {xlabel}. {told}.{dashed}{shaded}{marked} {note}", size=(9.6, height)
    )


def _fits_plain(series):
    """Return whether the values are readable as plain numbers, without powers of ten."""
    values = [y for points in series.values() for _, y in points]
    return min(values) >= 1e-3 and max(values) <= 1e5


def _number(value):
    return f"{value:.3g}"
