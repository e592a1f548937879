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
from course_pkg.bench.folder import DEFAULT_DEVICE, path_of
from course_pkg.bench.lookup import find, function_name
from course_pkg.bench.measurement import Measurement
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
    origin : Source
        One line for a caption. :func:`~course_pkg.core.sources.origins` combines the origins of several records.

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

        The arguments are those of :func:`~course_pkg.bench.lookup.find`: a name need not be exact, and ``size``,
        ``dtype`` and ``library`` choose among its measurements.

        Raises
        ------
        CourseError
            If no measurement fits. The message lists the choices.

        Examples
        --------
        >>> found = recorded("stencil").select("laplacian_vectorised", size=512, dtype="fp64", max_registers=None)
        >>> [what.label for what in found]
        ['laplacian vectorised, Numba CUDA', 'laplacian vectorised, CuPy']
        """
        found: dict[Implementation, list[Measurement]] = {}
        for one in what:
            ms = find(self.measurements, one, **parameters)
            found |= {its: [m for m in ms if m.what == its] for its in dict.fromkeys(m.what for m in ms)}
        return found

    def all(self, what: str | Implementation | Variant, **parameters) -> list[Measurement]:
        """Return the measurements of one implementation whose parameters include these, in recorded order.

        Raises
        ------
        CourseError
            If no measurement fits, or if the name fits several implementations.

        Examples
        --------
        >>> [m.parameters["degree"] for m in recorded("vector").all("horner", library="CuPy")][:3]
        [1, 2, 4]
        """
        found = self.select(what, **parameters)
        if len(found) > 1:
            functions = sorted({function_name(m) for ms in found.values() for m in ms})
            if len(functions) > 1:
                raise CourseError(f"{what!r} may be {', '.join(functions)}: pass one of these names.")
            libraries = ", ".join(f"library={one.library!r}" for one in found)
            raise CourseError(f"{functions[0]} was measured by several libraries: add one of {libraries}.")
        return next(iter(found.values()))

    def one(self, what: str | Implementation | Variant, **parameters) -> Measurement:
        """Return the first of the measurements that :meth:`all` returns.

        A measurement with the launcher's own settings comes before those with settings that a suite tries.

        Examples
        --------
        >>> recorded("stencil").one("laplacian_tiled", size=512, dtype="fp64").label
        'laplacian tiled, Numba CUDA'
        >>> recorded("stencil", "h100").one("laplacian", library="CuPy").device.name
        'NVIDIA H100 80GB HBM3'
        """
        return self.all(what, **parameters)[0]

    def compare(
        self, *what: str | Implementation | Variant, t_peak_gb_s: float | None = None, **parameters
    ) -> Comparison:
        """Return the last measurement of each implementation as a comparison."""
        return Comparison(tuple(ms[-1] for ms in self.select(*what, **parameters).values()), t_peak_gb_s)


def recorded(topic: str, device: str = DEFAULT_DEVICE) -> Recorded:
    """Return the recorded measurements of a topic on a device.

    Parameters
    ----------
    device : str
        The name of a folder in ``figures/data``, or a part of it that only one of them has.

    Raises
    ------
    CourseError
        If there is no such record. The message names the devices or the topics that have records.

    Examples
    --------
    >>> recorded("vector").device.name
    'NVIDIA H200'
    >>> recorded("vector", "h100").device.name
    'NVIDIA H100 80GB HBM3'
    """
    return Recorded(path_of(recorded_dir(), device, topic))


def records(topic: str, kind: str = "gpu") -> list[Recorded]:
    """Return the recorded measurements of a topic on each device of a kind; devices are ordered by name.

    Examples
    --------
    >>> "NVIDIA H200" in [found.device.name for found in records("vector")]
    True
    """
    found = [Recorded(path) for path in sorted(recorded_dir().glob(f"*/{topic}.json"))]
    return [one for one in found if one.device.kind == kind]


def _measurements(document: Document) -> list[Measurement]:
    return [from_row(row, document.device) for row in document.rows]
