"""The judge: a teacher's tests, run here, on answers that are interpreted or called behind a sandbox.

Of a submission only the answer cells count, found by their ``grade_id``. Everything else (setup, helpers, tests,
hidden or not) comes from the solution. Nothing of a learner runs in this process: see :mod:`~.session` for functions
and :mod:`~.kernels` for kernels.

The tests that a learner sees and the hidden ones meet the answers in two rooms, the hidden ones second, each with a
sandbox of its own. Feedback on visible tests shows values; an answer that has met no hidden test can put none there.
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
from course_pkg.simt import api

__all__ = ["CellGrade", "Report", "grade", "grade_cells"]


def grade(notebook, solution: Path, *, seed: int | None = None, require_sandbox: bool = False) -> Report:
    """Grade a notebook in this process; :mod:`~.alone` does it in a fresh one, which a crash cannot harm.

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
        If isolation is required and cannot be had, or the solution cannot be read.
    """
    from course_pkg.grading.exercise import read_solution

    cells = read_solution(Path(solution)).cells
    return grade_cells(
        notebook.cells, cells, exercise=Path(solution).stem, seed=seed, require_sandbox=require_sandbox
    )


def grade_cells(
    submitted, cells, *, exercise: str, seed=None, require_sandbox=False, skip=None, endless=None, heard=None
) -> Report:
    """Grade cells against the solution's.

    Parameters
    ----------
    submitted, cells : list of dict
        Cells of the submission and of the solution.
    skip : dict of str to str, optional
        Test cells not to run, with the reason.
    endless : dict of str to str, optional
        Cells and functions not to try again, with the reason; those that take too much time are added.
    heard : callable, optional
        Told of each test cell before it is graded (``at``, its ``grade_id``) and after (``cell``, its CellGrade), and
        each time how many seconds sandboxes have used (``sandbox_s``).
    """
    seed = new_seed() if seed is None else int(seed)
    report, heard = Report(exercise, seed=seed), heard or (lambda **news: None)
    endless, earlier_s = {} if endless is None else endless, 0.0
    known = {cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells}
    report.notes += [
        f"The cell {name!r} is there more than once: all are run, in their order."
        for name in texts.twice(submitted, known)
    ]
    tests = [cell for cell in cells if _about(cell).get("grade") or _about(cell).get("task")]
    marks: dict[str, CellGrade] = {}
    note, words = "", feedback.Words(cell["source"] for cell in cells if cell["cell_type"] == "code")
    with _door():
        for hidden in sorted({feedback.is_hidden(cell["source"]) for cell in tests}):
            with Session(partial(Sandbox, require=require_sandbox), endless) as session:
                room = Room(texts.answers(submitted), session, words, seed)
                for cell in cells:
                    _meet(room, cell, hidden, skip or {}, marks, partial(_tell, heard, session, earlier_s))
                earlier_s += session.spent_s
                report.contained, note = session.contained, session.note
                report.notes += room.notes
    report.notes += [note] if note else []  # last: what is said about the submission comes first
    for cell in tests:
        report.add(marks[_about(cell)["grade_id"]])
    return report


def _meet(room: Room, cell, hidden: bool, skip: dict, marks: dict, heard) -> None:
    """Do in a room what a cell asks for."""
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
    """Say what happens, and how much time sandboxes have used so far."""
    heard(**news, sandbox_s=earlier_s + session.spent_s)


def _about(cell) -> dict:
    return cell["metadata"].get("nbgrader", {})


@contextmanager
def _door():
    """Let ``from course_pkg import cuda`` give the interpreter, GPU or not: its counters are those that are marked."""
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
