"""The time of kernels, and their clocks in it."""

import re

import pytest

from course_pkg import viz
from course_pkg.core import CourseError
from course_pkg.viz.clocks import COLOURS
from course_pkg.viz.style import WASTED

FLAT = (600e-6, {"memory": 0.8, "L2": 0.6, "L1": 0.5, "issue": 0.4})
TILED = (900e-6, {"memory": 0.5, "issue": 0.8})


def test_the_text_says_what_the_picture_shows():
    picture = viz.clock_bars({"flat": FLAT, "tiled": TILED}, bound_s=500e-6, bound="a copy", note="a note")
    for said in (
        "flat: 600 µs, of which memory 80%, L2 60%, L1 50%, issue 40%",
        "tiled: 900 µs",
        "issue 80%",
    ):
        assert said in picture.alt
    assert picture.alt.endswith("a copy: 500 µs. a note")


def test_a_clock_is_as_long_as_its_share_of_the_time(monkeypatch):
    """The widths of the bars, in the order in which they are drawn."""
    drawn = []

    def plot(callback, alt, *, size):
        from matplotlib.figure import Figure

        figure = Figure()
        callback(figure)
        drawn.extend((bar.get_width(), bar.get_facecolor()) for bar in figure.axes[0].patches)
        return alt

    monkeypatch.setattr("course_pkg.viz.clocks.draw", plot)
    viz.clock_bars({"flat": FLAT, "tiled": TILED})
    widths = [round(width) for width, _ in drawn]
    assert widths == [600, 480, 360, 300, 240, 900, 450, 0, 0, 720]
    assert len({colour for _, colour in drawn}) == 1 + len(COLOURS) and WASTED not in COLOURS.values()


def test_a_time_has_an_edge_that_can_be_seen():
    """The pale grey has a contrast of 1.4 : 1; its edge has 3.2."""
    svg = viz.clock_bars({"flat": FLAT, "tiled": TILED}).svg
    times = re.findall(rf'style="fill: {WASTED.lower()}; fill-opacity: 0.3; stroke: {WASTED.lower()}', svg)
    assert len(times) == 3  # of two kernels, and in the legend


def test_without_a_bound_none_is_drawn():
    assert "copy" not in viz.clock_bars({"flat": FLAT}).alt


def test_nothing_cannot_be_drawn():
    with pytest.raises(CourseError, match="nothing to draw"):
        viz.clock_bars({})


def test_an_unknown_clock_is_named():
    with pytest.raises(CourseError, match="disk: a clock is one of memory, L2, L1, issue"):
        viz.clock_bars({"flat": (1.0, {"disk": 0.5})})
