"""The file of guesses: what is kept in it, and what happens if it is damaged or cannot be written."""

import json

import pytest
from guess_cases import ask, choose, text

from course_pkg.core import CourseError
from course_pkg.viz import Prediction


def test_a_guess_is_kept_and_found_again(store):
    prediction = ask(store)
    assert prediction.guess is None
    choose(prediction, "8 times")
    assert prediction.guess == "8 times"
    assert json.loads(store.read_text(encoding="utf-8"))["guesses"] == {"02-flops": {"guess": "8 times"}}
    assert ask(store).guess == "8 times"
    assert [p.name for p in store.parent.iterdir()] == ["predictions.json"]


def test_guesses_of_other_questions_stay(store):
    choose(ask(store), "8 times")
    choose(ask(store, "02-tiles"), "the same")
    choose(ask(store), "16 times")
    kept = json.loads(store.read_text(encoding="utf-8"))["guesses"]
    assert kept == {"02-flops": {"guess": "16 times"}, "02-tiles": {"guess": "the same"}}


def test_a_guess_that_is_no_longer_a_choice_is_forgotten(store):
    choose(ask(store), "8 times")
    assert ask(store, choices=("yes", "no")).guess is None


def test_a_file_from_before_the_order_was_drawn_keeps_its_guesses(store):
    store.parent.mkdir()
    store.write_text('{"02-flops": "8 times"}')
    assert ask(store).guess == "8 times"
    assert ask(store).choices == ask(store).choices
    assert not list(store.parent.glob("*.orig"))


DAMAGED = [
    b"", b"{", b"[1]", b"null", b"\xff\xfe", b'{"02-flops": 3}', b'{"02-flops": ["a"]}', b'{"guesses": 3}',
    b'{"seed": "x", "guesses": {}}', b'{"guesses": {"02-flops": 3}}', b'{"guesses": {"02-flops": {"guess": [1]}}}',
    b"[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED, ids=lambda content: repr(content[:40]))
def test_a_damaged_file_is_copied_and_the_lecture_goes_on(store, content):
    store.parent.mkdir()
    store.write_bytes(content)
    prediction = ask(store)
    assert prediction.guess is None
    assert "it is kept as predictions.json.orig, and your guesses begin anew" in text(prediction.widget)
    assert (store.parent / "predictions.json.orig").read_bytes() == content
    choose(prediction, "8 times")
    assert ask(store).guess == "8 times"
    assert "begin anew" not in text(ask(store).widget), "said once"


@pytest.fixture(params=["a folder in its place", "no folder possible"])
def unwritable(request, tmp_path):
    """A path at which nobody, not even root, can write a file."""
    if request.param == "a folder in its place":
        path = tmp_path / "predictions.json"
        path.mkdir()
        return path
    (tmp_path / "file").write_text("not a folder")
    return tmp_path / "file" / "predictions.json"


def test_where_nothing_can_be_written_guesses_last_until_the_kernel_ends(unwritable):
    prediction = ask(unwritable)
    choose(prediction, "8 times")
    said = text(prediction.widget)
    assert "your guesses last until this notebook" in said and "restart the kernel" in said
    assert ask(unwritable).guess == "8 times"
    assert "your guesses last until" in text(ask(unwritable).widget)


def test_where_nothing_can_be_written_the_order_stays_all_the_same(unwritable, monkeypatch):
    first = ask(unwritable).choices
    monkeypatch.setattr("course_pkg.viz.guesses._UNSAVED", {})  # a restarted kernel
    assert ask(unwritable).choices == first


def test_a_file_that_can_be_read_but_not_written_keeps_its_guesses(store, monkeypatch):
    choose(ask(store), "8 times")
    order, before = ask(store).choices, store.read_bytes()

    def full(path, text):
        raise CourseError("the disk is full")

    monkeypatch.setattr("course_pkg.viz.guesses.write", full)
    prediction = ask(store)
    assert prediction.guess == "8 times" and prediction.choices == order
    choose(prediction, "the same")
    assert "predictions.json could not be written" in text(prediction.widget)
    assert ask(store).guess == "the same" and ask(store).choices == order
    assert store.read_bytes() == before


def test_by_default_guesses_live_beside_the_course(tmp_path, monkeypatch):
    monkeypatch.setattr("course_pkg.viz.guesses.repo_root", lambda: tmp_path)
    choose(Prediction("k", "Which?", ["a", "b"]), "a")
    assert (tmp_path / "lectures" / ".predictions.json").is_file()
