"""Local and constant memory: what registers hold is not counted, what they cannot hold is, and both have an end."""

import numpy as np
import pytest
from small_launch import N, run

from course_pkg import cuda
from course_pkg.simt.errors import SimtError


@cuda.jit
def rows_of_local_memory(u, out, n):
    i = cuda.grid(1)
    window = cuda.local.array((4, 2), np.float64)
    for k in range(4):
        window[k, 0] = u[(i + k) % u.size]
    total = 0.0
    for k in range(n):
        total += window[k][0]
    out[i] = total


@cuda.jit
def one_row_of_local_memory(u, out, n):
    i = cuda.grid(1)
    window = cuda.local.array((2, 4), np.float64)
    row = window[1]
    for k in range(4):
        row[k] = u[(i + k) % u.size]
    total = 0.0
    for k in range(n):
        total += row[k]
    out[i] = total


@pytest.mark.parametrize("kernel", [rows_of_local_memory, one_row_of_local_memory])
def test_a_local_array_is_counted_where_a_view_of_it_has_an_unknown_index(kernel):
    profile, _ = run(kernel, 4)
    assert profile.in_registers == ()
    assert profile.local_load.thread_accesses == 4 * N
    assert profile.local_store.thread_accesses == (4 + 16) * N  # and zeros: 8 doubles, in words of 4 bytes


@cuda.jit
def more_than_the_registers_hold(u, out):
    i = cuda.grid(1)
    window = cuda.local.array(128, np.float64)
    for k in range(128):
        window[k] = u[(i + k) % u.size]
    cuda.syncthreads()
    total = 0.0
    for k in range(128):
        total += window[k]
    out[i] = total


@cuda.jit
def what_the_registers_hold(u, out):
    i = cuda.grid(1)
    window = cuda.local.array(100, np.float64)
    for k in range(100):
        window[k] = u[(i + k) % u.size]
    out[i] = window[0] + window[99]


def test_a_local_array_beyond_the_registers_is_counted_though_its_indices_are_known():
    profile, _ = run(more_than_the_registers_hold)
    assert profile.in_registers == ()
    assert profile.local_store.thread_accesses == 128 * N
    assert profile.local_load.thread_accesses == 127 * N  # what was stored last is still in a register
    profile, _ = run(what_the_registers_hold)
    assert profile.in_registers == ("window",)
    assert profile.local_store.thread_accesses == 0


@cuda.jit
def in_registers_of_some_threads(u, out):
    i = cuda.grid(1)
    window = cuda.local.array(4, np.float64)
    for k in range(4):
        window[k] = 1.0
    if i < 40:  # the others keep the number that k had
        for k in range(4):
            window[k] += u[(i + k) % u.size]
        for k in range(0):
            window[k] = 0.0
        out[i] = window[0] + window[3] + k


def test_a_loop_variable_is_known_in_the_trip_even_if_other_threads_have_another_number():
    profile, out = run(in_registers_of_some_threads)
    assert profile.in_registers == ("window",)
    u = np.arange(N) + 100.0
    assert (out[:40] == (u + np.roll(u, -3))[:40] + 2.0 + 3).all()


LARGE = np.zeros(8193)


@cuda.jit
def large_constant(u, out):
    i = cuda.grid(1)
    out[i] = cuda.const.array_like(LARGE)[i]


def test_constant_memory_has_an_end():
    with pytest.raises(SimtError, match="constant arrays need 65544 bytes and 65536 is the limit"):
        run(large_constant)
