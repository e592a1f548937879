"""What the axes of several figures share."""

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from course_pkg.viz.style import MUTED


def plain_log(axis, base=10):
    axis.set_major_locator(LogLocator(base=base, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())


def note_below(figure, note):
    if note:
        figure.supxlabel(note, fontsize=10.5, color=MUTED, x=0.01, ha="left")
