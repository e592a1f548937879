"""Results on disk, so that an interrupted batch goes on where it stopped."""

import hashlib
import json
from functools import cache
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.core.files import write
from course_pkg.grading.result import Report

JUDGE_ROOMS = ("core", "simt", "grading")  # a change in one of these can change a mark


class Store:
    """Results on disk, one file for each submission, under a name made from all that a mark depends on."""

    def __init__(self, out: Path, seed: int | None, require_sandbox: bool):
        self.folder = out / "results"
        self.common = [str(seed), str(require_sandbox), judge_fingerprint()]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CourseError(
                f"{out} cannot be written ({error.strerror}): choose another folder with --out."
            ) from error

    def key(self, submission, job) -> str:
        """Return the hash of student, submission, exercise, seed and judge."""
        parts = [submission.student, submission.path.name, job.solution_name, *self.common]
        text = hashlib.sha256(json.dumps(parts).encode())
        for data in (job.data, job.solution):
            text.update(hashlib.sha256(data).digest())
        return text.hexdigest()[:32]

    def get(self, key: str):
        """Return the report kept under a key, or None; a damaged one counts as none."""
        try:
            return Report.from_dict(json.loads((self.folder / f"{key}.json").read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, key: str, graded) -> None:
        """Keep a report, in one step."""
        write(self.folder / f"{key}.json", json.dumps(graded.to_dict(), indent=1) + "\n")


@cache
def judge_fingerprint() -> str:
    """Hash the source of the judge: after a change in it, kept results do not count."""
    package = Path(__file__).resolve().parent.parent
    text = hashlib.sha256()
    for room in JUDGE_ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            text.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return text.hexdigest()
