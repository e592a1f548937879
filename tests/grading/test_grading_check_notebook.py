"""What a learner's notebook shows of a test: one sentence with the learner's line, or the points."""

import re

import numpy as np
import pytest
import submissions as s
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
        kernel(body, "a, box")[1, 4](np.ones(4), np.ones(4, np.int64))
    assert str(caught.value).startswith(
        "Line 3, `s = a`: this gives the array a a second name, s, and copies nothing"
    )
    assert "NUMBA_ENABLE_CUDASIM" not in str(caught.value)


def test_too_much_traffic_is_told_with_the_learners_line():
    tried = kernel("i = cuda.grid(1)\nout[i] = a[i * 4]", "a, out")
    a, out = np.ones(256), np.zeros(64)
    needed = {"global_load.sectors": 16.0}
    with pytest.raises(check.Failed) as caught, check.explained(tried, "a", "out"):
        check.at_most(simt.profile(tried[2, 32], a, out), dict.fromkeys(needed, 1.1), compulsory=needed)
    assert "32 B apart on line 4, `out[i] = a[i * 4]`; 1.1× is allowed" in str(caught.value)


def test_a_conflict_of_banks_is_told_with_the_learners_line():
    body = "i = cuda.grid(1)\ntile = cuda.shared.array(64, float64)\ntile[i * 2] = a[i]\na[i] = tile[i * 2]"
    tried, needed = kernel(body), {"shared_store.wavefronts": 2.0}
    with pytest.raises(check.Failed) as caught, check.explained(tried, "a"):
        check.at_most(simt.profile(tried[1, 32], np.ones(32)), dict.fromkeys(needed, 1.0), compulsory=needed)
    assert ": on line 5, `tile[i * 2] = a[i]`, a warp takes 4 passes" in str(caught.value)


@pytest.mark.parametrize("source", s.SOURCES.values(), ids=lambda path: path.stem)
def test_the_visible_tests_of_a_kernel_quote_its_lines(source):
    """Each visible test that runs a kernel of the learner stands in a with block that explains this kernel."""
    cells = [cell for cell in s.solved(source).cells if cell.cell_type == "code"]
    about = {id(cell): cell.metadata.get("nbgrader", {}) for cell in cells}
    kernels = [
        name
        for cell in cells
        if about[id(cell)].get("solution")
        for name in re.findall(r"^def (\w+_kernel)\((.*)\)", cell.source, re.MULTILINE)
    ]
    assert kernels
    for name, parameters in kernels:
        helpers = {
            found
            for cell in cells
            if re.search(rf"\b{name}\b", cell.source) and not about[id(cell)].get("grade")
            for found in re.findall(r"^def (\w+)", cell.source, re.MULTILINE)
            if not found.endswith("_kernel")
        }
        uses = re.compile(rf"\b({'|'.join([name, *sorted(helpers)])})\b")
        own = [
            cell.source
            for cell in cells
            if about[id(cell)].get("grade") and "HIDDEN" not in cell.source and uses.search(cell.source)
        ]
        quoting = [text for text in own if f"check.explained({name}, " in text]
        assert quoting, name
        for text in quoting:
            arrays = re.search(rf"check\.explained\({name}, (.*)\):", text).group(1)
            assert set(re.findall(r'"(\w+)"', arrays)) <= set(re.split(r", ", parameters)), (name, arrays)
        assert all("check.explained(" in text for text in own), name
