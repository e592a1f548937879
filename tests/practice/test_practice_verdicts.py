"""What is said about an answer: the first mistakes of a NumPy user, hazards, wrong elements, limits, hidden sizes."""

import re

import numpy as np
import practice_cells as cells
import pytest

from course_pkg import practice
from course_pkg.core import CourseError
from course_pkg.core.checks import unwritten
from course_pkg.practice import answer as answers
from course_pkg.practice import scene
from course_pkg.practice.attempt import attempt
from course_pkg.practice.checking import check_step
from course_pkg.practice.step import Step, Trial
from course_pkg.viz import style

HINTS = ("Look at the picture.", "`out[i] = …`")


def add_ten(n, rng):
    a = np.arange(n, dtype=float)
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, 1, 32, {"global_load.sectors": -(-n // 4)})


ADD = Step("add", "Add", "Add 10.", add_ten, (10, 12), HINTS, limits={"global_load.sectors": 1})
GUARDED = "i = cuda.grid(1)\nif i < a.size:\n    "


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("out[:] = a + 10", "Line 3, `out[:] = a + 10`: `out[:]` means the whole array"),
        ("print(a[i] + 10)", "print shows a number and leaves nothing in an array; store it in an element"),
        ("out[:] += 10", "`out[:]` means the whole array"),
        ("out = a + 10", "gives the name a new meaning inside this thread and leaves the array as it is"),
        ("out += 10", "`out` is the whole array, and every thread would change all of it; a thread changes its own"),
        ("t = cuda.grid(1)\nout[t] = a + 10", "take this thread's element, a[t]"),
        ("for k in range(cuda.grid(1), 9):\n    out[k] = a + 10", "take this thread's element, a[k]"),
        ("cuda.syncthreads", "the name alone does nothing; call it, `cuda.syncthreads()`"),
        ("cuda.synchronize()", "for host code: a kernel cannot use it, and cannot find out where it runs; the threads"),
        ("cuda.atomic.add(out, 1.0)", "takes array, index and value: `cuda.atomic.add(out, index, value)`"),
        ("cuda.atomic.add(out, a, 1)", "`a` is the whole array; take this thread's element, a[i]"),
        ("atomic.add(out, 0, 1)", "the name 'atomic' is not defined: write cuda.atomic"),
        ("out[cuda.threadIdx] = 1", "cuda.threadIdx has a part for each direction: write cuda.threadIdx.x"),
        ("i = cuda.grid\nif i < a.size:\n    out[i] = 1", "i is a function and no number: call it"),
        (
            "i = cuda.grid(1)\nif i < a.shape:\n    out[i] = 1",
            "a.shape is a tuple that holds one number: take it out by a.shape[0]",
        ),
        ("i = cuda.grid(2)\nif 0 <= i < 9:\n    out[i] = 1", "i is 2 numbers, and one is needed: choose one of them"),
        ("i = cuda.grid(1)\nout[i] = a + 10", "`a` is the whole array, and a kernel computes with single numbers"),
        ("i = cuda.grid(1)\nif i < a:\n    out[i] = 1", "`a` is the whole array"),
        ("return a[0] + 10", "a kernel returns nothing"),
        ("print(a)", "Line 3, `print(a)`: a is an array, and print takes numbers: print one element of it."),
        ("print(f'{a[0]}')", "a kernel cannot put a text together: write print"),
        ("print(a[0], sep=' ')", "print takes no sep in a kernel"),
        ("i = cuda.grid(1)\nout[i] = np.sum(a)", "`np.sum` works on a whole array, again in each thread"),
        ("i = cuda.grid(1)\nout[i] = a.sum()", "`a.sum` works on a whole array"),
        ("i = cuda.grid(1)\nout[i] = sum(a)", "`sum` works on a whole array, again in each thread"),
        ("i = cuda.grid(1)\nout[i] = [a[i] + 10]", "a list needs memory that a thread cannot ask for"),
        ("for x in a:\n    out[0] = x", "every thread runs this line; let only one do it"),
        ("i = cuda.grid(1)\nout[i / 1] = a[i]", "`/` gives a float, and an index is an integer; divide with `//`"),
        ("i = cuda.grid(1) / 1\nout[i] = a[i]", "an index is an integer: divide with //, or use int()"),
        ("i = cuda.grid(1)\nout[a[i]] = 1", "index 0 of out is a float64, and an index is an integer"),
        ("del out", "a kernel cannot delete anything"),
        ("kernel(a, out)", "a kernel cannot call or launch itself"),
        ("kernel[1, 32](a, out)", "a kernel cannot call or launch itself"),
        ("i = cuda.grid(1)\nout[i] = a[i] + 10", "thread 10 of block 0 uses a[10], outside the array's shape (10,)"),
        ("i = cuda.grid(1)\nout[i] = a[i] + 10", "guard the access, so that threads without an element do nothing"),
        (GUARDED + "out[i] = a[i + 1] + 9", "lets this thread through, but i + 1 is 10, and the last element is a[9]"),
        (GUARDED + "out[i] = a[i]", "10 of 10 elements are wrong; out[0] is 0 and should be 10"),
        (GUARDED + "out[0] = a[i] + 10", "both write out[0], and each element should belong to one thread"),
        (GUARDED + "if i > 3:\n        out[i] = a[i] + 10", "4 of 10 elements of out were written by nobody"),
        (GUARDED + "out[i] += a[i] + 10", "out[0] was written and is still no number: out holds none before"),
        (GUARDED + "a[i] += 10", "Nobody has written out: which thread is to write out[0]?"),
        (GUARDED + "a[i] += 10\n    out[i] = a[i]", "a was changed, and is only to be read"),
        ("if cuda.grid(1) < 10:\n    out[cuda.grid(1)] = a[cuda.grid(1)] + 10", "but with 12 elements: 2 of 12"),
        (GUARDED + "out[i] = i + 10\n    if a[i] > 9:\n        out[i] = 0", "but with 12 elements"),
        (GUARDED + "out[i] = a[i] + b", "the name 'b' is not defined"),
        (GUARDED + "out[i, 0] = 1", "out has 1 dimension and gets 2 indices"),
        (GUARDED + "raise ValueError('no')", "it raises ValueError: no"),
        (GUARDED + "try:\n        out[i] = 1\n    except:\n        pass", "try does not exist in a kernel"),
        (
            GUARDED + "s = 0.0\n    for k in range(a.size):\n        s += a[k]\n    out[i] = a[i] + 10 + 0 * s",
            "The result is right, but kernel needs 3 global load sectors and makes 13",
        ),
    ],
)  # fmt: skip
def test_a_mistake_gets_a_sentence(body, says):
    result = check_step(ADD, cells.kernel(body))
    assert not result.good
    assert says in str(result)
    assert str(result).count("\n") == 0


@pytest.mark.parametrize("guard", ["i < a.size", "i < len(a)", "i < a.shape[0]", "i < out.size"])
def test_right_ways_are_right(guard):
    assert check_step(ADD, cells.kernel(f"i = cuda.grid(1)\nif {guard}:\n    out[i] = a[i] + 10")).good


def test_a_skeleton_is_not_begun_and_a_part_of_it_not_finished():
    begun = practice.check("map", cells.kernel("i = ...\n..."))
    assert str(begun).startswith("Not begun: replace the ... in lines 3 and 4.")
    half = practice.check("map", cells.kernel("i = cuda.threadIdx.x\n..."))
    assert str(half).startswith("Not finished: replace the ... in line 4.")
    assert "Hint 1 of 3" in begun._repr_html_()
    assert "✓" not in begun._repr_html_()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "without calling it"),
        (3, "This is an int"),
        ("map", "This is a str"),
        (lambda a, out: None, "is a plain Python function: write @cuda.jit"),
        (cells.kernel("out[0] = 1")[1, 32], "without [blocks, threads] behind its name"),
        (cells.kernel("out[0] = 1", "a, *out"), "use plain positional ones"),
        (cells.kernel("out[0] = 1", "a"), "takes 1 argument(s) (a) and gets 2"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_kernel_gets_a_sentence(given, says):
    result = practice.check("map", given)
    assert not result.good
    assert says in str(result)


def test_a_device_function_is_no_kernel():
    names = cells.run_cell("@cuda.jit(device=True)\ndef twice(x):\n    return 2 * x\n")
    assert "write @cuda.jit without device=True" in str(practice.check("map", names["twice"]))


def test_a_step_that_does_not_exist_names_the_one_that_is_meant():
    with pytest.raises(Exception, match="do you mean 'guard'"):
        practice.check("gard", None)


def test_what_a_kernel_prints_is_shown_beside_the_verdict(capsys):
    printing = (
        "i = cuda.grid(1)\nif i == 3:\n    print('a <b>', i, a[i])\nif i < a.size:\n    out[i] = a[i] + "
    )
    right, wrong = (check_step(ADD, cells.kernel(printing + number)) for number in ("10", "11"))
    assert right.good and not wrong.good
    for result in (right, wrong):
        assert result.printed == "a <b> 3 3.000000\n", "of the inputs that are drawn, and of no others"
        assert "a &lt;b&gt; 3 3.000000" in result._repr_html_()
        assert str(result).endswith("\na <b> 3 3.000000\n")
    assert capsys.readouterr().out == ""


def test_a_print_that_fails_says_so_and_does_not_count():
    result = check_step(
        ADD, cells.kernel("i = cuda.grid(1)\nif i < a.size:\n    print(a[i + 1])\n    out[i] = a[i] + 10")
    )
    assert result.good
    assert "The print was stopped: kernel, line 5: thread 9 of block 0 uses a[10]" in result.printed


def a_launch(block):
    return Trial({"a": np.arange(5.0), "out": unwritten(5)}, {"out": np.arange(5.0) + 10}, 1, block)


def test_a_kernel_of_a_talk_is_shown_without_hints_and_its_trial_stays_as_it_was(learner_dir):
    trial = a_launch(8)
    right = practice.watch(cells.kernel(GUARDED + "out[i] = a[i] + 10"), trial)
    assert right.good and "<svg" in right._repr_html_()
    assert "Hint" not in right._repr_html_() and "What if" not in right._repr_html_()
    assert np.isnan(trial.arguments["out"]).all()
    assert not learner_dir.exists()  # watching solves nothing


def test_a_wrong_kernel_of_a_talk_is_shown_with_its_sentence():
    fell = practice.watch(
        cells.kernel("i = cuda.grid(1)\nif i == 3:\n    print(i)\nout[i] = a[i] + 10"), a_launch(8)
    )
    assert not fell.good
    assert "thread 5 of block 0 uses a[5], outside the array's shape (5,)" in str(fell)
    assert len(fell.pictures) == 1 and fell.printed.startswith("3\n")


def test_a_print_stopped_by_the_mistake_that_the_verdict_tells_is_told_once():
    left = cells.kernel("i = cuda.grid(1)\nout[i] = a[i] + 10\nprint(i)")
    result = practice.watch(left, a_launch(8))
    assert "thread 5 of block 0 uses a[5]" in str(result)
    assert "The print was stopped" not in result.printed


def test_an_endless_loop_is_told_without_a_word_on_how_threads_run():
    said = str(check_step(ADD, cells.kernel("while True:\n    pass")))
    assert "a thread that waits in a loop for another may wait for ever" in said.lower()
    assert "step" not in said


def test_a_thread_that_leaves_is_named_as_in_the_picture_and_by_its_number_in_the_grid():
    a = np.arange(12.0)
    trial = Trial({"a": a, "out": unwritten(12)}, {"out": a + 10}, 2, 8)
    result = practice.watch(cells.kernel("i = cuda.grid(1)\nout[i] = a[i] + 10"), trial)
    assert "thread 4 of block 1 (thread 12 of the grid) uses a[12]" in str(result)


def test_all_threads_that_leave_are_marked():
    answer = answers.read(ADD, cells.kernel("i = cuda.grid(1)\nout[i] = a[i] + 10"), launched=True)
    trial = Trial({"a": np.arange(12.0), "out": unwritten(12)}, {"out": np.arange(12.0) + 10}, 2, 8)
    outcome = attempt(ADD, answer, [trial])[0]
    assert scene.scene_of(ADD, trial, outcome).astray == frozenset(range(12, 16))


def test_a_picture_says_whose_shared_memory_it_shows():
    lab = next(lab for lab in cells.labs() if lab.step == "reverse" and not lab.says)
    assert "tile: shared memory of block 0 alone, by index" in (
        practice.check("reverse", lab.answer).pictures[0].svg
    )


def test_the_list_of_hazards_advises_no_second_launch_where_two_threads_took_one_element():
    body = "i = cuda.threadIdx.x\nif i < a.size:\n    out[i] = a[i] + 10\n    out[i] = a[i] + 10"
    hazards = practice.check("blocks", cells.kernel(body)).hazards
    assert len(hazards) > 1
    assert not [said for said in hazards if "split the kernel" in said]


def test_a_kernel_that_waits_for_a_warp_is_told_of_it():
    body = (
        "tile = cuda.shared.array(8, float64)\nt = cuda.threadIdx.x\ntile[t] = a[cuda.grid(1)]\n"
        "out[cuda.grid(1)] = tile[7 - t]\ncuda.syncwarp()"
    )
    assert "a cuda.syncwarp() or a cuda.syncthreads() is missing" in str(
        practice.check("reverse", cells.kernel(body))
    )


def test_only_a_kernel_can_be_watched():
    with pytest.raises(CourseError, match=r"None: hand over the name of your kernel"):
        practice.watch(None, a_launch(8))


def test_numbers_and_states_have_the_page_s_own_colour_so_that_a_dark_page_shows_them():
    result = check_step(ADD, cells.kernel(GUARDED + "out[i] = a[i] + 10"))
    assert "<table" in result._repr_html_()
    assert style.INK not in result._repr_html_().replace(result.pictures[0].svg, "")
    listed = practice.progress("first_kernels")._repr_html_()
    assert '<span style="opacity:.75">open</span>' in listed


@pytest.mark.parametrize(
    ("body", "counted"),
    [
        (GUARDED + "out[i] = a[i] + 10", True),
        (
            GUARDED + "out[i] = a[i] + 10\n    out[i] += a[(i + 5) % a.size] * 0",
            True,
        ),  # right, with too many sectors
        (GUARDED + "out[i] = 10", False),  # reads nothing, which is less than the least possible
        (GUARDED + "if i < 10:\n        out[i] = a[i] + 10", False),  # wrong at another size
        (GUARDED + "out[i] = a[i] + 10\nout[0] = 10", False),  # right, with a race
    ],
)
def test_counts_are_shown_only_of_right_results(body, counted):
    result = check_step(ADD, cells.kernel(body))
    shown = result._repr_html_()
    assert result.verdict.counted is counted
    assert [c.name for c in result.counts] == ["global_load.sectors"] * counted
    assert ("least possible" in shown) is counted
    assert ("those of a wrong answer mean nothing" in shown) is not counted
    assert len(result.pictures) == 1 + counted, (
        "the threads always, the strip with its sectors only where it counts"
    )


def test_a_picture_shows_the_threads_that_the_verdict_names_and_titles_over_lines():
    body = "i = cuda.grid(1)\nif i < a.size:\n    counts[a[i]] += 1"
    result = practice.check("histogram", cells.kernel(body, "a, counts"))
    assert "thread 0 of block 0 and thread 9 of block 1 both change counts[4]" in str(result)
    svg = result.pictures[0].svg
    shown = set(re.findall(r'class="l d t(\d+)', svg))
    assert shown == {"0", "25"}  # 16 threads per block
    assert svg.rindex('class="l ') < svg.index(">block 0<"), "a line runs over a title"
    assert 'stroke-dasharray="6 3"' in svg
