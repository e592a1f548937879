"""Grade a folder of submissions: each in a process of its own, resumable, in any order with the same marks.

The parent only reads files and keeps reports: it runs nothing, and holds no more submissions at once than are being
graded, so that its memory stays flat. The same `grade_job` runs here or on a Dask worker.
"""

import concurrent.futures
import hashlib
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tqdm import tqdm

from course_pkg.core import CourseError
from course_pkg.grading import alone, executors, intake, report
from course_pkg.grading.folder import Submission, identified, submissions
from course_pkg.grading.result import Report
from course_pkg.grading.store import Store

_LOCK = threading.Lock()


@dataclass(frozen=True)
class Job:
    """All that it takes to grade one submission, on this machine or on another one."""

    data: bytes
    solution_name: str
    solution: bytes
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
        Submissions graded at once; by default as many as there are cores.
    out : path, optional
        Where results are kept as they come, and ``grades.csv`` and ``grades.html`` at the end. What is already there
        for the same submission, exercise, seed and judge is not graded again.
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
        If the folder is not there or holds nothing, or if the scheduler does not answer.
    """
    found = identified(submissions(Path(folder), Path(out) if out else None), solution)
    if not found:
        raise CourseError(
            f"{folder} holds no submissions: put notebooks, archives or students' folders there."
        )
    store = Store(Path(out), seed, require_sandbox) if out else None
    reports: dict[int, Report] = {}
    jobs = jobs or executors.available_cores()
    with executors.chosen(executor, scheduler, jobs) as (pool, width):
        bar = tqdm(total=len(found), unit="submission", disable=None if progress is None else not progress)
        with bar:
            for number, graded in _graded(found, pool, width, store, seed, require_sandbox):
                reports[number] = graded
                bar.update()
    ordered = [reports[number] for number in range(len(found))]
    if out:
        report.write_all(ordered, Path(out))
    return ordered


def _graded(found, pool, width, store, seed, require_sandbox) -> Iterator[tuple[int, Report]]:
    """Yield numbers and reports as they come; at most `width` submissions are held at a time."""
    copies = Counter((s.student, s.solution) for s in found)
    pending: dict[concurrent.futures.Future, tuple] = {}

    def named(submission, graded):
        graded.student = submission.student
        if copies[submission.student, submission.solution] > 1:
            graded.notes.append(f"This is {submission.path.name}, one of several that were handed in.")
        return graded

    try:
        for number, submission in enumerate(found):
            try:
                job = _job(submission, seed, require_sandbox)
            except CourseError as error:
                yield number, named(submission, refused(submission, str(error), seed))
                continue
            key = store.key(submission, job) if store else None
            kept = store.get(key) if store else None
            if kept is not None:
                yield number, named(submission, kept)
                continue
            pending[pool.submit(grade_job, job)] = number, submission, key
            while len(pending) >= width:
                yield from _finished(pending, store, seed, named)
        while pending:
            yield from _finished(pending, store, seed, named)
    finally:
        for future in pending:
            future.cancel()


def _finished(pending, store, seed, named) -> Iterable:
    """Wait for at least one submission; take what is finished out of `pending`."""
    done, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
    # what ended well is kept before what did not may end the batch
    for future in sorted(done, key=lambda future: future.exception() is not None):
        number, submission, key = pending.pop(future)
        try:
            graded = Report.from_dict(future.result())
        except Exception as error:
            if type(error) is CourseError:  # such as: no isolation where it is required
                raise
            # the judge's own failure costs one row its marks, never the batch
            why = f"The judge itself failed ({type(error).__name__}: {error}): grade this submission again."
            yield number, named(submission, refused(submission, why, seed))
            continue
        if store:
            store.put(key, graded)
        yield number, named(submission, graded)


def _job(submission: Submission, seed, require_sandbox) -> Job:
    if submission.refused:
        raise intake.Refused(submission.refused)
    data = intake.load(submission.path)
    if submission.solution is None:
        raise intake.Refused("It belongs to no exercise of the course: hand in the exercise's own notebook.")
    return Job(data, submission.solution.name, submission.solution.read_bytes(), seed, require_sandbox)


def grade_job(job: Job) -> dict:
    """Grade one submission from its bytes; return the report as a dictionary of plain values."""
    from course_pkg.grading import judge  # here, so that the parent stays small

    with tempfile.TemporaryDirectory(prefix="course-grade-") as folder:
        notebook = Path(folder) / "submission.ipynb"
        notebook.write_bytes(job.data)
        graded = judge.grade_file(
            notebook,
            solution=_solution_file(job.solution_name, job.solution),
            seed=job.seed,
            require_sandbox=job.require_sandbox,
        )
    return graded.to_dict()


def _solution_file(name: str, text: bytes) -> Path:
    """Return a solution as a file of this machine, written once: a worker may have another version, or none."""
    with _LOCK:
        path = Path(_scratch().name) / hashlib.sha256(text).hexdigest()[:16] / name
        if not path.exists():
            path.parent.mkdir()
            path.write_bytes(text)
    return path


@cache
def _scratch() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="course-solutions-")  # removed when the process ends


def refused(submission: Submission, reason: str, seed: int | None = None) -> Report:
    """Return the report of a submission that gets no points, with the reason at every cell."""
    cells = alone.solution_cells(submission.solution) if submission.solution else []
    return alone.nothing(cells, submission.solution, reason, seed)
