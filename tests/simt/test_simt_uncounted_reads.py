"""Reads that earlier versions did not count, or that gave a value which no thread had loaded."""

import numpy as np
import pytest
from small_launch import N, run

from course_pkg import cuda, simt
from course_pkg.simt.errors import SimtError


@cuda.jit
def read_by_one_thread(u, out, other):
    i = cuda.grid(1)
    if i == 0:
        x = u[i]
        other[0] = x
    out[i] = x


def test_a_variable_is_undefined_in_lanes_that_gave_it_no_value():
    profile, out = run(read_by_one_thread, np.zeros(1))
    assert out[0] == 100.0
    assert np.isnan(out[1:]).all()
    assert profile.global_load.thread_accesses == 1


@cuda.jit
def pair_read_by_one_thread(u, out, other):
    i = cuda.grid(1)
    if i == 0:
        pair = u[i], 1.0
        other[0] = pair[0]
    out[i] = pair[0]


def test_parts_of_a_tuple_are_undefined_in_lanes_that_did_not_make_it():
    profile, out = run(pair_read_by_one_thread, np.zeros(1))
    assert np.isnan(out[1:]).all()
    assert profile.global_load.thread_accesses == 1


@cuda.jit
def row_chosen_by_one_thread(u, out, rows):
    i = cuda.grid(1)
    if i == 0:
        row = rows[int(u[i]) - 100]
        out[0] = row[0]
    out[i] = row[0]


@cuda.jit
def passes_known_to_one_thread(u, out, rows):
    i = cuda.grid(1)
    if i == 0:
        passes = range(int(u[i]))
    for _ in passes:
        out[i] += 1.0


@pytest.mark.parametrize("kernel", [row_chosen_by_one_thread, passes_known_to_one_thread])
def test_a_row_or_a_range_that_only_some_threads_have_is_refused(kernel):
    with pytest.raises(SimtError, match=r"some threads get here without having assigned '(row|passes)'"):
        run(kernel, np.ones((N, 2)))


@cuda.jit
def read_in_two_steps(u, out, other):
    i = cuda.grid(1)
    if i < 10 or i < 20:
        x = u[i]
    out[i] = x


def test_a_variable_is_undefined_in_lanes_that_take_no_branch():
    profile, out = run(read_in_two_steps, 0)
    assert (out[:20] == np.arange(20) + 100.0).all()
    assert np.isnan(out[20:]).all()
    assert profile.global_load.thread_accesses == 20


@cuda.jit(device=True)
def sometimes(u, i):
    if i == 0:
        return u[i]


@cuda.jit
def value_of_nothing(u, out):
    i = cuda.grid(1)
    out[i] = sometimes(u, i)


def test_a_function_that_returns_a_value_in_some_threads_alone_is_refused():
    with pytest.raises(SimtError, match="some threads come to its end without a value"):
        run(value_of_nothing)


@cuda.jit
def the_same_load_on_two_ways(u, out, v):
    i = cuda.grid(1)
    if i != 0:
        z = v[0]
        x = u[i]
    else:
        z = 3.0
        x = u[i]
    v[1] = 2.0
    out[i] = x + z


def test_one_load_written_in_two_branches_is_counted_in_the_lanes_of_both():
    profile, out = run(the_same_load_on_two_ways, np.ones(2))
    assert profile.by_array["u"].global_load.thread_accesses == N
    assert out[1] == 102.0


@cuda.jit
def loaded_before_it_is_changed(u, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        x = u[i]
        u[i] = 5.0
    else:
        x = u[i]
    out[i] = x


def test_each_lane_keeps_what_it_loaded_before_another_branch_changed_memory():
    _, out = run(loaded_before_it_is_changed)
    assert (out == np.arange(N) + 100.0).all()


@cuda.jit
def one_number_of_two_types(u, out):
    i = cuda.grid(1)
    v = np.uint32(2147483648 + i * 33554432)
    far = np.int64(v) >> 25
    near = np.int64(np.int32(v)) >> 25
    out[i] = u[far - 64] + u[near + 64]


@cuda.jit
def bits_of_two_types(u, out):
    i = cuda.grid(1)
    v = np.int32(-1 - i)
    out[i] = u[cuda.popc(v)] + u[cuda.popc(np.int64(v)) - 32]


@pytest.mark.parametrize("kernel", [one_number_of_two_types, bits_of_two_types])
def test_integers_that_differ_in_another_type_name_different_elements(kernel):
    assert run(kernel)[0].global_load.thread_accesses == 2 * N


@cuda.jit(device=True)
def put(out, i):
    out[i] = 7.0
    return True


@cuda.jit
def decided_by_an_element(u, out):
    i = cuda.grid(1)
    u[i] > 120.0 and put(out, i)


def test_a_condition_that_decides_who_writes_is_counted():
    profile, out = run(decided_by_an_element)
    assert profile.global_load.thread_accesses == N
    assert (out == np.where(np.arange(N) > 20, 7.0, 0.0)).all()


@cuda.jit
def changed_under_another_name(u, out):
    i = cuda.grid(1)
    at = cuda.atomic
    x = u[i]
    if i < 40:
        at.add(u, i, 1.0)
    out[i] = x + u[i]


def test_what_an_atomic_under_another_name_may_have_changed_is_loaded_again():
    profile, out = run(changed_under_another_name)
    assert profile.global_load.thread_accesses == 2 * N
    assert out[0] == 201.0


@cuda.jit
def beyond_the_end(u, out):
    i = cuda.grid(1)
    out[i] = u[i + 1]


def test_a_load_beyond_the_array_gives_a_number_that_shows():
    profile, out = run(beyond_the_end)
    assert np.isnan(out[-1])
    assert [h.kind for h in profile.hazards] == ["out_of_bounds"]


@cuda.jit
def complex_products(z, out):
    i = cuda.grid(1)
    p = z[i]
    for _ in range(out.shape[0]):
        p = p * z[i]
    out[i] = abs(p)


def test_complex_multiplications_in_a_loop_count_both_kinds():
    out = np.zeros(N)
    flops = simt.profile(complex_products[1, N], np.ones(N, complex), out).flops["float64"]
    assert flops.mul == flops.fma == 2 * N * N
