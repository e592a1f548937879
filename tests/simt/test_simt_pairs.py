"""Pairs: two neighbouring elements that are loaded or stored by one access."""

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.simt.errors import HazardError, SimtError


@cuda.jit
def swap(u, out):
    i = 2 * cuda.grid(1)
    if i < out.size:
        first, second = load_pair(u, i)
        store_pair(out, i, second, first)


@cuda.jit
def from_index(u, i, out):
    first, second = load_pair(u, i)
    out[0] = first
    out[1] = second


@cuda.jit
def to_index(i, out):
    store_pair(out, i, 1.0, 2.0)


@cuda.jit
def pair_then_single(u, out):
    i = 2 * cuda.grid(1)
    first, second = load_pair(u, i)
    out[i] = u[i] + u[i + 1]
    out[i + 1] = first - second


@cuda.jit
def stored_and_loaded(u, out):
    i = 2 * cuda.grid(1)
    out[i] = u[i]
    first, second = load_pair(out, i)
    out[i] = first + second


@cuda.jit
def stored_twice(u, out):
    i = 2 * cuda.grid(1)
    first, second = load_pair(u, i)
    out[i] = first
    store_pair(out, i, second, second)
    store_pair(out, i, first, second)


@cuda.jit
def half_unused(u, out):
    i = 2 * cuda.grid(1)
    _, second = load_pair(u, i)
    out[i] = second


@cuda.jit
def neighbours_by_pairs(u, out):
    i = 2 * cuda.grid(1)
    first, second = load_pair(u, i)
    west = u[i - 1] if i > 0 else 0.0
    store_pair(out, i, first - west, second - first)


@cuda.jit
def shifted_in_place(u):
    i = 2 * cuda.grid(1)
    if i + 2 < u.size:
        first, second = load_pair(u, i + 2)
        store_pair(u, i, first, second)


@cuda.jit
def of_shared(out):
    tile = cuda.shared.array(64, np.float64)
    first, second = load_pair(tile, 0)
    out[0] = first + second


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_pair_is_one_access_of_twice_the_bytes(dtype):
    n = 1000
    u, out = np.arange(n, dtype=dtype), np.zeros(n, dtype)
    p = simt.profile(swap[2, 256], u, out)
    np.testing.assert_array_equal(out, u.reshape(-1, 2)[:, ::-1].reshape(-1))
    for counts in (p.global_load, p.global_store):
        assert counts.thread_accesses == n // 2
        assert counts.requests == 16, "500 threads are 15 warps and 20 lanes"
        assert counts.bytes_requested == counts.unique_bytes == u.nbytes
        assert counts.sectors == u.nbytes // 32
    assert not p.hazards


def test_a_single_element_of_a_pair_costs_no_load_of_its_own():
    u, out = np.arange(64.0), np.zeros(64)
    p = simt.profile(pair_then_single[1, 32], u, out)
    assert p.global_load.requests == 1
    np.testing.assert_array_equal(out, np.stack([u[::2] + u[1::2], u[::2] - u[1::2]], axis=1).reshape(-1))


def test_bytes_that_come_by_pairs_and_singly_are_unique_once():
    p = simt.profile(neighbours_by_pairs[2, 32], np.arange(128.0), np.zeros(128))
    assert p.global_load.unique_bytes == 128 * 8
    assert p.global_load.requests == 4, "a pair and a neighbour for each warp"


def test_a_store_that_a_pair_reads_is_not_vain():
    p = simt.profile(stored_and_loaded[1, 32], np.arange(64.0), np.zeros(64))
    assert p.global_store.requests == 2


def test_of_stores_to_one_pair_the_last_one_counts():
    u, out = np.arange(64.0), np.zeros(64)
    p = simt.profile(stored_twice[1, 32], u, out)
    assert p.global_store.requests == 1
    np.testing.assert_array_equal(out, u)


def test_half_of_a_pair_takes_the_whole_load():
    p = simt.profile(half_unused[1, 32], np.arange(64.0), np.zeros(64))
    assert (p.global_load.requests, p.global_load.sectors) == (1, 16)


def test_a_race_between_pairs_is_seen():
    p = simt.profile(shifted_in_place[1, 64], np.arange(128.0))
    assert {h.kind for h in p.hazards} == {"race"}


@pytest.mark.parametrize("kernel", ["load", "store"])
def test_a_pair_that_straddles_the_end_is_out_of_bounds(kernel):
    u, out = np.arange(9.0), np.zeros(9)
    launch, arguments = (from_index[1, 1], (u, 8, out)) if kernel == "load" else (to_index[1, 1], (8, out))
    p = simt.profile(launch, *arguments)
    assert [h.kind for h in p.hazards] == ["out_of_bounds"]
    assert p.hazards[0].index == (9,)
    with pytest.raises(HazardError, match=r"\[9\], outside the array's shape \(9,\)"):
        launch(*arguments)


@pytest.mark.parametrize(
    ("u", "i", "said"),
    [
        (np.arange(8.0), 3, "does not begin at a multiple of 16 bytes.*even number"),
        (cuda.to_device(np.zeros((4, 4)))[:, 0], 0, "takes a contiguous vector in global memory"),
        (np.zeros((4, 4)), 0, r"takes a contiguous vector in global memory: pass u\.reshape"),
        (np.arange(8), 0, "takes float64 or float32 numbers, and u holds int64"),
        (np.arange(8.0), 0.5, "index of load_pair is an integer"),
    ],
    ids=["odd", "strided", "matrix", "integers", "fraction"],
)
def test_what_is_no_pair_is_refused(u, i, said):
    with pytest.raises(SimtError, match=said):
        simt.profile(from_index[1, 1], u, i, np.zeros(2))


@cuda.jit
def turned_in_the_kernel(u, out):
    i = 2 * cuda.grid(1)
    vector, row = u.reshape(u.size), out[0]
    if i < vector.size:
        first, second = load_pair(vector, i)
        store_pair(row, i, second, first)


@cuda.jit
def with_gaps(u, out):
    out[0], out[1] = load_pair(u[::2], 0)


def test_a_view_without_gaps_is_a_vector_and_one_with_gaps_is_none():
    u, out = np.arange(24.0).reshape(4, 6), np.zeros((1, 24))
    assert not simt.profile(turned_in_the_kernel[1, 32], u, out).hazards
    np.testing.assert_array_equal(out.reshape(-1, 2)[:, ::-1].reshape(4, 6), u)
    with pytest.raises(SimtError, match="contiguous vector in global memory"):
        with_gaps[1, 1](np.zeros(8), np.zeros(2))


def test_a_tile_and_a_read_only_array_are_refused():
    with pytest.raises(SimtError, match="contiguous vector in global memory"):
        simt.profile(of_shared[1, 1], np.zeros(1))
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    with pytest.raises(SimtError, match="out cannot be written: the NumPy array is read-only"):
        simt.profile(to_index[1, 1], 0, fixed)


def test_on_the_host_they_say_where_they_belong():
    with pytest.raises(Exception, match="load_pair works inside a kernel only"):
        load_pair(np.zeros(4), 0)
