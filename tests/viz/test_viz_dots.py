"""Trials as dots beside a line."""

import re

import pytest

from course_pkg.core import CourseError
from course_pkg.viz import dots_picture

AXES = {"xlabel": "halo", "ylabel": "time", "line": 1, "named": "as before"}


def test_each_trial_is_a_dot_and_the_text_says_their_range():
    picture = dots_picture({"plate": [(1, 1.5), (2, 1.25)], "box": [(3, 1.1)]}, **AXES, note="Recorded.")
    assert picture.alt == (
        "time against halo. plate: 2 dots from 1.25 to 1.50; box: 1 dots from 1.10 to 1.10. as before: 1. Recorded."
    )
    assert len(re.findall(r"<use [^>]*style=\"fill: #0072b2", picture.svg)) >= 2


@pytest.mark.parametrize("series", [{}, {"plate": []}, {name: [(1, 1)] for name in "abc"}])
def test_what_cannot_be_drawn_is_said(series):
    with pytest.raises(CourseError, match=r"nothing to draw|marks for 2 series, not for 3"):
        dots_picture(series, **AXES)
