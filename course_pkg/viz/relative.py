"""Several quantities of several things, each relative to the same quantity of the first thing."""

from itertools import cycle

import numpy as np

from course_pkg.core import CourseError
from course_pkg.viz.axes import note_below
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, SERIES

NARROW = 8.0  # inches, of a panel beside another one


def relative_bars(quantities, *, xlabel, title="", note="") -> Picture:
    """Draw how many times as large each quantity is, compared with that of the first thing.

    Parameters
    ----------
    quantities : dict of str to dict of str to float
        By name of the quantity, its positive value for each thing. All have the same things, in the same order.
    xlabel : str
        What 1 means.

    Raises
    ------
    CourseError
        If there is nothing to draw, or a quantity lacks a thing, or a value is not positive.

    Examples
    --------
    >>> relative_bars({"bytes": {"a": 8, "b": 16}, "time": {"a": 1e-3, "b": 3e-3}}, xlabel="times a").alt
    'bytes: a 1.00, b 2.00; time: a 1.00, b 3.00 (times a).'
    """
    things = list(next(iter(quantities.values()), {}))
    if not things:
        raise CourseError("There is nothing to draw: pass at least one quantity of one thing.")
    for name, values in quantities.items():
        if list(values) != things or not all(v > 0 for v in values.values()):
            raise CourseError(
                f"{name} needs a positive value for each of {', '.join(things)}, in this order."
            )
    relative = {name: [values[t] / values[things[0]] for t in things] for name, values in quantities.items()}

    def plot(figure):
        ax = figure.subplots()
        height = 0.8 / len(relative)
        for k, ((name, values), colour) in enumerate(zip(relative.items(), cycle(SERIES), strict=False)):
            y = np.arange(len(things))[::-1] + (0.5 * (len(relative) - 1) - k) * height
            ax.barh(y, values, color=colour, height=0.9 * height, label=name)
            for yi, value in zip(y, values, strict=True):
                ax.annotate(f"{value:.2f}×", (value, yi), xytext=(5, 0), textcoords="offset points", va="center",
                            fontsize=13)  # fmt: skip
        ax.axvline(1, color=BOUND, lw=1)
        ax.set_yticks(np.arange(len(things))[::-1], things)
        ax.grid(axis="y", visible=False)
        beside = 1.12 if figure.bbox.width / figure.dpi > NARROW else 1.25  # room for the last number
        ax.set_xlim(0, beside * max(map(max, relative.values())))
        ax.set(xlabel=xlabel, title=title)
        if len(relative) > 1:
            figure.legend(loc="outside upper center", ncols=min(4, len(relative)))
        note_below(figure, note)

    told = "; ".join(
        f"{name}: " + ", ".join(f"{t} {value:.2f}" for t, value in zip(things, values, strict=True))
        for name, values in relative.items()
    )
    rows = len(things) * len(relative)
    return draw(
        plot,
        f"{title} {told} ({xlabel}). {note}",
        size=(9.6, max(2.95, 1.6 + 0.27 * rows) if len(relative) > 1 else 1.25 + 0.5 * rows),
    )
