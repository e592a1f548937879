"""Store what Nsight Compute counted, counters or traffic: one file per device, with all that is needed to repeat it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from course_pkg.bench import Device, folder
from course_pkg.bench.document import COUNTERS, KINDS, TRAFFIC, Document, counted, keep, read
from course_pkg.core import CourseError
from course_pkg.paths import recorded_dir
from course_pkg.witness.ncu import Collected, Counters

__all__ = [
    "COUNTERS",
    "DEVICE",
    "TRAFFIC",
    "RecordedCounters",
    "how_to_record",
    "load",
    "path_of",
    "record",
    "recorded",
]
DEVICE = folder.DEFAULT_DEVICE


@dataclass(frozen=True)
class RecordedCounters:
    """Counters of cases on one device, and where they come from.

    Attributes
    ----------
    counters : dict
        Counters by the case's name. Looking up a case that was not counted raises a CourseError that says how to count
        it.
    absent : tuple of str
        Metrics that the device did not offer.
    device : Device
    origin : str
        One line for a caption.
    """

    counters: dict[str, Counters]
    absent: tuple[str, ...]
    device: Device
    origin: str


class _Cases(dict):
    """Counters by case; looking up a missing case raises an error that says how to count it."""

    def __init__(self, counters, device: Device, kind: str):
        super().__init__(counters)
        self.device, self.kind = device, kind

    def __missing__(self, case):
        raise CourseError(
            f"{self.device.name} has not counted {case}: on such a GPU, run `{how_to_record(case, self.kind)}`."
        )


def record(collected: Collected, device: Device, folder: Path, *, origin: str, kind: str = COUNTERS) -> Path:
    """Write counters to ``folder/<device>/<kind>.json`` and return the path.

    Counted cases replace recorded ones of the same name or are added to them. A file never mixes counters from two
    drivers, compilers or versions of the tool.

    Parameters
    ----------
    origin : str
        The command that makes the whole record.
    kind : str
        ``COUNTERS`` or ``TRAFFIC``.

    Raises
    ------
    CourseError
        If nothing was counted, or if the existing file comes from another device or other software, or is corrupt.
        Nothing is written then.
    """
    if not collected.counters:
        raise CourseError("There is nothing to record: no case was counted.")
    path = Path(folder) / device.slug / f"{kind}.json"
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    rows = [{"case": name, "date": today, **counters} for name, counters in collected.counters.items()]
    counted_before = load(path, kind) if path.exists() else None
    head = {"origin": origin, "ncu": collected.version, "absent": _absent(collected, counted_before)}
    return keep(path, Document(kind, head, device, rows))


def path_of(device: str = DEVICE, kind: str = COUNTERS) -> Path:
    """Return the path of a device's recorded counters, by its folder's name in ``figures/data``."""
    return recorded_dir() / device / f"{kind}.json"


def recorded(kind: str = COUNTERS, device: str = DEVICE) -> RecordedCounters:
    """Return the recorded counters, or the traffic, of a device.

    Raises as :func:`load` and :func:`course_pkg.bench.folder.path_of` do; ``device`` may be a part of a folder's name.
    """
    return load(folder.path_of(recorded_dir(), device, kind), kind)


def load(path: Path, kind: str = COUNTERS) -> RecordedCounters:
    """Return the counters of a record of this kind.

    Raises
    ------
    CourseError
        If the file is missing or is not a record of counters; the file is left as it is.
    """
    document = read(path, kind)
    counters = _Cases({row["case"]: counted(row) for row in document.rows}, document.device, kind)
    return RecordedCounters(counters, tuple(document.head["absent"]), document.device, document.caption)


def _absent(new: Collected, old: RecordedCounters | None) -> list[str]:
    """Return the metrics that were asked for in some run but counted in none."""
    if old is None:
        return list(new.absent)
    seen = {
        metric for counters in (new.counters, old.counters) for row in counters.values() for metric in row
    }
    return [metric for metric in dict.fromkeys((*old.absent, *new.absent)) if metric not in seen]


def how_to_record(case: str, kind: str = COUNTERS) -> str:
    """Return the command that counts one case and adds it to the record."""
    return f"{KINDS[kind].command} --case {case}"
