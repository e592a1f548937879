"""Limits also bound traffic that a test does not name, and they count atomics as loads and stores."""

import numpy as np
import pytest
import submissions as s

from course_pkg import cuda, simt
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.grading import check, limits
from course_pkg.grading.exercise import read_solution

N = 64
NEEDED = {"global_load.sectors": N / 4, "global_store.sectors": N / 4}
LIMITS = dict.fromkeys(NEEDED, 1.0)
BANKS = {"shared_load.wavefronts": 1.0, "shared_store.wavefronts": 1.0}


@cuda.jit
def copied(u, out):
    i = cuda.grid(1)
    out[i] = u[i]


@cuda.jit
def loaded_by_atomics(u, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.add(u, i, 0.0)


@cuda.jit
def stored_by_atomics(u, out):
    i = cuda.grid(1)
    cuda.atomic.exch(out, i, np.int64(u[i]))


@cuda.jit
def through_local_memory(u, out):
    i = cuda.grid(1)
    kept = cuda.local.array(4, np.float64)
    kept[i % 4] = u[i]
    out[i] = kept[(i + 4) % 4]


@cuda.jit
def in_registers(u, out):
    i = cuda.grid(1)
    kept = cuda.local.array(2, np.float64)
    kept[0] = u[i]
    out[i] = kept[0]


@cuda.jit
def through_shared_memory(u, out):
    i = cuda.grid(1)
    tile = cuda.shared.array(N, np.float64)
    tile[i] = u[i]
    cuda.syncthreads()
    out[i] = tile[N - 1 - i]


@cuda.jit
def tile_read_by_atomics(u, out):
    i = cuda.grid(1)
    tile = cuda.shared.array(N, np.float64)
    tile[i] = u[i]
    cuda.syncthreads()
    out[i] = cuda.atomic.max(tile, N - 1 - i, -1.0)


@cuda.jit
def strided_with_one_addition(u, out):
    i = cuda.grid(1)
    out[i] = u[8 * i % N] + u[i]
    if i == 0:
        cuda.atomic.add(out, 0, 1.0)


@cuda.jit
def by_pairs(u, out):
    i = 2 * cuda.grid(1)
    if i < N:
        first, second = load_pair(u, i)
        store_pair(out, i, first, second)


@cuda.jit
def twice_by_pairs(u, out):
    i = 2 * cuda.grid(1)
    if i < N:
        first, second = load_pair(u, i)
        store_pair(out, i, first, 0.0)
        third, fourth = load_pair(u, i)  # after a store, a compiler loads it again
        store_pair(out, i, third, second + fourth)


def profile(kernel, dtype=float):
    return simt.profile(kernel[1, N], np.ones(N), np.zeros(N, dtype))


@pytest.mark.parametrize("kernel", [copied, in_registers, through_shared_memory])
def test_what_moves_no_more_than_is_needed_passes(kernel):
    check.at_most(profile(kernel), LIMITS, compulsory=NEEDED)


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (
            loaded_by_atomics,
            r"needs 16 global store sectors and makes \d+, .*: atomic operations count among them",
        ),
        (
            stored_by_atomics,
            r"needs 16 global load sectors and makes \d+, .*: atomic operations count among them",
        ),
        (through_local_memory, "needs no local load requests and makes 4; none is allowed"),
    ],
)
def test_no_way_leads_round_a_limit(kernel, says):
    found = profile(kernel, np.int64 if kernel is stored_by_atomics else float)
    with pytest.raises(check.Failed, match=says):
        check.at_most(found, LIMITS, compulsory=NEEDED)


def test_a_stride_is_blamed_where_the_few_atomics_alone_would_keep_the_limit():
    found = profile(strided_with_one_addition)
    with pytest.raises(check.Failed) as caught:
        check.at_most(found, {"global_load.sectors": 1.5}, compulsory=NEEDED)
    assert "neighbouring threads touch addresses 64 B apart on line" in str(caught.value)
    assert "atomic" not in str(caught.value)


def test_a_pair_counts_as_two_elements():
    needed = {"global_load.thread_accesses": N, "global_store.thread_accesses": N}
    for kernel, times in ((copied, 1), (by_pairs, 1), (twice_by_pairs, 2)):
        found = limits.bounds(profile(kernel), dict.fromkeys(needed, 1.0), needed)
        assert [b.found for b in found if b.name in needed] == [times * N] * 2, kernel


def test_limits_of_their_own_take_atomics_out_of_loads_and_stores():
    found = profile(loaded_by_atomics)
    for name in ("atomics.sectors", "global_atomics.sectors"):
        needed = {"global_store.sectors": 16, name: 16}
        check.at_most(found, dict.fromkeys(needed, 1.0), compulsory=needed)


def test_local_memory_that_a_test_names_is_allowed_as_far_as_it_says():
    zeros = 16  # that two warps write at first: four doubles, in words of 4 bytes
    needed = {**NEEDED, "local_load.requests": 4, "local_store.requests": 4 + zeros}
    check.at_most(profile(through_local_memory), dict.fromkeys(needed, 1.0), compulsory=needed)


def test_atomics_on_a_tile_count_as_if_each_lane_took_a_turn():
    needed = {"shared_load.wavefronts": 4, "shared_store.wavefronts": 4}
    check.at_most(profile(through_shared_memory), BANKS, compulsory=needed)
    found = {b.name: b for b in limits.bounds(profile(tile_read_by_atomics), BANKS, needed)}
    assert found["shared_load.wavefronts"].found == found["shared_load.wavefronts"].atomics == N
    assert found["shared_store.wavefronts"].found == 4 + N
    assert not found["shared_store.wavefronts"].kept


def test_every_exercise_that_limits_loads_limits_stores_as_well():
    named = [
        {name.partition(".")[0] for name in cell["metadata"]["course"]["limits"]}
        for source in s.SOURCES.values()
        for cell in read_solution(source).cells
        if "limits" in cell["metadata"].get("course", {})
    ]
    assert len(named) >= 9
    for memories in named:
        for space in ("global", "shared"):
            assert (f"{space}_load" in memories) == (f"{space}_store" in memories), memories
        assert "global_load" in memories
