"""What a learner's notebook shows of a test: one sentence with the learner's line, or the points."""

import numpy as np
import pytest
from numba import float64

from course_pkg import simt
from course_pkg.grading import check
from course_pkg.simt import api as cuda

NAMES = {"cuda": cuda, "float64": float64}


def kernel(body, arguments="a"):
    text = f"@cuda.jit\ndef kernel({arguments}):\n    " + body.replace("\n", "\n    ")
    return simt.Kernel.from_source(text + "\n", "kernel", NAMES)


def failure(tried, *arrays, grid=2, block=8):
    """Return how a test of a kernel fails that adds 1 to each element, with all that a notebook shows."""
    a = arrays[0] if arrays else np.arange(12.0)
    before = a.copy()
    with pytest.raises(check.Failed) as caught, check.explained(tried, "a"):
        check.no_hazards(simt.profile(tried[grid, block], a, *arrays[1:]), notes=True)
        check.close(a, before + 1, "a")
    [shown] = caught.value._render_traceback_()
    assert shown == f"✗ {caught.value}"
    return shown


def test_a_failed_test_shows_the_learners_line_and_the_advice_of_the_laboratory():
    said = failure(kernel("i = cuda.grid(1)\na[i] += 1"))
    assert said.startswith(
        "✗ Line 4, `a[i] += 1`: thread 4 of block 1 uses a[12], outside the array's shape (12,)"
    )
    assert said.endswith("; guard the access, so that threads without an element do nothing.")


def test_a_barrier_that_threads_skip_is_explained_with_what_to_do():
    said = failure(kernel("i = cuda.grid(1)\nif i < a.size:\n    cuda.syncthreads()\n    a[i] += 1"))
    assert said.startswith("✗ Line 5, `cuda.syncthreads()`: ")
    assert said.endswith("Let all threads of the block come to each barrier.")


def test_a_loop_that_every_thread_goes_through_is_not_to_be_made_atomic():
    loop = "i = cuda.grid(1)\nfor k in range({}):\n    a[k] += 1"
    said = failure(kernel(loop.format("a.size")))
    assert "every thread goes through the whole loop of line 4" in said and "atomic" not in said
    assert "let each thread take its own part of the loop" in said
    assert "let each thread take" not in failure(kernel(loop.format("i, a.size")))


def test_the_second_number_of_a_grid_of_one_dimension_is_always_0():
    body = "x, y = cuda.grid(2)\nif y < a.shape[0] and x < a.shape[1]:\n    a[y, x] += 1"
    said = failure(kernel(body), np.zeros((3, 4)), grid=1, block=12)
    assert said.endswith("The grid of this launch has one dimension, so y is always 0 in line 3.")
    assert "dimension, so" not in failure(
        kernel(body.replace("+= 1", "+= 2")), np.zeros((3, 4)), grid=1, block=(4, 3)
    )


def test_a_kernel_that_calls_itself_without_end_is_a_sentence():
    def mirrored(image):
        return mirrored(image)

    with (
        pytest.raises(check.Failed, match="calls itself without end"),
        check.explained(kernel("a[0] = 1"), "a"),
    ):
        mirrored(np.ones(3))


def test_a_shared_array_whose_name_is_taken_is_named():
    body = "tile = cuda.shared.array(8, float64)\nt = cuda.threadIdx.x\ntile = a[t]\na[t] = tile + 2"
    assert "write into an element, tile[t] = a[t]" in failure(kernel(body), np.zeros(8), grid=1)


def test_the_judge_prints_no_points(capsys):
    check.passed(2)
    assert capsys.readouterr().out == "✓ 2 of 2 points\n"
    check.seed([1])
    try:
        check.passed(2)
    finally:
        check.seed(None)
    assert capsys.readouterr().out == ""


def test_a_launch_whose_third_part_is_a_pair_lost_its_brackets():
    tried = kernel("a[0] = 1")
    with pytest.raises(
        simt.SimtError, match=r"takes \[blocks, threads per block\]; what stands third is a stream"
    ):
        tried[2, 3, (16, 8)]
    tried[2, 3, 0](np.ones(1))


def test_a_second_name_of_an_array_copies_nothing():
    body = "s = a\nif cuda.grid(1) == 0:\n    s = box\na[0] = s[0]"
    with pytest.raises(check.Failed) as caught, check.explained(kernel(body, "a, box"), "a", "box"):
        kernel(body, "a, box")[1, 4](np.ones(4), np.ones(4))
    assert str(caught.value).startswith(
        "Line 3, `s = a`: this gives the array a a second name, s, and copies nothing"
    )
    assert "NUMBA_ENABLE_CUDASIM" not in str(caught.value)
