"""Widgets: a slider whose frames are drawn beforehand, and a prediction that is remembered."""

import json

import pytest
from ipywidgets.widgets import widget_link

from course_pkg.core import CourseError
from course_pkg.viz import Picture, Prediction, slider


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


# ---- predictions


@pytest.fixture
def store(tmp_path):
    return tmp_path / "kept" / "predictions.json"


def ask(store, key="01-flops", choices=("the same", "8 times", "16 times")):
    return Prediction(key, "How much longer?", choices, store=store)


def choose(prediction, choice):
    """Do what a click does."""
    prediction.widget.children[1].value = choice


def test_a_guess_is_kept_and_found_again(store):
    prediction = ask(store)
    assert prediction.guess is None
    assert not store.exists(), "asking keeps nothing"
    choose(prediction, "8 times")
    assert prediction.guess == "8 times"
    assert json.loads(store.read_text(encoding="utf-8")) == {"01-flops": "8 times"}
    assert ask(store).guess == "8 times"
    assert [p.name for p in store.parent.iterdir()] == ["predictions.json"]


def test_guesses_of_other_questions_stay(store):
    choose(ask(store), "8 times")
    choose(ask(store, "02-tiles"), "the same")
    choose(ask(store), "16 times")
    kept = json.loads(store.read_text(encoding="utf-8"))
    assert kept == {"01-flops": "16 times", "02-tiles": "the same"}


def test_a_guess_that_is_no_longer_a_choice_is_forgotten(store):
    choose(ask(store), "8 times")
    assert ask(store, choices=("yes", "no")).guess is None


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[1]", b"null", b"\xff\xfe", b'{"01-flops": 3}', b'{"01-flops": ["a"]}'], ids=repr
)
def test_a_damaged_store_does_not_stop_the_lecture(store, text):
    store.parent.mkdir()
    store.write_bytes(text)
    prediction = ask(store)
    assert prediction.guess is None
    choose(prediction, "8 times")
    assert ask(store).guess == "8 times"


def test_by_default_guesses_live_beside_the_course(tmp_path, monkeypatch):
    monkeypatch.setattr("course_pkg.viz.widgets.repo_root", lambda: tmp_path)
    assert Prediction("k", "Which?", ["a", "b"]).store == tmp_path / "lectures" / ".predictions.json"


def test_a_question_needs_two_choices(store):
    with pytest.raises(CourseError, match=r"'Really\?' needs at least two choices"):
        Prediction("k", "Really?", ["yes"], store=store)


def test_the_question_is_escaped_and_shown(store):
    prediction = Prediction("k", "Is 1 < 2 & 3?", ["yes", "no"], store=store)
    assert "Is 1 &lt; 2 &amp; 3?" in prediction.widget.children[0].value
    assert "application/vnd.jupyter.widget-view+json" in prediction._repr_mimebundle_()


@pytest.fixture
def shown(monkeypatch):
    """What a notebook would show, in order; the last entry is what stands there."""
    shown = []

    class Handle:
        def update(self, what):
            shown.append(what.data)

    def display(what, display_id):
        shown.append(what.data)
        return Handle()

    monkeypatch.setattr("course_pkg.viz.widgets.display", display)
    return shown


def test_revealing_sets_the_guess_against_the_measurement(store, shown):
    prediction = ask(store)
    prediction.reveal("1.02 times")
    assert "Measured: 1.02 times" in shown[-1]
    assert "You said" not in shown[-1]
    choose(prediction, "8 times")
    assert len(shown) == 2, "a guess that comes later appears too"
    assert "You said: 8 times." in shown[-1]
    assert "Measured: 1.02 times" in shown[-1]
    ask(store).reveal("1.02 times")
    assert "You said: 8 times." in shown[-1], "so does one of an earlier day"


def test_a_reveal_is_escaped(store, shown):
    prediction = Prediction("k", "Which?", ["<a> & b", "c"], store=store)
    prediction.reveal("1 < 2")
    choose(prediction, "<a> & b")
    assert "&lt;a&gt; &amp; b" in shown[-1]
    assert "1 &lt; 2" in shown[-1]
    assert "<a>" not in shown[-1]


def test_a_reveal_outside_a_notebook_is_printed(store, capsys):
    prediction = ask(store)
    prediction.reveal("1.02 times")
    choose(prediction, "8 times")
    assert prediction.guess == "8 times"
    assert capsys.readouterr().out
