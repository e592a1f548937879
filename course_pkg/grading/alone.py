"""Grading in a process of its own: what crashes, hangs or eats memory there ends as a mark with a reason here.

A mark depends on the submission, never on what else the machine does. What a submission is answerable for (processor
time, memory, a crash) costs the part that did it, and the rest is graded in another child. What it is not answerable
for (the wall clock ran out, the machine's memory did) is tried again, and then the report says that it is not graded.
"""

import json
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course_pkg.core import CourseError
from course_pkg.grading import intake, warm
from course_pkg.grading.exercise import HIDDEN, read_solution, sources
from course_pkg.grading.result import CellGrade, Report, new_seed

PART_CPU_S = 20.0  # of this process, for one test; right answers need about one
ALL_S = 240.0  # for everything in one submission: processor time, and time in sandboxes
WALL_S = 600.0  # of one child, on a machine with nothing else to do
TRIES = 12  # children for the parts of one submission
SLOW = "It took more than {:g} s of processor time: is there a loop without end?"
SLOW_IN_ALL = "All tests together took more than {:g} s: is there a loop without end?"
SLOW_TO_READ = "It takes too long to read: hand in the exercise's own notebook."
BROKEN = "It ended the judge's process: does it ask for very much memory?"
UNREACHED = "It was not reached: grading was cut short before it."
LATE = "it was not done after {:.0f} s of a busy machine"
KILLED = "its process was killed: is the machine short of memory?"
AGAIN = "grade it again when the machine has less to do"
_CELLS: dict[tuple[str, bytes], list[dict]] = {}
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Solution:
    """An exercise as its teacher wrote it: the file's name and its bytes."""

    name: str
    text: bytes

    @classmethod
    def read(cls, path: Path | str) -> "Solution":
        """Read a solution's file."""
        try:
            return cls(Path(path).name, Path(path).read_bytes())
        except OSError as error:
            raise CourseError(f"{path} cannot be read ({error.strerror}): check that it exists.") from error

    @property
    def exercise(self) -> str:
        """The exercise's name."""
        return Path(self.name).stem

    def cells(self) -> list[dict]:
        """Return its cells; the same text is read once."""
        known = self.name, self.text
        with _LOCK:
            if known not in _CELLS:
                keys = ("cell_type", "metadata", "source", "id")
                nb = read_solution(Path(self.name), self.text.decode())
                _CELLS[known] = json.loads(
                    json.dumps([{k: cell[k] for k in keys if k in cell} for cell in nb.cells])
                )
            return _CELLS[known]


def grade_file(path, *, solution=None, seed=None, require_sandbox=False, **limits) -> Report:
    """Grade a file in a fresh process; whatever is wrong with the submission is a report with a reason.

    Parameters
    ----------
    path : path
        A notebook, or an archive with one in it.
    solution : path, optional
        By default found by the ids in the submission, then by its name.
    seed, require_sandbox, limits
        As for :func:`grade_bytes`.
    """
    path = Path(path)
    solutions = [Solution.read(p) for p in ([solution] if solution else sources())]
    try:
        data = intake.raw(path)
    except intake.Refused as error:
        return nothing(by_path(path, solutions, bool(solution)), str(error), seed)
    return grade_bytes(
        data,
        str(path),
        solutions,
        given=bool(solution),
        seed=seed,
        require_sandbox=require_sandbox,
        **limits,
    )


def grade_bytes(
    data: bytes,
    path: str,
    solutions: list[Solution],
    *,
    given: bool = False,
    seed: int | None = None,
    require_sandbox: bool = False,
    part_cpu_s: float = PART_CPU_S,
    all_s: float = ALL_S,
    wall_s: float = WALL_S,
) -> Report:
    """Grade the bytes of a file in fresh processes.

    Parameters
    ----------
    data : bytes
        A notebook, or an archive with one in it; nothing of it is read here.
    path : str
        Where it was found: a folder or file may be named as the exercise is.
    solutions : list of Solution
        The exercises that it may belong to.
    given : bool
        Whether it belongs to the only solution, whatever it looks like.
    seed : int, optional
        Fixes the inputs that the tests draw.
    require_sandbox : bool
        Refuse to grade without isolation.
    part_cpu_s : float
        Seconds of processor time for each part.
    all_s : float
        Seconds for all of them, in as many children as it takes: processor time, and time in sandboxes.
    wall_s : float
        Seconds for one child, times the machine's load. Beyond it nothing is graded, and nothing lost.

    Raises
    ------
    CourseError
        If isolation is required and cannot be had, or a solution cannot be read.
    warm.Gone
        If grading was stopped.
    """
    request = {
        "do": "grade",
        "path": path,
        "given": given,
        "exercises": {s.name: [i.decode() for i in intake.ids_in(s.text)] for s in solutions},
        "seed": new_seed() if seed is None else int(seed),
        "require_sandbox": require_sandbox,
        "part_cpu_s": part_cpu_s,
        "left_s": all_s,
        "skip": {},
        "endless": {},
    }
    return _Grading(request, data, {s.name: s for s in solutions}, wall_s).grade()


def by_path(path, solutions, given: bool = False) -> Solution | None:
    """Return the solution that a path tells; of what is no submission nothing else can."""
    known = {s.name: set() for s in solutions}
    name = solutions[0].name if given else intake.belongs(b"", path, known)
    return next((s for s in solutions if s.name == name), None)


def read(path: Path) -> NotebookNode:
    """Return a submission's notebook, of each cell type, id and source; a child reads it.

    Raises
    ------
    Refused
        If it is none; see :func:`~.intake.read`.
    """
    told = _ask({"do": "read"}, intake.raw(path), WALL_S)
    for said in told.lines:
        if "cells" in said:
            return NotebookNode(cells=[_node(cell) for cell in said["cells"]])
    raise intake.Refused(next((said["refused"] for said in told.lines if "refused" in said), SLOW_TO_READ))


def _node(value):
    return NotebookNode({k: _node(v) for k, v in value.items()}) if isinstance(value, dict) else value


def nothing(solution: Solution | None, reason: str, seed=None) -> Report:
    """Return a report of no points, with the reason at every cell."""
    report = Report(solution.exercise if solution else "", notes=[reason], contained=True, seed=seed or 0)
    for cell in solution.cells() if solution else []:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade"):
            hidden, manual = HIDDEN in cell["source"], bool(about.get("solution"))
            report.add(CellGrade(about["grade_id"], 0.0, float(about["points"]), reason, hidden, manual))
    return report


def not_graded(solution: Solution | None, why: str, seed=None) -> Report:
    """Return a report without marks: it is nobody's fault, and no grade."""
    report = nothing(solution, why, seed)
    report.cells, report.ungraded = [], why
    report.notes = [f"not graded: {why}; {AGAIN}."]
    return report


class _Grading:
    """One submission, in as many children as it takes."""

    def __init__(self, request: dict, data: bytes, solutions: dict[str, Solution], wall_s: float):
        self.request, self.data, self.solutions, self.wall_s = request, data, solutions, wall_s
        self.all_s = request["left_s"]
        self.solution: Solution | None = None
        self._graded: dict[str, dict] = {}  # in children that came to no end

    def grade(self) -> Report:
        """Grade; where a part ends its child, grade the others without it; where the machine did, try again."""
        report, disturbed = None, 0
        for _ in range(TRIES):
            told = _ask(self.request, self.data, self.wall_s, self._answer)
            heard = {kind: said[kind] for said in told.lines for kind in said}
            if "cannot" in heard:
                raise CourseError(heard["cannot"])
            if "refused" in heard:
                return nothing(self.solution, heard["refused"], self.request["seed"])
            if "report" in heard:
                return Report.from_dict(heard["report"])
            why = self._disturbance(told, heard)
            if why:
                disturbed += 1
                if disturbed > 1:
                    break
                continue
            if self.solution is None:
                return nothing(None, SLOW_TO_READ, self.request["seed"])
            slow = told.status in (-signal.SIGPROF, -signal.SIGXCPU)
            self._count(heard, slow)
            report, at = self._pieced_together(told, heard, slow)
            if at is None or self.request["left_s"] <= 0:
                return report
            self.request["skip"][at] = report.notes[0]
        return not_graded(self.solution, why, self.request["seed"]) if disturbed > 1 else report

    def _answer(self, said: dict):
        """Tell the child the exercise's cells when it knows the exercise."""
        if said.get("exercise") is None:
            return None
        self.solution = self.solutions[said["exercise"]]
        return self.solution.cells()

    def _disturbance(self, told: warm.Told, heard: dict) -> str:
        """Say what ended the child, if the submission is not to blame."""
        if told.late:
            return LATE.format(self.wall_s * warm.crowd())
        return heard.get("busy") or (KILLED if told.status == -signal.SIGKILL else "")

    def _count(self, heard: dict, slow: bool) -> None:
        """Take what a child used off the time that is left, and note what it found to be endless."""
        request, spent_s = self.request, heard.get("spent_s", 0.0)
        spent_s += min(request["part_cpu_s"], max(request["left_s"] - spent_s, 0.0)) if slow else 0.0
        request["left_s"] = 0.0 if "out_of_time" in heard else request["left_s"] - spent_s
        request["endless"] = heard.get("endless", request["endless"])

    def _pieced_together(self, told: warm.Told, heard: dict, slow: bool) -> tuple[Report, str | None]:
        """Return the report of a grading that came to no end, and the test where it ended."""
        graded = {said["cell"]["grade_id"]: said["cell"] for said in told.lines if "cell" in said}
        at = heard.get("at")
        at = None if at in graded else at
        if self.request["left_s"] <= 0:
            why = rest = SLOW_IN_ALL.format(self.all_s)
        else:
            why = SLOW.format(self.request["part_cpu_s"]) if slow else BROKEN
            why = SLOW_TO_READ if at is None and not graded and slow else why
            rest = UNREACHED if at else why
        self._graded.update(graded)
        self._graded.pop(at, None)
        blank = nothing(self.solution, rest, self.request["seed"])
        report = Report(blank.exercise, notes=[why], contained=heard["contained"], seed=blank.seed)
        for cell in blank.cells:
            cell.feedback = (
                why if cell.grade_id == at else self.request["skip"].get(cell.grade_id, cell.feedback)
            )
            known = self._graded.get(cell.grade_id)
            report.add(CellGrade(**known) if known else cell)
        return report, at


def _ask(request: dict, data: bytes, wall_s: float, answer=None) -> warm.Told:
    return warm.parent().ask(request, data, wall_s, answer)
