"""Check that a record holds what its kind promises. A value of another type would only fail later, in some table.

Each function raises KeyError, TypeError or ValueError; ``document.read`` makes a sentence of it that says what to do.
"""

from collections.abc import Iterable
from datetime import date
from math import inf
from numbers import Real

from course_pkg.bench.measurement import CACHE_STATES


def require_head(head: dict) -> None:
    """Require text in each entry of the head; ``absent`` is a list of texts.

    Examples
    --------
    >>> require_head({"origin": "course bench vector --record", "topic": "vector"})
    """
    for name, value in head.items():
        if name == "absent":
            _require(
                isinstance(value, list) and all(isinstance(one, str) for one in value),
                name,
                "a list of texts",
            )
        else:
            _text(head, name)


def require_device(device: dict) -> None:
    """Require names that are text, sizes that are whole numbers, and versions that are text."""
    for name in ("kind", "name", "driver", "cuda"):
        _text(device, name)
    for name in ("units", "memory_bytes", "llc_bytes"):
        _require(_whole(device[name], least=0), name, "a whole number, and not negative")
    versions = device["versions"]
    _require(
        isinstance(versions, dict) and all(isinstance(one, str) for one in versions.values()),
        "versions",
        "texts by name",
    )


def require_measurement(row: dict) -> None:
    """Require that a row has its names, its date, and samples that are times.

    Examples
    --------
    >>> try:
    ...     require_measurement({"operation": "copy", "variant": "", "library": None})
    ... except TypeError as error:
    ...     print(error)
    library must be text
    """
    for name in ("operation", "variant", "library"):
        _text(row, name)
    _day(row)
    for name in ("samples_s", "warmup_s"):
        times = row[name]
        _require(
            isinstance(times, list) and all(_number(t, above=0) for t in times),
            name,
            "a list of positive numbers",
        )
    _require(bool(row["samples_s"]), "samples_s", "a list of one time or more")
    _require(_whole(row["calls_per_sample"], least=1), "calls_per_sample", "a whole number from 1 on")
    _require(row["cache_state"] in CACHE_STATES, "cache_state", f"one of {', '.join(CACHE_STATES)}")
    for name in ("parameters", "observed"):
        _require(isinstance(row.get(name, {}), dict), name, "values by name")


def require_counted(row: dict, counters: dict) -> None:
    """Require that a row has its case and its date, and that each counter is a finite number."""
    _text(row, "case")
    _day(row)
    if not all(_number(value, above=-inf) for value in counters.values()):
        raise TypeError(f"a counter of {row['case']} is not a number")


def require_once(keys: Iterable[str]) -> None:
    """Require that no two rows have the same key.

    Examples
    --------
    >>> require_once(["copy", "triad"])
    """
    seen = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"two rows of {key}")
        seen.add(key)


def _require(met: bool, name: str, wanted: str) -> None:
    if not met:
        raise TypeError(f"{name} must be {wanted}")


def _text(values: dict, name: str) -> None:
    _require(isinstance(values[name], str), name, "text")


def _day(row: dict) -> None:
    _text(row, "date")
    date.fromisoformat(row["date"])


def _number(value, above: float) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and above < value < inf


def _whole(value, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
