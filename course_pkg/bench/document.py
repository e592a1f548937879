"""Read and write records of all kinds: JSON files that state their kind, their origin and their data.

A record has one line per row, so that a diff shows what has changed. A new row replaces the old row with the same key;
all other rows stay. Rows are merged only if device, driver and software versions agree.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from course_pkg.bench import soundness
from course_pkg.bench.device import Device
from course_pkg.bench.measurement import Measurement
from course_pkg.core import Cost, CourseError, Implementation
from course_pkg.core.files import write
from course_pkg.core.sources import Source
from course_pkg.paths import recorded_dir

SCHEMA = 2
MEASUREMENTS, COUNTERS, TRAFFIC = "measurements", "counters", "traffic"


@dataclass(frozen=True)
class Kind:
    """The properties of one kind of record.

    Attributes
    ----------
    check : callable
        Checks a row; raises KeyError, TypeError or ValueError if it is not a row of this kind.
    key : callable
        Returns the key of a row, which identifies it in the record.
    head : tuple of str
        Entries of the head that only records of this kind have.
    same : tuple of str
        Entries of the head that must agree before rows are merged.
    command : str
        The command that makes the record; ``{stem}`` is the name of the file.
    """

    check: Callable[[dict], None]
    key: Callable[[dict], str]
    head: tuple[str, ...]
    same: tuple[str, ...]
    command: str


@dataclass(frozen=True)
class Document:
    """The content of a record.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    head : dict
        ``origin``, the command that made it, and the entries of its kind.
    device : Device
    rows : sequence of dict
        Do not change them: a second read of the same record returns the same objects.
    """

    kind: str
    head: dict
    device: Device
    rows: Sequence[dict]

    @property
    def caption(self) -> Source:
        """The origin of the rows, as one line for a caption."""
        days = sorted({row["date"] for row in self.rows})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        tool = f"Nsight Compute {self.head['ncu']}" if "ncu" in self.head else ""
        return Source(self.device.name, self.device.driver or "", when, tool, self.head["origin"])


def read(path: Path, kind: str | None = None) -> Document:
    """Read a record, of a given kind or of any kind.

    Raises
    ------
    CourseError
        If the file is missing or is not such a record. The file is not changed.
    """
    path = Path(path)
    if not path.exists():
        command = KINDS[kind or MEASUREMENTS].command.format(stem=path.stem)
        raise CourseError(f"{path} does not exist: record it with `{command}`.")
    try:
        schema, found = _parsed(path.read_text(encoding="utf-8"))
        if found is None:
            raise CourseError(
                f"{path} has schema {schema}, but this course reads schema {SCHEMA}: record it again."
            )
        if kind not in (None, found.kind):
            raise CourseError(f"{path} holds {found.kind}, {kind} are wanted: pass another file.")
        if path.parent.parent == recorded_dir() and path.parent.name != found.device.slug:
            raise CourseError(
                f"{path} is a record of {found.device.name}: restore it with `git checkout -- {path}`, or move it to "
                f"{path.parent.parent / found.device.slug}."
            )
        return found
    except OSError as error:
        raise CourseError(
            f"{path} cannot be opened ({error.strerror}): move it away, or make it readable."
        ) from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise CourseError(
            f"{path} is corrupt ({type(error).__name__}: {error}): restore it with `git checkout -- {path}`, "
            "or move it away and record it again."
        ) from None


@lru_cache(maxsize=16)
def _parsed(text: str) -> tuple[int, Document | None]:
    """Return the schema and the content of a record; None if the schema is another one than this course reads.

    The same text is parsed and checked only once, because tables read a record again for each of their rows.
    """
    found = json.loads(text)
    if found["schema"] != SCHEMA:
        return found["schema"], None
    its = KINDS[found["kind"]]
    # a record without rows is of no use
    rows = (found["rows"][0], *found["rows"][1:])
    for row in rows:
        its.check(row)
    head = {name: found[name] for name in ("origin", *its.head)}
    soundness.require_once(map(its.key, rows))
    soundness.require_head(head)
    device = Device(**found["device"])
    soundness.require_device(device.to_dict())
    return SCHEMA, Document(found["kind"], head, device, rows)


def keep(path: Path, new: Document) -> Path:
    """Write a record, or merge its rows into the existing one; return the path.

    A row with a known key replaces the old row in its place; other rows are added at the end.

    Raises
    ------
    CourseError
        If the existing file comes from another device or other software, or is corrupt. Then nothing is written.
    """
    path, its = Path(path), KINDS[new.kind]
    rows = {its.key(row): row for row in new.rows}
    if path.exists():
        old = read(path, new.kind)
        require_same_device(old.device, new.device, str(path))
        for what in its.same:
            _require_same(what, old.head[what], new.head[what], str(path))
        rows = {its.key(row): row for row in old.rows} | rows
    document = {
        "schema": SCHEMA,
        "kind": new.kind,
        **new.head,
        "device": new.device.to_dict(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, dumps(document, rows.values()))
    return path


def dumps(head: dict, rows) -> str:
    """Return a record as JSON with one line per row."""
    text = json.dumps(head, indent=1, ensure_ascii=False)
    body = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return text[:-2] + f',\n "rows": [\n  {body}\n ]\n}}\n'


def require_same_device(found: Device, wanted: Device, where: str) -> None:
    """Raise if two runs come from different devices or software; the message says what differs."""
    for what in ("kind", "name", "driver", "cuda", "units", "llc_bytes", "versions"):
        _require_same(what, getattr(found, what), getattr(wanted, what), where)


def _require_same(what, there, here, where):
    if there != here:
        raise CourseError(
            f"{where} and this run differ in {what}: {there!r} there, {here!r} here. Measurements of different devices "
            "or software are never merged: record all of them again into an empty folder."
        )


def _check_measurement(row) -> None:
    soundness.require_measurement(row)
    from_row(row, None)


def _check_counted(row) -> None:
    soundness.require_counted(row, counted(row))


def to_row(m: Measurement) -> dict:
    """Return a measurement as a row of a record."""
    return {
        "operation": m.operation,
        "variant": m.variant,
        "library": m.library,
        "parameters": m.parameters,
        "date": m.date,
        "cost": m.cost and asdict(m.cost),
        "cache_state": m.cache_state,
        "calls_per_sample": m.calls_per_sample,
        "warmup_s": [float(f"{t:.4g}") for t in m.warmup_s],
        "samples_s": [float(f"{t:.6g}") for t in m.samples_s],
        **({"observed": m.observed} if m.observed else {}),
    }


def from_row(row: dict, device: Device | None) -> Measurement:
    """Return a row of a record as a measurement on a device."""
    return Measurement(
        what=Implementation(row["operation"], row["variant"], row["library"]),
        samples_s=tuple(map(float, row["samples_s"])),
        warmup_s=tuple(row["warmup_s"]),
        calls_per_sample=row["calls_per_sample"],
        cache_state=row["cache_state"],
        cost=None if row["cost"] is None else Cost(**row["cost"]),
        device=device,
        parameters=dict(row["parameters"]),
        date=row["date"],
        observed=dict(row.get("observed", {})),
    )


def counted(row: dict) -> dict[str, float]:
    """Return the counters of a row."""
    return {name: n for name, n in row.items() if name not in ("case", "date")}


def measurement_key(row: dict) -> str:
    """Return the key of a measurement, which identifies it in a record."""
    return json.dumps([row[k] for k in ("operation", "variant", "library", "parameters")], sort_keys=True)


def _case(row: dict) -> str:
    return row["case"]


KINDS = {
    MEASUREMENTS: Kind(_check_measurement, measurement_key, ("topic",), (), "course bench {stem} --record"),
    COUNTERS: Kind(
        _check_counted, _case, ("ncu", "absent"), ("ncu",), "course verify counters --device gpu --record"
    ),
    TRAFFIC: Kind(
        _check_counted, _case, ("ncu", "absent"), ("ncu",), "course verify traffic --device gpu --record"
    ),
}
