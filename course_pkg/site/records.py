"""All recorded measurements of the topics as one HTML table, which a script of the page sorts and filters."""

import html
from math import prod

from course_pkg import bench
from course_pkg.bench import Limits, Measurement, folder, limit, lookup
from course_pkg.commands import limits
from course_pkg.core import short_name
from course_pkg.core.units import format_time
from course_pkg.paths import recorded_dir
from course_pkg.topics import topics

# heading of a column: whether the column is sorted as numbers
COLUMNS = {
    "topic": False, "device": False, "variant": False, "library": False, "size": True,
    "time": True, "bound": True, "time / bound": True, "T_eff, GB/s": True, "settings": False,
}  # fmt: skip
UNKNOWN = "–"
CHOICES = ("topic", "device", "variant", "library", "size")


def table() -> str:
    """Return the table, with one row for each measurement of each topic on each device."""
    head = "".join(_heading(name, number) for name, number in COLUMNS.items())
    rows = "\n".join(row(m, topic, bounds) for m, topic, bounds in recorded())
    return (
        f'<div class="records-frame" tabindex="0" role="region" aria-label="Measurements">'
        f'<table class="records"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>\n"
    )


def recorded():
    """Yield each recorded measurement with its topic and the limits of its device, or None where these are unknown."""
    for topic in topics():
        found = [bench.recorded(topic, device) for device in folder.devices(recorded_dir(), topic)]
        for one in sorted(found, key=_place):
            bounds = limits.recorded(topic, one.device.slug)
            for m in one.measurements:
                yield m, topic, bounds


def _place(found: bench.Recorded) -> tuple:
    """Return a key that sorts devices: that of the lectures first, then other GPUs, then CPUs."""
    return found.device.slug != folder.DEFAULT_DEVICE, found.device.kind != "gpu", found.device.name


def row(m: Measurement, topic: str, bounds: Limits | None) -> str:
    """Return a measurement as a row of the table.

    A cell shows a dash if memory does not bound the measurement, or if its bytes are unknown.

    Parameters
    ----------
    m : Measurement
    topic : str
    bounds : Limits or None
        The limits of its device.
    """
    bounded = bounds is not None and m.cost is not None and m.cost.bytes and m.cache_state != limit.WARM
    bound_s, over = (m.bound_s(bounds.stream), m.over_bound(bounds.stream)) if bounded else (None, None)
    size = next((m.parameters[key] for key in ("n", "shape") if key in m.parameters), 0)
    cells = [
        (topic, None),
        (short_name(m.device.name), None),
        (lookup.function_name(m), None),
        (m.library, None),
        (lookup.size_of(m), prod(size) if isinstance(size, list) else size),
        (format_time(m.median_s), m.median_s),
        (format_time(bound_s) if bounded else UNKNOWN, bound_s),
        (f"{over:.2f}×" if bounded else UNKNOWN, over),
        (UNKNOWN if m.t_eff_gb_s is None else f"{m.t_eff_gb_s:,.0f}", m.t_eff_gb_s),
        (
            lookup.settings_of(m),
            None,
        ),  # least important, so last: in a narrow window, the last column is cut off
    ]
    return f"<tr>{''.join(_cell(text, value) for text, value in cells)}</tr>"


def _heading(name: str, number: bool) -> str:
    marks = (" data-number" if number else "") + (" data-choice" if name in CHOICES else "")
    return f'<th scope="col"{marks}>{name}</th>'


def _cell(text: str, value: float | None) -> str:
    number = (
        f' data-value="{value:.6g}"' if value is not None else ' class="unknown"' if text == UNKNOWN else ""
    )
    text = html.escape(text).replace("_", "_<wbr>")  # in a narrow column, a name breaks between its words
    return f"<td{number}>{text}</td>"
