"""Grade a folder of submissions, each in a process of its own. Grading can be resumed; the order does not matter.

The parent process only reads files and stores reports. It parses and runs nothing, and keeps in memory only the
submissions that are being graded, so its memory does not grow. The row of a submission in the results depends only
on that submission. The same `grade_job` runs here or on a Dask worker.
"""

import concurrent.futures
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from course_pkg.core import CourseError
from course_pkg.core.host import available_cores
from course_pkg.grading import alone, executors, intake, report
from course_pkg.grading.alone import Solution
from course_pkg.grading.exercise import sources
from course_pkg.grading.folder import Submission, submissions
from course_pkg.grading.names import shown
from course_pkg.grading.result import Report
from course_pkg.grading.store import Store


@dataclass(frozen=True)
class Job:
    """All that is needed to grade one submission, on this machine or on another one."""

    data: bytes
    path: str
    solutions: tuple[Solution, ...]
    given: bool
    seed: int | None
    require_sandbox: bool


def grade_folder(
    folder: Path | str,
    *,
    jobs: int | None = None,
    out: Path | str | None = None,
    seed: int | None = None,
    executor=None,
    scheduler: str | None = None,
    require_sandbox: bool = False,
    solution: Path | None = None,
    progress: bool | None = None,
) -> list[Report]:
    """Grade every submission in a folder; return one report for each, in the order of their names.

    Parameters
    ----------
    folder : path
        Notebooks, archives and students' folders, such as nbgrader's ``submitted``.
    jobs : int, optional
        Number of submissions graded at the same time; by default, the number of cores.
    out : path, optional
        Folder for the results, and for ``grades.csv`` and ``grades.html`` at the end. If it already has a result for
        the same submission, exercise, seed and judge, this submission is not graded again.
    seed : int, optional
        Fixes the inputs that the tests draw.
    executor : "dask" or concurrent.futures.Executor, optional
        Where to grade; by default on this machine.
    scheduler : str, optional
        The address of the Dask scheduler, such as ``tcp://10.0.0.1:8786``.
    require_sandbox : bool
        Refuse to grade without isolation.
    solution : path, optional
        The exercise; by default found by the ids in each submission, then by its path.
    progress : bool, optional
        Show a progress bar; by default where stderr is a terminal.

    Raises
    ------
    CourseError
        If the folder does not exist or is empty, or if the scheduler does not answer.
    """
    found = submissions(Path(folder), Path(out) if out else None)
    if not found:
        raise CourseError(
            f"{folder} holds no submissions: put notebooks, archives or students' folders there."
        )
    store = Store(Path(out), seed, require_sandbox) if out else None
    solutions = tuple(Solution.read(path) for path in ([solution] if solution else sources()))
    given = solution is not None
    batch = _Batch(found, store, solutions, given, seed, require_sandbox)
    reports: dict[int, Report] = {}
    with executors.chosen(executor, scheduler, jobs or available_cores()) as (pool, width):
        # the remaining time is estimated from the last submissions, because the first one waits for the judge's imports
        bar = tqdm(
            total=len(found),
            unit="submission",
            smoothing=0.1,
            disable=None if progress is None else not progress,
        )
        with bar:
            for number, graded in batch.graded(pool, width):
                reports[number] = graded
                bar.update()
    ordered = [reports[number] for number in range(len(found))]
    _name_copies(ordered, found)
    if out:
        report.write_all(ordered, Path(out))
    return ordered


def _name_copies(reports: list[Report], found: list[Submission]) -> None:
    """Note in each row which file it belongs to, if a student handed in several for one exercise."""
    copies = Counter((r.student, r.exercise) for r in reports)
    for graded, submission in zip(reports, found, strict=True):
        if copies[graded.student, graded.exercise] > 1:
            graded.notes.append(f"This is {shown(submission.path.name)}, one of several that were handed in.")


class _Batch:
    """A folder of submissions that is being graded."""

    def __init__(self, found, store, solutions: tuple[Solution, ...], given: bool, seed, require_sandbox):
        self.found, self.store, self.solutions, self.given = found, store, solutions, given
        self.seed, self.require_sandbox = seed, require_sandbox
        self.hashes = {s.exercise: hashlib.sha256(s.text).hexdigest() for s in solutions}
        self.pending: dict[concurrent.futures.Future, tuple] = {}

    def graded(self, pool, width: int) -> Iterator[tuple[int, Report]]:
        """Yield numbers and reports as soon as they are ready; at most `width` submissions are in memory."""
        try:
            for number, submission in enumerate(self.found):
                done = self._known(submission)
                if isinstance(done, Report):
                    done.student = submission.student
                    yield number, done
                    continue
                job, key = done
                self.pending[pool.submit(grade_job, job)] = number, submission, key
                while len(self.pending) >= width:
                    yield from self._finished()
            while self.pending:
                yield from self._finished()
        finally:
            for future in self.pending:
                future.cancel()

    def _known(self, submission: Submission) -> Report | tuple[Job, str | None]:
        """Return the report of a submission that need not be graded, or else its job and its key."""
        try:
            if submission.refused:
                raise intake.Refused(submission.refused)
            data = intake.raw(submission.path)
        except intake.Refused as error:
            return alone.nothing(self._of(submission), str(error), self.seed)
        given = self.solutions[0].exercise if self.given else ""
        key = self.store.key(submission, data, given) if self.store else None
        kept = self.store.get(key, self.hashes) if self.store else None
        path = str(submission.path)
        return kept or (Job(data, path, self.solutions, self.given, self.seed, self.require_sandbox), key)

    def _finished(self) -> Iterable:
        """Wait for at least one submission; take what is finished out of `pending`."""
        done, _ = concurrent.futures.wait(self.pending, return_when=concurrent.futures.FIRST_COMPLETED)
        # store the successful results first, because an error may end the batch
        for future in sorted(done, key=lambda future: future.exception() is not None):
            number, submission, key = self.pending.pop(future)
            try:
                graded = Report.from_dict(future.result())
            except Exception as error:
                if type(error) is CourseError:  # such as: no isolation where it is required
                    raise
                # if the judge itself fails, only this row has no marks; the batch goes on
                why = f"the judge itself failed ({type(error).__name__}: {error})"
                graded = alone.not_graded(self._of(submission), why, self.seed)
            if self.store and not graded.ungraded:
                self.store.put(key, graded, self.hashes)
            graded.student = submission.student
            yield number, graded

    def _of(self, submission: Submission) -> Solution | None:
        return alone.by_path(submission.path, self.solutions, self.given)


def grade_job(job: Job) -> dict:
    """Grade one submission from its bytes; return the report as a dictionary of plain values."""
    return alone.grade_bytes(
        job.data,
        job.path,
        list(job.solutions),
        given=job.given,
        seed=job.seed,
        require_sandbox=job.require_sandbox,
    ).to_dict()
