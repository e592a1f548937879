"""Record measurements: one JSON file per topic and device, with all that is needed to judge or repeat them."""

from pathlib import Path

from course_pkg.bench.compare import Comparison
from course_pkg.bench.document import (
    MEASUREMENTS,
    Document,
    from_row,
    keep,
    read,
    require_same_device,
    to_row,
)
from course_pkg.bench.measurement import Measurement, matching
from course_pkg.core import CourseError, Implementation, Variant
from course_pkg.paths import recorded_dir


def record(topic: str, measurements: list[Measurement], folder: Path, *, origin: str) -> Path:
    """Write measurements of one topic to ``folder/<device>/<topic>.json`` and return the path.

    Measurements of the same implementation with the same parameters replace the recorded ones; the others stay.

    Parameters
    ----------
    origin : str
        The command that made the measurements.

    Raises
    ------
    CourseError
        If the measurements, or the existing file, come from different devices, or if the file is corrupt. Then
        nothing is written.

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
        raise CourseError(f"There are no measurements of {topic!r} to record: measure first.")
    device = measurements[0].device
    for m in measurements:
        require_same_device(m.device, device, "these measurements")
    head = {"origin": origin, "topic": topic}
    path = Path(folder) / device.slug / f"{topic}.json"
    return keep(path, Document(MEASUREMENTS, head, device, [to_row(m) for m in measurements]))


def load(path: Path) -> list[Measurement]:
    """Return the measurements of a recorded file.

    Raises
    ------
    CourseError
        If the file is missing or is not a record of measurements. The file is not changed.

    Examples
    --------
    >>> import tempfile
    >>> from course_pkg.bench import measure
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), name="copy", samples=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = record("trial", [m], folder, origin="by hand")
    ...     print(load(path)[0].label)
    copy
    """
    return _measurements(read(path, MEASUREMENTS))


def origin(path: Path) -> str:
    """Return the origin of recorded numbers, in one line for a caption. It raises the same errors as :func:`load`.

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
    return read(path, MEASUREMENTS).caption


class Recorded:
    """Recorded measurements of one topic on one device, and their origin.

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
        document = read(path, MEASUREMENTS)
        self.measurements = _measurements(document)
        self.device = document.device
        self.origin = document.caption

    def select(
        self, *what: str | Implementation | Variant, **parameters
    ) -> dict[Implementation, list[Measurement]]:
        """Return the measurements of each implementation whose parameters include these, in recorded order.

        The arguments are those of :func:`~course_pkg.bench.matching`.

        Raises
        ------
        CourseError
            If there is none.
        """
        found = {Implementation.of(w): matching(self.measurements, w, **parameters) for w in what}
        for one, ms in found.items():
            if not ms:
                known = ", ".join(sorted({m.label for m in self.measurements}))
                raise CourseError(
                    f"There is no recorded measurement of {one.label!r} with {parameters}; there are: {known}."
                )
        return found

    def all(self, what: str | Implementation | Variant, **parameters) -> list[Measurement]:
        """Return the measurements of one implementation whose parameters include these, in recorded order."""
        return self.select(what, **parameters)[Implementation.of(what)]

    def one(self, what: str | Implementation | Variant, **parameters) -> Measurement:
        """Return the first of them."""
        return self.all(what, **parameters)[0]

    def compare(
        self, *what: str | Implementation | Variant, t_peak_gb_s: float | None = None, **parameters
    ) -> Comparison:
        """Return the last measurement of each implementation as a comparison."""
        return Comparison(tuple(ms[-1] for ms in self.select(*what, **parameters).values()), t_peak_gb_s)


def recorded(topic: str, device: str = "nvidia-h200") -> Recorded:
    """Return the recorded measurements of a topic on a device; ``device`` is the name of a folder in ``figures/data``.

    Examples
    --------
    >>> recorded("vector").device.name
    'NVIDIA H200'
    """
    return Recorded(recorded_dir() / device / f"{topic}.json")


def records(topic: str, kind: str = "gpu") -> list[Recorded]:
    """Return the recorded measurements of a topic on every device of a kind that has some, in the order of their names.

    Examples
    --------
    >>> "NVIDIA H200" in [found.device.name for found in records("vector")]
    True
    """
    found = [Recorded(path) for path in sorted(recorded_dir().glob(f"*/{topic}.json"))]
    return [one for one in found if one.device.kind == kind]


def _measurements(document: Document) -> list[Measurement]:
    return [from_row(row, document.device) for row in document.rows]
