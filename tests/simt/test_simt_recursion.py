"""Device functions that call themselves: numba-cuda 0.30.4 compiles them if a signature declares their types."""

import math

import numpy as np
import pytest

from course_pkg import cuda, simt


@cuda.jit("int64(int64)", device=True)
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@cuda.jit("(int64,)", device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit("float64(float64, int64)", device=True)
def power(x, n):
    if n == 0:
        return 1
    half = power(x, n // 2)
    if n % 2:
        return half * half * x
    return half * half


@cuda.jit("void(float64[:], int64, int64)", device=True)
def quicksort(a, low, high):
    if low < high:
        i = low
        for j in range(low, high):
            if a[j] < a[high]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        quicksort(a, low, i - 1)
        quicksort(a, i + 1, high)


@cuda.jit("void(float64[:], float64[:], int64)", device=True)
def by_turns(a, b, n):
    if n > 0:
        a[n] = n
        by_turns(b, a, n - 1)


@cuda.jit("int64(int64)", device=True)
def endless(n):
    if n < 0:
        return 0
    return endless(n + 1)


@cuda.jit((cuda.int64,), device=True)
def call_first(n):
    if n > 1:
        return n * call_first(n - 1)
    return 1


@cuda.jit
def numbers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = factorial(i)
        out[i, 1] = fibonacci(i)
        out[i, 2] = power(x[i], i)


@cuda.jit
def sort_rows(a):
    row = cuda.grid(1)
    if row < a.shape[0]:
        quicksort(a[row], 0, a.shape[1] - 1)


@cuda.jit
def sort_same_row(a):
    quicksort(a[0], 0, a.shape[1] - 1)


@cuda.jit
def two_arrays(a, b):
    if cuda.grid(1) == 0:
        by_turns(a, b, 6)


@cuda.jit
def lost(out):
    out[cuda.grid(1)] = endless(1)


def test_each_thread_goes_as_deep_as_it_needs():
    x, out = np.random.default_rng(0).random(10), np.zeros((10, 3))
    profile = simt.profile(numbers[1, 32], x, out)
    assert not profile.hazards
    assert out[:, 0].tolist() == [math.factorial(i) for i in range(10)]
    assert out[:, 1].tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    np.testing.assert_allclose(out[:, 2], x ** np.arange(10), rtol=1e-14)
    assert "keeps its variables in local memory" in str(profile.doubtful["local_load.requests"])


def test_stores_of_inner_calls_are_stores():
    a = np.random.default_rng(1).random((20, 12))
    expected = np.sort(a)
    assert not simt.profile(sort_rows[1, 32], a).hazards
    np.testing.assert_array_equal(a, expected)
    assert {h.kind for h in simt.profile(sort_same_row[1, 2], a).hazards} == {"race"}


def test_an_array_that_only_an_inner_call_writes_is_known_to_be_written():
    a, b = np.zeros(8), np.zeros(8)
    assert not simt.profile(two_arrays[2, 32], a, b).hazards
    assert a.tolist() == [0, 0, 2, 0, 4, 0, 6, 0] and b.tolist() == [0, 1, 0, 3, 0, 5, 0, 0]


def test_a_type_that_only_a_later_return_tells_has_to_be_declared():
    @cuda.jit
    def kernel(out):
        out[0] = call_first(3)

    with pytest.raises(
        simt.SimtError, match=r"call_first by itself before its first return .* declare what it returns"
    ):
        kernel[1, 1](np.zeros(1))


def test_a_recursion_without_end_is_stopped():
    with pytest.raises(
        simt.SimtError, match=r"endless, line [0-9]+: endless calls itself more than 32 calls deep"
    ):
        lost[1, 4](np.zeros(4))


@cuda.jit(device=True)
def undeclared(n):
    if n <= 1:
        return 1
    return n * undeclared(n - 1)


@cuda.jit("boolean(int64)", device=True)
def even(n):
    return n == 0 or odd(n - 1)


@cuda.jit("boolean(int64)", device=True)
def odd(n):
    return n != 0 and even(n - 1)


@pytest.mark.parametrize(
    ("function", "way"),
    [
        (undeclared, r"declare the types of arguments and result, as in @cuda.jit\('int64"),
        (even, "write one function, or a loop"),
    ],
)
def test_what_numba_does_not_compile_is_refused_with_what_to_write(function, way):
    @cuda.jit
    def kernel(out):
        out[0] = function(3)

    out = np.full(1, 7.0)
    with pytest.raises(
        simt.SimtError, match=rf"line [0-9]+: recursion .* is nothing that Numba compiles .*{way}"
    ):
        kernel[1, 1](out)
    assert out[0] == 7
