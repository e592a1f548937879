"""What is said beside a right answer: a barrier that threads skip without harm; what a variation promises to show."""

import practice_cells as cells
import pytest

from course_pkg.practice import check, progress

FOLD = """
tile = cuda.shared.array(16, float64)
t = cuda.threadIdx.x
tile[t] = a[cuda.grid(1)]
half = 8
while half > 0:
    cuda.syncthreads()
    if t < half:
        tile[t] += tile[t + half]
    {}
    half //= 2
if t == 0:
    {}
"""


def folded(inside="", last="out[cuda.blockIdx.x] = tile[0]"):
    return check("block_sum", cells.kernel(FOLD.format(inside, last)))


def test_a_barrier_that_threads_skip_only_to_leave_is_told_beside_the_mark():
    result = folded(last="cuda.syncthreads()\n    out[cuda.blockIdx.x] = tile[0]")
    assert result.good
    [note] = [note for note in result.notes if "barrier" in note]
    assert note.startswith(
        "Line 15, `cuda.syncthreads()`: thread 0 of block 0 waits at this barrier, and thread 1 of "
    )
    assert "Let all threads of the block come to each barrier." in note
    assert note.replace("'", "&#x27;") in result._repr_html_()


def test_threads_that_return_before_a_later_barrier_are_told_beside_the_mark():
    result = folded("else:\n        return")
    assert result.good
    assert any(
        note.startswith("Line 13, `return`: threads that end here never come to") for note in result.notes
    )


def test_barriers_of_all_threads_are_told_nothing_about():
    assert not any("barrier" in note for note in folded().notes)


VARIATIONS = {
    "stride": (
        "a, out",
        "n = (a.size + 15) // 16\n"
        "for i in range(n * cuda.grid(1), min(n * cuda.grid(1) + n, a.size)):\n"
        "    out[i] = a[i] + 10",
    ),
    "row_sums": (
        "a, out",
        "tile = cuda.shared.array(16, float64)\nt = cuda.threadIdx.x\nr = cuda.blockIdx.x\ns = 0.0\n"
        "n = a.shape[1] // 16\nfor c in range(n * t, n * t + n):\n    s += a[r, c]\ntile[t] = s\nhalf = 8\n"
        "while half > 0:\n    cuda.syncthreads()\n    if t < half:\n        tile[t] += tile[t + half]\n"
        "    half //= 2\nif t == 0:\n    out[r] = tile[0]",
    ),
}


@pytest.mark.parametrize("step", VARIATIONS)
def test_a_variation_keeps_the_result_and_shows_its_sectors(step):
    arguments, body = VARIATIONS[step]
    result = check(step, cells.kernel(body, arguments))
    assert result.verdict.counted
    sectors = next(count for count in result.counts if count.name == "global_load.sectors")
    assert sectors.found > sectors.needed


def test_a_step_that_needs_another_is_for_later_and_not_locked():
    assert "locked" not in repr(progress("first_kernels"))
