"""Marks of exercise 1: all for the solution, none for the release, exactly the deserved ones for wrong answers."""

import re

import pytest
import submissions as s

SEEDS = (1, 2, 20260101)


def test_the_solution_gets_all_points():
    for seed in SEEDS:
        report = s.grade(s.solved(), seed=seed)
        assert s.lost(report) == {}
        assert (report.points, report.max_points, report.seed) == (20, 20, seed)
        assert set(s.said(report).values()) == {""}


def test_the_untouched_release_gets_none():
    report = s.grade(s.untouched())
    assert (report.points, report.max_points) == (0, 20)
    for name, text in s.said(report).items():
        assert "not written yet" in text, name


def test_there_are_enough_wrong_submissions():
    assert len(s.RECIPES) >= 6


@pytest.mark.parametrize("path", s.RECIPES, ids=lambda path: path.stem)
def test_a_wrong_submission_gets_what_it_deserves(path):
    nb, about = s.recipe(path)
    for seed in SEEDS[:2]:
        report = s.grade(nb, seed=seed)
        assert s.lost(report) == about["lost"], s.said(report)
        assert report.points == 20 - sum(about["lost"].values())
        for name, pattern in about.get("says", {}).items():
            assert re.search(pattern, s.said(report)[name]), s.said(report)[name]


def test_the_same_seed_says_the_same_and_another_draws_other_inputs():
    nb, _ = s.recipe(next(p for p in s.RECIPES if p.stem == "boundary_forgotten"))
    one, again, other = (s.said(s.grade(nb, seed=seed)) for seed in (5, 5, 6))
    assert one == again
    assert one["test_heat"] != other["test_heat"]


def test_a_grading_without_a_seed_tells_its_own():
    first = s.grade(s.untouched())
    assert first.seed != s.grade(s.untouched()).seed


def test_feedback_of_hidden_tests_holds_no_values():
    for path in s.RECIPES:
        report = s.grade(s.recipe(path)[0])
        for cell in report.cells:
            assert "\n" not in cell.feedback
            if cell.hidden and cell.feedback:
                assert cell.feedback.startswith("Hidden tests: ")
                assert not re.search(r"found|expected \d|\d\.\d{3}|thread \d", cell.feedback), cell.feedback


def test_a_failure_of_the_judge_is_told_to_the_teacher_and_not_blamed_on_the_learner(monkeypatch):
    from course_pkg.simt import lanes

    monkeypatch.setattr(lanes.Mask, "narrow", None)
    report = s.grade(s.solved(), seed=1)
    assert "The judge itself failed here (TypeError)" in s.said(report)["test_triad"]
    assert any("'test_triad'" in note and "by hand" in note for note in report.notes)
    assert s.said(report)["test_balance"] == ""
