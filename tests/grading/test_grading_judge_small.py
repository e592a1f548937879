"""The judge on exercises of a few lines: unusual texts of answers, their side effects, and what tests may do."""

import pytest

from course_pkg.grading import judge


def code(grade_id, source, **about):
    kind = {"grade": False, "solution": False, "locked": True, **about}
    return {
        "cell_type": "code",
        "id": grade_id,
        "source": source,
        "metadata": {"nbgrader": {"grade_id": grade_id, **kind}},
    }


def graded(answer, test, *, given="", twin=None, seed=1, stub="def f(x):\n    return x"):
    """Grade one answer by one test of 2 points."""
    cells = [
        code(
            "given",
            "import numpy as np\nfrom course_pkg import cuda\nfrom course_pkg.grading import check\n" + given,
        ),
        code("answer", stub, solution=True, locked=False),
        code("test", test, grade=True, points=2),
    ]
    submitted = [code("answer", answer, solution=True, locked=False), *([twin] if twin else [])]
    return judge.grade_cells(submitted, cells, exercise="small", seed=seed)


KERNEL = "@cuda.jit\ndef f(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] = 1.0"


@pytest.mark.parametrize("strange", ["\u2028", "\x0c", "\x0b", "\x85", "\x1c"])
def test_ends_of_lines_that_python_does_not_know_change_nothing(strange):
    report = graded(
        f"# a {strange} b\n" + KERNEL,
        "x = np.zeros(5)\nf[1, 32](x)\ncheck.close(x, np.ones(5), 'x')",
        stub=KERNEL,
    )
    assert report.points == 2, report.cells[0].feedback


def test_a_line_of_an_expression_may_begin_with_a_percent_sign():
    report = graded("def f(x):\n    return (x\n  % 3)", "check.close(f(5), 2, 'the rest')")
    assert report.points == 2, report.cells[0].feedback


def test_a_line_for_ipython_is_passed_over():
    report = graded(
        "%time\ndef f(x):\n    return x % 3", "check.close(f(5), 2, 'the rest')", given="%matplotlib inline\n"
    )
    assert report.points == 2, report.cells[0].feedback


@pytest.mark.parametrize(
    "line",
    [
        "f?",
        "?f",
        "np.zeros??",
        "f ?",
        "files = !ls",
        "    where = %pwd",
        "    !ls",
        "get_ipython().run_line_magic('matplotlib', 'inline')",
        "display(f(5))",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_a_notebook_offers_costs_nothing(line, end):
    before, after = ("if True:", "") if line.startswith(" ") else ("", "print('done')")
    answer = end.join(["def f(x):", "    return x % 3", before, line, after])
    report = graded(answer, "check.close(f(5), 2, 'the rest')")
    assert report.points == 2, report.cells[0].feedback


def test_a_name_that_a_command_sets_is_there():
    answer = "files = !ls\ndef f(x):\n    return x % 3 + len(files)"
    assert graded(answer, "check.close(f(5), 2, 'the rest')").points == 2


def test_an_input_that_is_changed_costs_the_points():
    answer = "def f(x):\n    x[:] = 0\n    return x"
    report = graded(answer, "x = check.rng().random(4)\ncheck.close(f(x), 2 * x, 'twice x')")
    assert report.points == 0
    assert report.cells[0].feedback == "f changes its argument 1, which is an input: work on a copy of it."


def test_an_output_may_be_changed():
    answer = "def f(x, out):\n    out[:] = 2 * x"
    test = "x, out = check.rng().random(4), check.out(4)\nf(x, out)\ncheck.close(out, 2 * x, 'out')"
    assert graded(answer, test).points == 2
    lazy = graded("def f(x, out):\n    out[:3] = 2 * x[:3]", test)
    assert lazy.points == 0


@pytest.mark.parametrize(
    ("last", "points"),
    [
        ("1", 1),
        ("np.float64(1)", 1),
        ("np.sum([True])", 1),
        ("float('nan')", 0),
        ("f(7)", 2),
        ("-3", 0),
        ("True", 2),
    ],
)
def test_partial_credit_is_any_finite_number(last, points):
    report = graded("def f(x):\n    return x", last)
    assert report.points == points
    assert report.to_dict()["points"] == points


@pytest.mark.parametrize(
    "answer", ["x = a" + ".b" * 3000, "@cuda" + ".x" * 3000 + ".jit\ndef f(x):\n    pass"]
)
def test_a_text_that_is_deeper_than_python_reads_costs_its_cell_alone(answer):
    report = graded(answer, "check.close(f(1), 1, 'f')")
    assert report.points == 0
    assert report.cells[0].feedback


def test_text_with_the_answers_id_does_not_hide_the_answer():
    twin = code("answer", "my notes") | {"cell_type": "markdown"}
    report = graded("def f(x):\n    return x", "check.close(f(1), 1, 'f')", twin=twin)
    assert report.points == 2
    assert not any("more than once" in note for note in report.notes)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ONE = 1", "def f(x):\n    return x * ONE"),
        ("def f(x):\n    return x", "def g(x):\n    return f(x)"),
        ("def f(x:", "def f(x):\n    return x"),
        ("1 / 0", "def f(x):\n    return x"),
    ],
)
def test_the_parts_of_an_answer_that_was_split_are_run_in_their_order(first, second):
    twin = code("answer", second, solution=True, locked=False)
    report = graded(first, "check.close(f(1), 1, 'f')", twin=twin)
    assert report.points == 2, report.cells[0].feedback
    assert "The cell 'answer' is there more than once: all copies are run, in their order." in report.notes


def test_a_seed_fixes_what_given_cells_draw():
    given, answer = "X = check.rng().random()", "def f(x):\n    return x"
    marks = {graded(answer, "2 * round(X)", given=given, seed=3).points for _ in range(3)}
    assert len(marks) == 1


AWAITED = {
    "a coroutine": "async def two():\n    return 2\n\nTWO = await two()\ndef f(x):\n    return TWO * x",
    "tasks that sleep": "import asyncio\n\nasync def one(k):\n    await asyncio.sleep(0.01 * k)\n    return k\n\n"
    "_, TWO, _ = await asyncio.gather(*map(one, range(1, 4)))\ndef f(x):\n    return TWO * x",
    "a thread": "import asyncio\nTWO = await asyncio.to_thread(lambda: 2)\ndef f(x):\n    return TWO * x",
    "async for and async with": "import contextlib\n\nasync def numbers():\n    yield 1\n    yield 2\n\n"
    "@contextlib.asynccontextmanager\nasync def open_():\n    yield\n\nasync with open_():\n"
    "    async for TWO in numbers():\n        pass\ndef f(x):\n    return TWO * x",
}


@pytest.mark.bare
@pytest.mark.parametrize("name", AWAITED)
def test_what_a_notebook_awaits_at_the_left_margin_is_awaited(name):
    report = graded(AWAITED[name], "check.close(f(3), 6, 'f')")
    assert report.points == 2, report.cells[0].feedback


def test_the_parts_of_a_cell_share_one_event_loop():
    first = "import asyncio\nasync def two():\n    await asyncio.sleep(0)\n    return 2\n"
    first += "TASK = asyncio.ensure_future(two())"
    twin = code("answer", "TWO = await TASK\ndef f(x):\n    return TWO * x", solution=True, locked=False)
    waited = first.replace("TASK =", "await asyncio.sleep(0)\nTASK =")
    assert graded(waited, "check.close(f(3), 6, 'f')", twin=twin).points == 2


def test_an_endless_wait_is_no_right_answer_and_ends(impatient):
    report = graded(
        "import asyncio\nawait asyncio.Event().wait()\ndef f(x):\n    return x", "check.close(f(3), 3, 'f')"
    )
    assert report.points == 0
    assert report.cells[0].feedback
