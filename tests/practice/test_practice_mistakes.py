"""What is said beside a wrong element: the likely mistake behind it, the index that was meant, digits that differ."""

import numpy as np
import practice_cells as cells

from course_pkg.core.checks import unwritten
from course_pkg.practice.checking import check_step
from course_pkg.practice.step import Step, Trial

HINTS = ("Look at the picture.", "`out[i] = …`")
GUARDED = "i = cuda.grid(1)\nif i < a.size:\n    "


def test_a_likely_mistake_is_named_beside_the_wrong_element():
    def turned(n, rng):
        a = np.arange(n, dtype=float)
        mistakes = {"This is a itself.": {"out": a}, "This is a, doubled.": {"out": 2 * a}}
        return Trial({"a": a, "out": unwritten(n)}, {"out": a[::-1]}, 1, 32, mistakes=mistakes)

    step = Step("turned", "Turned", "Turn a.", turned, (6, 7), HINTS)

    def said(value):
        return str(check_step(step, cells.kernel(f"{GUARDED}out[i] = {value}")))

    assert "6 of 6 elements are wrong; out[0] is 0 and should be 5. This is a itself." in said("a[i]")
    assert "out[0] is 0 and should be 5. This is a, doubled." in said("2 * a[i]")
    assert "This is" not in said("3 * a[i]")
    assert "This is" not in said("a[a.size - 1 - i]")


def test_a_loop_over_the_places_of_one_array_that_indexes_another_is_told_so():
    body = "for k in range({}):\n    out[0] = {}[k]"

    def said(bounds, array="x"):
        def ends(n, rng):
            arrays = {"begin": np.array([2, 9]), "x": np.ones(n), "data": np.ones(9), "out": unwritten(1)}
            return Trial(arrays, {"out": np.ones(1)}, 1, 1)

        step = Step("ends", "Ends", "Read.", ends, (4, 5), HINTS)
        return str(check_step(step, cells.kernel(body.format(bounds, array), "begin, x, data, out")))

    asked = "k runs from begin[0] to begin[1], and x is not numbered in this way; which element of x belongs to k?"
    assert asked in said("begin[0], begin[1]")
    assert "x[4], outside the array's shape (4,): the loop goes too far; the last element is x[3]" in said(
        "2, 9"
    )
    assert "the loop goes too far; the last element is data[8]" in said("begin[0], begin[1] + 1", "data")


def test_numbers_that_differ_in_late_digits_are_shown_with_these_digits():
    def third(n, rng):
        return Trial({"out": unwritten(n)}, {"out": np.full(n, 1 / 3)}, 1, n)

    step = Step("third", "A third", "Write 1/3.", third, (3, 4), HINTS)
    result = check_step(step, cells.kernel("out[cuda.grid(1)] = 0.33333333", "out"))
    assert "out[0] is 0.33333333 and should be 0.33333333333333." in str(result)


def test_a_kernel_that_the_function_launches_is_finished_first():
    def fill(n, rng):
        return Trial({"out": unwritten(n)}, {"out": np.ones(n)})

    step = Step("fill", "Ones", "Fill out.", fill, (4, 5), HINTS)
    kernel = "@cuda.jit\ndef ones(out):\n    i = cuda.grid(1)\n    {}\n\n"
    host = "def function(out):\n    {}\n"

    def said(inside, launch):
        return str(check_step(step, cells.run_cell(kernel.format(inside) + host.format(launch))["function"]))

    assert "Not begun: replace the ... in lines 4 and 7." in said("...", "...")
    assert "Not finished: replace the ... in line 4." in said("...", "ones[1, out.size](out)")
    assert "Right" in said("out[i] = 1", "ones[1, out.size](out)")
