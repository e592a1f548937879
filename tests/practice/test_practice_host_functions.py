"""Verdicts on functions of the host: results, inputs that change, and the kernels that they launch."""

import numpy as np
import practice_cells as cells
import pytest
from test_practice_verdicts import HINTS

from course_pkg.practice.checking import check_step
from course_pkg.practice.step import RESULT, Step, Trial

# ---- functions of the host


def total(n, rng):
    a = rng.random(n)
    return Trial({"a": a}, {RESULT: a.sum()})


def ten_more(n, rng):
    a = rng.random(n)
    return Trial({"a": a}, {RESULT: a + 10})


TOTAL = Step("total", "Sum", "Return the sum of a.", total, (5, 6), HINTS)


MORE = Step("more", "Ten more", "Return a + 10, computed by a kernel.", ten_more, (5, 40), HINTS)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return a.sum() + 1", "The result: found"),
        ("a.sum()", "It returns nothing: is a return missing?"),
        ("return 'five'", "It returns a str: return numbers, or a NumPy array"),
        ("return a", "The result: found the shape (5,) and expected ()"),
        ("return a.sum() if a.size == 5 else 0", "Right on the inputs drawn here, but with 6 elements"),
        ("a[:] = 0\nreturn 0", "The result: found 0"),
        ("return 1 / 0", "Line 2 raises ZeroDivisionError: division by zero."),
        ("x = 1\nraise KeyError('k')", "Line 3 raises KeyError"),
        ("return function(a)", "It calls itself without end"),
        ("raise SystemExit", "Line 2 raises SystemExit"),
    ],
)
def test_a_function_is_judged_by_its_result(body, says):
    result = check_step(TOTAL, cells.function(body))
    assert not result.good
    assert says in str(result)


def test_a_function_that_is_right_is_right_and_one_that_changes_its_input_is_not():
    assert check_step(TOTAL, cells.function("return a.sum()")).good
    changed = check_step(TOTAL, cells.function("total = a.sum()\na[0] = 0\nreturn total"))
    assert "a was changed" in str(changed)


def test_a_wrong_truth_value_is_shown_as_one():
    def trial(n, rng):
        return Trial({"a": np.arange(n)}, {RESULT: np.arange(n) > 2})

    result = check_step(
        Step("larger", "Larger", "Say which are.", trial, (5, 6), HINTS), cells.function("return a > 3")
    )
    assert str(result) == "1 of 5 elements are wrong; the result is False and should be True, at [3]."


def test_a_list_is_no_array():
    said = check_step(MORE, cells.function("return [x + 10 for x in a]"))
    assert "It returns a list" in str(said)


LAUNCHES = """
@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + 10

def launch(a):
    d_a = cuda.to_device(a)
    out = cuda.device_array_like(d_a)
    kernel{configuration}(d_a, out)
    return out.copy_to_host()
"""


def test_a_function_that_launches_a_kernel_is_drawn_and_profiled():
    right = check_step(MORE, cells.run_cell(LAUNCHES.format(configuration="[2, 32]"))["launch"])
    assert right.good
    assert right.pictures[0].alt.startswith("2 blocks of 32 threads. a: 5 of 5 touched. out: 5 right")
    few = check_step(MORE, cells.run_cell(LAUNCHES.format(configuration="[1, 4]"))["launch"])
    assert "out: 4 right, 1 written by nobody" in few.pictures[0].alt


def test_a_missing_launch_configuration_gets_a_sentence():
    said = check_step(MORE, cells.run_cell(LAUNCHES.format(configuration=""))["launch"])
    assert "kernel is called without a grid: launch it with kernel[blocks, threads_per_block](…)" in str(said)


def test_what_a_function_prints_is_shown_and_cut_where_nobody_would_read_on():
    step = Step("total", "Sum", "Add up.", cells.ones_to_add, (32, 16), HINTS)
    assert check_step(step, cells.function("print(a.size)\nreturn a.sum()")).printed == "32\n"
    assert len(check_step(step, cells.function("print('x' * 10**6)\nreturn a.sum()")).printed) == 20_000
