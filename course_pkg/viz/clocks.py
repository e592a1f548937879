"""The time of each kernel, and the times that memory, caches and instructions would take alone."""

from matplotlib.colors import to_rgba

from course_pkg.core import CourseError
from course_pkg.core.units import format_time
from course_pkg.viz.axes import note_below, plain_linear
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE, GOLD, INK, MEMORY, MEMORY_WRITE, WASTED

COLOURS = {"memory": MEMORY, "L2": MEMORY_WRITE, "L1": GOLD, "issue": COMPUTE}
WIDE, TALL = 0.86, 0.74  # bar heights, where a row is 1: of a kernel's time, and of its clocks together
NARROW = 8.0  # inches


def clock_bars(kernels, *, bound_s=None, bound="copy", note="") -> Picture:
    """Draw the time of each kernel as a grey bar, and in it a bar for each of its clocks.

    A clock that fills the grey bar binds the kernel. If no clock fills it, the warps spend part of the time waiting.

    Parameters
    ----------
    kernels : dict of str to (float, dict)
        For each kernel, its time in seconds and the share of this time that each clock needs alone, by the clock's
        name: memory, L2, L1 or issue. Clocks that were not counted are listed beside the time.
    bound_s : float, optional
        A time that is drawn dashed and named ``bound``.

    Raises
    ------
    CourseError
        If there is no kernel, or a clock has another name.

    Examples
    --------
    >>> clock_bars({"flat": (2e-6, {"memory": 0.8, "issue": 0.5})}, bound_s=1e-6).alt
    'flat: 2.00 µs, of which memory 80%, issue 50%, not counted: L2, L1; copy: 1.00 µs.'
    """
    if not kernels:
        raise CourseError("There is nothing to draw: pass at least one kernel.")
    strange = {name for _, shares in kernels.values() for name in shares} - set(COLOURS)
    if strange:
        raise CourseError(f"{', '.join(sorted(strange))}: a clock is one of {', '.join(COLOURS)}.")

    def plot(figure):
        ax = figure.subplots()
        longest = max(time_s for time_s, _ in kernels.values()) * 1e6
        for row, (time_s, shares) in enumerate(kernels.values()):
            # the bar is pale, so that the clocks stand out; its edge makes it visible
            pale = {"facecolor": to_rgba(WASTED, 0.3), "edgecolor": WASTED, "linewidth": 1.2}
            ax.barh(row, time_s * 1e6, height=WIDE, label=None if row else "time", **pale)
            ax.text(time_s * 1e6 + 0.012 * longest, row, format_time(time_s), va="center", weight="bold")
            if missing := _missing(shares):
                ground = {
                    "facecolor": "white",
                    "edgecolor": "none",
                    "pad": 1.5,
                }  # other clocks' bars may lie there
                place = 0.012 * longest, row + TALL / 2
                ax.text(*place, missing, va="bottom", size=12.5, color=INK, bbox=ground)
            thick = TALL / len(COLOURS)
            for place, (name, colour) in enumerate(COLOURS.items()):
                at = row - TALL / 2 + (place + 0.5) * thick
                label = None if row else name
                ax.barh(
                    at, shares.get(name, 0) * time_s * 1e6, color=colour, height=0.86 * thick, label=label
                )
        if bound_s:
            ax.axvline(bound_s * 1e6, color=BOUND, lw=2.5, ls="--", label=f"{bound}, {format_time(bound_s)}")
        ax.set_yticks(range(len(kernels)), list(kernels))
        ax.set_ylim(len(kernels) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_xlim(0, 1.14 * longest)
        ax.set(xlabel="µs")
        plain_linear(ax.xaxis)
        entries = len(COLOURS) + 1 + bool(bound_s)
        rows = 1 if figure.bbox.width / figure.dpi > NARROW else 2  # a panel beside another one is narrow
        figure.legend(
            loc="outside upper center", ncols=-(-entries // rows), columnspacing=1.2, handlelength=1.4
        )
        note_below(figure, note)

    listed = "; ".join(
        f"{name}: {format_time(time_s)}, of which "
        + ", ".join(
            [
                *(f"{clock} {100 * share:.0f}%" for clock, share in shares.items()),
                *filter(None, [_missing(shares)]),
            ]
        )
        for name, (time_s, shares) in kernels.items()
    )
    if bound_s:
        listed += f"; {bound}: {format_time(bound_s)}"
    return draw(plot, f"{listed}. {note}", size=(10.4, 1.45 + 0.6 * len(kernels)))


def _missing(shares) -> str:
    """Return the clocks that were not counted, in words; nothing if all were."""
    names = [name for name in COLOURS if name not in shares]
    return f"not counted: {', '.join(names) if len(names) < len(COLOURS) else 'clocks'}" if names else ""
