"""What an exercise's own cells only show is not run by the judge, unless something else needs it."""

import pytest

from course_pkg.grading import cells
from course_pkg.grading.shown import without_shown


def cell(source, kind="", name="here"):
    about = {"nbgrader": {"grade_id": name, "grade": kind == "test", "solution": kind == "answer"}}
    return {"cell_type": "code", "metadata": about, "source": source}


def kept(*sources, test="", answer=""):
    """The given cells of an exercise, as the judge runs them beside a test and a submitted answer."""
    solution = [*map(cell, sources), cell("", "answer", "answer"), cell(test, "test", "test")]
    submitted = cells.answers([cell(answer, "answer", "answer")])
    return [c["source"] for c in without_shown(solution, submitted)[: len(sources)]]


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("a = 1\nprint(\n    slow(a),\n)\nuse(a)\n", "a = 1\n\n\n\nuse(a)\n"),
        ("simt.profile(k[1, 32], x)\nprint_loads(k)", "\n"),
        ("for line in found():\n    print(line)\n    print_more(line)", "\n\n"),
        ("t, u = slow()\nprint(t, u)", "\n"),
        ("first = 1\nsecond = slow(first)\nprint(second)", "\n\n"),
        ("later = 1\ndef f():\n    return later\nf()", "later = 1\ndef f():\n    return later\nf()"),
    ],
    ids=["print", "calls", "loop", "names of a print", "a chain", "a name of a function"],
)
def test_what_is_only_shown_is_left_out_and_lines_stay(source, left):
    assert kept(source) == [left]


@pytest.mark.parametrize(
    "source",
    [
        "b = 2; print(b)\nuse(b)",
        "print(a); c = 3",
        "print(a := 1)\nprint([b := 2])",
        "@show\ndef print_(x):\n    print(x)",
        "x[0] = slow()",
        "x.y = slow()",
        "for i in range(3):\n    x = use(i)\n    print(x)",
        "seed(1)",
        "import slow",
    ],
)
def test_a_statement_that_may_do_more_stays(source):
    assert kept(source) == [source]


def test_what_a_test_or_an_answer_mentions_stays():
    made = "small = 3\nfound = slow(small)\nprint(found)"
    assert kept(made) == ["\n\n"]
    assert kept(made, test="check(found)") == ["small = 3\nfound = slow(small)\n"]
    assert kept(made, answer="sectors = found.sectors") == ["small = 3\nfound = slow(small)\n"]
    assert kept(made, answer="sectors = globals()['found']") == ["small = 3\nfound = slow(small)\n"]
    assert kept("small = 3", made, answer="found") == ["small = 3", "small = 3\nfound = slow(small)\n"]


@pytest.mark.parametrize("strange", ["\u2028", "\x0c", "\x0b", "\x85", "\x1c"])
def test_lines_that_are_left_out_are_those_that_python_counts(strange):
    assert kept(f"a = '{strange}'\nprint(a)\nuse(a)\n") == [f"a = '{strange}'\n\nuse(a)\n"]
