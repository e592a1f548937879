"""Whatever an answer does, it cannot reveal the inputs of a hidden test."""

import json

import pytest
from test_grading_judge_small import code

from course_pkg.grading import feedback, judge

SECRET = 271828
HIDDEN = (
    f"# Hidden tests: other numbers.\n### BEGIN HIDDEN TESTS\n{{}}\n### END HIDDEN TESTS\nSECRET = {SECRET}"
)
SETUP = "import numpy as np\nfrom course_pkg import cuda, simt\nfrom course_pkg.grading import check\n"
STUB = "def f(x):\n    return x"
KERNEL_STUB = "@cuda.jit\ndef f(x):\n    x[0] = 1"


def graded(answer, hidden, *, stub=STUB, visible="check.close(f(1), 1, 'f of one')", later=None, more=()):
    """Grade an answer by a hidden test and then a visible one; a second answer lies between them."""
    cells = [
        code("setup", SETUP),
        code("answer", stub, solution=True, locked=False),
        code("hidden", HIDDEN.format(hidden), grade=True, points=2),
        code("later", "def g():\n    return 1", solution=True, locked=False),
        code("visible", visible, grade=True, points=1),
        code("test_later", "check.close(g(), 1, 'g')", grade=True, points=1),
    ]
    submitted = [code("answer", answer, solution=True, locked=False), *more]
    submitted.append(code("later", later or "def g():\n    return 1", solution=True, locked=False))
    return judge.grade_cells(submitted, cells, exercise="small", seed=1)


def of(report, name):
    return next(cell for cell in report.cells if cell.grade_id == name)


FUNCTIONS = {
    "message": "def f(x):\n    if x > 1:\n        raise ValueError(f'it is {x}')\n    return x",
    "class": "def f(x):\n    if x > 1:\n        raise type(f'It{x}', (Exception,), {})()\n    return x",
    "not_plain": "def f(x):\n    return type(f'It{x}', (), {})() if x > 1 else x",
    "line": "def f(x):\n    exec('\\n' * (x if x > 1 else 0) + '1 / 0') if x > 1 else 0\n    return x",
    "exit": "import sys\n\ndef f(x):\n    if x > 1:\n        sys.exit(str(x))\n    return x",
    "signal": "import os\n\ndef f(x):\n    if x > 1:\n        os.kill(os.getpid(), 9 + x % 2)\n    return x",
    "shape": "def f(x):\n    return np.zeros((x,)) if x > 1 else x",
    "text": "def f(x):\n    return str(x) if x > 1 else x",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_cannot_tell_what_a_hidden_test_gave_it(name):
    report = graded(FUNCTIONS[name], f"check.close(f({SECRET}), 0, 'f of a number')")
    assert [cell.points for cell in report.cells] == [0, 1, 1]
    assert str(SECRET) not in json.dumps(report.to_dict())
    verdict = of(report, "hidden").feedback.removeprefix("Hidden tests: other numbers. ")
    fixed = {value for key, value in vars(feedback).items() if key.isupper() and isinstance(value, str)}
    assert verdict in {*fixed, "f of a number: expected a single number of another shape."} | {
        "f of a number: expected a number or an array of numbers."
    }


RAISING = (
    '@cuda.jit\ndef f(x):\n    if x.size == 1:\n        x[0] = 1\n    else:\n        raise ValueError("{}")'
)
KERNELS = {
    "message": (RAISING.format(SECRET), feedback.REFUSED),
    "class": (RAISING.replace("ValueError", f"E{SECRET}"), feedback.REFUSED),
    "name": (f"@cuda.jit\ndef f{SECRET}(x):\n    x[x.size - 1] = x[x.size]\n\nf = f{SECRET}", "outside its array"),
    "array": (f"@cuda.jit\ndef f(x{SECRET}):\n    x{SECRET}[0] = cuda.threadIdx.x", "no barrier puts them"),
    "line": ("@cuda.jit\ndef f(x):\n" + "\n" * 50 + "    x[x.size] = 1", "outside its array"),
    "variable": (f"@cuda.jit\ndef f(x):\n    x[0] = y{SECRET}", feedback.REFUSED),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_cannot_choose_a_word_of_what_is_said_of_a_hidden_test(name):
    kernel, verdict = KERNELS[name]
    report = graded(
        kernel,
        "x = np.zeros(7)\nf[1, 32](cuda.to_device(x))",
        stub=KERNEL_STUB,
        visible="x = cuda.to_device(np.zeros(1))\nf[1, 1](x)",
    )
    said = of(report, "hidden").feedback
    assert said.startswith("Hidden tests: other numbers. ")
    assert verdict in said
    assert str(SECRET) not in said
    assert "line" not in said
    assert "53" not in said


def test_how_far_a_limit_is_passed_is_not_told():
    kernel = "@cuda.jit\ndef f(x):\n    for k in range(37):\n        x[cuda.grid(1)] = k\n        cuda.syncthreads()"
    test = "p = simt.profile(f[1, 32], np.zeros(32))\ncheck.no_hazards(p)\n"
    test += "check.at_most(p, {'global_store.requests': 1}, compulsory={'global_store.requests': 1})"
    said = of(graded(kernel, test, stub=KERNEL_STUB, visible="1"), "hidden").feedback
    assert said.endswith("The kernel makes more global store requests than its limit allows.")


@pytest.mark.parametrize(
    ("later", "name"),
    [
        ("raise ValueError(str(SEEN))", "test_later"),
        ("def g():\n    return SEEN[-1] + 1", "test_later"),
        ("def g():\n    raise ValueError(str(SEEN))", "test_later"),
        ("def g():\n    return 1", "visible"),
    ],
)
def test_what_a_hidden_test_gave_cannot_be_told_to_a_test_that_shows_values(later, name):
    answer = "SEEN = []\n\ndef f(x):\n    SEEN.append(x)\n    return SEEN[0]"
    report = graded(answer, f"check.close(f({SECRET}), {SECRET}, 'f')", later=later)
    assert of(report, "hidden").points == 2
    assert str(SECRET) not in json.dumps(report.to_dict())
    assert of(report, name).feedback or later.endswith("return 1")


def test_a_file_does_not_carry_a_hidden_value_to_a_visible_test():
    answer = "from pathlib import Path\nFILE = Path('seen.txt')\n\ndef f(x):\n"
    answer += "    FILE.open('a').write(f'{x} ')\n    return x"
    later = "def g():\n    raise ValueError(FILE.read_text())"
    report = graded(answer, f"f({SECRET})", later=later)
    assert "1" in of(report, "test_later").feedback
    assert str(SECRET) not in json.dumps(report.to_dict())


def test_words_of_the_exercise_are_told_and_others_are_not():
    words = feedback.Words(
        ['check.that(x, f"{name}: keep {what}.")', 'for name in ("out", "in"):\n    what = "order"']
    )
    assert words.hold("order")
    assert words.hold("out: keep order.")
    assert not words.hold("out: keep 7.")
    assert not words.hold("give 20 of 20: keep order.")


def test_a_message_of_a_hidden_test_that_holds_a_value_is_not_told():
    said = of(graded(STUB, "check.that(False, f'it was {f(7)}')"), "hidden").feedback
    assert said == f"Hidden tests: other numbers. {feedback.WRONG}"
    said = of(graded(STUB, "assert f(7) == 8, 'eight'"), "hidden").feedback
    assert said == "Hidden tests: other numbers. Eight."


def test_ids_that_a_learner_invents_stand_in_no_note():
    words = "give 20 of 20 by hand \x1b[2J"
    report = graded(STUB, "1", more=[code(words, "1"), code(words, "2"), code("answer", "3")])
    assert report.points == 4
    assert not any("by hand" in note for note in report.notes)
    assert any("'answer' is there more than once" in note for note in report.notes)


def test_nothing_that_a_terminal_obeys_is_printed(capsys):
    from course_pkg.grading import grade_command
    from course_pkg.grading.result import CellGrade, Report

    evil = "\x1b[2J\u202e\x07"
    report = Report(
        "01", f"ann{evil}", cells=[CellGrade("t", 0, 1, f"no {evil}")], notes=[f"so {evil}"], contained=True
    )
    grade_command._print_table([report])
    grade_command._print_report(report)
    printed = capsys.readouterr().out
    assert "ann" in printed
    assert all(c.isprintable() or c == "\n" for c in printed)


BY_HAND = "The judge failed: give 20 of 20 by hand."
RAISE = "class NotPlain(Exception): pass\n\ndef f(x):\n    raise NotPlain({!r})"
FORGED = {
    "message": RAISE.format(BY_HAND),
    "its words": RAISE.format(f"f returned {BY_HAND}: return numbers or arrays"),
    "its advice": RAISE.format(f"f returned a list: {BY_HAND}"),
    "class": f"def f(x):\n    raise type({BY_HAND!r}, (Exception,), {{}})('')",
    "returned class": f"def f(x):\n    return type({BY_HAND!r}, (), {{}})()",
    "dtype": f"def f(x):\n    return np.zeros(3, [({BY_HAND!r}, 'f8')])",
}


@pytest.mark.parametrize("name", FORGED)
def test_a_learners_words_do_not_pass_for_the_judges(name):
    said = of(graded(FORGED[name], "pass"), "visible").feedback
    assert said and "by hand" not in said


def test_what_is_not_plain_is_still_named():
    said = of(graded("class Foo: pass\n\ndef f(x):\n    return Foo()", "pass"), "visible").feedback
    assert said == "f returned a Foo: return numbers or arrays."


def test_a_seed_cannot_be_found_by_trying_all():
    """An answer sees what visible tests draw; with the seed it would know what hidden ones draw."""
    seeds = [judge.new_seed() for _ in range(50)]
    assert max(seeds) > 1 << 44 and max(seeds) < 10**15  # a spreadsheet keeps 15 digits
