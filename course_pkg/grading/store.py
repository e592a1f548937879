"""Store results on disk, so that an interrupted batch can continue where it stopped."""

import hashlib
import json
import os
from functools import cache
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.core.files import write
from course_pkg.grading.result import Report

JUDGE_PACKAGES = ("core", "simt", "grading")  # a change in one of these can change a mark


class Store:
    """Results on disk, one file for each submission; its name is a hash of everything that the mark depends on."""

    def __init__(self, out: Path, seed: int | None, require_sandbox: bool):
        self.folder = out / "results"
        self.common = [str(seed), str(require_sandbox), judge_fingerprint()]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CourseError(
                f"{out} cannot be written ({error.strerror}): choose another folder with --out."
            ) from error

    def key(self, submission, data: bytes, given: str) -> str:
        """Return the hash of student, submission, seed, judge, and the exercise if it is given."""
        name = os.fsencode(submission.path.name).hex()
        text = hashlib.sha256(json.dumps([submission.student, name, given, *self.common]).encode())
        text.update(hashlib.sha256(data).digest())
        return text.hexdigest()[:32]

    def get(self, key: str, solutions: dict[str, str]):
        """Return the report stored under a key; None if there is none, or if it is damaged or for another solution.

        Parameters
        ----------
        solutions : dict of str to str
            The hash of each exercise's text, by the exercise's name.
        """
        try:
            kept = json.loads((self.folder / f"{key}.json").read_text("utf-8"))
            graded = Report.from_dict(kept["report"])
            return graded if kept["solution"] == self._of(graded, solutions) else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, key: str, graded, solutions: dict[str, str]) -> None:
        """Store a report; the file appears complete or not at all."""
        kept = {"solution": self._of(graded, solutions), "report": graded.to_dict()}
        write(self.folder / f"{key}.json", json.dumps(kept, indent=1) + "\n")

    @staticmethod
    def _of(graded, solutions: dict[str, str]):
        """Return the solution that a report depends on; a submission without an exercise depends on all solutions."""
        return solutions[graded.exercise] if graded.exercise else sorted(solutions.values())


@cache
def judge_fingerprint() -> str:
    """Hash the source of the judge: after a change in it, stored results are no longer used."""
    package = Path(__file__).resolve().parent.parent
    text = hashlib.sha256()
    for name in JUDGE_PACKAGES:
        for path in sorted((package / name).rglob("*.py")):
            text.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return text.hexdigest()
