"""Several quantities of several things, each relative to the same quantity of the first thing."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.viz.axes import colours_of, is_panel, note_below
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND

LETTER = 0.0125  # width of a letter of a label, as a share of the axes' width


def relative_bars(quantities, *, xlabel, title="", note="", said=None) -> Picture:
    """Draw a bar for each quantity of each thing: its ratio to the same quantity of the first thing.

    Parameters
    ----------
    quantities : dict of str to dict of str to float
        By name of the quantity, its positive value for each thing. All have the same things, in the same order.
    xlabel : str
        What 1 means.
    said : callable, optional
        Writes a value, such as ``format_time``: it then stands beside its bar, too.

    Raises
    ------
    CourseError
        If there is nothing to draw, or a quantity lacks a thing, or a value is not positive.

    Examples
    --------
    >>> relative_bars({"bytes": {"a": 8, "b": 16}, "time": {"a": 1e-3, "b": 3e-3}}, xlabel="times a").alt
    'bytes: a 1.00, b 2.00; time: a 1.00, b 3.00 (times a).'
    >>> relative_bars({"time": {"a": 8, "b": 1200}}, xlabel="times a", said="{} s".format).alt
    'time: a 1.00 (8 s), b 150 (1200 s) (times a).'
    """
    things = list(next(iter(quantities.values()), {}))
    if not things:
        raise CourseError("There is nothing to draw: pass at least one quantity of one thing.")
    for name, values in quantities.items():
        if list(values) != things or not all(v > 0 for v in values.values()):
            raise CourseError(
                f"{name} needs a positive value for each of {', '.join(things)}, in this order."
            )
    colours = colours_of(quantities)
    relative = {name: [values[t] / values[things[0]] for t in things] for name, values in quantities.items()}

    def plot(figure):
        ax = figure.subplots()
        height = 0.8 / len(relative)
        most = (1.25 if said else 1.12) * max(map(max, relative.values()))
        for k, (name, values) in enumerate(relative.items()):
            y = np.arange(len(things))[::-1] + (0.5 * (len(relative) - 1) - k) * height
            ax.barh(y, values, color=colours[name], height=0.9 * height, label=name)
            for yi, thing, value in zip(y, things, values, strict=True):
                label = f"{_times(value)}×" + (f", {said(quantities[name][thing])}" if said else "")
                # beside the bar, or right of the line at 1 if that line would cross the label
                at = 1 if value < 1 < value + LETTER * most * len(label) else value
                beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 13}
                ax.annotate(label, (at, yi), **beside)
        ax.axvline(1, color=BOUND, lw=1)
        ax.set_yticks(np.arange(len(things))[::-1], things)
        ax.grid(visible=False)  # each bar has its number, and no line passes behind it
        beside = 0.13 if is_panel(figure) else 0.0  # more room for the last number
        ax.set_xlim(0, (1 + beside) * most)
        ax.set(xlabel=xlabel, title=title)
        if len(relative) > 1:
            figure.legend(loc="outside upper center", ncols=min(4, len(relative)))
        note_below(figure, note)

    told = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{t} {_times(value)}" + (f" ({said(quantities[name][t])})" if said else "")
            for t, value in zip(things, values, strict=True)
        )
        for name, values in relative.items()
    )
    rows = len(things) * len(relative)
    return draw(
        plot,
        f"{title} {told} ({xlabel}). {note}",
        size=(9.6, max(2.95, 1.6 + 0.27 * rows) if len(relative) > 1 else 1.25 + 0.5 * rows),
    )


def _times(value) -> str:
    """Write a factor with three digits."""
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"
