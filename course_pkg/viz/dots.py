"""A dot for each trial, and a line at the value that means that nothing has changed."""

from course_pkg.core import CourseError
from course_pkg.viz.axes import note_below, require_points
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, MEMORY, PINK

MARKS = ((MEMORY, "o"), (PINK, "s"))


def dots_picture(series, *, xlabel, ylabel, line, named, note="") -> Picture:
    """Draw trials as dots, each series with its own colour and shape.

    Parameters
    ----------
    series : dict of str to sequence of (float, float)
        At most two.
    xlabel, ylabel : str
    line : float
        A value of y that is drawn dashed.
    named : str
        What it means.

    Raises
    ------
    CourseError
        If there is nothing to draw, or there are more than two series.

    Examples
    --------
    >>> dots_picture({"plate": [(1, 1.5), (2, 1.2)]}, xlabel="halo", ylabel="time", line=1, named="as before").alt
    'time against halo. plate: 2 dots from 1.20 to 1.50. as before: 1.'
    """
    require_points(series)
    if len(series) > len(MARKS):
        raise CourseError(f"There are marks for {len(MARKS)} series, not for {len(series)}.")

    def plot(figure):
        ax = figure.subplots()
        for (name, points), (colour, mark) in zip(series.items(), MARKS, strict=False):
            ax.plot(*zip(*points, strict=True), mark, color=colour, ms=9, mec="white", label=name)
        ax.axhline(line, color=BOUND, lw=2, ls="--")
        below = {
            "xytext": (0, -6),
            "textcoords": "offset points",
            "va": "top",
            "ha": "right",
            "weight": "bold",
        }
        ax.annotate(named, (0.995, line), xycoords=("axes fraction", "data"), **below)
        highest = max(y for points in series.values() for _, y in points)
        ax.set(
            xlabel=xlabel,
            ylabel=ylabel,
            ylim=(line - 0.2 * (highest - line), highest + 0.06 * (highest - line)),
        )
        figure.legend(loc="outside upper center", ncols=len(series))
        note_below(figure, note)

    listed = "; ".join(
        f"{name}: {len(points)} dots from {min(y for _, y in points):.2f} to {max(y for _, y in points):.2f}"
        for name, points in series.items()
    )
    return draw(plot, f"{ylabel} against {xlabel}. {listed}. {named}: {line:g}. {note}", size=(9.6, 4.2))
