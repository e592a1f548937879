"""Grading in a fresh process: what crashes, hangs or eats memory there ends as a mark with a reason here."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from course_pkg.core import CourseError
from course_pkg.grading.feedback import HIDDEN
from course_pkg.grading.result import CellGrade, Report

MEMORY_BYTES = 6 << 30  # of the judge's process; the sandbox has less
TRIES = 3
_READ: dict[tuple[str, bytes], list[dict]] = {}
SLOW = "It was not done after {:.0f} s: is there a loop without end?"
BROKEN = "It ended the judge's process: does it ask for very much memory?"
UNREACHED = "It was not reached: grading was stopped before it."


def grade_file(path, *, solution=None, seed=None, require_sandbox=False, wall_s: float = 120) -> Report:
    """Grade a file; see :func:`course_pkg.grading.judge.grade_file`."""
    from course_pkg.grading import intake
    from course_pkg.grading.exercise import sources

    path, data = Path(path), b""
    solution = Path(solution) if solution else None
    try:
        data = intake.load(path)
        solution = solution or intake.exercise_of(data, path, sources())
        if solution is None:
            raise intake.Refused(
                "It belongs to no exercise of the course: hand in the exercise's own notebook."
            )
        notebook = intake.parse(data)
    except intake.Refused as error:
        solution = solution or intake.exercise_of(data, path, sources())
        return nothing(solution_cells(solution) if solution else [], solution, str(error), seed)
    cells = solution_cells(solution)
    request = {
        "submitted": [{k: cell[k] for k in ("cell_type", "metadata", "source")} for cell in notebook.cells],
        "cells": cells,
        "exercise": solution.stem,
        "seed": seed,
        "require_sandbox": require_sandbox,
        "skip": {},
    }
    return _persist(request, cells, solution, wall_s)


def nothing(cells: list, solution: Path | None, reason: str, seed=None) -> Report:
    """Return a report of no points, with the reason at every cell."""
    report = Report(solution.stem if solution else "", notes=[reason], contained=True, seed=seed or 0)
    for cell in cells:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade"):
            hidden, manual = HIDDEN in cell["source"], bool(about.get("solution"))
            report.add(CellGrade(about["grade_id"], 0.0, float(about["points"]), reason, hidden, manual))
    return report


def solution_cells(solution: Path) -> list[dict]:
    """Return a solution's cells; a solution with the same name and text is read once, wherever it lies."""
    from course_pkg.grading.exercise import read_solution

    try:
        known = solution.name, solution.read_bytes()
    except OSError as error:
        raise CourseError(f"{solution} cannot be read ({error.strerror}): check that it exists.") from error
    if known not in _READ:
        keys = ("cell_type", "metadata", "source", "id")
        cells = [{k: cell[k] for k in keys} for cell in read_solution(solution).cells]
        _READ[known] = json.loads(json.dumps(cells))
    return _READ[known]


def _persist(request: dict, cells, solution, wall_s: float) -> Report:
    """Grade; where a cell ends the process, grade the others without it."""
    end = time.monotonic() + wall_s
    report = None
    for _ in range(TRIES):
        heard, why = _attempt(request, end - time.monotonic(), wall_s)
        if heard and "report" in heard[-1]:
            return Report.from_dict(heard[-1]["report"])
        if heard and "refused" in heard[-1]:
            raise CourseError(heard[-1]["refused"])
        graded = {h["cell"]["grade_id"]: h["cell"] for h in heard if "cell" in h}
        at = next((h["at"] for h in reversed(heard) if "at" in h), None)
        at = None if at in graded else at
        report = _piece_together(cells, solution, graded, at, why, request["seed"])
        if at is None or end - time.monotonic() < 1:
            return report
        request["skip"][at] = why
    return report


def _piece_together(cells, solution, graded: dict, at, why: str, seed) -> Report:
    """Return the report of a grading that came to no end."""
    report = nothing(cells, solution, UNREACHED if at else why, seed)
    found = Report(report.exercise, notes=[why], seed=report.seed)
    for cell in report.cells:
        cell.feedback = why if cell.grade_id == at else cell.feedback
        found.add(CellGrade(**graded[cell.grade_id]) if cell.grade_id in graded else cell)
    return found


def _attempt(request: dict, left_s: float, wall_s: float) -> tuple[list[dict], str]:
    """Run one process; return what it told line by line, and why it ended early."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        start_new_session=True,
    )
    try:
        told, _ = process.communicate(json.dumps(request).encode(), timeout=max(left_s, 1))
        why = BROKEN
    except subprocess.TimeoutExpired:
        _end(process)
        told, why = process.communicate()[0], SLOW.format(wall_s)
    except BaseException:
        _end(process)
        raise
    lines = told.decode().split("\n")[:-1]  # a last line without its end was cut short
    return [json.loads(line) for line in lines], why


def _end(process) -> None:
    """End a process and all that it started."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
    except psutil.Error:
        family = []
    for one in (process, *family):
        with suppress(psutil.Error, OSError):  # it has ended by itself
            one.kill()


def _environment() -> dict:
    """Return this environment, with one thread for each library: submissions share the cores."""
    one = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    return {**os.environ, **one, "COURSE_BACKEND": "simt"}


def _limit() -> None:
    """Bound this process: beyond it an allocation fails, and that costs one cell."""
    try:
        import resource
    except ImportError:  # no POSIX system
        return
    for what, most in ((resource.RLIMIT_DATA, MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, hard))


def main() -> int:
    """Grade what stands on stdin; tell each step on stdout, one line of JSON each."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints does not disturb the channel
    _limit()
    request = json.load(sys.stdin)

    def tell(news) -> None:
        said = {"at": news} if isinstance(news, str) else {"cell": vars(news)}
        print(json.dumps(said), file=channel, flush=True)

    from course_pkg.grading import judge

    try:
        report = judge.grade_cells(**request, heard=tell)
    except CourseError as error:
        print(json.dumps({"refused": str(error)}), file=channel, flush=True)
        return 1
    print(json.dumps({"report": report.to_dict()}), file=channel, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
