"""The plot of T_eff against a parameter."""

from dataclasses import replace

import pytest

from course_pkg import viz
from course_pkg.bench import Measurement, cpu
from course_pkg.core import Cost, CourseError


def measured(gb_s):
    return Measurement("a", (1.0,), (), 1, "exceeds", Cost(int(gb_s * 1e9)), cpu(), {}, "2026-01-02")


def test_the_text_says_what_the_picture_shows():
    lines = {"one": [(32, measured(100)), (64, measured(300)), (128, measured(200))]}
    picture = viz.t_eff_against(
        lines,
        xlabel="n, points",
        ticks=[32, 128],
        t_peak_gb_s=400,
        region=("both in L2", 30, 100),
        note="a note",
    )
    for said in ("n, points", "one: 100 GB/s at 32, at most 300, 200 at 128", "copy: 400 GB/s", "a note"):
        assert said in picture.alt
    assert picture.svg.startswith("<?xml") or "<svg" in picture.svg


@pytest.mark.parametrize("series", [{}, {"one": []}], ids=["no line", "no point"])
def test_nothing_cannot_be_drawn(series):
    with pytest.raises(CourseError, match="nothing to draw"):
        viz.t_eff_against(series, xlabel="n", ticks=[1])


def test_a_logarithmic_axis_has_no_zero():
    with pytest.raises(CourseError, match="every number must be positive"):
        viz.t_eff_against({"one": [(0, measured(1))]}, xlabel="n", ticks=[1])


@pytest.mark.parametrize(
    "draw",
    [
        lambda m: viz.t_eff_against({"a": [(1, m)]}, xlabel="n", ticks=[1]),
        lambda m: viz.t_eff_sweep({"a": [m]}),
        lambda m: viz.flops_sweep({"a": [m]}),
    ],
    ids=["against", "sweep", "flops"],
)
def test_a_measurement_whose_bytes_are_unknown_has_no_place_on_an_axis(draw):
    with pytest.raises(
        CourseError, match="The bytes that a moves are unknown, so it has no bandwidth: give it a Cost"
    ):
        draw(replace(measured(1), cost=None))
