"""Grade ahead: while nbgrader handles one student, the submissions of the next students are already graded."""

import threading
from pathlib import Path

from course_pkg.core.host import available_cores
from course_pkg.grading import alone, intake
from course_pkg.grading.alone import Solution
from course_pkg.grading.result import Report


class Ahead:
    """Reports of submissions that nbgrader has requested, or will request soon.

    Parameters
    ----------
    jobs : int, optional
        Number of submissions graded at the same time; by default, the number of cores.
    """

    def __init__(self, jobs: int | None = None):
        self._jobs = jobs or available_cores()
        self._started: dict[tuple[Path, bytes], _Grading] = {}

    def report(self, path: Path, source: Path, later=()) -> Report:
        """Return the report of a submission, as :func:`~.alone.grade_file` does, and start grading later ones.

        If a submission was replaced in the meantime, the new one is graded.

        Parameters
        ----------
        path : path
            The submission.
        source : path
            The exercise.
        later : iterable of path
            The submissions that will be requested next, in this order.
        """
        solution = Solution.read(source)
        try:
            wanted = self._start(path, solution)
        except intake.Refused as error:
            return alone.nothing(solution, str(error))
        coming = {wanted}
        for other in later:
            if len(coming) > self._jobs:
                break
            try:
                coming.add(self._start(other, solution))
            except (intake.Refused, OSError):
                continue  # the error is reported when this submission is requested
        grading = self._started[wanted]
        # drop gradings that were started but are not requested any more, because nbgrader left out their student
        self._started = {key: self._started[key] for key in coming - {wanted}}
        return grading.result()

    def _start(self, path: Path, solution: Solution) -> tuple[Path, bytes]:
        key = path, intake.raw(path)
        if key not in self._started:
            self._started[key] = _Grading(*key, solution)
        return key


class _Grading(threading.Thread):
    """A thread that waits for one grading; it does not keep the process from ending."""

    def __init__(self, path: Path, data: bytes, solution: Solution):
        super().__init__(name="grade-ahead", daemon=True)
        self._what, self._report, self._error = (data, str(path), [solution]), None, None
        self.start()

    def run(self) -> None:
        """Grade."""
        try:
            self._report = alone.grade_bytes(*self._what, given=True)
        except BaseException as error:  # kept for the caller of `result`
            self._error = error

    def result(self) -> Report:
        """Wait for the report."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._report
