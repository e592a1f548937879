"""Marks: a release gets no points, and each wrong submission exactly the points that it deserves.

Solutions and other right answers get all points in `test_grading_alone.py`, which also counts their statements.
"""

import re
from collections import Counter

import pytest
import submissions as s

pytestmark = pytest.mark.slow(190)

EXERCISES = pytest.mark.parametrize("source", s.SOURCES.values(), ids=lambda path: path.stem)


@EXERCISES
def test_the_untouched_release_gets_none(source):
    report = s.grade(s.untouched(source), source)
    assert (report.points, report.max_points) == (0, 20)
    for name, text in s.said(report).items():
        assert "not written yet" in text, name


def test_there_are_enough_wrong_submissions():
    recipes = Counter(s.exercise_of(path).stem for path in s.RECIPES)
    assert set(recipes) == set(s.SOURCES)
    assert min(recipes.values()) >= 9


@EXERCISES
def test_each_point_is_lost_by_some_wrong_submission(source):
    lost = [s.about(path)["lost"] for path in s.RECIPES if s.exercise_of(path) == source]
    assert set().union(*lost) == set(s.points(source))


def _name(value):
    if isinstance(value, int):
        return f"seed {value}"
    paths = value
    return f"{paths[0].parent.name[:2]}-{'+'.join(path.stem for path in paths)}"


@pytest.mark.family
@pytest.mark.parametrize(("seed", "paths"), [*enumerate(s.packs(), start=1)], ids=_name)
def test_a_wrong_submission_gets_what_it_deserves(seed, paths):
    """Wrong answers to different parts are graded as one submission; what differs is told of each of them.

    Each pack has a seed of its own: marks must not depend on it. A part that no answer of a pack touches or calls is
    left out: larger packs and the solution grade it with the same answer.
    """
    source = s.exercise_of(paths[0])
    abouts = {path.stem: s.about(path) for path in paths}
    owner = {test: stem for stem, about in abouts.items() for test in about["lost"]}
    left_out = s.unchanged(paths)
    report = s.grade(s.packed(paths), source, seed=seed, without=left_out)
    assert {cell.grade_id for cell in report.cells} == s.points(source).keys() - left_out
    lost, said, wrong = s.lost(report), s.said(report), {}
    for test in lost.keys() | owner.keys():
        stem = owner.get(test, "none of them")
        deserved = abouts[stem]["lost"][test] if test in owner else 0
        if lost.get(test, 0) != deserved:
            wrong.setdefault(stem, []).append((test, lost.get(test, 0), deserved, said[test]))
    assert not wrong, f"seed {seed}, (test, lost, deserved, said) by wrong answer: {wrong}"
    assert report.points == report.max_points - sum(sum(about["lost"].values()) for about in abouts.values())
    for stem, about in abouts.items():
        for test, pattern in about.get("says", {}).items():
            assert re.search(pattern, said[test]), (stem, test, said[test])
    check_feedback(report)


def test_each_wrong_submission_is_in_one_pack():
    assert sorted(path for paths in s.packs() for path in paths) == s.RECIPES


@EXERCISES
def test_each_test_is_graded_in_some_pack_and_with_each_wrong_answer_to_its_part(source):
    packs = [paths for paths in s.packs() if s.exercise_of(paths[0]) == source]
    assert set().union(*(s.points(source).keys() - s.unchanged(paths) for paths in packs)) == set(
        s.points(source)
    )
    part = s.parts(source)
    for paths in packs:
        answered = {part[cell] for path in paths for cell in s.touched(path) & part.keys()}
        assert not answered & {part[cell] for cell in s.unchanged(paths)}


def check_feedback(report):
    """Check that feedback is one line each, and that a hidden test's holds no values."""
    for cell in report.cells:
        assert "\n" not in cell.feedback
        if cell.hidden and cell.feedback:
            assert cell.feedback.startswith("Hidden tests: ")
            assert not re.search(r"found|expected \d|\d\.\d{3}|thread \d", cell.feedback), cell.feedback


def test_the_same_seed_says_the_same_and_another_draws_other_inputs():
    nb, _ = s.recipe(next(p for p in s.RECIPES if p.stem == "boundary_forgotten"))
    one, again, other = (s.said(s.grade(nb, seed=seed)) for seed in (5, 5, 6))
    assert one == again
    assert one["test_heat"] != other["test_heat"]


def test_a_grading_without_a_seed_tells_its_own():
    first = s.grade(s.untouched())
    assert first.seed != s.grade(s.untouched()).seed


def test_a_failure_of_the_judge_is_told_to_the_teacher_and_not_blamed_on_the_learner(monkeypatch):
    from course_pkg.simt.run import lanes

    monkeypatch.setattr(lanes.Mask, "narrow", None)
    report = s.grade(s.solved(), seed=1)
    assert "The judge itself failed here (TypeError)" in s.said(report)["test_triad"]
    assert any("'test_triad'" in note and "by hand" in note for note in report.notes)
    assert s.said(report)["test_window"] == ""
