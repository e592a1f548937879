"""Exercises are generated from solutions: the same bytes each time, and no answer in them."""

import ast
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import jupytext
import nbformat
import pytest

from course_pkg.core import CourseError
from course_pkg.grading import release
from course_pkg.paths import repo_root

SOURCES = release.sources()
GENERATED = {}


def generated(source):
    """The exercise as it is made now; each worker makes it once."""
    if source not in GENERATED:
        GENERATED[source] = release.release_text(source)
    return GENERATED[source]


def notebook(source):
    return nbformat.reads(generated(source), as_version=4)


@pytest.fixture(params=SOURCES, ids=lambda path: path.stem)
def source(request):
    """Each solution in turn."""
    return request.param


def test_there_are_exercises():
    assert SOURCES
    names = {path.stem for path in SOURCES}
    assert {path.parent.name for path in SOURCES} == names, "folder and file share one name"
    assert {path.name for path in (repo_root() / "exercises").iterdir()} == names


def test_generating_twice_gives_the_same_bytes(source):
    assert release.release_text(source) == generated(source)


def test_the_tracked_exercise_is_the_generated_one(source):
    assert release.released(source).read_text(encoding="utf-8") == generated(source)


def test_nothing_else_is_released(source):
    folder = release.released(source).parent
    assert [path.name for path in folder.iterdir() if path.name != ".ipynb_checkpoints"] == [
        f"{source.stem}.ipynb"
    ]


def parts(source, begin, end):
    """Return the text between the marks of a solution, as the teacher wrote it."""
    found = re.findall(rf"### {begin}\n(.*?)### {end}", source.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{source} has nothing between {begin} and {end}"
    return found


def statements(block):
    """Return the lines that tell something: no brackets alone, no keywords alone."""
    lines = (line.strip() for line in block.splitlines())
    return [line for line in lines if len(line) > 6]


def test_no_answer_and_no_hidden_test_leaks(source):
    text = generated(source)
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"):
        assert mark not in text
    # a notebook keeps its lines as JSON strings: compare with the cells' own text
    released = "\n".join(cell.source for cell in notebook(source).cells)
    # what a learner may see: the teacher's text without the blocks
    visible = re.sub(
        r"### BEGIN (SOLUTION|HIDDEN TESTS)\n.*?### END \1",
        "",
        source.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    leaked = [
        line
        for marks in (("BEGIN SOLUTION", "END SOLUTION"), ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS"))
        for block in parts(source, *marks)
        for line in statements(block)
        if line in released and line not in visible
    ]
    assert leaked == []
    assert released.count("raise NotImplementedError()") >= len(
        parts(source, "BEGIN SOLUTION", "END SOLUTION")
    )


def test_hidden_messages_do_not_leak(source):
    """The texts of hidden assertions would tell what is tested."""
    for block in parts(source, "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"):
        tree = ast.parse("\n".join(line for line in block.splitlines()))
        asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        for node in asserts:
            assert ast.unparse(node.test) not in generated(source)
            if isinstance(node.msg, ast.Constant):
                assert node.msg.value not in generated(source)


def test_no_metadata_leads_back_to_the_solution(source):
    nb = notebook(source)
    assert set(nb.metadata) <= {"course", "kernelspec", "language_info", "title"}
    assert "jupytext" not in generated(source)
    assert "solutions/" not in generated(source)
    for cell in nb.cells:
        assert set(cell.metadata) <= {"nbgrader", "deletable", "editable"}, cell.source


def test_nothing_was_run(source):
    for cell in notebook(source).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_ids_are_unique_and_stable(source, tmp_path):
    nb = notebook(source)
    ids = [cell.id for cell in nb.cells]
    assert len(ids) == len(set(ids))
    grade_ids = [cell.metadata.nbgrader.grade_id for cell in nb.cells if "nbgrader" in cell.metadata]
    assert len(grade_ids) == len(set(grade_ids))
    # a change in one cell leaves the ids of all others
    changed = tmp_path / source.name
    text = source.read_text(encoding="utf-8")
    assert text.count("No GPU is needed.") == 1
    changed.write_text(text.replace("No GPU is needed.", "A GPU is not needed."), encoding="utf-8")
    before, after = ([cell.id for cell in release.read_solution(path).cells] for path in (source, changed))
    assert [a == b for a, b in zip(before, after, strict=True)].count(False) == 1


def test_tests_and_text_are_locked_and_answers_are_not(source):
    for cell in notebook(source).cells:
        about = cell.metadata.get("nbgrader")
        if about and about.grade:
            assert about.locked
            assert about.points > 0
            assert not about.solution, "answers that a person would have to grade"
        if about and about.solution:
            assert not about.locked
            assert "NotImplementedError" in cell.source


def test_points_add_up_to_the_table_in_the_text(source):
    nb = jupytext.read(source)
    text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    total = int(re.search(r"(\d+) points", text)[1])
    table = [int(points) for points in re.findall(r"^\| \d+ \|.*\| (\d+) \|$", text, re.MULTILINE)]
    headings = [
        int(points) for points in re.findall(r"^## Part \d+: .* \((\d+) points?\)$", text, re.MULTILINE)
    ]
    graded = []  # points of each part, in order
    for cell in nb.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## Part"):
            graded.append(0)
        elif cell.metadata.get("nbgrader", {}).get("grade"):
            graded[-1] += cell.metadata.nbgrader.points
    assert graded == table == headings
    assert sum(graded) == total


def test_the_fingerprint_is_that_of_the_inputs(source):
    nb = notebook(source)
    assert nb.metadata.course.released == release.fingerprint(nb)
    nb.cells[-1].source += " "
    assert nb.metadata.course.released != release.fingerprint(nb)


# ---- solutions that cannot be released

HEADER = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

"""
CELL = (
    '# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, '
)
CELL += '"grade_id": "ID"}\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n\n'


def write(tmp_path, text):
    path = tmp_path / "02_small.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_solution_without_metadata_is_refused(tmp_path):
    path = write(tmp_path, HEADER + "# %%\nx = 1\n")
    with pytest.raises(CourseError, match=r"02_small\.py has no nbgrader metadata: keep its YAML header"):
        release.release_text(path)


def test_repeated_ids_are_refused(tmp_path):
    cells = [CELL.replace("ID", name) for name in ("a", "b", "a")]
    with pytest.raises(CourseError, match=r"02_small\.py uses the grade_id a twice"):
        release.release_text(write(tmp_path, HEADER + "".join(cells)))


def test_what_nbgrader_refuses_is_said_with_its_reason(tmp_path, monkeypatch):
    class API:
        def generate_assignment(self, *args, **options):
            return {
                "success": False,
                "log": "…\nnbgrader.utils.SomeError: no end of a solution",
                "error": None,
            }

    @contextmanager
    def course_folder(gradebook):
        yield tmp_path, API()

    monkeypatch.setattr(release, "course_folder", course_folder)
    source = write(tmp_path, HEADER + CELL.replace("ID", "a"))
    with pytest.raises(
        CourseError, match=r"could not make the exercise of 02_small: nbgrader\.utils\.SomeError: no end"
    ):
        release.release_text(source)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (
            {"log": "fine\n  nbgrader.Some.ValidationError: no end\nmore", "error": None},
            "nbgrader.Some.ValidationError: no end",
        ),
        ({"log": None, "error": "RuntimeError: x"}, "RuntimeError: x"),
        ({"log": "", "error": ""}, "it gave no reason"),
        ({}, "it gave no reason"),
    ],
)
def test_the_reason_is_one_line(outcome, said):
    assert release.reason(outcome) == said


def test_the_path_is_given_back(monkeypatch):
    monkeypatch.setenv("PATH", "/somewhere")
    with pytest.raises(ZeroDivisionError), release.course_folder() as (root, _):
        assert os.environ["PATH"] == os.pathsep.join([str(Path(sys.executable).parent), "/somewhere"])
        assert root.is_dir()
        raise ZeroDivisionError
    assert os.environ["PATH"] == "/somewhere"
    assert not root.exists()


def test_a_test_that_a_learner_sees_ends_with_its_points(source):
    """A hidden test must not say so: nothing of it has run in the learner's notebook."""
    for cell in notebook(source).cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            is_test = about.get("grade") and not about.get("solution")
            visible = any(
                line and not line.startswith(("#", "limits =")) for line in cell.source.splitlines()
            )
            said = f"check.passed({about['points']:g})" if is_test and visible else ""
            assert cell.source.endswith(said) and cell.source.count("check.passed") == bool(said), cell.source
