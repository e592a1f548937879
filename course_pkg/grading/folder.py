"""Find what was handed in, and for which exercise. Nothing is opened but to look for the exercise's ids."""

from dataclasses import dataclass, replace
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.grading import archive, exercise, intake


@dataclass(frozen=True)
class Submission:
    """One thing that was handed in: who, where, for which exercise; `refused` says why it cannot be graded."""

    student: str
    path: Path
    solution: Path | None = None
    refused: str = ""


def submissions(folder: Path, out: Path | None = None) -> list[Submission]:
    """Return what was handed in, sorted by name; every student's folder has at least one entry."""
    if not folder.is_dir():
        raise CourseError(f"{folder} is no folder: name the one that holds the submissions.")
    found = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "__MACOSX")) or (out and _same(entry, out)):
            continue
        if entry.is_symlink() or not entry.is_dir():
            found.append(Submission(_student(entry.name), entry))
            continue
        inside = intake.candidates(entry)
        found += [Submission(entry.name, path) for path in inside]
        if not inside:
            found.append(
                Submission(entry.name, entry, refused="The folder holds no notebook: hand in the notebook.")
            )
    return found


def identified(found: list[Submission], solution: Path | None = None) -> list[Submission]:
    """Find the exercise of each; a submission that does not tell belongs to the one that all the others are of."""
    sources = [solution] if solution else exercise.sources()
    told = [s if s.solution else replace(s, solution=solution or _exercise_of(s, sources)) for s in found]
    known = {s.solution for s in told if s.solution} or set(sources)
    rest = known.pop() if len(known) == 1 else None
    return [s if s.solution else replace(s, solution=rest) for s in told]


def _exercise_of(submission: Submission, sources: list[Path]) -> Path | None:
    try:
        data = b"" if submission.refused else intake.load(submission.path)
    except intake.Refused:
        data = b""
    return intake.exercise_of(data, submission.path, sources)


def _student(name: str) -> str:
    """Return a file's name without the suffixes of notebooks and archives."""
    suffix = max((s for s in archive.SUFFIXES if name.lower().endswith(s)), key=len, default="")
    return name[: len(name) - len(suffix)] or name


def _same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()
