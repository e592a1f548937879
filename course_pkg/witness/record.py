"""Keep what Nsight Compute counted: one file a device, with all that is needed to trust or repeat it."""

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from course_pkg.bench import Device
from course_pkg.bench.record import dumps
from course_pkg.core import CourseError
from course_pkg.core.files import write
from course_pkg.paths import recorded_dir
from course_pkg.witness.ncu import Collected, Counters

SCHEMA = 1
FILE, TRAFFIC_FILE = "counters.json", "traffic.json"
DEVICE = "nvidia-h200"


@dataclass(frozen=True)
class RecordedCounters:
    """Counters of all cases on one device, and where they come from.

    Attributes
    ----------
    counters : dict
        Counters by the case's name.
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


def record(collected: Collected, device: Device, folder: Path, *, origin: str, file: str = FILE) -> Path:
    """Write the counters to ``folder/<device>/<file>``, in place of what is there, and return the path.

    A record is one run of all cases: counters of two compilers are never side by side in a file.

    Parameters
    ----------
    origin : str
        The command that made them.
    """
    path = Path(folder) / device.slug / file
    document = {
        "schema": SCHEMA,
        "origin": origin,
        "date": date.today().isoformat(),
        "ncu": collected.version,
        "device": device.to_dict(),
        "absent": list(collected.absent),
        "measurements": [{"case": name, **counters} for name, counters in collected.counters.items()],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, dumps(document))
    return path


def path_of(device: str = DEVICE, file: str = FILE) -> Path:
    """Return the path of a device's recorded counters, by its folder's name in ``figures/data``."""
    return recorded_dir() / device / file


def load(path: Path) -> RecordedCounters:
    """Return recorded counters.

    Raises
    ------
    CourseError
        If the file is missing or is no record of counters; the file is left as it is.
    """
    path = Path(path)
    if not path.exists():
        raise CourseError(
            f"{path} is not there: record it on a GPU with `course verify {_what(path)} --record`."
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise CourseError(
                f"{path} has schema {document['schema']}, this course reads {SCHEMA}: record it again."
            )
        rows = [dict(row) for row in document["measurements"]]
        counters = {row.pop("case"): row for row in rows}
        device = Device(**document["device"])
        return RecordedCounters(counters, tuple(document["absent"]), device, _caption(document))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CourseError(
            f"{path} is corrupt ({type(error).__name__}: {error}): restore it with `git checkout -- {path}`, "
            "or move it away and record it again."
        ) from None


def _what(path) -> str:
    return "traffic" if path.name == TRAFFIC_FILE else "counters"


def _caption(document) -> str:
    device = document["device"]
    return (
        f"Recorded on {device['name']}, driver {device['driver']}, {document['date']}, with Nsight Compute "
        f"{document['ncu']} by `{document['origin']}`."
    )
