"""Figures of measurements: sweeps, bars against a bound, samples."""

import textwrap
from itertools import cycle

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from course_pkg.core import Implementation, short_name
from course_pkg.core.units import format_bytes, format_time, or_unknown
from course_pkg.viz.axes import (
    colours_of,
    draw_bound,
    is_panel,
    name_bars,
    name_lines,
    name_within,
    note_below,
    plain_linear,
    plain_log,
    require_costs,
    require_points,
)
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE, GAIN, INK, MEMORY, MUTED, SERIES, WASTED

LABEL_LETTERS = 26  # most letters of a line beside a bar: longer lines would leave too little room for bars


def t_eff_sweep(series, *, t_peak_gb_s=None, caches=(), title="", note="") -> Picture:
    """Draw bandwidth against the bytes of the working set.

    Parameters
    ----------
    series : dict of str to list of Measurement
        One line each; the x axis is the traffic of one call.
    caches : iterable of (name, bytes)
        Capacities, drawn as thin lines.

    Examples
    --------
    >>> from course_pkg.bench import compare
    >>> from course_pkg.core import Cost
    >>> found = compare({"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(64, 64), samples=2)
    >>> t_eff_sweep({"copy": found.measurements}).alt
    'Bandwidth against the bytes moved by one call. copy: ... GB/s at 128 B.'
    """

    require_points(series)
    require_costs(m for ms in series.values() for m in ms)

    def plot(figure):
        ax = figure.subplots()
        for (name, ms), colour in zip(series.items(), cycle(SERIES), strict=False):
            x = np.array([m.cost.bytes for m in ms])
            ax.semilogx(x, [m.t_eff_gb_s for m in ms], "o-", color=colour, label=name, ms=5)
            low, high = ([m.cost.t_eff_gb_s(m.quantile_s(q)) for m in ms] for q in (0.75, 0.25))
            ax.fill_between(x, low, high, color=colour, alpha=0.18, lw=0)
        top = 1.05 * ax.get_ylim()[1]
        for name, size in caches:
            ax.axvline(size, color=MUTED, lw=1, ls=":")
            ax.annotate(
                name, (size, 1), xycoords=("data", "axes fraction"), xytext=(0, 4), textcoords="offset points",
                color=MUTED, ha="center", va="bottom",
            )  # fmt: skip
        ends = [
            (ms[-1].t_eff_gb_s, name, colour)
            for (name, ms), colour in zip(series.items(), cycle(SERIES), strict=False)
        ]
        if t_peak_gb_s:
            draw_bound(ax, t_peak_gb_s)
            ends.append((t_peak_gb_s, f"T_peak {t_peak_gb_s:,.0f}", BOUND))
        ax.set_ylim(0, top)
        ax.set(xlabel="bytes moved by one call", ylabel="GB/s", title=title)
        plain_linear(ax.yaxis)
        ax.xaxis.set_major_locator(LogLocator(base=64 if is_panel(figure) else 8, numticks=20))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: format_bytes(v)))
        note_below(figure, note)
        name_lines(ax, ends)

    series = {str(name): ms for name, ms in series.items()}  # an implementation is drawn by its label
    ends = "; ".join(
        f"{n}: "
        + ", ".join(f"{m.t_eff_gb_s:,.1f} GB/s at {format_bytes(m.cost.bytes)}" for m in (ms[0], ms[-1]))
        for n, ms in series.items()
    )
    return draw(plot, f"Bandwidth against the bytes moved by one call. {ends}. {note}", size=(8.6, 4.0))


def bars(comparison, *, bound="T_peak", title="", note="") -> Picture:
    """Draw the bound, and T_eff and the throughput of all moved bytes for each variant of a comparison.

    A variant without a known number of moved bytes has no bar. If the bound is not T_peak, pass its name. It may be,
    for example, the copy of a grid of the variants' size.

    Examples
    --------
    >>> from course_pkg.bench import compare
    >>> from course_pkg.core import Cost
    >>> found = compare({"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(64, 64), samples=2)
    >>> bars(found).alt
    'copy: ... GB/s moved.'
    """
    rows = list(comparison.measurements)

    def plot(figure):
        ax = figure.subplots()
        y = np.arange(len(rows))[::-1]
        moved, needed = ([v or 0 for v in column] for column in zip(*map(_throughputs, rows), strict=True))
        widest = max([*moved, comparison.t_peak_gb_s or 0]) or 1
        if moved != needed:  # the legend names only what is visible
            ax.barh(y, moved, color=WASTED, height=0.62, label="all bytes moved")
        ax.barh(y, needed, color=MEMORY, height=0.62, label="T_eff: bytes that had to move")
        for yi, m in zip(y, rows, strict=True):
            ax.annotate(format_time(m.median_s), (1.02 * widest, yi), xytext=(4, 0), textcoords="offset points",
                        va="center", weight="bold")  # fmt: skip
        if comparison.t_peak_gb_s:
            ax.axvline(
                comparison.t_peak_gb_s,
                color=BOUND,
                lw=2.5,
                ls="--",
                label=f"{bound} {comparison.t_peak_gb_s:,.0f} GB/s",
            )
        name_bars(ax, y, _in_lines([m.what for m in rows]))
        ax.grid(axis="y", visible=False)
        ax.set_xlim(0, widest * 1.17)
        ax.set(xlabel="GB/s", title=title)
        plain_linear(ax.xaxis)
        figure.legend(loc="outside upper center", ncols=1 if is_panel(figure) else 3)
        note_below(figure, note)

    listed = "; ".join(
        f"{m.label}: {format_time(m.median_s)}, T_eff {or_unknown(needed, ',.0f')} of {or_unknown(moved, ',.0f')} GB/s "
        "moved"
        for m, (moved, needed) in zip(rows, map(_throughputs, rows), strict=True)
    )
    if comparison.t_peak_gb_s:
        listed += f"; {bound}: {comparison.t_peak_gb_s:,.0f} GB/s"
    return draw(plot, f"{title} {listed}. {note}", size=(8.6, 1.75 + 0.62 * len(rows)))


def _in_lines(whats: list[Implementation]) -> list[list[str]]:
    """Break labels into lines: if one label is long, the library of each has a line of its own."""
    if max(len(what.label) for what in whats) <= LABEL_LETTERS:
        return [[what.label] for what in whats]
    broken = (
        (textwrap.wrap(f"{what.words}{',' * bool(what.library)}", LABEL_LETTERS), what) for what in whats
    )
    return [[*lines, what.library] if what.library else lines for lines, what in broken]


def _throughputs(m) -> tuple[float | None, float | None]:
    return m.throughput_gb_s, m.t_eff_gb_s


def flops_sweep(series, *, title="", note="") -> Picture:
    """Draw time against flops per element: flat while memory is the bound, then rising with the arithmetic.

    Parameters
    ----------
    series : dict of str to list of Measurement
        Each with the parameters ``n`` and ``degree``; times are relative to the first one of their line.

    Examples
    --------
    >>> from course_pkg.vector.peak import horner_sweep
    >>> flops_sweep({"this CPU": horner_sweep([1, 4], n=4096, samples=2)}).alt
    '...'
    """

    require_points(series)
    require_costs(m for ms in series.values() for m in ms)
    first = min(round(ms[0].cost.flops / ms[0].parameters["n"]) for ms in series.values())
    colours = colours_of(series)

    def plot(figure):
        ax = figure.subplots()
        for name, ms in series.items():
            flops = [m.cost.flops / m.parameters["n"] for m in ms]
            ax.loglog(flops, [m.median_s / ms[0].median_s for m in ms], "o-", color=colours[name], label=name)
        ax.axhline(1, color=BOUND, lw=2, ls="--")
        ax.set(
            xlabel="flops for each element (one read, one write)",
            ylabel=f"time, relative\nto {first} flops",
            title=title,
        )
        plain_log(ax.xaxis, base=2)
        plain_log(ax.yaxis, base=2)
        lowest = min(m.median_s / ms[0].median_s for ms in series.values() for m in ms)
        ax.set_ylim(min(0.5, 0.8 * lowest), max(4, 1.5 * ax.get_ylim()[1]))
        least, most = ax.get_ylim()  # a name stands at its line's end, or at the edge if that lies outside
        ends = {
            n: (ms[-1].cost.flops / ms[-1].parameters["n"], ms[-1].median_s / ms[0].median_s)
            for n, ms in series.items()
        }
        furthest = max(x for x, _ in ends.values())
        within = {name: (x, y) for name, (x, y) in ends.items() if x < 0.9 * furthest and least < y < most}
        others = [
            (min(max(y, least), most), name, colours[name])
            for name, (_, y) in ends.items()
            if name not in within
        ]
        note_below(figure, note)
        name_lines(ax, others)
        for name, end in within.items():
            name_within(ax, *end, name, colours[name])

    listed = "; ".join(
        f"{n}: "
        + ", ".join(
            f"{m.cost.flops / m.parameters['n']:.0f} flops {m.median_s / ms[0].median_s:.2f}×" for m in ms
        )
        for n, ms in series.items()
    )
    return draw(plot, f"Time relative to {first} flops per element. {listed}. {note}", size=(11.0, 3.6))


def samples(measurements, *, title="", note="") -> Picture:
    """Draw every sample of each measurement in the order taken, with minimum and median.

    Where measurements of one label come from several devices, the title of each panel names its device.

    Examples
    --------
    >>> from course_pkg.bench import compare
    >>> from course_pkg.core import Cost
    >>> found = compare({"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(64, 64), samples=2)
    >>> samples(found.measurements).alt
    'Every sample in order. copy: minimum ..., median ..., mean ...'
    """
    measurements = list(measurements)
    require_points({"samples": measurements})
    alike = len({m.label for m in measurements}) < len(measurements)
    titles = [f"{m.label}\n{short_name(m.device.name)}" if alike else m.label for m in measurements]

    def plot(figure):
        axes = figure.subplots(1, len(measurements), squeeze=False)[0]
        for ax, m, panel in zip(axes, measurements, titles, strict=True):
            t = np.array(m.samples_s) * 1e3
            ax.plot(t, "o", color=MEMORY, alpha=0.65)
            levels = {"mean": t.mean(), "median": np.median(t), "minimum": t.min()}
            for (name, value), colour in zip(levels.items(), (COMPUTE, INK, GAIN), strict=True):
                ax.axhline(value, color=colour, lw=2, label=name)
            told = "\n".join(f"{name} {value:.3g} ms" for name, value in levels.items())
            ax.set(xlabel=f"sample\n{told}", ylabel="ms", title=panel, ylim=(0, 1.1 * t.max()))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        note_below(figure, note)

    listed = "; ".join(
        f"{panel}: minimum {format_time(m.min_s)}, median {format_time(m.median_s)}, "
        f"mean {format_time(np.mean(m.samples_s))}"
        for m, panel in zip(measurements, titles, strict=True)
    )
    return draw(plot, f"{title} Every sample in order. {listed}. {note}", size=(8.6, 4.4))
