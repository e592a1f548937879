"""The laboratory of lecture 8: what is called the least possible is what the solution counts, at every size."""

import copy

import practice_cells as cells
import pytest

from course_pkg import practice
from course_pkg.grading.limits import counter
from course_pkg.practice import answer as answers
from course_pkg.practice import catalogue
from course_pkg.practice.attempt import attempt

SOLVED = {lab.step: lab for lab in cells.labs() if not lab.says}
STEPS = [step for step in catalogue.lectures()["quadratic_programming"] if step.limits]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_least_possible_is_what_the_solution_counts(step):
    trials = step.trials()
    answer = answers.read(step, SOLVED[step.name].answer, trials[0].is_launch)
    outcomes = attempt(step, answer, copy.deepcopy(trials))
    assert len(outcomes) == len(trials)
    for trial, outcome in zip(trials, outcomes, strict=True):
        assert outcome.profiles, outcome.error
        for profile in outcome.profiles:
            assert {name: counter(profile, name) for name in step.limits} == {
                name: trial.needed[name] for name in step.limits
            }


def test_no_likely_mistake_gives_the_right_result():
    for step in catalogue.lectures()["quadratic_programming"]:
        trial = step.trials()[0]
        for results in trial.mistakes.values():
            for name, values in results.items():
                assert (values != trial.expected[name]).any(), (
                    f"{step.name}: a mistake gives the right {name}"
                )


def test_a_wrong_truth_value_is_shown_as_one():
    wrong = next(
        lab for lab in cells.labs() if lab.step == "active_set" and "ought to grow" in (lab.says or "")
    )
    assert "1 of 8 elements are wrong; the result is False and should be True." in str(
        practice.check("active_set", wrong.answer)
    )
