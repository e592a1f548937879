"""Read and write files without losing anybody's work: replace them in one step, back them up under new names."""

import os
import tempfile
from pathlib import Path

from course_pkg.core.errors import CourseError


def write(path: Path, text: str) -> bool:
    """Replace a file in one step, or leave it as it was; return whether its content changed.

    Raises
    ------
    CourseError
        If the disk is full or the folder is write-protected; the old file is then unchanged.
    """
    if path.exists() and path.read_bytes() == text.encode():
        return False
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise CourseError(
            f"{path.name} could not be written ({error.strerror}) and was not changed: free space on the "
            "disk or make the folder writable, then run this command again."
        ) from error
    return True


def backup(path: Path) -> Path:
    """Copy a file to the first free name in its folder: ``01_x.ipynb.orig``, ``01_x.ipynb.2.orig``, …"""
    content = path.read_bytes()
    number = 1
    while True:
        target = path.with_name(f"{path.name}.orig" if number == 1 else f"{path.name}.{number}.orig")
        try:
            # "x" creates or fails: two syncs at once cannot take the same name.
            with target.open("xb") as file:
                file.write(content)
            return target
        except FileExistsError:
            number += 1
        except OSError as error:
            target.unlink(missing_ok=True)
            raise CourseError(
                f"{path.name} could not be backed up ({error.strerror}), so nothing was changed: free "
                "space on the disk or make the folder writable, then run this again."
            ) from error


def read_text(path: Path) -> str:
    """Read UTF-8 text; for a notebook that is not UTF-8, return an empty string, which is not a valid notebook."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        if path.suffix == ".ipynb":
            return ""
        raise CourseError(
            f"{path.name} is not UTF-8 text: save it as UTF-8 in your editor, then run this again."
        ) from None
    except OSError as error:
        raise CourseError(
            f"{path.name} cannot be read ({error.strerror}): check that it exists, and that you may read it."
        ) from error
