"""The picture of passes over memory: a box for each, its width a pass of the plan's iteration."""

import re
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

from course_pkg.core import CourseError
from course_pkg.viz import passes_picture
from course_pkg.viz.axes import note_below
from course_pkg.viz.passes import _Row


def kernel(reads, writes):
    return SimpleNamespace(reads=dict.fromkeys(reads, False), writes=writes)


def plan(*kernels, iterations=1):
    return SimpleNamespace(kernels=kernels, program=SimpleNamespace(iterations=iterations))


TWO = plan(kernel(("r", "p"), ("p",)), kernel(("p",), ()))


def test_every_kernel_is_named_with_its_fields_and_the_row_with_its_sum():
    picture = passes_picture({"mine": TWO}, per_pass=8, xlabel="bytes", note="By hand.")
    assert picture.alt == "mine: 32. Kernel 1 reads r, p and writes p; kernel 2 reads p. By hand."


def test_what_was_measured_stands_in_the_row():
    picture = passes_picture(
        {"mine": TWO, "other": TWO},
        per_pass=2.5,
        xlabel="µs",
        measured={"mine": 12.3},
        written="{:.0f} µs".format,
    )
    assert "mine: 10 µs, measured 12 µs." in picture.alt and "other: 10 µs. Kernel" in picture.alt


def test_a_plan_of_two_iterations_is_as_wide_as_one_of_them():
    class Sheet:
        def __init__(self):
            self.boxes = []

        def add_patch(self, patch):
            self.boxes.append((patch.get_x(), patch.get_width()))

        def text(self, *args, **kwargs):
            pass

    sheet, row = Sheet(), _Row(plan(*TWO.kernels, *TWO.kernels, iterations=2), 8 / 2)
    row.draw(sheet, 0)
    assert row.end == 32
    assert [width for _, width in sheet.boxes] == [4, 4, 4, 12, 4, 4] * 2  # boxes, their frame
    assert sheet.boxes[-1] == (28, 4)
    picture = passes_picture(
        {"twice": plan(*TWO.kernels, *TWO.kernels, iterations=2)}, per_pass=8, xlabel="bytes"
    )
    assert re.match(r"twice: 32\. ", picture.alt)


@pytest.mark.parametrize(
    ("plans", "measured", "complaint"),
    [({}, None, "nothing to draw"), ({"mine": TWO}, {"yours": 1.0}, "yours: measured, but no such plan")],
)
def test_what_cannot_be_drawn_is_said(plans, measured, complaint):
    with pytest.raises(CourseError, match=complaint):
        passes_picture(plans, per_pass=8, xlabel="bytes", measured=measured)


def test_a_note_below_a_figure_has_no_backquotes():
    figure = Figure(figsize=(8, 2))
    note_below(figure, "Recorded by `course bench cg`.")
    assert figure.get_supxlabel() == "Recorded by course bench cg."
