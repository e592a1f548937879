"""Estimates: a number on a logarithmic scale, guessed before a measurement, and judged by the factor missed."""

import json
from itertools import pairwise

import pytest
from guess_cases import choose, estimate, move, text

from course_pkg.core import CourseError
from course_pkg.viz import Prediction
from course_pkg.viz.predictions import CLOSE, missed


def test_the_scale_is_logarithmic_from_low_to_high(store):
    values = estimate(store).values
    assert (values[0], values[-1]) == (1, 10_000)
    assert values == sorted(set(values))
    steps = [b / a for a, b in pairwise(values)]
    assert max(steps) < 1.2 and min(steps) > 1.05
    assert abs(values.index(100) / (len(values) - 1) - 0.5) < 0.02, "the geometric mean stands in the middle"


@pytest.mark.parametrize(("low", "high"), [(1, 8), (0.02, 1), (1e-3, 1e9), (3, 3.1), (32, 1024)])
def test_scales_of_any_width(store, low, high):
    values = estimate(store, low, high).values
    assert (values[0], values[-1]) == (low, high)
    assert values == sorted(set(values)) and 2 <= len(values) <= 81


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-1, 1), (2, 2), (3, 1), (1, float("inf")), (float("nan"), 1)]
)
def test_a_scale_that_is_none_is_named(store, low, high):
    with pytest.raises(CourseError, match=r"scale of 'How fast\?' must rise from a positive number"):
        estimate(store, low, high)


def test_nobody_has_guessed_until_the_slider_moves(store, shown):
    asked = estimate(store)
    assert asked.guess is None and asked.widget.children[1].index == 0
    assert asked.texts[0] == "move the slider"
    asked.reveal(1230)
    assert "You said" not in shown[-1] and "Measured: 1,230 GB/s." in shown[-1]


def test_a_number_is_kept_and_judged_by_the_factor_missed(store, shown):
    asked = estimate(store)
    move(asked, 320)
    assert asked.guess == 320 and estimate(store).guess == 320
    asked.reveal(1312.0, note="memory is what it waits for", how="Counted")
    assert "You said 320 GB/s: 4.1 times too low." in shown[-1]
    assert "Counted: 1,312 GB/s, memory is what it waits for." in shown[-1]
    move(asked, 10_000)
    assert "You said 10,000 GB/s: 7.6 times too high." in shown[-1]
    kept = json.loads(store.read_text())["guesses"]["02-stream"]
    assert kept["guess"] == 10_000 and kept["right"] == 1312.0 and kept["unit"] == "GB/s"


@pytest.mark.parametrize(
    ("guess", "value", "said"),
    [
        (300, 1230, "4.1 times too low"),
        (1230, 300, "4.1 times too high"),
        (100, 100, "right within a tenth"),
        (100, 100 * CLOSE, "right within a tenth"),
        (100, 111, "1.1 times too low"),
        (1, 12_345, "12,345 times too low"),
        (9.96, 1, "10 times too high"),
    ],
)
def test_the_factor_in_words(guess, value, said):
    assert missed(guess, value) == said


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_what_no_factor_can_judge_is_named(store, value):
    with pytest.raises(CourseError, match="02-stream is judged by a factor: its value must be positive"):
        estimate(store).reveal(value)


def test_a_guess_off_the_scale_is_forgotten(store):
    move(estimate(store), 320)
    assert estimate(store, 1000, 10_000).guess is None
    choose(Prediction("02-stream", "Which?", ["a", "b"], store=store), "a")
    assert estimate(store).guess is None


def test_the_slider_works_without_a_kernel(store):
    asked = estimate(store)
    slider = asked.widget.children[1]
    assert type(slider).__name__ == "SelectionSlider", "the browser knows all texts"
    assert [label for label, _ in slider.options] == asked.texts
    assert "goes from 1 to 10,000 GB/s." in text(asked.widget), 'the unit is said once: there is no "1 GPUs"'
