"""The judge: it runs a teacher's tests in this process, while a learner's code runs in the interpreter or in a sandbox.

Only the answer cells of a submission count; they are found by their ``grade_id``. Everything else (setup, helpers,
visible and hidden tests) comes from the solution. No code of a learner runs in this process: see :mod:`~.session` for
functions and :mod:`~.kernels` for kernels.

The visible tests run first, then the hidden ones, each group with a sandbox of its own. Feedback on visible tests shows
values. These cannot come from a hidden test, because no hidden test has run by then.
"""

import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import course_pkg
from course_pkg.grading import cells as texts
from course_pkg.grading import feedback
from course_pkg.grading.result import CellGrade, Report, new_seed
from course_pkg.grading.room import Room
from course_pkg.grading.sandbox import Sandbox
from course_pkg.grading.session import Session
from course_pkg.grading.shown import without_shown
from course_pkg.simt import api

__all__ = ["CellGrade", "Report", "grade", "grade_cells"]


def grade(notebook, solution: Path, *, seed: int | None = None, require_sandbox: bool = False) -> Report:
    """Grade a notebook in this process. :mod:`~.alone` does it in a child process, so that a crash does no harm.

    Parameters
    ----------
    notebook : NotebookNode
    solution : path
        The teacher's ``NN_topic.py``.
    seed : int, optional
        Fixes the inputs that the tests draw.
    require_sandbox : bool
        Refuse to grade without isolation.

    Returns
    -------
    Report

    Raises
    ------
    CourseError
        If isolation is required but not possible here, or if the solution cannot be read.
    """
    from course_pkg.grading.exercise import read_solution

    cells = read_solution(Path(solution)).cells
    return grade_cells(
        notebook.cells, cells, exercise=Path(solution).stem, seed=seed, require_sandbox=require_sandbox
    )


def grade_cells(
    submitted, cells, *, exercise: str, seed=None, require_sandbox=False, skip=None, endless=None, heard=None
) -> Report:
    """Grade the answer cells of a submission by the tests of a solution.

    Parameters
    ----------
    submitted, cells : list of dict
        Cells of the submission and of the solution.
    skip : dict of str to str, optional
        Test cells that are not run, each with the reason.
    endless : dict of str to str, optional
        Cells and functions that are not run again, each with the reason; those that take too much time are added.
    heard : callable, optional
        Called before each test cell is graded (``at``: its ``grade_id``) and after (``cell``: its CellGrade); both
        calls also say how many seconds sandboxes have used so far (``sandbox_s``).
    """
    seed = new_seed() if seed is None else int(seed)
    report, heard = Report(exercise, seed=seed), heard or (lambda **news: None)
    endless, earlier_s = {} if endless is None else endless, 0.0
    known = {cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells}
    report.notes += [
        f"The cell {name!r} is there more than once: all copies are run, in their order."
        for name in texts.twice(submitted, known)
    ]
    answers = texts.answers(submitted)
    cells = without_shown(cells, answers)
    tests = [cell for cell in cells if _about(cell).get("grade") or _about(cell).get("task")]
    marks: dict[str, CellGrade] = {}
    note, words = "", feedback.Words(cell["source"] for cell in cells if cell["cell_type"] == "code")
    with _door():
        for hidden in sorted({feedback.is_hidden(cell["source"]) for cell in tests}):
            with Session(partial(Sandbox, require=require_sandbox), endless) as session:
                room = Room(answers, session, words, seed)
                for cell in cells:
                    _meet(room, cell, hidden, skip or {}, marks, partial(_tell, heard, session, earlier_s))
                earlier_s += session.spent_s
                report.contained, note = session.contained, session.note
                report.notes += room.notes
    # a note about the machine comes after the notes about the submission
    report.notes += [note] if note else []
    for cell in tests:
        report.add(marks[_about(cell)["grade_id"]])
    return report


def _meet(room: Room, cell, hidden: bool, skip: dict, marks: dict, heard) -> None:
    """Run one cell of the solution in a room; for an answer cell, run the learner's instead."""
    about = _about(cell)
    if cell["cell_type"] == "code" and about.get("solution"):
        room.answer(cell, about["grade_id"])
    if about.get("grade") or about.get("task"):
        if feedback.is_hidden(cell["source"]) == hidden:
            heard(at=about["grade_id"])
            marks[about["grade_id"]] = room.mark(cell, about, skip)
            heard(cell=marks[about["grade_id"]])
    elif cell["cell_type"] == "code" and not about.get("solution"):
        room.given(cell, about.get("grade_id", cell.get("id", "cell")))


def _tell(heard, session: Session, earlier_s: float, **news) -> None:
    """Call ``heard`` with the news and with the time that sandboxes have used so far."""
    heard(**news, sandbox_s=earlier_s + session.spent_s)


def _about(cell) -> dict:
    return cell["metadata"].get("nbgrader", {})


@contextmanager
def _door():
    """Let ``from course_pkg import cuda`` import the interpreter even if there is a GPU: marks need its counters."""
    before = sys.modules.get("course_pkg.cuda"), vars(course_pkg).get("cuda")
    sys.modules["course_pkg.cuda"] = course_pkg.cuda = api
    try:
        yield
    finally:
        for where, key, value in (
            (sys.modules, "course_pkg.cuda", before[0]),
            (vars(course_pkg), "cuda", before[1]),
        ):
            if value is None:
                where.pop(key, None)
            else:
                where[key] = value
