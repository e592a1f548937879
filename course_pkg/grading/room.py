"""A :class:`Room` holds the names that tests use, and runs tests on the learner's objects behind these names."""

import ast
import io
import linecache
import math
import numbers
import zlib
from contextlib import redirect_stderr, redirect_stdout, suppress

import numpy as np

from course_pkg import simt
from course_pkg.grading import cells, check, feedback
from course_pkg.grading.feedback import Missing
from course_pkg.grading.kernels import Names, NoKernel
from course_pkg.grading.result import CellGrade
from course_pkg.grading.session import Session
from course_pkg.grading.terms import LearnerError, SandboxLost
from course_pkg.simt import api

# most statements per launch: at least 5 times as many as right answers need; course={"steps": …} of a test replaces it
STEPS = 2_000

GIVEN_S = 60.0  # time limit for cells of the exercise itself, because they may import much
KERNELS = ("kernel", "device")


class Room:
    """The names that the tests of one submission use, and what they stand for.

    Parameters
    ----------
    answers : dict of str to Answer
        Answers in the submission.
    session : Session
        Runs the learner's code.
    words : Words
        The words of the exercise.
    seed : int
        The seed of all inputs.

    Attributes
    ----------
    notes : list of str
        Notes for the teacher.
    """

    def __init__(self, answers: dict, session: Session, words: feedback.Words, seed: int):
        self.answers, self.session, self.words, self.seed = answers, session, words, seed
        self.namespace: dict = {"__name__": "__exercise__"}
        self.names = Names(session.look, session.function)
        self.missing: dict[str, Missing] = {}
        self.notes: list[str] = []

    def given(self, cell, name: str) -> None:
        """Run a cell of the exercise here and in the sandbox."""
        before = set(self.namespace)
        source = cells.without_magics(cell["source"])
        self._draw(name)
        try:
            with simt.limits(steps=STEPS):
                self._execute(compile(source, _remember(name, source), "exec"))
        except Exception as error:  # the cell may use an answer that is missing
            why = feedback.of(error, source, self.missing, self.words)
            for bound in cells.bindings(cells.parse(source)):
                self.missing.setdefault(bound, Missing(why, feedback.UNDEFINED))
        finally:
            check.seed(None)
        for new in set(self.namespace) - before:
            thing = self.namespace[new]
            if isinstance(thing, simt.Kernel):
                self.names.given[name, thing.__name__] = thing
            if _nameable(thing):
                self.names.known[new] = thing
        # the tests that use the cell's names report the error later
        with suppress(LearnerError, SandboxLost):
            self.session.run(source, name, call_s=GIVEN_S)

    def answer(self, cell, name: str) -> None:
        """Run the learner's cell, and take over the names that the solution's cell defines as well."""
        expected = cells.bindings(cells.parse(cell["source"]))
        for bound in expected:
            self.namespace.pop(bound, None)
        try:
            self._answer(expected, name)
        except Exception as error:  # a text that breaks the parser must affect only this cell
            why = Missing(f"Your answer cannot be read ({type(error).__name__}).", feedback.UNREADABLE)
            for bound in expected:
                if bound not in self.namespace:
                    self.missing.setdefault(bound, why)

    def _answer(self, expected: dict, name: str) -> None:
        theirs = self.answers.get(name)
        if theirs is None or theirs.is_text:
            gone = "is not in the notebook" if theirs is None else "is no longer a code cell"
            verdict = feedback.GONE if theirs is None else feedback.TEXT
            self.missing.update(
                dict.fromkeys(expected, Missing(f"The answer cell {name!r} {gone}.", verdict))
            )
            return
        reason, bound = None, {}
        for number, source in enumerate(theirs.sources):
            part = name if not number else f"{name} ({number + 1})"
            why, found = self._part(part, source)
            reason, bound = why or reason, {**bound, **found}
        for one, wanted in expected.items():
            self._take(one, wanted.kind, bound.get(one), reason)

    def _part(self, name: str, source: str) -> tuple[Missing | None, dict]:
        """Run a cell of an answer; return the error that stopped it, if any, and the names that its text binds."""
        try:
            tree = cells.parse(source)
        except cells.Unreadable as error:
            return Missing(f"Your answer cannot be read: {error}.", feedback.UNREADABLE), {}
        self.names.remember(name, source, tree)
        self.names.known.update(cells.imported(tree))
        reason = None
        try:
            self.session.run(cells.without_magics(source), name)
        except (LearnerError, SandboxLost) as error:
            reason = feedback.missing(error)
        return reason, {bound: (binding, source) for bound, binding in cells.bindings(tree).items()}

    def _take(self, name: str, kind: str, written, reason: Missing | None) -> None:
        """Bind a name that tests use to the learner's kernel, function or value, or keep why it is missing."""
        try:
            if kind in KERNELS:
                self.namespace[name] = self._kernel(name, kind, written)
            elif name not in self.session.names():
                said = f"{name} is missing: its answer cell does not define it."
                self.missing[name] = reason or Missing(said, feedback.UNDEFINED)
            elif kind == "function":
                self.namespace[name] = self.session.function(name)
            else:
                self.namespace[name] = self.session.get(name)
        except NoKernel as error:
            self.missing[name] = reason or Missing(f"{name} {error}.", feedback.NO_KERNEL)
        except (SandboxLost, LearnerError) as error:
            self.missing[name] = reason or feedback.missing(error)

    def _kernel(self, name: str, kind: str, written):
        """Return a learner's kernel: as the sandbox describes it, or else as the cell's text defines it."""
        about = self.names.about(name)
        if about.get("is") == "kernel" and (about.get("device") is True) == (kind == "device"):
            return self.names.kernel(about)
        if not about and written and written[0].kind == kind:  # an error stopped the cell before this kernel
            return self.names.plain(written[1], written[0].node, device=kind == "device")
        decorator = "@cuda.jit" if kind == "kernel" else "@cuda.jit(device=True)"
        what = "kernel" if kind == "kernel" else "device function"
        raise NoKernel(f"is not a CUDA {what}: write it with def under {decorator}, in its own cell")

    def mark(self, cell, about, skip: dict) -> CellGrade:
        """Return the mark of a graded cell."""
        name, source, most = about["grade_id"], cell["source"], float(about.get("points", 0))
        hidden = feedback.is_hidden(source)
        if about.get("solution") or about.get("task"):
            return CellGrade(name, 0.0, most, "A person grades this.", False, True)
        self._draw(name)
        if name in skip:
            self._define(source)
            return CellGrade(name, 0.0, most, skip[name], hidden)
        try:
            with simt.limits(steps=cell["metadata"].get("course", {}).get("steps", STEPS)):
                points = self._points(name, source, most)
        except Exception as error:
            if feedback.is_ours(error):
                self.notes.append(
                    f"The judge itself failed at {name!r} ({type(error).__name__}): grade this cell by hand, and "
                    "report the notebook to the course's authors."
                )
            said = feedback.of(error, source, self.missing, self.words)
            verdict = feedback.verdict(error, self.missing, self.words)
            return CellGrade(name, 0.0, most, said, hidden, verdict=verdict)
        finally:
            check.seed(None)
        said = "" if points == most else f"{points:g} of {most:g} points."
        return CellGrade(name, points, most, said, hidden)

    def _define(self, source: str) -> None:
        """Bind the functions of a test that is not run, since other tests may call them."""
        tree = ast.parse(source)
        kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
        tree.body = [node for node in tree.body if isinstance(node, kept)]
        with suppress(Exception):
            self._execute(compile(tree, "<skipped>", "exec"))

    def _points(self, name: str, source: str, most: float) -> float:
        """Run a test cell; return all points if no error stops it, or the value of its last expression."""
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

    def _draw(self, name: str) -> None:
        """Seed the inputs that a cell draws, so that they depend only on the seed and on the cell's name."""
        check.seed([self.seed, zlib.crc32(name.encode())])

    def _execute(self, code):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return eval(code, self.namespace)


def _nameable(value) -> bool:
    """Return whether a learner's kernel may use a value that a cell of the exercise defines."""
    known = cells.is_constant(value) or isinstance(value, (simt.Kernel, type))
    return known or value is api or any(value is module for module in cells.MODULES.values())


def _remember(name: str, source: str) -> str:
    """Store a cell's text where tracebacks and the interpreter look for source; return its file name."""
    file = f"<cell {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return file
