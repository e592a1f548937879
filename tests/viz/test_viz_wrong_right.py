"""The figure that compares wrong timings with right ones."""

from types import SimpleNamespace

import pytest

from course_pkg.core import CourseError
from course_pkg.viz import wrong_right


def pair(title, wrong, right):
    return SimpleNamespace(
        pitfall=SimpleNamespace(title=title),
        wrong=SimpleNamespace(t_eff_gb_s=wrong),
        right=SimpleNamespace(t_eff_gb_s=right),
    )


def test_every_pair_is_named_with_both_numbers_and_its_device():
    picture = wrong_right(
        {"H200": [pair("without a wait", 40000, 4200)], "H100": [pair("one launch", 900, 2900)]},
        bounds={"H200": 4800},
        note="From a record.",
    )
    assert picture.alt == (
        "H200: without a wait, 40,000 GB/s wrong and 4,200 right; H100: one launch, 900 GB/s wrong and 2,900 right. "
        "From a record."
    )
    assert picture.svg.count("<svg") == 1


def test_a_pair_of_equal_numbers_can_be_drawn():
    assert wrong_right({"GPU": [pair("an idle GPU", 100.0, 100.0)]}).svg


@pytest.mark.parametrize("series", [{}, {"H200": []}])
def test_nothing_to_draw_is_said(series):
    with pytest.raises(CourseError, match="nothing to draw"):
        wrong_right(series)
