"""Keep measurements: one JSON file a topic and device, with everything needed to trust or repeat it."""

import json
from dataclasses import asdict
from pathlib import Path

from course_pkg.bench.compare import Comparison
from course_pkg.bench.device import Device
from course_pkg.bench.measure import Measurement
from course_pkg.core import Cost, CourseError
from course_pkg.core.files import write
from course_pkg.paths import recorded_dir

SCHEMA = 1


def record(topic: str, measurements: list[Measurement], folder: Path, *, origin: str) -> Path:
    """Write measurements of one topic to ``folder/<device>/<topic>.json`` and return the path.

    Measurements with the same name and parameters replace the recorded ones; the others stay.

    Parameters
    ----------
    origin : str
        The command that made them.

    Raises
    ------
    CourseError
        If the measurements, or the file that is there, come from different devices, or the file is corrupt.
        Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from course_pkg.bench import measure
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), name="copy", samples=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = record("trial", [m], folder, origin="by hand")
    ...     print(path.name, len(load(path)))
    trial.json 1
    """
    if not measurements:
        raise CourseError(f"There is nothing to record for {topic!r}: measure first.")
    device = measurements[0].device
    for m in measurements:
        _require_same_device(m.device, device, "these measurements")
    path = Path(folder) / device.slug / f"{topic}.json"
    kept = []
    if path.exists():
        old = load(path)
        _require_same_device(old[0].device, device, str(path))
        new_keys = {_key(m) for m in measurements}
        kept = [m for m in old if _key(m) not in new_keys]
    document = {
        "schema": SCHEMA,
        "topic": topic,
        "origin": origin,
        "device": device.to_dict(),
        "measurements": [_to_dict(m) for m in [*kept, *measurements]],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, dumps(document))
    return path


def dumps(document: dict) -> str:
    """Return the document as JSON with one measurement a line, so that a diff shows what changed."""
    rows = document.pop("measurements")
    head = json.dumps(document, indent=1, ensure_ascii=False)
    body = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return head[:-2] + f',\n "measurements": [\n  {body}\n ]\n}}\n'


def read(path: Path) -> dict:
    """Return a recorded document as it is on disk: origin, device and measurements.

    Raises
    ------
    CourseError
        If the file is missing or is not a recorded measurement; the file is left as it is.
    """
    path = Path(path)
    if not path.exists():
        raise CourseError(f"{path} is not there: record it with `course bench {path.stem} --record`.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise CourseError(
                f"{path} has schema {document['schema']}, this course reads {SCHEMA}: record it again."
            )
        # without a measurement, or a sample in each, there is nothing to read
        _ = document["measurements"][0], [m.samples_s[0] for m in _from_dict(document)], document["origin"]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CourseError(
            f"{path} is corrupt ({type(error).__name__}: {error}): restore it with `git checkout -- {path}`, "
            "or move it away and record it again."
        ) from None
    return document


def load(path: Path) -> list[Measurement]:
    """Return the measurements of a recorded file. Raises as :func:`read` does.

    Examples
    --------
    >>> import tempfile
    >>> from course_pkg.bench import measure
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), name="copy", samples=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = record("trial", [m], folder, origin="by hand")
    ...     print(load(path)[0].name)
    copy
    """
    return _from_dict(read(path))


def origin(path: Path) -> str:
    """Return where recorded numbers come from, in one line for a caption.

    Examples
    --------
    >>> import tempfile
    >>> from course_pkg.bench import measure
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), name="copy", samples=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = record("trial", [m], folder, origin="by hand")
    ...     print(origin(path))
    Recorded on ..., by `by hand`.
    """
    document = read(path)
    device = document["device"]
    driver = f", driver {device['driver']}" if device["driver"] else ""
    days = sorted({row["date"] for row in document["measurements"]})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Recorded on {device['name']}{driver}, {when}, by `{document['origin']}`."


class Recorded:
    """Recorded measurements of one topic on one device, and where they come from.

    Attributes
    ----------
    measurements : list of Measurement
    device : Device
    origin : str
        One line for a caption.

    Examples
    --------
    >>> import tempfile
    >>> from course_pkg.bench import measure
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), name="copy", samples=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = record("trial", [m], folder, origin="by hand")
    ...     print(len(Recorded(path).one("copy").samples_s))
    2
    """

    def __init__(self, path: Path):
        self.measurements = load(path)
        self.device = self.measurements[0].device
        self.origin = origin(path)

    def select(self, *names: str, **parameters) -> dict[str, list[Measurement]]:
        """Return the measurements of each name whose parameters include these, in recorded order.

        ``parameters`` with the value None select measurements without that parameter.
        """
        found = {
            name: [
                m
                for m in self.measurements
                if m.name == name and all(m.parameters.get(k) == v for k, v in parameters.items())
            ]
            for name in names
        }
        for name, ms in found.items():
            if not ms:
                known = ", ".join(sorted({m.name for m in self.measurements}))
                raise CourseError(
                    f"No recorded measurement is called {name!r} with {parameters}; there are: {known}."
                )
        return found

    def one(self, name: str, **parameters) -> Measurement:
        """Return the first measurement of this name whose parameters include these."""
        return self.select(name, **parameters)[name][0]

    def compare(self, *names: str, t_peak_gb_s: float | None = None, **parameters) -> Comparison:
        """Return the last measurement of each name as a comparison."""
        return Comparison(tuple(ms[-1] for ms in self.select(*names, **parameters).values()), t_peak_gb_s)


def recorded(topic: str, device: str = "nvidia-h200") -> Recorded:
    """Return the recorded measurements of a topic on a device, by its folder's name in ``figures/data``.

    Examples
    --------
    >>> recorded("vector").device.name
    'NVIDIA H200'
    """
    return Recorded(recorded_dir() / device / f"{topic}.json")


def _to_dict(m: Measurement) -> dict:
    return {
        "name": m.name,
        "parameters": m.parameters,
        "date": m.date,
        "cost": asdict(m.cost),
        "cache_state": m.cache_state,
        "calls_per_sample": m.calls_per_sample,
        "warmup_s": [float(f"{t:.4g}") for t in m.warmup_s],
        "samples_s": [float(f"{t:.6g}") for t in m.samples_s],
        **({"observed": m.observed} if m.observed else {}),
    }


def _from_dict(document: dict) -> list[Measurement]:
    device = Device(**document["device"])
    return [
        Measurement(
            name=row["name"],
            samples_s=tuple(map(float, row["samples_s"])),
            warmup_s=tuple(row["warmup_s"]),
            calls_per_sample=row["calls_per_sample"],
            cache_state=row["cache_state"],
            cost=Cost(**row["cost"]),
            device=device,
            parameters=row["parameters"],
            date=row["date"],
            observed=row.get("observed", {}),
        )
        for row in document["measurements"]
    ]


def _key(m: Measurement):
    return m.name, json.dumps(m.parameters, sort_keys=True)


def _require_same_device(found: Device, wanted: Device, where: str):
    for what in ("kind", "name", "driver", "cuda", "units", "llc_bytes", "versions"):
        a, b = getattr(found, what), getattr(wanted, what)
        if a != b:
            raise CourseError(
                f"{where} holds runs of different devices: {what} {a!r} there, {b!r} here. "
                "Numbers of two devices or two software stacks are never merged: record the whole topic anew "
                "into an empty folder."
            )
