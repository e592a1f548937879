"""How close a measurement is to the limit set by memory: time / bound, and the speed-up that is left to gain.

The *bound* of a measurement is the time in which a plain stream moves as many bytes as the measured variant. The
speed-up *left to gain* is T_peak / T_eff; it includes the gain from bytes that another algorithm would not move. The
share *of T_peak* is the rate at which the variant moves its bytes, divided by T_peak. T_peak and the stream's bandwidth
are both measured.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from course_pkg.bench.lookup import describe
from course_pkg.bench.measurement import CACHE_STATES, WARM, Measurement
from course_pkg.core.units import format_time

IN_CACHE = "*"
LEFT, BOUND, SHARE = "left to gain", "time / bound", "of T_peak"
RATES = ("T_eff GB/s", "GFLOP/s")
WIDTHS = {"time": 9, "spread": 7, RATES[0]: 10, SHARE: 9, BOUND: 12, LEFT: 12, RATES[1]: 9}


@dataclass(frozen=True)
class Limits:
    """The two measured bandwidths with which other measurements of a device are compared.

    Attributes
    ----------
    peak : Measurement
        The fastest copy or triad, whose T_eff is T_peak.
    stream : Measurement
        The copy, or on a CPU the triad, whose bandwidth gives the bound.

    Examples
    --------
    >>> from course_pkg.bench import recorded
    >>> vector = recorded("vector")
    >>> copy, triad = vector.one("copy", library="CuPy", n=2**30), vector.one("triad", library="CUDA", n=2**30)
    >>> Limits(triad, copy).row(copy)["left to gain"]
    '1.02×'
    """

    peak: Measurement
    stream: Measurement

    def row(self, m: Measurement) -> dict[str, str]:
        """Return the cells of a measurement: time, spread, T_eff, share of T_peak, time over bound, gain, flops."""
        cells = _cells(m)
        if m.cost is None or not m.cost.bytes:
            return cells | {SHARE: "unknown", BOUND: "unknown", LEFT: "unknown"}
        mark = IN_CACHE if m.cache_state == WARM else ""
        return cells | {
            SHARE: f"{m.throughput_gb_s / self.peak.t_eff_gb_s:.0%}{mark}",
            BOUND: f"{m.over_bound(self.stream):.2f}×{mark}",
            LEFT: f"{self.peak.t_eff_gb_s / m.t_eff_gb_s:.2f}×{mark}",
        }

    def head(self) -> str:
        """Return the lines that state T_peak and the stream's bandwidth, and from which measurements they come."""
        return (
            f"T_peak on {self.peak.device.name}: {_rate(self.peak)}.\n"
            f"Bound of a row: its bytes over {_rate(self.stream)}. Left to gain: T_peak / T_eff. "
            "Of T_peak: bytes / time / T_peak."
        )


def lines(
    measurements: Iterable[Measurement],
    limits: Limits | None,
    among: Iterable[Measurement] = (),
    *,
    rates: bool = True,
) -> Iterator[tuple[str, Measurement | None]]:
    """Yield pairs of a line of a table and its measurement, as soon as the measurement is there.

    For headings and notes, the measurement is None. Without limits, as for times that are not bound by memory, the
    table leaves out the columns that compare with a limit.

    Parameters
    ----------
    among : iterable of Measurement
        All measurements of the run. If variants that do the same work need different bytes, a note says so.
    rates : bool
        Whether the table has columns for bytes and flops per second. For a chain of loads they are meaningless.
    """
    left_out = {*(() if limits else (SHARE, BOUND, LEFT)), *(() if rates else RATES)}
    columns = {name: width for name, width in WIDTHS.items() if name not in left_out}
    if limits:
        yield limits.head(), None
    yield "  ".join(f"{name:>{width}}" for name, width in columns.items()) + "  variant", None
    shown = []
    for m in measurements:
        shown.append(m)
        cells = limits.row(m) if limits else _cells(m)
        yield "  ".join(f"{cells[name]:>{width}}" for name, width in columns.items()) + f"  {named(m)}", m
    if limits and any(m.cache_state == WARM for m in shown):
        yield (
            f"{IN_CACHE} {CACHE_STATES[WARM][0].upper()}{CACHE_STATES[WARM][1:]}: then memory is no bound.",
            None,
        )
    if limits and (operations := _with_different_bytes(shown, among or shown)):
        yield (
            f"Variants of {' and of '.join(operations)} need different bytes, and T_eff counts those of each: what "
            "fewer bytes would gain comes on top.",
            None,
        )


def _with_different_bytes(shown, among) -> list[str]:
    """Return the operations whose variants have different values of A_eff, although they do the same work."""
    needed: dict[tuple, set[int]] = {}
    for m in (m for m in among if m.cost is not None):
        needed.setdefault((m.operation, describe(m)), set()).add(m.cost.a_eff_bytes)
    different = {operation for (operation, _), sizes in needed.items() if len(sizes) > 1}
    return list(dict.fromkeys(m.operation for m in shown if m.operation in different))


def named(m: Measurement) -> str:
    """Return the label of a measurement, followed by its parameters in brackets."""
    what = describe(m)
    return f"{m.label} ({what})" if what else m.label


def _cells(m) -> dict[str, str]:
    """Return the cells that can be computed without limits."""
    return {
        "time": format_time(m.median_s),
        "spread": f"{m.spread:.1%}",
        RATES[0]: _digits(m.t_eff_gb_s),
        RATES[1]: _digits(m.gflop_s),
    }


def _digits(value) -> str:
    return "unknown" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _rate(m) -> str:
    return f"{_digits(m.throughput_gb_s)} GB/s, {named(m)}, {m.date}"
