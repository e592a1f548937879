"""Lines that are named where they end."""

import re

import pytest

from course_pkg.core import CourseError
from course_pkg.viz import curves_picture
from course_pkg.viz.style import SERIES

AXES = {"xlabel": "iterations", "ylabel": "residual"}
FALLS = {"CG": [(0, 1.0), (8, 1e-6)], "s = 4": [(0, 1.0), (8, 1e-7)]}


def test_each_line_has_its_name_and_the_text_says_where_it_begins_and_ends():
    picture = curves_picture(FALLS, **AXES, log="y", lines={"tolerance": 1e-6}, note="Counted.")
    assert picture.alt == (
        "residual against iterations. CG: from 1 at 0 to 1e-06 at 8; s = 4: from 1 at 0 to 1e-07 at 8. "
        "tolerance: 1e-06. Counted."
    )
    assert all(f">{name}<" in picture.svg for name in (*FALLS, "tolerance"))


def test_axes_have_the_numbers_that_are_asked_for():
    picture = curves_picture(
        {"bytes": [(1, 136), (32, 82)]}, **AXES, log="x", ticks=(1, 32), yticks=(82, 136), ylim=(0, 170)
    )
    assert all(f">{number}<" in picture.svg for number in (1, 32, 82, 136))


def test_a_line_that_leaves_the_picture_keeps_its_name():
    picture = curves_picture({"grows": [(0, 1), (1, 1e9)]}, **AXES, ylim=(0, 10))
    assert ">grows<" in picture.svg


@pytest.mark.parametrize(
    ("series", "log", "says"),
    [({}, "", "nothing to draw"), ({"a": []}, "", "nothing to draw"), (FALLS, "z", "pass one of")],
)
def test_what_cannot_be_drawn_is_said(series, log, says):
    with pytest.raises(CourseError, match=says):
        curves_picture(series, **AXES, log=log)


def test_a_band_lies_around_its_line():
    band = {"CG": [(0, 0.5, 2.0), (8, 1e-7, 1e-5)]}
    picture = curves_picture(FALLS, **AXES, log="y", bands=band)
    assert picture.alt.endswith("The band of CG at 8 is from 1e-07 to 1e-05. ".strip())
    assert len(picture.svg) > len(curves_picture(FALLS, **AXES, log="y").svg)
    with pytest.raises(CourseError, match="band of s = 8, but no line"):
        curves_picture(FALLS, **AXES, bands={"s = 8": [(0, 1, 2)]})


def test_single_points_are_drawn_and_named():
    marks = {"published": [(4, 1e-3), (4, 2e-3)]}
    picture = curves_picture(FALLS, **AXES, log="y", marks=marks)
    assert picture.alt.endswith("published: 0.001 at 4, 0.002 at 4. ".strip())
    assert ">published<" in picture.svg and ">published<" not in curves_picture(FALLS, **AXES, log="y").svg


def test_a_line_keeps_its_colour_where_another_is_missing():
    alone = {"s = 4": FALLS["s = 4"]}
    assert SERIES[1].lower() not in curves_picture(alone, **AXES).svg.lower()
    assert SERIES[1].lower() in curves_picture(alone, **AXES, among=FALLS).svg.lower()
    with pytest.raises(CourseError, match="s = 4 has no colour"):
        curves_picture(alone, **AXES, among=["CG"])


def test_a_series_without_points_says_so_and_the_others_keep_their_colours():
    whole = curves_picture({"a": [(1, 2.0)], "b": [(1, 3.0)]}, **AXES)
    part = curves_picture({"a": [], "b": [(1, 3.0)]}, **AXES)
    assert ">a:<" in part.svg and ">not recorded<" in part.svg and "a: not recorded" in part.alt
    assert "not recorded" not in whole.svg
    coloured = r'<text style="[^"]*fill: (#\w+)[^>]*>b</text>'
    assert re.search(coloured, part.svg)[1] == re.search(coloured, whole.svg)[1]
    with pytest.raises(CourseError, match="nothing to draw"):
        curves_picture({"a": []}, **AXES)


def test_large_numbers_of_a_linear_axis_are_written_as_in_the_text():
    large = curves_picture({"KKT": [(0, -1200), (2000, 4)]}, **AXES).svg
    assert all(f">{number}<" in large for number in ("2,000", "−1,200"))
    assert not any(f">{number}<" in large for number in ("2000", "−1200"))
    small = curves_picture({"KKT": [(0, 0.25), (900, 1)]}, **AXES).svg
    assert all(f">{number}<" in small for number in ("0.4", "800"))
