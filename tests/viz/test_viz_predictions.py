"""Predictions: a choice, guessed before a measurement, and judged when the answer is known."""

import json
from collections import Counter

import pytest
from guess_cases import CHOICES, ask, choose, with_seed

from course_pkg.core import CourseError
from course_pkg.viz import Prediction

# ---- the order of the options


def test_the_order_stays_for_a_learner(store):
    first = ask(store).choices
    assert all(ask(store).choices == first for _ in range(5))
    choose(ask(store), "8 times")
    assert ask(store).choices == first
    assert sorted(first) == sorted(CHOICES)


def test_the_order_differs_between_learners_and_questions(tmp_path):
    orders = {tuple(ask(tmp_path / str(i) / "p.json").choices) for i in range(40)}
    assert len(orders) == 6, "each of 6 orders is drawn by one of 40 learners"
    one = tmp_path / "0" / "p.json"
    assert len({tuple(ask(one, key=f"02-{i}").choices) for i in range(40)}) == 6


def test_the_place_says_nothing(store):
    places = Counter(ask(with_seed(store, seed)).choices.index("8 times") for seed in range(600))
    assert all(150 < places[place] < 250 for place in range(3)), places


def test_the_order_does_not_depend_on_how_the_lecture_lists_the_options(store):
    assert ask(store).choices == ask(store, choices=CHOICES[::-1]).choices


def test_while_slides_are_built_guesses_are_not_used_and_the_order_is_fixed(tmp_path, monkeypatch):
    stores = [with_seed(tmp_path / str(i) / "p.json", i) if i else tmp_path / "p.json" for i in range(4)]
    for store in stores:
        choose(ask(store), "8 times")
    before = [store.read_bytes() for store in stores]
    monkeypatch.setenv("COURSE_GUESSES", "none")
    monkeypatch.setattr("course_pkg.viz.guesses._UNSAVED", {})
    built = [ask(store) for store in stores]
    assert len({tuple(asked.choices) for asked in built}) == 1
    assert [asked.guess for asked in built] == [None] * 4
    built[0].reveal("8", right="8 times")
    assert [store.read_bytes() for store in stores] == before


# ---- a choice


def test_a_question_needs_two_different_choices(store):
    with pytest.raises(CourseError, match=r"'Really\?' needs at least two choices"):
        Prediction("k", "Really?", ["yes"], store=store)
    with pytest.raises(CourseError, match=r"'Really\?' offers the same choice twice"):
        Prediction("k", "Really?", ["yes", "yes"], store=store)


def test_the_question_is_escaped_and_shown(store):
    prediction = Prediction("k", "Is 1 < 2 & 3?", ["yes", "no"], store=store)
    assert "Is 1 &lt; 2 &amp; 3?" in prediction.widget.children[0].value
    assert "application/vnd.jupyter.widget-view+json" in prediction._repr_mimebundle_()


def test_no_line_of_a_question_begins_with_what_is_left_out(store):
    prediction = Prediction("k", "There it takes …", ["1 s", "2 s"], store=store)
    assert "it takes\xa0…" in prediction.widget.children[0].value


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


def test_a_guess_is_judged_where_the_lecture_says_what_is_right(store, shown):
    prediction = ask(store)
    choose(prediction, "8 times")
    prediction.reveal("1.02 times", right="the same", how="Counted")
    assert "You said: 8 times. Right is: the same." in shown[-1] and "Counted: 1.02 times." in shown[-1]
    choose(prediction, "the same")
    assert "You said: the same, and that is right." in shown[-1]
    with pytest.raises(
        CourseError, match="right answer of 02-flops is 'faster', which is none of its choices"
    ):
        prediction.reveal("1.02 times", right="faster")


def test_what_was_right_is_kept(store, shown):
    prediction = ask(store)
    prediction.reveal("1.02 times", right="the same")
    choose(prediction, "8 times")
    [kept] = json.loads(store.read_text())["guesses"].values()
    assert kept == {
        "question": "How much longer?", "guess": "8 times", "measured": "1.02 times", "right": "the same",
        "how": "Measured", "choices": 3,
    }  # fmt: skip


def test_a_reveal_is_escaped(store, shown):
    prediction = Prediction("k", "Which?", ["<a> & b", "c"], store=store)
    prediction.reveal("1 < 2", right="c")
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
