"""Relative bars: each quantity over that of the first thing, told in the alternative text, too."""

import re

import pytest

from course_pkg.core import CourseError
from course_pkg.viz import THIS_MACHINE, OfDevice, relative_bars
from course_pkg.viz.style import BOUND, COMPUTE, DEVICES, MEMORY, SERIES

SECTORS = {"mesh": 10, "random": 42}


def test_each_quantity_is_relative_to_its_own_first_value():
    picture = relative_bars(
        {"sectors": SECTORS, "time": {"mesh": 2e-4, "random": 5e-4}}, xlabel="times the mesh"
    )
    assert picture.alt == "sectors: mesh 1.00, random 4.20; time: mesh 1.00, random 2.50 (times the mesh)."


def test_a_value_may_stand_beside_its_factor_and_a_factor_has_three_digits():
    picture = relative_bars({"time": {"a": 2, "b": 25, "c": 781}}, xlabel="times a", said="{} ms".format)
    assert picture.alt == "time: a 1.00 (2 ms), b 12.5 (25 ms), c 390 (781 ms) (times a)."
    for label in ("1.00×, 2 ms", "12.5×, 25 ms", "390×, 781 ms"):
        assert f">{label}<" in picture.svg


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.97, 1.02])
def test_no_label_lies_on_the_line_of_one(share):
    svg = relative_bars({"time": {"a": 100, "b": 100 * share}}, xlabel="times a", said="{} µs".format).svg

    def place(said):
        return float(re.search(rf' x="([\d.]+)"[^>]*>{said}<', svg)[1])

    one, label = place("1.00×, 100 µs") - 5, f"{share:.2f}×, {100 * share} µs"
    assert place(label) >= one or place(label) + 0.5 * 13 * len(label) < one


def test_the_picture_grows_with_its_bars():
    def height(quantities):
        return relative_bars(quantities, xlabel="x").svg.split('height="')[1].split("pt")[0]

    assert float(height({"a": SECTORS, "b": SECTORS, "c": SECTORS})) > float(height({"a": SECTORS}))


def test_a_single_quantity_needs_no_legend():
    one = relative_bars({"time of it": SECTORS}, xlabel="x").svg
    two = relative_bars({"time of it": SECTORS, "b": SECTORS}, xlabel="x").svg
    assert "time of it" in two and "time of it" not in one


@pytest.mark.parametrize(
    ("quantities", "said"),
    [
        ({}, "nothing to draw"),
        ({"a": {}}, "nothing to draw"),
        ({"a": SECTORS, "b": {"mesh": 1}}, "b needs a positive value for each of mesh, random"),
        ({"a": {"mesh": 1, "random": 0}}, "a needs a positive value"),
    ],
)
def test_what_cannot_be_drawn_is_named(quantities, said):
    with pytest.raises(CourseError, match=said):
        relative_bars(quantities, xlabel="x")


def test_a_device_has_the_same_colour_in_every_picture():
    h100, h200, here = (OfDevice(f"time, {name}", name) for name in ("H100", "H200", THIS_MACHINE))
    for names in ((h100, h200), (h200, "sectors"), ("sectors", here, h100)):
        svg = relative_bars(dict.fromkeys(names, SECTORS), xlabel="x").svg.lower()
        shown = {colour for colour in SERIES if colour.lower() in svg}
        assert shown == {DEVICES[one.device] if isinstance(one, OfDevice) else SERIES[0] for one in names}


def test_devices_have_colours_of_their_own():
    assert len(set(DEVICES.values())) == len(DEVICES) and not {MEMORY, COMPUTE, BOUND} & set(DEVICES.values())
