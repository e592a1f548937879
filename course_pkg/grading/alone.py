"""Grade a submission in a child process: if it crashes, hangs or uses too much memory, the report still gives a reason.

A mark depends on the submission, never on what else the machine does. If the submission itself is the cause (it used
too much processor time or memory, or it crashed), the test that was running gets no points, and another child grades
the other tests. If the machine is the cause (it was too slow, or its memory was full), the submission is graded once
more; if that fails, too, the report says that the submission is not graded.
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

PART_CPU_S = 20.0  # processor time of a child for one test; right answers need about one second
ALL_S = 240.0  # processor time and time in sandboxes for all of a submission
WALL_S = 600.0  # wall-clock time of one child, on a machine that does nothing else
TRIES = 12  # most children for one submission
SLOW = "It took more than {:g} s of processor time: is there an endless loop?"
SLOW_IN_ALL = "All tests together took more than {:g} s: is there an endless loop?"
SLOW_TO_READ = "It takes too long to read: hand in the exercise's own notebook."
BROKEN = "It crashed the judge's process: does it ask for very much memory?"
UNREACHED = "It was not run: grading stopped before it."
LATE = "it was not finished after {:.0f} s on a busy machine"
KILLED = "its process was killed: is the machine short of memory?"
AGAIN = "grade it again when the machine has less to do"
_CELLS: dict[tuple[str, bytes], list[dict]] = {}
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Solution:
    """A teacher's solution of an exercise: the name of its file and the bytes in it."""

    name: str
    text: bytes

    @classmethod
    def read(cls, path: Path | str) -> "Solution":
        """Read the file of a solution."""
        try:
            return cls(Path(path).name, Path(path).read_bytes())
        except OSError as error:
            raise CourseError(f"{path} cannot be read ({error.strerror}): check that it exists.") from error

    @property
    def exercise(self) -> str:
        """The exercise's name."""
        return Path(self.name).stem

    def cells(self) -> list[dict]:
        """Return the cells of the solution; the same text is parsed only once."""
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
    """Grade a file in a fresh process. If the submission cannot be graded, the report says why and gives no points.

    Parameters
    ----------
    path : path
        A notebook, or an archive with one in it.
    solution : path, optional
        If left out, it is found by the ids in the submission, or else by its name.
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
        A notebook, or an archive with one in it. Only a child process reads it.
    path : str
        Where it was found: one of the folders, or the file, may have the name of the exercise.
    solutions : list of Solution
        The exercises that it may belong to.
    given : bool
        Whether it certainly belongs to the only solution in ``solutions``.
    seed : int, optional
        Fixes the inputs that the tests draw.
    require_sandbox : bool
        Refuse to grade without isolation.
    part_cpu_s : float
        Seconds of processor time for each test.
    all_s : float
        Seconds for all tests, in all children together: processor time and time in sandboxes.
    wall_s : float
        Wall-clock seconds for one child, multiplied by the load of the machine. A submission that takes longer is not
        graded: it gets neither points nor a zero.

    Raises
    ------
    CourseError
        If isolation is required but not possible here, or if a solution cannot be read.
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
    """Return the solution that belongs to a path, for files whose content cannot be read as a submission."""
    known = {s.name: set() for s in solutions}
    name = solutions[0].name if given else intake.belongs(b"", path, known)
    return next((s for s in solutions if s.name == name), None)


def read(path: Path) -> NotebookNode:
    """Return the notebook of a submission with type, id and source of each cell; a child process reads the file.

    Raises
    ------
    Refused
        If there is no notebook that can be graded; see :func:`~.intake.read`.
    """
    told = _ask({"do": "read"}, intake.raw(path), WALL_S)
    for said in told.lines:
        if "cells" in said:
            return NotebookNode(cells=[_node(cell) for cell in said["cells"]])
    raise intake.Refused(next((said["refused"] for said in told.lines if "refused" in said), SLOW_TO_READ))


def _node(value):
    return NotebookNode({k: _node(v) for k, v in value.items()}) if isinstance(value, dict) else value


def nothing(solution: Solution | None, reason: str, seed=None) -> Report:
    """Return a report with no points, and with the reason at every cell."""
    report = Report(solution.exercise if solution else "", notes=[reason], contained=True, seed=seed or 0)
    for cell in solution.cells() if solution else []:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade"):
            hidden, manual = HIDDEN in cell["source"], bool(about.get("solution"))
            report.add(CellGrade(about["grade_id"], 0.0, float(about["points"]), reason, hidden, manual))
    return report


def not_graded(solution: Solution | None, why: str, seed=None) -> Report:
    """Return a report without marks, for a submission that could not be graded through no fault of its own."""
    report = nothing(solution, why, seed)
    report.cells, report.ungraded = [], why
    report.notes = [f"not graded: {why}; {AGAIN}."]
    return report


class _Grading:
    """The grading of one submission, in as many children as it needs."""

    def __init__(self, request: dict, data: bytes, solutions: dict[str, Solution], wall_s: float):
        self.request, self.data, self.solutions, self.wall_s = request, data, solutions, wall_s
        self.all_s = request["left_s"]
        self.solution: Solution | None = None
        self._graded: dict[str, dict] = {}  # marks from children that did not finish

    def grade(self) -> Report:
        """Grade. If a test ends its child, grade the others without it; if the machine ended the child, try again."""
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
        """Return why the child ended, if the submission is not the cause; else an empty string."""
        if told.late:
            return LATE.format(self.wall_s * warm.crowd())
        return heard.get("busy") or (KILLED if told.status == -signal.SIGKILL else "")

    def _count(self, heard: dict, slow: bool) -> None:
        """Subtract a child's time from the time that is left, and keep its list of endless functions."""
        request, spent_s = self.request, heard.get("spent_s", 0.0)
        spent_s += min(request["part_cpu_s"], max(request["left_s"] - spent_s, 0.0)) if slow else 0.0
        request["left_s"] = 0.0 if "out_of_time" in heard else request["left_s"] - spent_s
        request["endless"] = heard.get("endless", request["endless"])

    def _pieced_together(self, told: warm.Told, heard: dict, slow: bool) -> tuple[Report, str | None]:
        """Return the report of a grading whose child did not finish, and the id of the test that it was running."""
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
