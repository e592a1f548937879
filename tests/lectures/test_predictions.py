"""Predictions have keys of their own, an answer and a place in the summary; right options stand at all places."""

import ast
import re
from collections import Counter
from dataclasses import dataclass

import notebooks
import pytest

from course_pkg.paths import repo_root
from course_pkg.viz import Prediction

KINDS = {"viz.Prediction", "viz.Estimate"}


@dataclass(frozen=True)
class Asked:
    """A question of a lecture, as its code asks it."""

    lecture: str
    name: str
    key: str
    choices: tuple[str, ...]
    revealed: int
    right: tuple[str, ...]  # what may be the right option, as far as the text tells
    summed_up: bool  # whether the summary stands behind its answer


def code_of_lectures():
    """Return the code of each lecture, by its number."""
    found = {}
    for path in sorted((repo_root() / "lectures").glob("[0-9][0-9]_*.py")):
        cells = notebooks.read(path).cells
        found[path.stem[:2]] = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    return found


def asked_in(lecture, code):
    """Return the questions of a lecture."""
    tree = ast.parse(code)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    texts = {
        n.targets[0].id: n.value
        for n in tree.body
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    }
    names = named_texts(tree)
    summary = [c.lineno for c in calls if ast.unparse(c) == f"viz.intuition('{lecture}')"]
    found = []
    for name, call in texts.items():
        if not isinstance(call, ast.Call) or ast.unparse(call.func) not in KINDS:
            continue
        choices = ()
        if ast.unparse(call.func) == "viz.Prediction":
            given = call.args[2]
            given = texts.get(getattr(given, "id", ""), given)
            choices = tuple(ast.literal_eval(given))
        reveals = [c for c in calls if ast.unparse(c.func) == f"{name}.reveal"]
        right = tuple(c for r in reveals for c in choices if may_be(c, r, names))
        key = ast.literal_eval(call.args[0])
        after = bool(summary and reveals and max(r.lineno for r in reveals) < summary[-1])
        found.append(Asked(lecture, name, key, choices, len(reveals), right, after))
    return found


def named_texts(tree):
    """Return the texts that have a name, as in ``ANSWERS = FOUR, TWICE = "four times", "twice"``."""
    found = {}
    for line in tree.body:
        for target in line.targets if isinstance(line, ast.Assign) else []:
            if isinstance(target, ast.Tuple) and isinstance(line.value, ast.Tuple):
                both = zip(target.elts, line.value.elts, strict=True)
                found |= {t.id: v.value for t, v in both if isinstance(v, ast.Constant)}
    return found


def may_be(choice, reveal, names):
    """Return whether a reveal may name this choice as the right one."""
    parts = [keyword.value for keyword in reveal.keywords if keyword.arg == "right"]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.IfExp):
            parts += [part.body, part.orelse]
        elif isinstance(part, ast.JoinedStr):
            pieces = (re.escape(v.value) if isinstance(v, ast.Constant) else ".+" for v in part.values)
            if re.fullmatch("".join(pieces), choice):
                return True
        elif choice == (names.get(part.id) if isinstance(part, ast.Name) else part.value):
            return True
    return False


def complaints(lectures):
    """Return what is wrong with the predictions of some lectures, given as code by their numbers."""
    asked = [question for lecture, code in lectures.items() for question in asked_in(lecture, code)]
    said = [
        f"{key} is asked {times} times" for key, times in Counter(q.key for q in asked).items() if times > 1
    ]
    for q in asked:
        if not re.fullmatch(rf"{q.lecture}-[a-z]+", q.key):
            said.append(
                f"{q.key} is a key of lecture {q.lecture}: begin it with the number, so that the summary finds it"
            )
        if q.revealed != 1:
            said.append(f"{q.key} is answered {q.revealed} times")
        alone = sum(other.lecture == q.lecture for other in asked) == 1
        if not q.summed_up and not alone:
            said.append(f"{q.key} is in no summary behind its answer: viz.intuition('{q.lecture}')")
    return said


ALL = code_of_lectures()
QUESTIONS = [question for lecture, code in ALL.items() for question in asked_in(lecture, code)]
SURE = [q for q in QUESTIONS if len(q.right) == 1]  # where the text alone says which option is right


def test_every_prediction_has_a_key_of_its_own_an_answer_and_a_place_in_the_summary():
    assert complaints(ALL) == []


def test_every_prediction_of_the_lectures_is_found():
    kept = {q.key for q in QUESTIONS}
    written = re.findall(r'"(\d\d-[a-z]+)"', "\n".join(ALL.values()))
    assert kept == set(written) and len(kept) > 30
    assert len(SURE) >= 12
    assert [q.key for q in QUESTIONS if q.choices and not q.right] == []


GOOD = """first = viz.Estimate("02-copy", "?", 1, 9, "s")
first.reveal(3)
second = viz.Estimate("02-dot", "?", 1, 9, "s")
second.reveal(3)
viz.intuition("02")"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("02-dot", "02-copy", "02-copy is asked 2 times"),
        ("02-dot", "03-dot", "03-dot is a key of lecture 02"),
        ("02-dot", "dot", "dot is a key of lecture 02"),
        ("second.reveal(3)", "", "02-dot is answered 0 times"),
        ('viz.intuition("02")', 'viz.intuition("03")', "02-copy is in no summary behind its answer"),
        (
            'second.reveal(3)\nviz.intuition("02")',
            'viz.intuition("02")\nsecond.reveal(3)',
            "02-dot is in no summary",
        ),
    ],
)
def test_what_is_wrong_with_a_prediction_is_found(old, new, says):
    assert complaints({"02": GOOD}) == []
    assert any(says in said for said in complaints({"02": GOOD.replace(old, new)}))


def test_the_right_option_stands_at_no_place_too_often_in_the_text():
    places = Counter(q.choices.index(q.right[0]) for q in SURE)
    assert len(places) >= 3 and max(places.values()) <= 0.6 * len(SURE), places


def test_the_right_option_stands_at_no_place_too_often_on_slides(tmp_path, monkeypatch):
    """Slides show the order that is drawn for nobody; learners each have an order of their own."""
    monkeypatch.setenv("COURSE_GUESSES", "none")
    drawn = [
        Prediction(q.key, "?", q.choices, store=tmp_path / "none").choices.index(q.right[0]) for q in SURE
    ]
    places = Counter(drawn)
    assert len(places) >= 3 and max(places.values()) <= 0.6 * len(SURE), places
