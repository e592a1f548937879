"""Tables of recorded measurements; on a computer with a GPU, the table also has a measurement on that GPU."""

from collections.abc import Callable, Iterable, Mapping

from course_pkg.bench import device as devices
from course_pkg.bench.measurement import Measurement
from course_pkg.core import CourseError, Variant, short_name
from course_pkg.core.sources import THIS_MACHINE, OfDevice
from course_pkg.core.table import Table
from course_pkg.core.units import format_time, or_unknown


class Live(Table):
    """A table of measurements, with the measurements themselves for a picture in place of the table.

    Attributes
    ----------
    by_device : dict of str to list of Measurement
        ``"this GPU"`` first, if it was measured, then each recorded device by its short name.
    """

    def __init__(self, rows, caption, by_device):
        super().__init__(rows, caption)
        self.by_device = by_device


def live(
    measure: Callable[[], Iterable[Measurement]],
    recorded: Iterable[Measurement],
    titles: Mapping[Variant, str] | None = None,
) -> Live:
    """Return a table of recorded measurements and, if there is a GPU, of the same measurements on it.

    Without a GPU, ``measure`` is not called. If it fails because memory or a package is missing, the table says so and
    shows the recorded measurements.

    Parameters
    ----------
    measure : callable
        Measures on this machine's GPU, in a few seconds.
    recorded : iterable of Measurement
        Measurements of the same variants on other devices.
    titles : dict of Variant to str, optional
        What the lecture calls each variant: its ``title``, or what its ``titled`` returns. Other rows have the label of
        the measurement.

    Raises
    ------
    CourseError
        If there is nothing recorded.
    AssertionError
        If a result that was measured here is wrong.

    Examples
    --------
    >>> from course_pkg.bench import recorded
    >>> from course_pkg.core import Implementation
    >>> triad = recorded("vector").one(Implementation("triad", "", "Numba CUDA"), n=2**26)
    >>> live(lambda: [], [triad]).rows[-1]["where"]
    'NVIDIA H200, recorded'
    >>> list(live(lambda: [], [triad]).by_device)
    ['H200, recorded']

    >>> from course_pkg.stencil.variants import VARIANTS
    >>> tiled = VARIANTS["laplacian_tiled"]
    >>> found = recorded("stencil").one(tiled.by("Numba CUDA"), shape=[512] * 3, dtype="float64")
    >>> live(lambda: [], [found], {tiled: tiled.title}).rows[0]["what"]
    'tiled'
    """
    recorded = list(recorded)
    if not recorded:
        raise CourseError("There is nothing recorded to show: pass at least one recorded measurement.")
    here, why = [], "No GPU here."
    if devices.gpu().kind == "gpu":
        try:
            here = list(measure())
            why = f"Measured on this machine's {devices.gpu().name}, beside what was recorded."
        except (CourseError, ImportError, MemoryError) as error:
            why = f"Not measured on this machine's {devices.gpu().name}: {error}"
    names = _names([*here, *recorded], titles or {})
    rows = [_row(m, names, THIS_MACHINE) for m in here] + [_row(m, names, "recorded") for m in recorded]
    order = {label: i for i, label in enumerate(dict.fromkeys(row["what"] for row in rows))}
    rows.sort(key=lambda row: order[row["what"]])  # rows of the same work are adjacent, this machine's first
    by_device = {OfDevice("this GPU", THIS_MACHINE): here} if here else {}
    for m in recorded:
        name = short_name(m.device.name)
        by_device.setdefault(OfDevice(f"{name}, recorded", name), []).append(m)
    return Live(rows, f"{why} {_origins(recorded)}", by_device)


def _names(measurements, titles) -> dict[int, str]:
    """Name each measurement by its title or label, plus the parameters in which those of the same label differ."""
    titles = {(variant.operation, variant.name): title for variant, title in titles.items()}
    named = {}
    for m in measurements:
        alike = [other.parameters for other in measurements if other.label == m.label]
        differ = [k for k, v in m.parameters.items() if any(other.get(k, v) != v for other in alike)]
        values = (
            f"{m.parameters[k]:,}" if isinstance(m.parameters[k], int) else m.parameters[k] for k in differ
        )
        said = (f"{k}\u00a0=\u00a0{value}" for k, value in zip(differ, values, strict=True))
        named[id(m)] = ", ".join((titles.get((m.operation, m.variant), m.label), *said))
    return named


def _row(m, names, how) -> dict:
    return {
        "what": names[id(m)],
        "where": f"{m.device.name}, {how}",
        "time": format_time(m.median_s),
        "spread": f"{m.spread:.1%}",
        "T_eff GB/s": or_unknown(m.t_eff_gb_s, ",.0f"),
    }


def _origins(recorded) -> str:
    days: dict[str, set[str]] = {}
    for m in recorded:
        days.setdefault(m.device.name, set()).add(m.date)
    return "Recorded on " + "; on ".join(
        f"{name}, {' and '.join(sorted(dates))}" for name, dates in days.items()
    ) + "."  # fmt: skip
