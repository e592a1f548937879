"""Submissions for tests: a solution with some answers replaced; by default that of exercise 2."""

import copy
import re
import tomllib
from functools import cache
from pathlib import Path

import nbformat
import notebooks

from course_pkg.grading import exercise, judge, seccomp

SOURCES = {path.stem: path for path in exercise.sources()}
SOURCE = SOURCES["02_memory_bound"]
RECIPES = sorted((Path(__file__).parent / "wrong_submissions").glob("*/*.toml"))
OF_THE_MACHINE = ("This code ran without a sandbox", seccomp.MISSING)
RIGHT = sorted((Path(__file__).parent / "right_submissions").glob("*/*.toml"))


def released(source=SOURCE):
    """The path of a released exercise."""
    return source.parents[2] / "exercises" / source.stem / f"{source.stem}.ipynb"


@cache
def _release(source):
    return nbformat.read(released(source), as_version=4)


def solved(source=SOURCE):
    """The solution as a notebook."""
    return copy.deepcopy(notebooks.solution(source))


def untouched(source=SOURCE):
    """The exercise as it is released."""
    return copy.deepcopy(_release(source))


def by_id(nb):
    """The cells of a notebook by their grade_id."""
    return {c.metadata.nbgrader.grade_id: c for c in nb.cells if "nbgrader" in c.metadata}


def submission(answers, release=(), source=SOURCE):
    """The release with the solution's answers, but for these; cells named in ``release`` stay as they were.

    A list of texts is a cell that was split in JupyterLab, which copies its metadata.
    """
    nb = untouched(source)
    cells, right = by_id(nb), by_id(notebooks.solution(source))
    for name, cell in cells.items():
        if right[name].metadata.nbgrader.solution and name not in release:
            cell.source = right[name].source
    for name, text in answers.items():
        first, *others = [text] if isinstance(text, str) else text
        cells[name].source = first.strip("\n")
        at = nb.cells.index(cells[name]) + 1
        nb.cells[at:at] = [
            nbformat.from_dict({**cells[name], "source": part.strip("\n"), "id": f"{name}-{number}"})
            for number, part in enumerate(others)
        ]
    return nb


def exercise_of(path):
    """The source of the exercise that a recipe answers: its folder has the exercise's name."""
    return SOURCES[path.parent.name]


@cache
def about(path):
    """What a recipe says: answers, and what they deserve; not to be changed."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def recipe(path):
    """A submission and what it deserves."""
    said = about(path)
    return submission(said["answers"], said.get("untouched", ()), exercise_of(path)), said


def touched(path) -> set[str]:
    """The cells that a recipe answers, leaves empty, calls or costs points in."""
    said = about(path)
    return {*said["answers"], *said.get("untouched", ()), *said.get("uses", ()), *said["lost"]}


def packs() -> list[list[Path]]:
    """Group wrong submissions of one exercise that answer different parts and lose different points.

    A pack is graded as one submission, which takes as long as one of them. A wrong answer that calls the right
    answer to another cell names that cell in ``uses``.
    """
    found: list[tuple[str, set, list]] = []
    for path in RECIPES:
        mine = touched(path)
        for exercise_name, taken, paths in found:
            if exercise_name == path.parent.name and not taken & mine:
                taken |= mine
                paths.append(path)
                break
        else:
            found.append((path.parent.name, set(mine), [path]))
    return [paths for _, _, paths in found]


def packed(paths):
    """One submission with the wrong answers of a pack."""
    abouts = [about(path) for path in paths]
    answers = {name: text for said in abouts for name, text in said["answers"].items()}
    untouched_cells = [name for said in abouts for name in said.get("untouched", ())]
    return submission(answers, untouched_cells, exercise_of(paths[0]))


@cache
def parts(source) -> dict[str, int]:
    """The number of the part to which each answer and each test of an exercise belongs: answers, then their tests."""
    found, number, tested = {}, 0, True
    for name, cell in by_id(notebooks.solution(source)).items():
        marks = cell.metadata.nbgrader
        number += marks.solution and tested
        tested = marks.grade or (tested and not marks.solution)
        if marks.solution or marks.grade:
            found[name] = number
    return found


def unchanged(paths) -> set[str]:
    """The tests of parts that a pack has nothing to do with: with the solution's answers, others grade them, too."""
    source = exercise_of(paths[0])
    part, mine, cells = parts(source), set().union(*map(touched, paths)), by_id(notebooks.solution(source))
    names = {
        name for cell in mine & cells.keys() for name in re.findall(r"^def (\w+)", cells[cell].source, re.M)
    }
    met = {part[cell] for cell in mine & part.keys()}
    for cell, number in part.items():
        if names & set(re.findall(r"\w+", cells[cell].source)):
            met.add(number)  # it calls what the pack answers
    return {cell for cell in points(source) if part[cell] not in met}


def notes(report) -> list[str]:
    """A report's notes on the submission: without those on the machine, which is not the same everywhere."""
    return [note for note in report.notes if not note.startswith(OF_THE_MACHINE)]


def points(source=SOURCE):
    """The points of each test cell."""
    return {
        n: c.metadata.nbgrader.points
        for n, c in by_id(notebooks.solution(source)).items()
        if c.metadata.nbgrader.grade
    }


# of exercise 2: what a test needs that is about one answer, with another part as its neighbour
PARTS = {
    "gain": ("gain", "test_gain", "test_gain_hidden", "window", "test_window"),
    "triad": (
        "triad",
        "run_triad",
        "test_triad",
        "test_triad_traffic",
        "test_triad_hidden",
        "gain",
        "test_gain",
    ),
}
PARTS["three"] = (*PARTS["gain"], *PARTS["triad"], "test_window_hidden")


def grade(nb, source=SOURCE, *, part="", without=(), **options):
    """Grade a notebook in this process: all of it, or one of ``PARTS``, or all ``without`` some tests."""
    if not part:
        wanted = [
            c
            for c in notebooks.solution(source).cells
            if c.metadata.get("nbgrader", {}).get("grade_id") not in without
        ]
        return judge.grade_cells(nb.cells, wanted, exercise=source.stem, **options)
    kept = {"setup", *PARTS[part]}
    cells = [
        c for c in notebooks.solution(source).cells if c.metadata.get("nbgrader", {}).get("grade_id") in kept
    ]
    return judge.grade_cells(nb.cells, cells, exercise=source.stem, **options)


def lost(report):
    """The points that a report takes, by cell."""
    return {c.grade_id: c.max_points - c.points for c in report.cells if c.points != c.max_points}


def said(report):
    """The feedback of a report, by cell."""
    return {c.grade_id: c.feedback for c in report.cells}
