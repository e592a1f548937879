"""Submissions of exercise 1 for tests: the solution with some answers replaced."""

import copy
import tomllib
from functools import cache
from pathlib import Path

import nbformat

from course_pkg.grading import exercise, judge

SOURCE = next(path for path in exercise.sources() if path.stem == "01_memory_bound")
RELEASED = SOURCE.parents[2] / "exercises" / SOURCE.stem / f"{SOURCE.stem}.ipynb"
RECIPES = sorted((Path(__file__).parent / "wrong_submissions" / SOURCE.stem).glob("*.toml"))


@cache
def _solution():
    return exercise.read_solution(SOURCE)


@cache
def _release():
    return nbformat.read(RELEASED, as_version=4)


def solved():
    """The solution as a notebook."""
    return copy.deepcopy(_solution())


def untouched():
    """The exercise as it is released."""
    return copy.deepcopy(_release())


def by_id(nb):
    """The cells of a notebook by their grade_id."""
    return {c.metadata.nbgrader.grade_id: c for c in nb.cells if "nbgrader" in c.metadata}


def submission(answers, release=()):
    """The release with the solution's answers, but for these; cells named in ``release`` stay as they were."""
    nb = untouched()
    cells, right = by_id(nb), by_id(_solution())
    for name, cell in cells.items():
        if right[name].metadata.nbgrader.solution and name not in release:
            cell.source = right[name].source
    for name, source in answers.items():
        cells[name].source = source.strip("\n")
    return nb


def recipe(path):
    """A wrong submission and what it deserves."""
    about = tomllib.loads(path.read_text(encoding="utf-8"))
    return submission(about["answers"], about.get("untouched", ())), about


def points():
    """The points of each test cell."""
    return {n: c.metadata.nbgrader.points for n, c in by_id(_solution()).items() if c.metadata.nbgrader.grade}


def grade(nb, **options):
    """Grade a notebook in this process."""
    return judge.grade(nb, SOURCE, **options)


def lost(report):
    """The points that a report takes, by cell."""
    return {c.grade_id: c.max_points - c.points for c in report.cells if c.points != c.max_points}


def said(report):
    """The feedback of a report, by cell."""
    return {c.grade_id: c.feedback for c in report.cells}
