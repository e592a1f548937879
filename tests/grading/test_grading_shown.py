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
        ("a = 1\nprint(\n    slow(2),\n)\nuse(a)\n", "a = 1\n\n\n\nuse(a)\n"),
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


FILLED = "a = start()\nout = zeros()\nsimt.profile(k[1, 32], a, out)"


@pytest.mark.parametrize(
    "answer",
    ["x = out.sum()", "def f():\n    return out[0]", "x = globals()['out']", "x = [out for _ in 'a']"],
)
@pytest.mark.parametrize(
    "shown",
    [
        "simt.profile(k[1, 32], a, out)",
        "print(simt.profile(k[1, 32], a, out))",
        "print_loads(k, out=out)",
        "for hazard in simt.profile(k[1, 32], a, out).hazards:\n    print(hazard)",
        "p = simt.profile(k[1, 32], a, out)\nprint(p)",
        "print(out.sort())",
        "same = (a, out)\nsimt.profile(k[1, 32], *same)",
        "same = out\nsimt.profile(k[1, 32], a, same)",
    ],
)
def test_a_call_that_may_fill_an_array_stays_if_the_array_is_read(shown, answer):
    left = kept(f"a = start()\nout = zeros()\n{shown}", answer=answer)[0].split("\n")
    assert [line for line in shown.split("\n") if "out" in line and line not in left] == []


@pytest.mark.parametrize(
    "answer",
    ["def f(out):\n    return out", "def f():\n    out = 1\n    return out", "x = 'out'", "simt.x = np"],
)
def test_a_call_that_fills_what_only_other_names_stand_for_is_left_out(answer):
    assert kept(FILLED, answer=answer)[0].endswith("\n")
    assert "simt.profile" not in kept(FILLED, answer=answer)[0]


@pytest.mark.parametrize("strange", ["\u2028", "\x0c", "\x0b", "\x85", "\x1c"])
def test_lines_that_are_left_out_are_those_that_python_counts(strange):
    assert kept(f"a = '{strange}'\nprint(a)\nuse(a)\n") == [f"a = '{strange}'\n\nuse(a)\n"]
