"""What the axes of several figures share."""

import textwrap

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from course_pkg.core import CourseError
from course_pkg.viz.style import BOUND, MUTED


def plain_log(axis, base=10):
    axis.set_major_locator(LogLocator(base=base, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())


def require_points(series) -> None:
    """Check that there is at least one line, and that each line has a point."""
    if not series or not all(series.values()):
        raise CourseError("There is nothing to draw: pass at least one line with at least one measurement.")


def draw_bound(ax, value, label) -> None:
    """Draw a bound on y as a dashed line with its name on it."""
    ax.axhline(value, color=BOUND, lw=2, ls="--")
    ax.annotate(
        label,
        (0.01, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 5),
        textcoords="offset points",
        weight="bold",
    )


def note_below(figure, note):
    if note:
        note = note.replace("`", "")  # a figure has one font, so commands stand without quotes
        width = int(13 * figure.get_figwidth())  # characters of this size that fit
        note = "\n".join(textwrap.fill(line, width) for line in note.splitlines())
        figure.supxlabel(note, fontsize=10.5, color=MUTED, x=0.01, ha="left")
