"""The summary of a lecture's predictions."""

import pytest

from course_pkg.viz import Estimate, Intuition, Prediction, intuition

CHOSEN = {"question": "How much longer?", "measured": "1.02 times", "right": "the same", "choices": 3}
NUMBER = {"question": "How fast?", "measured": "1,230 GB/s", "right": 1230.0, "unit": "GB/s"}


def svg(summary):
    return summary.picture.svg


def test_guess_measurement_and_verdict_of_each_question():
    summary = Intuition([CHOSEN | {"guess": "twice"}, NUMBER | {"guess": 300}])
    assert "How much longer? You said: twice. That is wrong. Right is: the same." in summary.picture.alt
    assert "How fast? You said 300 GB/s: 4.1 times too low. Measured: 1,230 GB/s." in summary.picture.alt
    assert summary._repr_html_().count("<img") == 1 and summary.total in summary._repr_html_()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            [CHOSEN | {"guess": "the same"}, CHOSEN | {"guess": "twice"}, CHOSEN | {"guess": None}],
            "You guessed at 2 of 3 questions. You chose the right answer 1 of 2 times; "
            "blind choices are right 0.7 times on average.",
        ),
        ([NUMBER | {"guess": 300}], "You guessed at 1 of 1 question. Your number was 4.1 times too low."),
        (
            [NUMBER | {"guess": 1230 / 4}, NUMBER | {"guess": 1230}, CHOSEN | {"guess": None}],
            "You guessed at 2 of 3 questions. Your 2 numbers missed by a factor of 2.0 on average.",
        ),
        (
            [NUMBER | {"guess": 1230 / 4}, NUMBER | {"guess": 1230 * 4}],
            "You guessed at 2 of 2 questions. Your 2 numbers missed by a factor of 4.0 on average.",
        ),
        ([CHOSEN | {"guess": "twice", "right": None}], "You guessed at 1 of 1 question."),
    ],
)
def test_the_total(asked, said):
    assert Intuition(asked).total == said


@pytest.mark.parametrize("asked", [[], [CHOSEN], [CHOSEN | {"guess": None}], [{"guess": "twice"}]])
def test_without_guesses_it_says_how_to_make_them(asked):
    summary = Intuition(asked)
    assert summary.picture is None
    assert "You have guessed nothing yet. Open this notebook in JupyterLab" in summary.total
    assert "course-revealed" in summary._repr_html_() and "<img" not in summary._repr_html_()


@pytest.mark.parametrize("guess", [0, -3, "twice", None])
def test_what_is_no_number_is_no_guess(guess):
    assert Intuition([NUMBER | {"guess": guess}]).picture is None
    assert Intuition([CHOSEN | {"guess": 3}]).picture is None


def test_the_ruler_shows_on_which_side_a_number_missed():
    low, right, high, far = (svg(Intuition([NUMBER | {"guess": 1230 * f}])) for f in (0.25, 1, 4, 400))
    at = [
        float(s.partition('id="guess"')[2].partition('x="')[2].partition('"')[0])
        for s in (low, right, high, far)
    ]
    assert at == sorted(set(at)) and at[1] - at[0] == pytest.approx(at[2] - at[1])


def test_many_long_questions_are_drawn_and_told_in_full():
    long = (
        "A question of many words that goes on for longer than three lines of the picture hold, " * 3
        + "or not?"
    )
    summary = Intuition([CHOSEN | {"question": long, "guess": "a & <b>"}] * 8)
    assert summary.picture.alt.count("or not?") == 8
    assert "&lt;b&gt;" in summary.picture._repr_html_()


def test_it_finds_the_questions_of_its_lecture(tmp_path):
    store = tmp_path / "guesses.json"
    for key in ("02-a", "02-b", "03-a", "020-a"):
        asked = Prediction(key, f"{key}?", ["yes", "no"], store=store)
        asked.widget.children[1].value = "yes"
        asked.reveal("no", right="no")
    number = Estimate("02-c", "02-c?", 1, 10, "", store=store)
    number.widget.children[1].index = 1
    number.reveal(4.0)
    said = intuition("02", store=store).picture.alt
    assert [key for key in ("02-a", "02-b", "02-c", "03-a", "020-a") if f"{key}?" in said] == [
        "02-a",
        "02-b",
        "02-c",
    ]
    Prediction("02-a", "02-a?", ["yes", "no"], store=store).reveal("no", right="no")
    said = intuition("02", store=store).picture.alt
    assert said.index("02-b?") < said.index("02-c?") < said.index("02-a?"), "in the order of the last answers"
