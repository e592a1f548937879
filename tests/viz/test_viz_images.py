"""Images side by side, and bars of either sign: what they show, what they tell, and what they refuse."""

import re

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.viz import images_picture, signed_bars

WEIGHTS = {"free": {"age": -1.5, "bmi": 2.0}, "bounded": {"age": 0.0, "bmi": 1.0}}


def test_each_image_is_drawn_under_its_title():
    found = images_picture({"before": np.eye(3), "after": np.zeros((3, 4))}, told="A line, then nothing.")
    assert found.svg.count("<image") == 2
    assert all(f">{title}<" in found.svg for title in ("before", "after"))
    assert found.alt == "A line, then nothing. before: 3×3; after: 3×4."


@pytest.mark.parametrize("marked", ["", "exactly 0"])
def test_what_nan_means_is_named_if_it_means_something(marked):
    found = images_picture({"x": np.array([[1.0, np.nan]])}, marked=marked, told="Two.", note="Made up.")
    assert ("exactly 0" in found.svg) == ("exactly 0 is marked" in found.alt) == bool(marked)
    assert found.alt.endswith("Made up.")


def test_columns_have_words_only_where_they_are_given():
    found = images_picture(
        {"x": np.ones((2, 9))}, ticks={0: "first", 8: "last"}, xlabel="step", flat=False, told="Even."
    )
    assert all(f">{word}<" in found.svg for word in ("first", "last", "step"))


@pytest.mark.parametrize(
    ("images", "says"),
    [
        ({}, "room for 1 to 4 images, not for 0"),
        (dict.fromkeys("abcde", np.ones((2, 2))), "not for 5"),
        ({"line": np.ones(3)}, r"'line' has shape \(3,\)"),
        ({"none": np.full((2, 2), np.nan)}, "some numbers"),
    ],
)
def test_what_is_no_image_is_refused(images, says):
    with pytest.raises(CourseError, match=says):
        images_picture(images, told="Nothing.")


def test_bars_show_every_way_and_say_their_numbers():
    found = signed_bars(WEIGHTS, ylabel="weight")
    assert found.alt.startswith("weight. free: age -1.5, bmi 2; bounded: age 0, bmi 1.")
    assert all(f">{word}<" in found.svg for word in ("age", "bmi", "free", "bounded", "weight"))


def test_a_number_that_is_exactly_0_is_written():
    plain, zero = (signed_bars(w, ylabel="y").svg for w in ({"a": {"p": 5.0}}, {"a": {"p": 0.0, "q": 5.0}}))
    bold = re.compile(r"bold[^>]*>\s*0<|>0<")
    assert len(bold.findall(zero)) > len(bold.findall(plain))


@pytest.mark.parametrize(
    ("series", "says"),
    [({}, "nothing to draw"), ({"a": {}}, "nothing to draw"), (WEIGHTS | {"c": {"age": 1.0}}, "age, bmi")],
)
def test_bars_that_do_not_fit_together_are_refused(series, says):
    with pytest.raises(CourseError, match=says):
        signed_bars(series, ylabel="weight")
