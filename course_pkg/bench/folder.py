"""Find devices with records. A device is named by its folder in ``figures/data``, or by a part of the folder's name."""

from pathlib import Path

from course_pkg.bench.document import KINDS, MEASUREMENTS
from course_pkg.core import CourseError

DEFAULT_DEVICE = "nvidia-h200"


def devices(root: Path, stem: str = "*") -> tuple[str, ...]:
    """Return the folders in ``root`` with a record of this name, or with any record, in alphabetical order.

    Examples
    --------
    >>> from course_pkg.paths import recorded_dir
    >>> "nvidia-h200" in devices(recorded_dir(), "traffic")
    True
    """
    return tuple(sorted({path.parent.name for path in Path(root).glob(f"*/{stem}.json")}))


def path_of(root: Path, device: str, stem: str) -> Path:
    """Return the path of a record; ``device`` is the name of its folder, or a unique part of this name.

    Raises
    ------
    CourseError
        If there is no such record, or if several devices have this part in their names. The message lists the choices.

    Examples
    --------
    >>> from course_pkg.paths import recorded_dir
    >>> path_of(recorded_dir(), "H100", "stencil").parent.name
    'nvidia-h100-80gb-hbm3'
    """
    there, wanted = devices(root, stem), device.lower().replace(" ", "-")
    found = [name for name in there if name == wanted] or [name for name in there if wanted in name]
    if len(found) == 1 and wanted:
        return Path(root) / found[0] / f"{stem}.json"
    if len(found) > 1:
        raise CourseError(f"{device!r} may be {' or '.join(found)}: write more of the name.")
    raise CourseError(
        f"{Path(root) / device / stem}.json does not exist: {_instead(root, device, stem, there)}"
    )


def _instead(root, device, stem, there) -> str:
    kind = stem if stem in KINDS else MEASUREMENTS
    record = f"record it with `{KINDS[kind].command.format(stem=stem)}`"
    if there:
        return f"name one of the devices with such a record, {', '.join(there)}, or {record}."
    stems = sorted({path.stem for path in Path(root).glob(f"*{device.lower()}*/*.json")})
    return f"{record}; on {device} there are records of {', '.join(stems)}." if stems else f"{record}."
