"""Figures of machines: the roofline and the memory wall."""

import numpy as np
from matplotlib.ticker import MultipleLocator

from course_pkg.core import CourseError
from course_pkg.viz.axes import plain_log, spread
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE, INK, MEMORY, MUTED, SERIES, WASTED

# of the memory wall's labels: the width of a letter, and the way from a point to its label
YEARS_PER_LETTER, YEARS_TO_LABEL = 0.25, 0.35
LETTER = 6.5  # points: width of a letter of a roofline's labels
CLOSE = 0.7  # a point above this share of the slope has its name above the slope


def roofline(machine, points=(), *, dtype="float64", title="") -> Picture:
    """Draw the roofline of a machine with kernels on it.

    Parameters
    ----------
    machine : Machine
    points : iterable of (name, intensity, gflop_s)
        Intensity in flop/byte, achieved rate in GFLOP/s (None puts the point on the roof).

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> roofline(machine("h200")).alt
    'Roofline of H200 SXM: a slope of 4,800 GB/s meets the peak of 34,000 GFLOP/s at 7.08 flop per byte.'
    """
    roof = _Roof(machine, points, dtype)

    def plot(figure):
        ax = figure.subplots()
        roof.plot(ax, title)
        _name_points(figure, [(ax, roof)])

    return draw(plot, roof.alt, size=(11.0, 4.0))


def rooflines(roofs, *, dtype="float64") -> Picture:
    """Draw the rooflines of several machines side by side, on the same axes, each with its name above.

    Parameters
    ----------
    roofs : iterable of (Machine, points)
        As for :func:`roofline`.

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> picture = rooflines([(machine("h100-sxm"), []), (machine("h200"), [("triad", 1 / 12, 364.9)])])
    >>> picture.alt.count("Roofline of"), "triad at 0.0833 flop/byte, 365 GFLOP/s" in picture.alt
    (2, True)
    """
    drawn = [_Roof(machine, points, dtype) for machine, points in roofs]
    if not drawn:
        raise CourseError("There is no machine to draw: pass at least one.")

    def plot(figure):
        panels = figure.subplots(1, len(drawn), sharex=True, sharey=True, squeeze=False)[0]
        for panel, roof in zip(panels, drawn, strict=True):
            roof.plot(panel, roof.machine.name, headroom=8)
            panel.label_outer()
        _name_points(figure, zip(panels, drawn, strict=True))

    return draw(plot, " ".join(roof.alt for roof in drawn), size=(5.7 * len(drawn), 4.4))


class _Roof:
    """A machine's roof, and where kernels lie under it."""

    def __init__(self, machine, points, dtype):
        points = list(points)
        for name, intensity, rate in points:
            if not intensity > 0 or (rate is not None and not rate > 0):
                raise CourseError(
                    f"{name} has no place under a roof: intensity and rate must be positive numbers."
                )
        self.machine = machine
        self.ridge, self.peak = machine.ridge(dtype), machine.peak_gflop_s(dtype)
        self.points = [
            (n, x, y if y is not None else float(machine.attainable_gflop_s(x, dtype))) for n, x, y in points
        ]

    @property
    def alt(self) -> str:
        where = "; ".join(f"{n} at {x:.3g} flop/byte, {y:,.0f} GFLOP/s" for n, x, y in self.points)
        return (
            f"Roofline of {self.machine.name}: a slope of {self.machine.t_peak_gb_s:,.0f} GB/s meets the peak of "
            f"{self.peak:,.0f} GFLOP/s at {self.ridge:.3g} flop per byte."
            + (f" Points: {where}." if where else "")
        )

    def plot(self, ax, title, headroom=3):
        machine, ridge, peak = self.machine, self.ridge, self.peak
        source = "measured" if machine.measured_bandwidth_gb_s else "datasheet"
        left = min([0.02, *(x / 2 for _, x, _ in self.points)])
        right = max([ridge * 40, *(2 * x for _, x, _ in self.points)])
        slope = np.geomspace(left, ridge, 50)
        ax.loglog(slope, slope * machine.t_peak_gb_s, color=MEMORY, lw=3.5)
        ax.loglog([ridge, right], [peak, peak], color=COMPUTE, lw=3.5)
        ax.annotate(f"ridge: {ridge:.3g} flop/byte", (ridge, left * machine.t_peak_gb_s), xytext=(6, 0),
                    textcoords="offset points", color=MUTED, va="bottom")  # fmt: skip
        ax.text(
            0.02,
            0.93,
            f"memory: {machine.t_peak_gb_s:,.0f} GB/s, {source}",
            transform=ax.transAxes,
            color=MEMORY,
            weight="bold",
        )
        ax.text(
            right,
            peak * 1.12,
            f"compute: {_rate(peak)}, datasheet",
            color=COMPUTE,
            ha="right",
            va="bottom",
            weight="bold",
        )
        for _, x, y in self.points:
            ax.plot(x, y, "o", color=INK, ms=9, zorder=5)
        low, top = (
            ax.get_ylim()[0],
            peak * headroom,
        )  # room for two labels, one above the other in a narrow panel
        ax.plot([ridge, ridge], [low, peak], color=MUTED, lw=1, ls=":")  # to the roof; a label is above
        ax.set_ylim(low, top)
        ax.set(xlabel="arithmetic intensity, flop/byte", ylabel="GFLOP/s", title=title)
        plain_log(ax.xaxis)
        plain_log(ax.yaxis)


def _name_points(figure, panels):
    """Name the points of each roof so that no name overlaps slope or ridge; the axes must have their places."""
    figure.get_layout_engine().execute(figure)
    for ax, roof in panels:
        wide = (
            figure.get_figwidth() * 72 * ax.get_position().width / np.log10(np.divide(*ax.get_xlim()[::-1]))
        )
        for name, x, y in roof.points:
            to_ridge = wide * np.log10(roof.ridge / x)  # in points
            crosses = 0 < to_ridge < 9 + LETTER * len(name)
            beside = {"xytext": (9, -14)}
            if crosses and y > CLOSE * x * roof.machine.t_peak_gb_s:
                beside = {"xytext": (-9, 9), "ha": "right"}  # above the slope, which falls to the left
            elif crosses:  # the ridge stops at a name
                beside["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            ax.annotate(name, (x, y), textcoords="offset points", **beside)


def memory_wall(machines, *, dtype="float64") -> Picture:
    """Plot the balance of machines, the flops that each can do while it moves one number, against their year.

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> memory_wall([machine("h200")]).alt
    'Flops that a machine can do for each float64 number it moves, by year: H200 SXM (2024) 57.'
    """
    machines = list(machines)
    if not machines:
        raise CourseError("There is no machine to draw: pass some of catalogue().values().")

    def plot(figure):
        ax = figure.subplots()
        for m in machines:
            cpu, flagship = m.kind == "cpu", m.fp64_gflop_s * 3 > m.fp32_gflop_s or m.year < 2016
            colour = WASTED if cpu else COMPUTE if flagship else SERIES[3]
            ax.semilogy(m.year, m.balance(dtype), "s" if cpu else "o", color=colour, ms=10)
        for marker, colour, label in (
            ("o", COMPUTE, "GPU for computing"),
            ("o", SERIES[3], "GPU with little fp64"),
            ("s", WASTED, "CPU"),
        ):
            ax.plot([], [], marker, color=colour, ms=10, label=label)
        ax.axhline(1, color=BOUND, lw=1.5, ls="--")
        ax.text(
            machines[0].year - 0.8, 1.09, "one flop per number: memory keeps up", color=MUTED, va="bottom"
        )
        ax.set(xlabel="year", ylabel=f"flops for each {dtype} moved")
        ax.set_xlim(machines[0].year - 1, machines[-1].year + 2.5)
        ax.set_ylim(0.8, 200)
        _label_beside(ax, [(m.year, m.balance(dtype), m.short) for m in machines])
        plain_log(ax.yaxis)
        ax.xaxis.set_major_locator(MultipleLocator(2))
        figure.legend(loc="outside upper center", ncols=3)

    listed = ", ".join(f"{m.name} ({m.year}) {m.balance(dtype):.0f}" for m in machines)
    return draw(
        plot,
        f"Flops that a machine can do for each {dtype} number it moves, by year: {listed}.",
        size=(8.6, 4.1),
    )


def _label_beside(ax, points):
    """Put each label right of its point, or left of it where the next point to the right is in the way.

    Labels that share a part of the x axis are spread, so that none lies on another.
    """
    scale = 215 / np.log(ax.get_ylim()[1] / ax.get_ylim()[0])  # points of the figure for a factor of e
    columns: list[list] = []
    for x, y, text in points:
        left = any(0 < px - x <= 3.2 and max(py / y, y / py) < 1.35 for px, py, _ in points)
        wide = YEARS_PER_LETTER * len(f"{text}: {y:.0f}")
        near, far = YEARS_TO_LABEL - YEARS_PER_LETTER, YEARS_TO_LABEL + wide  # a letter apart
        start, end = (x - far, x - near) if left else (x + near, x + far)
        met = [c for c in columns if any(start < b and a < end for a, b, *_ in c)]
        columns = [c for c in columns if c not in met]
        columns.append([(start, end, scale * np.log(y), x, y, text, left), *(one for c in met for one in c)])
    for column in columns:
        column.sort(key=lambda one: one[2])
        places = spread([place for _, _, place, *_ in column], 15.5)
        for (_, _, place, x, y, text, left), found in zip(column, places, strict=True):
            ax.annotate(
                f"{text}: {y:.0f}", (x, y), xytext=(-9 if left else 9, found - place), textcoords="offset points",
                ha="right" if left else "left", va="center",
            )  # fmt: skip


def _rate(gflop_s):
    return f"{gflop_s / 1000:,.3g} TFLOP/s" if gflop_s >= 1000 else f"{gflop_s:,.3g} GFLOP/s"
