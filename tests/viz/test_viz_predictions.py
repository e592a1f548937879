"""Predictions: a choice or a number, guessed before a measurement, kept, and judged when the answer is known."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from course_pkg.core import CourseError
from course_pkg.viz import Estimate, Prediction
from course_pkg.viz.predictions import CLOSE, missed

CHOICES = ("the same", "8 times", "16 times")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "kept" / "predictions.json"


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

    monkeypatch.setattr("course_pkg.viz.predictions.display", display)
    return shown


def ask(store, key="02-flops", choices=CHOICES):
    return Prediction(key, "How much longer?", choices, store=store)


def estimate(store, low=1, high=10_000, unit="GB/s"):
    return Estimate("02-stream", "How fast?", low, high, unit, store=store)


def choose(prediction, choice):
    """Do what a click does: the browser sends the index."""
    prediction.widget.children[1].index = prediction.choices.index(choice)


def move(asked, value):
    asked.widget.children[1].index = asked.values.index(value) + 1


def text(widget):
    """What stands below and above the control."""
    return " ".join(
        child.value for child in widget.children if isinstance(getattr(child, "value", None), str)
    )


def with_seed(store, seed):
    store.parent.mkdir(exist_ok=True)
    store.write_text(json.dumps({"seed": seed, "guesses": {}}))
    return store


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


# ---- the file


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


# ---- a number


def test_the_scale_is_logarithmic_from_low_to_high(store):
    values = estimate(store).values
    assert (values[0], values[-1]) == (1, 10_000)
    assert values == sorted(set(values))
    steps = [b / a for a, b in pairwise(values)]
    assert max(steps) < 1.2 and min(steps) > 1.05
    assert abs(values.index(100) / (len(values) - 1) - 0.5) < 0.02, "the geometric mean stands in the middle"


@pytest.mark.parametrize(("low", "high"), [(1, 8), (0.02, 1), (1e-3, 1e9), (3, 3.1), (32, 1024)])
def test_scales_of_any_width(store, low, high):
    values = estimate(store, low, high).values
    assert (values[0], values[-1]) == (low, high)
    assert values == sorted(set(values)) and 2 <= len(values) <= 81


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-1, 1), (2, 2), (3, 1), (1, float("inf")), (float("nan"), 1)]
)
def test_a_scale_that_is_none_is_named(store, low, high):
    with pytest.raises(CourseError, match=r"scale of 'How fast\?' must rise from a positive number"):
        estimate(store, low, high)


def test_nobody_has_guessed_until_the_slider_moves(store, shown):
    asked = estimate(store)
    assert asked.guess is None and asked.widget.children[1].index == 0
    assert asked.texts[0] == "move the slider"
    asked.reveal(1230)
    assert "You said" not in shown[-1] and "Measured: 1,230 GB/s." in shown[-1]


def test_a_number_is_kept_and_judged_by_the_factor_missed(store, shown):
    asked = estimate(store)
    move(asked, 320)
    assert asked.guess == 320 and estimate(store).guess == 320
    asked.reveal(1312.0, note="memory is what it waits for", how="Counted")
    assert "You said 320 GB/s: 4.1 times too low." in shown[-1]
    assert "Counted: 1,312 GB/s: memory is what it waits for." in shown[-1]
    move(asked, 10_000)
    assert "You said 10,000 GB/s: 7.6 times too high." in shown[-1]
    kept = json.loads(store.read_text())["guesses"]["02-stream"]
    assert kept["guess"] == 10_000 and kept["right"] == 1312.0 and kept["unit"] == "GB/s"


@pytest.mark.parametrize(
    ("guess", "value", "said"),
    [
        (300, 1230, "4.1 times too low"),
        (1230, 300, "4.1 times too high"),
        (100, 100, "right within a tenth"),
        (100, 100 * CLOSE, "right within a tenth"),
        (100, 111, "1.1 times too low"),
        (1, 12_345, "12,345 times too low"),
        (9.96, 1, "10 times too high"),
    ],
)
def test_the_factor_in_words(guess, value, said):
    assert missed(guess, value) == said


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_what_no_factor_can_judge_is_named(store, value):
    with pytest.raises(CourseError, match="02-stream is judged by a factor: its value must be positive"):
        estimate(store).reveal(value)


def test_a_guess_off_the_scale_is_forgotten(store):
    move(estimate(store), 320)
    assert estimate(store, 1000, 10_000).guess is None
    choose(Prediction("02-stream", "Which?", ["a", "b"], store=store), "a")
    assert estimate(store).guess is None


def test_the_slider_works_without_a_kernel(store):
    asked = estimate(store)
    slider = asked.widget.children[1]
    assert type(slider).__name__ == "SelectionSlider", "the browser knows all texts"
    assert [label for label, _ in slider.options] == asked.texts
    assert "goes from 1 GB/s to 10,000 GB/s" in text(asked.widget)
