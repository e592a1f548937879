"""The judge: a teacher's tests, run here, on answers that are interpreted or called behind a sandbox.

Of a submission only the answer cells count, found by their ``grade_id``. Everything else (setup, helpers, tests,
hidden or not) comes from the solution. Nothing of a learner runs in this process: see :mod:`~.learner`.
"""

import ast
import io
import linecache
import math
import numbers
import secrets
import sys
import zlib
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path

import numpy as np

import course_pkg
from course_pkg import simt
from course_pkg.grading import check, feedback, learner
from course_pkg.grading.result import CellGrade, Report
from course_pkg.grading.sandbox import LearnerError, Sandbox, SandboxLost
from course_pkg.simt import api
from course_pkg.simt.front.source import split_lines

__all__ = ["CellGrade", "Report", "grade", "grade_cells"]

STEPS = 2_000  # statements of one launch, 20 times what right answers need; course={"steps": …} at a test asks for more

GIVEN_S = 60.0  # of a cell of the exercise itself, which may import much


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
    submitted, cells, *, exercise: str, seed=None, require_sandbox=False, skip=None, heard=None
) -> Report:
    """Grade cells against the solution's.

    Parameters
    ----------
    submitted, cells : list of dict
        Cells of the submission and of the solution.
    skip : dict of str to str, optional
        Test cells not to run, with the reason.
    heard : callable, optional
        Told the ``grade_id`` of each cell before it is graded, and its CellGrade after.
    """
    seed = secrets.randbits(32) if seed is None else int(seed)
    report = Report(exercise, seed=seed)
    heard = heard or (lambda news: None)
    with _door(), learner.Session(partial(Sandbox, require=require_sandbox)) as session:
        report.contained = session.contained
        room = _Room(submitted, session, report)
        for cell in cells:
            about = cell["metadata"].get("nbgrader", {})
            if about.get("grade") or about.get("task"):
                heard(about["grade_id"])
                report.add(room.mark(cell, about, seed, skip or {}))
                heard(report.cells[-1])
            elif cell["cell_type"] == "code" and about.get("solution"):
                room.answer(cell, about["grade_id"])
            elif cell["cell_type"] == "code":
                room.given(cell, about.get("grade_id", cell.get("id", "cell")), seed)
        if session.note:  # last: what is said about the submission comes first
            report.notes.append(session.note)
    return report


class _Room:
    """Where a submission is graded: the names that tests see, and the learner's side of each."""

    def __init__(self, submitted, session: learner.Session, report: Report):
        self.session, self.report = session, report
        self.namespace: dict = {"__name__": "__exercise__"}
        self.kernel_names: dict = {}
        self.missing: dict[str, str] = {}
        self.answers: dict[str, dict] = {}
        for cell in submitted:
            name = (cell.get("metadata", {}).get("nbgrader") or {}).get("grade_id")
            known = self.answers.get(name)
            if name and known:
                report.notes.append(
                    f"The cell {feedback.one_line(repr(name))} is there twice: the last one with code counts."
                )
            if known is None or cell["cell_type"] == "code" or known["cell_type"] != "code":
                self.answers[name] = cell

    def given(self, cell, name: str, seed: int) -> None:
        """Run a cell of the exercise on both sides."""
        before = set(self.namespace)
        source = learner.without_magics(cell["source"])
        check.seed([seed, zlib.crc32(name.encode())])
        try:
            with simt.limits(steps=STEPS):
                self._execute(compile(source, _remember(name, source), "exec"))
        except Exception as error:  # it may have used an answer that is not there
            why = feedback.of(error, source, self.missing)
            for bound in learner.bindings(learner.parse(source)):
                self.missing.setdefault(bound, why)
        finally:
            check.seed(None)
        for new in set(self.namespace) - before:
            if _nameable(self.namespace[new]):
                self.kernel_names[new] = self.namespace[new]
        with suppress(LearnerError, SandboxLost):  # what comes of it shows where it is used
            self.session.run(_without_judge(source), name, call_s=GIVEN_S)

    def answer(self, cell, name: str) -> None:
        """Take over what the learner's cell defines of what the solution's cell defines."""
        expected = learner.bindings(learner.parse(cell["source"]))
        for bound in expected:
            self.namespace.pop(bound, None)
        try:
            self._answer(expected, name)
        except Exception as error:  # whatever a text does to its reading costs that cell alone
            why = f"Your answer cannot be read ({type(error).__name__})."
            self.missing.update(
                {b: why for b in expected if b not in self.namespace and b not in self.missing}
            )

    def _answer(self, expected: dict, name: str) -> None:
        theirs = self.answers.get(name)
        if theirs is None or theirs["cell_type"] != "code":
            gone = "is not in the notebook" if theirs is None else "is no code cell any more"
            self.missing.update(dict.fromkeys(expected, f"The answer cell {name!r} {gone}."))
            return
        source = theirs["source"]
        try:
            tree = learner.parse(source)
        except learner.Unreadable as error:
            self.missing.update(dict.fromkeys(expected, f"Your answer cannot be read: {error}."))
            return
        reason = self._run(source, name)
        found = learner.bindings(tree)
        self._constants(tree, found)
        for bound, binding in found.items():
            if binding.kind in ("kernel", "device"):
                self.kernel_names[bound] = learner.kernel(source, binding, self.kernel_names)
            elif binding.kind == "function":
                self.kernel_names[bound] = self.session.function(
                    bound
                )  # the interpreter says what to do about it
        for bound, wanted in expected.items():
            self._take(bound, wanted.kind, found.get(bound), reason)

    def _run(self, source: str, name: str) -> str:
        """Run an answer cell in the sandbox; return why it came to no end, if so."""
        try:
            self.session.run(learner.without_magics(source), name)
        except LearnerError as error:
            return feedback.one_line(feedback.of_learner(error, hidden=False))
        except SandboxLost as error:
            return feedback.one_line(feedback.sentence(error.reason))
        return ""

    def _constants(self, tree, found) -> None:
        """Let kernels name the numbers that the learner's cells define, and what they import."""
        self.kernel_names.update(learner.imported(tree))
        kernels = [b.node for b in found.values() if b.kind in ("kernel", "device")]
        for name in sorted(set().union(*map(learner.loaded, kernels)) & set(found)):
            if found[name].kind != "variable" or name in learner.imported(tree):
                continue
            try:
                value = self.session.get(name)
            except (LearnerError, SandboxLost):
                continue
            if learner.is_constant(value):
                self.kernel_names[name] = value

    def _take(self, name: str, kind: str, theirs, reason: str) -> None:
        """Bind a name that tests use to the learner's kernel, function or value, or keep why it is missing."""
        try:
            if kind in ("kernel", "device"):
                if theirs is None or theirs.kind != kind:
                    decorator = "@cuda.jit" if kind == "kernel" else "@cuda.jit(device=True)"
                    why = f"{name} is no CUDA {kind.replace('device', 'device function')}: "
                    why += f"write it with def under {decorator}, in its own cell."
                    self.missing[name] = why if not reason or theirs else reason
                    return
                self.namespace[name] = self.kernel_names[name]
            elif name not in self.session.names():
                self.missing[name] = reason or f"{name} is missing: its answer cell does not define it."
            elif kind == "function":
                self.namespace[name] = self.session.function(name)
            else:
                self.namespace[name] = self.session.get(name)
        except SandboxLost as error:
            self.missing[name] = reason or feedback.sentence(error.reason)
        except LearnerError as error:
            self.missing[name] = reason or feedback.one_line(feedback.of_learner(error, hidden=False))

    def mark(self, cell, about, seed: int, skip: dict) -> CellGrade:
        """Return the mark of a graded cell."""
        name, source, most = about["grade_id"], cell["source"], float(about.get("points", 0))
        hidden = feedback.is_hidden(source)
        if about.get("solution") or about.get("task"):
            if cell["cell_type"] == "code" and about.get("solution"):
                self.answer(cell, name)
            return CellGrade(name, 0.0, most, "A person grades this.", False, True)
        if name in skip:
            return CellGrade(name, 0.0, most, skip[name], hidden)
        check.seed([seed, zlib.crc32(name.encode())])
        try:
            with simt.limits(steps=cell["metadata"].get("course", {}).get("steps", STEPS)):
                points = self._points(name, source, most)
        except Exception as error:
            if feedback.is_ours(error):
                self.report.notes.append(
                    f"The judge itself failed at {name!r} ({type(error).__name__}): grade this cell by hand, and "
                    "report the notebook to the course's authors."
                )
            return CellGrade(name, 0.0, most, feedback.of(error, source, self.missing), hidden)
        finally:
            check.seed(None)
        said = "" if points == most else f"{points:g} of {most:g} points."
        return CellGrade(name, points, most, said, hidden)

    def _points(self, name: str, source: str, most: float) -> float:
        """Run a test cell: all points when it comes to its end, or as many as its last expression says."""
        file = _remember(name, source)
        tree = ast.parse(source, file)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._execute(compile(tree, file, "exec"))
        if last is None:
            return most
        value = self._execute(compile(ast.Expression(last.value), file, "eval"))
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.number)):
            return most
        return min(max(float(value), 0.0), most) if math.isfinite(value) else 0.0

    def _execute(self, code):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return eval(code, self.namespace)


def _nameable(value) -> bool:
    """Return whether a learner's kernel may use what the exercise's own cells define."""
    known = learner.is_constant(value) or isinstance(value, (simt.Kernel, type))
    return known or value is api or any(value is module for module in learner.MODULES.values())


def _without_judge(source: str) -> str:
    """Return a cell without its import of the checks, which the sandbox does not have."""
    lines = split_lines(source)
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module == "course_pkg.grading":
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(lines)


def _remember(name: str, source: str) -> str:
    """Keep a cell's text where tracebacks and the interpreter look for it; return its file name."""
    file = f"<cell {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return file


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
