"""Bars of positive and negative numbers that were found in several ways, such as the coefficients of a fit."""

from itertools import cycle

import numpy as np

from course_pkg.core import CourseError
from course_pkg.viz.axes import note_below
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, SERIES


def signed_bars(series, *, ylabel, note="") -> Picture:
    """Draw upright bars from 0, a group for each name; a number that is exactly 0 is written as 0.

    Parameters
    ----------
    series : dict of str to dict of str to float
        For each way, its numbers by name. All ways have the same names, in the same order.
    ylabel : str
        What is drawn, with its unit.
    note : str
        Where the numbers come from.

    Raises
    ------
    CourseError
        If there is nothing to draw, or the ways differ in their names.

    Examples
    --------
    >>> signed_bars({"free": {"age": -1.5, "bmi": 2.0}, "not negative": {"age": 0.0, "bmi": 1.0}}, ylabel="weight").alt
    'weight. free: age -1.5, bmi 2; not negative: age 0, bmi 1.'
    """
    names = list(next(iter(series.values()), {}))
    if not names:
        raise CourseError("There is nothing to draw: pass at least one way with one number.")
    if any(list(values) != names for values in series.values()):
        raise CourseError(f"Each way needs a number for each of {', '.join(names)}, in this order.")

    def plot(figure):
        ax = figure.subplots()
        wide, at = 0.8 / len(series), np.arange(len(names))
        for k, ((way, values), colour) in enumerate(zip(series.items(), cycle(SERIES), strict=False)):
            x, y = at + (k - (len(series) - 1) / 2) * wide, list(values.values())
            ax.bar(x, y, 0.92 * wide, color=colour, label=way)
            for place, value in zip(x, y, strict=True):
                if value == 0:
                    ax.text(place, 0, "0", color=colour, weight="bold", size=13, ha="center", va="bottom")
        ax.axhline(0, color=BOUND, lw=1)
        ax.set_xticks(at, names)
        ax.grid(axis="x", visible=False)
        ax.set_ylabel(ylabel)
        figure.legend(loc="outside upper center", ncols=len(series))
        note_below(figure, note)

    told = "; ".join(
        f"{way}: " + ", ".join(f"{k} {v:.3g}" for k, v in values.items()) for way, values in series.items()
    )
    return draw(plot, f"{ylabel}. {told}. {note}".strip(), size=(9.6, 4.0))
