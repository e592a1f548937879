"""Explicit signatures fix the types of arguments, as they do for Numba; what does not fit is refused in a sentence."""

import numba
import numpy as np
import pytest
from numba import float32, int32, void

from course_pkg import cuda
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.kernel import Kernel, jit


def store(out, x):
    out[cuda.grid(1)] = x / 3


def launched(decorate, dtype, x):
    out = np.zeros(4, dtype)
    decorate(store)[1, 4](out, x)
    return out


@pytest.mark.parametrize(
    "signature",
    [
        "void(float64[:], float32)",
        "(float64[:], float32)",
        void(numba.float64[:], float32),
        (numba.float64[:], float32),
        ["void(float32[:], float32)", void(numba.float64[:], float32)],
    ],
    ids=str,
)
@pytest.mark.parametrize("keyword", ["", "func_or_sig", "signature"])
def test_a_number_gets_the_type_of_the_signature(signature, keyword):
    decorate = jit(**{keyword: signature}) if keyword else jit(signature)
    np.testing.assert_array_equal(launched(decorate, np.float64, 0.1), np.float64(np.float32(0.1)) / 3)


def test_without_a_signature_it_has_its_own():
    np.testing.assert_array_equal(launched(jit, np.float64, 0.1), 0.1 / 3)


def test_of_several_signatures_the_one_that_fits_is_chosen():
    decorate = jit(["void(float32[:], float32)", "void(float64[:], int64)"])
    np.testing.assert_array_equal(launched(decorate, np.float64, 7), 7 / 3)
    np.testing.assert_array_equal(launched(decorate, np.float32, 7), np.float32(7 / np.float64(3)))
    with pytest.raises(SimtError, match=r"store has no signature for arguments of the types array\(int64"):
        launched(decorate, np.int64, 7)


@pytest.mark.parametrize(
    ("signature", "dtype", "x", "said"),
    [
        (
            "void(float32[:], float32)",
            np.float64,
            1.0,
            r"out is declared .*float32.* gets .*float64.* of float32",
        ),
        ("void(float64[:, :], float32)", np.float64, 1.0, r"out is declared .*2d.* with 2 dimension"),
        (
            "void(float64[:], int32)",
            np.float64,
            1.5,
            r"x is declared int32 and gets the float64 1\.5: pass int",
        ),
        ("void(float64[:], int32)", np.float64, np.ones(2), r"x is declared int32 and gets array"),
        ("void(float64[:])", np.float64, 1.5, r"signature .* has 1 type\(s\), and store takes 2"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(signature, dtype, x, said):
    with pytest.raises(SimtError, match=said):
        launched(jit(signature), dtype, x)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"func_or_sig": "void(float33[:])"}, "cannot read the signature 'void"),
        ({"func_or_sig": "float32(float32)"}, "lets a kernel return float32"),
        ({"func_or_sig": []}, "empty list of signatures"),
        ({"argtypes": [float32]}, "no longer takes argtypes="),
        ({"restype": float32}, "no longer takes restype="),
        ({"boundscheck": True}, "no boundscheck=True"),
    ],
)
def test_what_is_no_signature_is_refused(given, said):
    with pytest.raises(SimtError, match=said):
        jit(**given)


def test_a_device_function_casts_to_its_signature():
    @jit("float32(int32, float32)", device=True)
    def half(n, x):
        return n * x / 2

    @jit([float32(float32), int32(int32)], device=True)
    def twice(x):
        return 2 * x

    @jit
    def kernel(out):
        out[0] = half(2.9, 0.1)
        out[1] = twice(np.float32(0.1))
        out[2] = twice(np.int32(3))

    out = np.zeros(3)
    kernel[1, 1](out)
    np.testing.assert_array_equal(out, [np.float32(2 * np.float32(0.1) / 2), 2 * np.float32(0.1), 6])


def test_a_device_function_refuses_what_no_signature_fits():
    @jit("float32(float32[:])", device=True)
    def first(a):
        return a[0]

    @jit
    def kernel(out):
        out[0] = first(out)

    with pytest.raises(SimtError, match=r"line \d+: first has no signature for .*float64"):
        kernel[1, 1](np.zeros(3))


@jit("void(float64[::1], int32, int32)", device=True)
def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def test_a_device_function_that_demands_neighbours_takes_an_array_and_its_rows():
    @jit
    def kernel(a, table):
        swap(a, 0, 2)
        swap(table[1], 0, 2)
        swap(table[2][1:], 0, 1)

    a, table = np.arange(3.0), np.arange(9.0).reshape(3, 3)
    kernel[1, 1](a, table)
    np.testing.assert_array_equal(a, [2, 1, 0])
    np.testing.assert_array_equal(table, [[0, 1, 2], [5, 4, 3], [6, 8, 7]])


@pytest.mark.parametrize("view", ["table[:, 1]", "table[1, ::2]"])
def test_a_device_function_that_demands_neighbours_refuses_what_has_gaps(view):
    kernel = Kernel.from_source(f"def kernel(table):\n    swap({view}, 0, 1)\n", "kernel", {"swap": swap})
    with pytest.raises(SimtError, match=r"no signature for .*1d, A"):
        kernel[1, 1](np.zeros((3, 3)))


def test_a_device_function_may_demand_columns():
    @jit(["float64(float64[::1, :])", "int64(float64[:, ::1])"], device=True)
    def order(a):
        return 7.5

    @jit
    def kernel(by_rows, by_columns, out):
        out[0] = order(by_rows)
        out[1] = order(by_columns)

    out = np.zeros(2)
    kernel[1, 1](np.zeros((2, 3)), np.zeros((2, 3), order="F"), out)
    np.testing.assert_array_equal(out, [7, 7.5])
