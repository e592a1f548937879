"""The picture of passes over memory: a block for each, as high as a pass of the plan's iteration."""

import re
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

from course_pkg.core import CourseError
from course_pkg.viz import passes_picture
from course_pkg.viz.axes import note_below
from course_pkg.viz.passes import _Column


def kernel(reads, writes):
    return SimpleNamespace(reads=dict.fromkeys(reads, False), writes=writes)


def plan(*kernels, iterations=1, **family):
    return SimpleNamespace(kernels=kernels, program=SimpleNamespace(iterations=iterations, family=family))


TWO = plan(kernel(("r", "p"), ("p",)), kernel(("p",), ()))


def blocks(svg):
    """Return for each block its field, height and colour, in the order in which they are drawn."""
    found = re.findall(r'<g id="block-(\w+)">\s*<path d="([^"]*)"[^>]*style="fill: (#\w+)', svg)
    heights = [[float(n) for n in re.findall(r"-?[\d.]+", path)][1::2] for _, path, _ in found]
    return [(name, max(ys) - min(ys), fill) for (name, _, fill), ys in zip(found, heights, strict=True)]


def test_every_kernel_is_named_with_its_fields_and_the_column_with_its_sum():
    picture = passes_picture({"mine": TWO}, per_pass=8, axis="bytes", note="By hand.")
    assert picture.alt == "bytes. mine: 32. Kernel 1 reads r, p and writes p; kernel 2 reads p. By hand."


def test_a_field_has_one_colour_dark_where_it_is_read_and_light_where_it_is_written():
    drawn = blocks(passes_picture({"mine": TWO, "other": TWO}, per_pass=8, axis="bytes").svg)
    assert [name for name, *_ in drawn] == ["r", "p", "p", "p"] * 2
    (_, tall, r), (_, _, read), (_, _, written), (_, _, again) = drawn[:4]
    assert read == again and len({r, read, written}) == 3
    assert all(height == pytest.approx(tall) for _, height, _ in drawn)
    assert drawn[:4] == drawn[4:]


def test_what_was_measured_stands_beside_its_column():
    picture = passes_picture(
        {"mine": TWO, "other": TWO},
        per_pass=2.5,
        axis="µs",
        measured={"mine": 12.3},
        written="{:.0f} µs".format,
    )
    assert "mine: 10 µs, measured 12 µs." in picture.alt and "other: 10 µs. Kernel" in picture.alt
    assert ">12 µs<" in picture.svg and ">10 µs<" in picture.svg


def test_a_plan_of_two_iterations_has_two_stacks_and_their_mean():
    longer = plan(*TWO.kernels, kernel(("r",), ()), kernel(("p",), ()), iterations=2)
    column = _Column(longer)
    assert (column.end, column.height) == (3, 4)
    assert len(column.stacks) == 2
    picture = passes_picture({"twice": longer}, per_pass=8, axis="bytes")
    assert picture.alt.startswith("bytes. twice: 24. ")


def test_fields_that_iterations_use_in_turn_have_one_colour_and_a_number_in_a_name_does_not_make_them_so():
    turns = plan(kernel(("p1",), ("p2",)), p1="p", p2="p")
    drawn = blocks(passes_picture({"mine": turns, "other": TWO}, per_pass=8, axis="bytes").svg)
    (_, _, first), (_, _, second), _, (_, _, read), (_, _, written), _ = drawn
    assert (first, second) == (read, written)
    apart = blocks(passes_picture({"mine": plan(kernel(("p1", "p2"), ()))}, per_pass=8, axis="b").svg)
    assert apart[0][2] != apart[1][2]


def test_more_fields_than_colours_are_refused():
    with pytest.raises(CourseError, match="colours for 5 fields, not for 6"):
        passes_picture({"mine": plan(kernel(tuple("abcdef"), ()))}, per_pass=8, axis="bytes")


@pytest.mark.parametrize(
    ("plans", "measured", "complaint"),
    [({}, None, "nothing to draw"), ({"mine": TWO}, {"yours": 1.0}, "yours: measured, but no such plan")],
)
def test_what_cannot_be_drawn_is_said(plans, measured, complaint):
    with pytest.raises(CourseError, match=complaint):
        passes_picture(plans, per_pass=8, axis="bytes", measured=measured)


def test_a_note_below_a_figure_has_no_backquotes():
    figure = Figure(figsize=(8, 2))
    note_below(figure, "Recorded by `course bench cg`.")
    assert figure.get_supxlabel() == "Recorded by course bench cg."
