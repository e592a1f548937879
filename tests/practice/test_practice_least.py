"""The laboratories of lectures 6 and 8: the least that is possible is what the solution counts, at every size."""

import copy

import practice_cells as cells
import pytest

from course_pkg.grading.limits import counter
from course_pkg.practice import answer as answers
from course_pkg.practice import catalogue
from course_pkg.practice.attempt import attempt

SOLVED = {lab.step: lab for lab in cells.labs() if not lab.says}
ALL = [step for name in ("permutations", "quadratic_programming") for step in catalogue.lectures()[name]]
STEPS = [step for step in ALL if step.limits]


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
    for step in ALL:
        trial = step.trials()[0]
        for results in trial.mistakes.values():
            for name, values in results.items():
                assert (values != trial.expected[name]).any(), (
                    f"{step.name}: a mistake gives the right {name}"
                )
