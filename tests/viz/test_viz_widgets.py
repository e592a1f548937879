"""Widgets: a slider whose frames are drawn beforehand."""

import ipywidgets as W
import pytest
from ipywidgets.widgets import widget_link

from course_pkg.core import CourseError
from course_pkg.viz import Estimate, Picture, Prediction, explorer, slider
from course_pkg.viz.widgets import Controls


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


# ---- what stays where widgets cannot be shown


def bundle(widget):
    return widget._repr_mimebundle_()["text/html"]


def test_a_slider_leaves_the_picture_that_it_shows():
    box = slider(frame, [1, 2, 4], label="bytes a <number>")
    assert bundle(box) == f"<p>bytes a &lt;number&gt;: 2</p>{frame(2)._repr_html_()}"
    box.children[0].index = box.children[1].selected_index = 2  # the browser links the two
    assert bundle(box) == f"<p>bytes a &lt;number&gt;: 4</p>{frame(4)._repr_html_()}"
    assert "application/vnd.jupyter.widget-view+json" in box._repr_mimebundle_()


def test_an_explorer_leaves_one_picture_of_all():
    box = explorer(lambda n, halo: frame(n + halo), n=[8, 16], halo=[0, 1], start={"halo": 1})
    assert bundle(box) == f"<p>n: 8</p><p>halo: 1</p>{frame(9)._repr_html_()}"


def test_questions_and_switches_leave_their_words(tmp_path):
    asked = Prediction("02-a", "Is 1 < 2?", ["yes", "<no>"], store=tmp_path / "p.json")
    said = bundle(asked)
    assert "Is 1 &lt; 2?" in said and "&lt;no&gt;" in said and "<strong>yes" not in said
    asked.widget.children[1].value = "yes"
    assert "<strong>yes</strong>" in bundle(asked)
    number = Estimate("02-b", "How many?", 1, 100, "GB/s", store=tmp_path / "p.json")
    assert "<p>move the slider</p>" in bundle(number)
    switches = Controls([W.Checkbox(True, description="p"), W.Dropdown(options=["H200"], description="on")])
    assert bundle(switches) == "<p>p: yes</p><p>on: H200</p>"
