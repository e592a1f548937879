"""Grading in child processes: marks do not depend on the load, and limits hold from the submission's first byte on."""

import ast
import json
import signal
from pathlib import Path

import nbformat
import pytest
import submissions as s

from course_pkg.cli import main
from course_pkg.core import CourseError
from course_pkg.grading import alone, intake, judge, kernels, warm
from course_pkg.grading.alone import Solution
from course_pkg.grading.result import Report

pytestmark = pytest.mark.slow(160)

KERNEL = "@cuda.jit\ndef triad_kernel(a, b, s, out):\n"
ENDLESS = "    while out.size:\n        out[0] = 1"
SOLUTION = Solution.read(s.SOURCE)


@pytest.fixture
def handed_in(tmp_path):
    def write(nb, name="handed_in.ipynb"):
        nbformat.write(nb, tmp_path / name)
        return tmp_path / name

    return write


def graded(data: bytes, **options) -> Report:
    """Grade bytes as an answer to exercise 2."""
    return alone.grade_bytes(data, "x.ipynb", [SOLUTION], seed=1, **options)


def test_a_file_is_graded_as_in_this_process(handed_in):
    nb, about = s.recipe(s.RECIPES[0])
    here = s.grade(nb, s.exercise_of(s.RECIPES[0]), seed=7)
    there = alone.grade_file(handed_in(nb), seed=7)
    assert there == here
    assert s.lost(there) == about["lost"]
    assert Report.from_dict(json.loads(json.dumps(there.to_dict()))) == there


def test_a_file_that_is_no_notebook_is_a_report_of_no_points(tmp_path):
    path = tmp_path / "02_memory_bound.ipynb"
    path.write_bytes(b"\xff\xfe")
    report = alone.grade_file(path)
    assert (report.points, report.max_points, report.exercise) == (0, 20, "02_memory_bound")
    assert all(cell.feedback == report.notes[0] for cell in report.cells)


# ---- load


def statements(nb, source, monkeypatch) -> float:
    """The most statements of one launch while a notebook that is right is graded, as a share of its budget."""
    from course_pkg.simt.report import profiling
    from course_pkg.simt.run import budget as budgets
    from course_pkg.simt.run import kernel, launch

    most, run_launch = [0], launch.run_launch

    def counted(*arguments, **options):
        budget = options.get("steps") or budgets.steps_now()
        state = run_launch(*arguments, **options)
        if state.steps is not None:
            most.append((budget - state.steps) / budget)
        return state

    for module in (kernel, profiling, launch, kernels):
        if hasattr(module, "run_launch"):
            monkeypatch.setattr(module, "run_launch", counted)
    report = s.grade(nb, source, seed=1)
    assert s.lost(report) == {}
    assert (report.points, report.max_points, report.seed) == (20, 20, 1)
    assert nb != s.solved(source) or set(s.said(report).values()) == {""}
    assert len(most) > 1
    return max(most)


RIGHT = [*s.SOURCES.values(), *s.RIGHT]


@pytest.mark.family
@pytest.mark.parametrize("path", RIGHT, ids=[path.stem for path in RIGHT])
def test_right_answers_get_all_points_far_below_the_budget_of_statements(path, monkeypatch):
    if path in s.RIGHT:
        nb, source = s.recipe(path)[0], s.exercise_of(path)
    else:
        nb, source = s.solved(path), path
    assert statements(nb, source, monkeypatch) * 5 <= 1


@pytest.mark.bare
def test_endless_kernels_cost_their_points_and_no_others(handed_in):
    nb = s.submission({"triad": KERNEL + ENDLESS})
    report = alone.grade_file(handed_in(nb), seed=1)
    assert s.lost(report) == {"test_triad": 1, "test_triad_traffic": 1, "test_triad_hidden": 1}
    assert "runs on and on" in s.said(report)["test_triad"]
    assert s.notes(report) == [] and report.ungraded == ""
    with judge.Sandbox() as here:
        assert report.contained == here.contained


def test_a_part_that_takes_too_much_time_is_cut_short_and_the_others_are_graded(handed_in, monkeypatch):
    """The budget is processor time: the kernel ends the child, whatever it does."""
    source = SOLUTION.text.decode().replace(
        "# 3 rows of 64 doubles", "while True: pass  # a test without an end\n# 3 rows of 64 doubles"
    )
    slow = Solution(SOLUTION.name, source.encode())
    data = nbformat.writes(s.solved()).encode()
    report = alone.grade_bytes(data, "x", [slow], seed=1, part_cpu_s=3)
    assert s.lost(report) == {"test_window": 1}
    assert s.said(report)["test_window"] == (
        "It took more than 3 s of processor time: is there an endless loop?"
    )


class Children:
    """Stands for the warm parent: tells what a list says, and hears what is asked."""

    def __init__(self, *endings):
        self.endings, self.asked = list(endings), []

    def ask(self, request, data, wall_s, answer):
        self.asked.append(dict(request["skip"]))
        told = self.endings.pop(0)
        for line in told.lines:
            answer(line)
        return told


def told(*lines, status=0, late=False):
    return warm.Told([{"contained": True}, {"exercise": SOLUTION.name}, *lines], status, late)


@pytest.fixture
def children(monkeypatch):
    def use(*endings):
        made = Children(*endings)
        monkeypatch.setattr(warm, "parent", lambda: made)
        return made

    return use


REPORT = {"report": Report("02_memory_bound", points=20.0, max_points=20.0, contained=True).to_dict()}
DISTURBED = {
    "late": told({"at": "test_gain"}, late=True, status=-9),
    "killed": told({"at": "test_gain"}, status=-signal.SIGKILL),
    "busy": told({"at": "test_gain"}, {"busy": "the sandbox did not start"}),
}


@pytest.mark.parametrize("how", DISTURBED)
def test_what_the_machine_did_is_tried_again_and_costs_nothing(how, children):
    made = children(DISTURBED[how], told(REPORT))
    assert graded(b"x").points == 20
    assert made.asked == [{}, {}]


@pytest.mark.parametrize("how", DISTURBED)
def test_what_the_machine_did_twice_is_no_mark(how, children):
    children(DISTURBED[how], DISTURBED[how])
    report = graded(b"x")
    assert report.ungraded and report.cells == []
    assert report.notes[0].startswith("not graded: ") and report.max_points == 20


def test_a_cell_that_ends_the_judge_costs_that_cell_alone(children):
    window = {"grade_id": "test_window", "points": 1.0, "max_points": 1.0}
    made = children(
        told({"at": "test_window"}, {"cell": window}, {"at": "test_triad"}, status=-signal.SIGSEGV),
        told(REPORT),
    )
    assert graded(b"x").points == 20
    assert made.asked == [{}, {"test_triad": alone.BROKEN}]


@pytest.mark.bare
def test_a_judge_that_dies_between_two_tests_keeps_what_was_graded(children):
    window = {"grade_id": "test_window", "points": 1.0, "max_points": 1.0}
    children(told({"at": "test_window"}, {"cell": window}, status=1))
    report = graded(b"x")
    assert (report.points, report.max_points, report.notes, report.contained) == (1, 20, [alone.BROKEN], True)


def test_isolation_that_is_required_and_missing_refuses(children):
    children(told({"cannot": "A sandbox is required and there is none."}))
    with pytest.raises(CourseError, match="sandbox is required"):
        graded(b"x", require_sandbox=True)


def test_a_notebook_with_numbers_that_are_none_is_graded():
    nb = json.loads(nbformat.writes(s.solved()))
    nb["metadata"]["x"] = nb["cells"][0]["metadata"]["x"] = float("nan")
    assert "NaN" in json.dumps(nb)
    assert graded(json.dumps(nb).encode()).points == 20


def test_cells_are_read_in_a_child_too(handed_in):
    nb = s.solved()
    cells = alone.read(handed_in(nb)).cells
    assert [c.source for c in cells] == [c.source for c in nb.cells]
    ids = [c.metadata.get("nbgrader", {}).get("grade_id") for c in cells]
    assert ids == [c.metadata.get("nbgrader", {}).get("grade_id") for c in nb.cells]
    with pytest.raises(intake.Refused, match="was the upload cut short"):
        alone.read(_written(handed_in(nb), b"{"))


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_no_module_of_grading_imports_itself_over_others():
    folder = Path(alone.__file__).parent
    imports = {}
    for path in folder.glob("*.py"):
        found = imports[path.stem] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # inside functions too
            if isinstance(node, ast.ImportFrom) and node.module == "course_pkg.grading":
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_pkg.grading."):
                found.add(node.module.rpartition(".")[2])
            elif isinstance(node, ast.Import):
                found |= {a.name.rpartition(".")[2] for a in node.names if "course_pkg.grading" in a.name}
    assert imports["alone"] and "judge" in imports["child"]

    def below(name, path=()):
        assert name not in path, " → ".join([*path, name])
        for other in imports.get(name, ()):
            below(other, (*path, name))

    for name in imports:
        below(name)


def test_a_file_has_no_folder_of_results(tmp_path, capsys):
    """``--out`` of a single file wrote nothing, and did not say so."""
    file = tmp_path / "one.ipynb"
    file.write_text("{}", encoding="utf-8")
    assert main(["grade", str(file), "--out", str(tmp_path / "out")]) == 1
    assert "--out keeps the results of a folder" in capsys.readouterr().err
