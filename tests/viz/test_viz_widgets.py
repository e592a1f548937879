"""Widgets: a slider whose frames are drawn beforehand."""

import pytest
from ipywidgets.widgets import widget_link

from course_pkg.core import CourseError
from course_pkg.viz import Picture, slider


def frame(value):
    return Picture(f"<svg>{value}</svg>", f"Value {value}.")


def test_a_slider_draws_each_frame_once_in_order():
    drawn = []
    box = slider(lambda v: drawn.append(v) or frame(v), [1, 2, 4], label="bytes a number")
    control, frames = box.children
    assert drawn == [1, 2, 4]
    assert [f'alt="Value {v}."' in w.value for v, w in zip(drawn, frames.children, strict=True)] == [True] * 3
    assert control.description == "bytes a number"
    assert control.options == (("1", 0), ("2", 1), ("4", 2))


def test_slider_and_frames_are_linked_in_the_browser(monkeypatch):
    links = []
    link = widget_link.Link.__init__
    monkeypatch.setattr(
        widget_link.Link,
        "__init__",
        lambda self, source, target, **k: links.append((source, target)) or link(self, source, target, **k),
    )
    control, frames = slider(frame, [1, 2], label="x").children
    assert links == [((control, "index"), (frames, "selected_index"))]


@pytest.mark.parametrize(("start", "index"), [(None, 2), (8, 3), (1, 0)])
def test_the_slider_starts_in_the_middle_or_where_it_is_told(start, index):
    control, frames = slider(frame, [1, 2, 4, 8], label="x", start=start).children
    assert control.index == frames.selected_index == index


def test_values_are_shown_as_short_text():
    control, _ = slider(frame, [0.123456, 2, "auto"], label="x").children
    assert [label for label, _ in control.options] == ["0.123", "2", "auto"]


def test_mistakes_are_named():
    with pytest.raises(CourseError, match="at least one value"):
        slider(frame, [], label="x")
    with pytest.raises(CourseError, match=r"slider of 41 frames .* at most 40"):
        slider(frame, range(41), label="x")
    with pytest.raises(CourseError, match="start is 3, which is not one of the slider's values"):
        slider(frame, [1, 2], label="x", start=3)
    with pytest.raises(CourseError, match=r"draw\(\) must return a Picture, not a str"):
        slider(str, [1, 2], label="x")


def test_forty_frames_are_allowed():
    assert len(slider(frame, range(40), label="x").children[1].children) == 40
