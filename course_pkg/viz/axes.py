"""What the axes of several figures share."""

import textwrap

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from course_pkg.viz.style import MUTED


def plain_log(axis, base=10):
    axis.set_major_locator(LogLocator(base=base, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())


def note_below(figure, note):
    if note:
        width = int(13 * figure.get_figwidth())  # characters of this size that fit
        note = "\n".join(textwrap.fill(line, width) for line in note.splitlines())
        figure.supxlabel(note, fontsize=10.5, color=MUTED, x=0.01, ha="left")
