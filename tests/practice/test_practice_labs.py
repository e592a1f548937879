"""The steps of all laboratories: solutions are right, typical wrong answers get their sentence, skeletons fit."""

import re

import practice_cells as cells
import pytest

from course_pkg import practice
from course_pkg.grading import exercise
from course_pkg.paths import repo_root
from course_pkg.practice import catalogue

pytestmark = pytest.mark.slow(70)

LABS, SKELETONS = cells.labs(), cells.skeletons()
STEPS = [(lecture, step) for lecture, steps in catalogue.lectures().items() for step in steps]


def name(entry):
    return (
        f"{entry.step}-{'wrong' if entry.says else 'right'}" if isinstance(entry, cells.Lab) else str(entry)
    )


@pytest.mark.family
@pytest.mark.parametrize("lab", [lab for lab in LABS if not lab.says], ids=name)
def test_a_solution_is_right(lab):
    result = practice.check(lab.step, lab.answer)
    assert result.good, result
    assert "Right" in result._repr_html_()


@pytest.mark.family
@pytest.mark.parametrize("lab", [lab for lab in LABS if lab.says], ids=name)
def test_a_typical_wrong_answer_gets_its_sentence(lab):
    result = practice.check(lab.step, lab.answer)
    assert not result.good
    assert lab.says in str(result)


@pytest.mark.parametrize(("lecture", "step"), STEPS, ids=lambda entry: getattr(entry, "name", entry))
def test_a_step_has_a_solution_a_wrong_answer_and_a_variation(lecture, step):
    mine = [lab for lab in LABS if lab.step == step.name]
    assert len([lab for lab in mine if not lab.says]) == 1
    assert any(lab.says for lab in mine)
    assert {lab.lecture.partition("_")[2] for lab in mine} == {lecture}
    assert step.what_if, "a variation asks why"
    assert len(step.sizes) >= 2


def test_a_puzzle_has_the_same_title_in_the_notebook_and_in_the_list_of_what_is_solved():
    text = (repo_root() / "lectures" / "01_first_kernels.py").read_text(encoding="utf-8")
    titles = [title for _, title in re.findall(r"\*\*Puzzle (\d+)\. (.+?)\.\*\*", text)]
    assert [step.title for step in catalogue.lectures()["first_kernels"]] == titles


def test_every_solved_cell_belongs_to_a_step():
    assert {lab.step for lab in LABS} == {step.name for _, step in STEPS}


def test_a_lecture_that_exists_has_a_cell_for_each_of_its_steps_and_no_other():
    lectures = {
        path.stem: path.stem.partition("_")[2] for path in (repo_root() / "lectures").glob("[0-9]*_*.py")
    }
    wanted = {
        (stem, step.name) for stem, title in lectures.items() for lecture, step in STEPS if lecture == title
    }
    assert set(SKELETONS) == wanted


def test_a_skeleton_hides_one_to_six_lines_of_its_solution():
    solved = {lab.step: lab.source for lab in LABS if not lab.says}
    hidden = {step: cells.hidden_lines(text, solved[step]) for (_, step), text in SKELETONS.items()}
    assert {step: lines for step, lines in hidden.items() if lines not in range(1, 7)} == {}


@pytest.mark.parametrize(
    ("skeleton", "hidden"),
    [
        ("def f(a):\n    i = 1\n    ...\n", 2),
        ("def f(a):\n    i = ...\n    if i:\n        a = i\n", 1),
        ("def f(a):\n    ...\n", 3),
        ("def f(a):\n    j = 1\n    ...\n", None),
        ("def f(a):\n    i = 1\n    ...\n    b = 2\n", None),
    ],
)
def test_hidden_lines_are_counted(skeleton, hidden):
    assert cells.hidden_lines(skeleton, "def f(a):\n    i = 1\n    if i:\n        a = i\n") == hidden


def test_students_do_not_get_the_solutions():
    assert not [path for path in exercise.sources() if "labs" in path.parts]
    assert not (repo_root() / "exercises" / "labs").exists()
