"""T_eff plotted against any number, such as the size of a grid or the bytes in flight."""

from itertools import cycle

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from course_pkg.core import CourseError
from course_pkg.viz.axes import (
    draw_bound,
    name_lines,
    note_below,
    plain_linear,
    require_costs,
    require_points,
)
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, MUTED, SERIES


def t_eff_against(
    series, *, xlabel, ticks, t_peak_gb_s=None, bound="copy", region=None, base=2, title="", note=""
) -> Picture:
    """Draw T_eff of measurements against a number, on a logarithmic axis.

    Parameters
    ----------
    series : dict of str to list of (float, Measurement)
        One line each, points in the order of the number.
    xlabel : str
        What the number is, with its unit.
    ticks : sequence of float
        Numbers that the axis names.
    t_peak_gb_s : float, optional
        A bound in GB/s, drawn dashed and named ``bound``.
    region : (str, float, float), optional
        A range of the number that is shaded, and its name.

    Examples
    --------
    >>> from course_pkg.bench import compare
    >>> from course_pkg.core import Cost
    >>> found = compare({"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(64, 64), samples=2)
    >>> m = found["copy"]
    >>> t_eff_against({"copy": [(1, m), (2, m)]}, xlabel="threads", ticks=[1, 2]).alt
    '...'
    """
    require_points(series)
    require_costs(m for points in series.values() for _, m in points)
    if not all(x > 0 for points in series.values() for x, _ in points):
        raise CourseError("The axis is logarithmic: every number must be positive.")

    def plot(figure):
        ax = figure.subplots()
        for (name, points), colour in zip(series.items(), cycle(SERIES), strict=False):
            x, y = np.array([(x, m.t_eff_gb_s) for x, m in points]).T
            ax.plot(x, y, "o-", color=colour, label=name, ms=5)
        ax.set_xscale("log", base=base)
        ax.set_ylim(0, 1.08 * max(t_peak_gb_s or 0, ax.get_ylim()[1]))
        if region:
            label, low, high = region
            ax.axvspan(low, high, color=MUTED, alpha=0.13, lw=0)
            ax.annotate(label, (low, 1), xycoords=("data", "axes fraction"), xytext=(4, -2), textcoords="offset points",
                        color=MUTED, fontsize=13, va="top")  # fmt: skip
        if t_peak_gb_s:
            draw_bound(ax, t_peak_gb_s)
        ax.set_xticks(ticks)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set(xlabel=xlabel, ylabel="T_eff, GB/s", title=title)
        plain_linear(ax.yaxis)
        ends = [
            (ms[-1][1].t_eff_gb_s, name, c)
            for (name, ms), c in zip(series.items(), cycle(SERIES), strict=False)
        ]
        if t_peak_gb_s:
            ends.append((t_peak_gb_s, f"{bound} {t_peak_gb_s:,.0f}", BOUND))
        note_below(figure, note)
        name_lines(ax, ends)

    ends = "; ".join(
        f"{name}: {points[0][1].t_eff_gb_s:,.0f} GB/s at {points[0][0]:,.0f}, at most "
        f"{max(m.t_eff_gb_s for _, m in points):,.0f}, {points[-1][1].t_eff_gb_s:,.0f} at {points[-1][0]:,.0f}"
        for name, points in series.items()
    )
    if t_peak_gb_s:
        ends += f"; {bound}: {t_peak_gb_s:,.0f} GB/s"
    if region:
        ends += f"; shaded, {region[0]}: {region[1]:,.0f} to {region[2]:,.0f}"
    return draw(plot, f"T_eff against {xlabel}. {ends}. {note}", size=(11.0, 4.0))
