"""Find the submissions in a folder, by their names only: no file is opened."""

import os
from dataclasses import dataclass
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.grading import archive, intake
from course_pkg.grading.names import shown

MOST_NOTEBOOKS = 10  # of one student


@dataclass(frozen=True)
class Submission:
    """One file that was handed in: the student's name, as printable text, and the path.

    `refused` says why the file cannot be read; it is empty if the file can be read.
    """

    student: str
    path: Path
    refused: str = ""


def submissions(folder: Path, out: Path | None = None) -> list[Submission]:
    """Return the submissions, sorted by name; there is at least one entry for every student's folder."""
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder: name the folder that contains the submissions.")
    found = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "__MACOSX")) or (out and _same(entry, out)):
            continue
        if entry.is_symlink() or not entry.is_dir():
            found.append(Submission(shown(_student(entry.name)), entry))
        else:
            found += _of_a_student(entry)
    return found


def _of_a_student(folder: Path) -> list[Submission]:
    """Return the submissions in a student's folder, or one entry that says why there is none."""
    student = shown(folder.name)
    try:
        inside = intake.candidates(folder)
    except intake.Refused as error:
        return [Submission(student, folder, str(error))]
    except OSError as error:
        return [
            Submission(student, folder, f"The folder cannot be read ({error.strerror}): hand it in again.")
        ]
    if not inside:
        return [Submission(student, folder, "The folder holds no notebook: hand in the notebook.")]
    if len(inside) > MOST_NOTEBOOKS:
        why = f"The folder holds {len(inside)} notebooks, but {MOST_NOTEBOOKS} are allowed: hand in the right ones."
        return [Submission(student, folder, why)]
    return [Submission(student, path) for path in inside]


def _student(name: str) -> str:
    """Return a file's name without the suffixes of notebooks and archives."""
    suffix = max((s for s in archive.SUFFIXES if name.lower().endswith(s)), key=len, default="")
    return name[: len(name) - len(suffix)] or name


def _same(path: Path, other: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)
