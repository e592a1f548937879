"""``vectorize`` and ``guvectorize`` use the memory that Numba uses: hazards are found as in a kernel by hand."""

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.core.errors import CourseError
from course_pkg.simt.errors import SimtError
from course_pkg.simt.vectorizing import watched_by

ROWS = np.arange(65.0 * 4).reshape(65, 4)


@cuda.vectorize(["float64(float64, float64)"])
def add(a, b):
    return a + b


@cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def total(a, out):
    for j in range(a.size):
        out[0] += a[j]


@cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def every_other(a, out):
    for j in range(0, a.size, 2):
        out[j] = a[j]


@cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def backwards(a, out):
    for j in range(a.size):
        out[j] = a[a.size - 1 - j]


@cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def doubled(a, out):
    for j in range(a.size):
        out[j] = 2 * a[j]


@cuda.guvectorize(["void(int32[:], int32[:])"], "(n)->()")
def last_of_two(a, out):
    out[0] = a[0]
    out[0] += a[1]


@cuda.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(m)->(n)")
def summed_up(a, sums, out):
    for j in range(a.size):
        sums[0] += a[j]
        out[j] = a[j]


@cuda.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->(n)")
def counted(a, count, out):
    count[0] += 1
    for j in range(a.size):
        out[j] = a[j]


class Profiles:
    """Profiles all launches."""

    def __init__(self):
        self.found = []

    def function(self, made):
        """Do nothing."""

    def launch(self, launch, arguments, made):
        """Profile a launch."""
        self.found.append(simt.profile(launch, *arguments))


def hazards(call):
    """Return what a call returns, and kind and array of each hazard that it shows."""
    with watched_by(profiles := Profiles()):
        result = call()
    return result, [(h.kind, h.array) for p in profiles.found for h in p.hazards]


@pytest.mark.parametrize("out", [None, np.zeros(65)])
def test_an_output_begins_unwritten(out):
    result, found = hazards(lambda: total(ROWS, out=out))
    assert found == [("uninitialised", "out")] and np.isnan(result).all()


def test_what_a_function_has_written_itself_may_be_read():
    result, found = hazards(lambda: last_of_two(np.ones((300, 2), np.int32)))
    assert not found and (result == 2).all()


def test_elements_that_nobody_writes_hold_anything():
    for out in (None, np.zeros_like(ROWS)):
        result, found = hazards(lambda out=out: every_other(ROWS, out=out))
        assert not found and (result[:, ::2] == ROWS[:, ::2]).all() and np.isnan(result[:, 1::2]).all()
        assert out is None or result is out


def test_numba_copies_an_output_of_the_host_to_the_gpu_if_an_input_is_there():
    out = np.full_like(ROWS, 5.0)
    result, found = hazards(lambda: every_other(cuda.to_device(ROWS), out=out))
    assert result is out and not found and (out[:, 1::2] == 5).all() and (out[:, ::2] == ROWS[:, ::2]).all()


def test_an_output_on_the_gpu_keeps_what_it_holds():
    sums = cuda.to_device(np.full(65, 5.0))
    result, found = hazards(lambda: total(ROWS, out=sums))
    assert result is sums and not found
    np.testing.assert_array_equal(sums.copy_to_host(), 5 + ROWS.sum(axis=1))


@cuda.jit
def add_by_hand(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def test_an_input_that_overlaps_with_the_output_is_a_race_as_in_a_kernel_by_hand():
    x, y = cuda.to_device(np.arange(65.0)), cuda.to_device(np.arange(65.0))
    _, found = hazards(lambda: add(x[1:], x[:-1], out=x[:-1]))
    by_hand = simt.profile(add_by_hand[1, 256], y[1:], y[:-1], y[:-1])
    assert found == [(h.kind, h.array) for h in by_hand.hazards] == [("race", "out")]
    np.testing.assert_array_equal(x.copy_to_host(), y.copy_to_host())


def test_parts_that_overlap_with_those_of_the_output_are_a_race():
    x = cuda.to_device(ROWS)
    _, found = hazards(lambda: backwards(x[1:], out=x[:-1]))
    assert {kind for kind, _ in found} == {"race"}


@pytest.mark.parametrize("shape", [(300,), (30, 10)])
def test_a_function_of_numbers_may_work_in_place(shape):
    numbers = np.arange(300.0).reshape(shape)
    x = cuda.to_device(numbers)
    result, found = hazards(lambda: add(x, x, out=x))
    assert result is x and not found
    np.testing.assert_array_equal(x.copy_to_host(), 2 * numbers)


def test_a_function_of_parts_may_work_in_place_if_it_reads_before_it_writes():
    x = cuda.to_device(ROWS)
    result, found = hazards(lambda: doubled(x, out=x))
    assert result is x and not found
    np.testing.assert_array_equal(x.copy_to_host(), 2 * ROWS)


def test_arrays_of_the_host_are_copied_and_so_never_overlap():
    x = np.arange(65.0)
    _, found = hazards(lambda: add(x[1:], x[:-1], out=x[:-1]))
    assert not found and (x[:-1] == 2 * np.arange(64) + 1).all()


def test_a_view_with_gaps_is_used_in_place_if_it_is_a_vector():
    x = cuda.to_device(np.arange(20.0))
    _, found = hazards(lambda: add(x[::2], x[1::2], out=x[::2]))
    expected = np.arange(20.0)
    expected[::2] += expected[1::2]
    assert not found
    np.testing.assert_array_equal(x.copy_to_host(), expected)


@pytest.mark.parametrize(
    ("call", "array"),
    [
        (lambda: summed_up(np.ones((64, 4)), np.zeros(1)), "sums"),
        (lambda: summed_up(cuda.to_device(np.ones((64, 4))), cuda.to_device(np.zeros(1))), "sums"),
        (lambda: counted(np.ones((64, 4)), 0.0), "count"),
        (lambda: counted(np.ones((64, 4)), np.zeros(1)), "count"),
    ],
)
def test_a_part_that_all_threads_share_is_one_part(call, array):
    _, found = hazards(call)
    assert found == [("race", array)]


def test_parts_of_their_own_may_be_written():
    counts, sums = cuda.to_device(np.zeros(64)), np.zeros((64, 1))
    assert hazards(lambda: counted(np.ones((64, 4)), counts))[1] == []
    assert (counts.copy_to_host() == 1).all()
    assert hazards(lambda: summed_up(np.ones((64, 4)), sums))[1] == []
    assert not sums.any(), "the GPU has written to a copy"


def test_messages_name_the_line_of_a_function_of_numbers():
    x = cuda.to_device(np.arange(65.0))
    with watched_by(profiles := Profiles()):
        add(x[1:], x[:-1], out=x[:-1])
    [hazard] = profiles.found[0].hazards
    source = profiles.found[0].sources[hazard.function]
    assert source.file == __file__
    assert source.lines[hazard.line - source.first_line] == "def add(a, b):"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: add(ROWS, ROWS, out=cuda.to_device(ROWS.copy(order="F"))), "order of columns"),
        (lambda: add(ROWS[:, 1:], ROWS[:, 1:], out=cuda.to_device(ROWS)[:, 1:]), "gaps between its rows"),
        (
            lambda: total(ROWS, out=np.zeros(65, np.float32)),
            "out has the dtype float32 and the result float64",
        ),
        (lambda: summed_up(np.ones((8, 1, 4)), np.ones((5, 1))), r"\(8, 1\) and \(5,\) parts"),
    ],
)
def test_what_a_gpu_would_do_elsewhere_or_not_at_all_is_refused(call, said):
    with pytest.raises(SimtError, match=said):
        call()


def test_parts_that_would_have_to_be_copied_are_refused():
    with pytest.raises(CourseError, match="would have to copy"):
        doubled(cuda.to_device(np.ones((4, 5, 6)))[:, 1:])
