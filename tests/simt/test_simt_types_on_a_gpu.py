"""Types of Numba for a GPU that differ from those for a CPU: numba-cuda 0.30.4 was asked for each of them."""

import math

import numba
import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.run.kernel import Kernel

NAMES = {"cuda": cuda, "np": np, "math": math, "numba": numba}
WRAPPED = 2.0**64 - 2


def run(body, *arguments):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    Kernel.from_source(f"def kernel(out, a, b, x):\n{lines}", "kernel", NAMES)[1, 32](*arguments)


def result(body):
    out, bytes_ = np.zeros(32), np.array([3, 5], np.uint8)
    run(body, out, bytes_, np.array([4, 8], np.int32), np.array([2.5]))
    return out[0]


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("cuda.activemask()", 2.0**32 - 1),
        ("1 if cuda.activemask() == 0xFFFFFFFF else 0", 1),
        ("int(a[0]) - int(a[1])", WRAPPED),  # int() of a uint8 is a uint8, and uint8 - uint8 a uint64
        ("numba.int64(a[0]) - numba.int64(a[1])", -2),
        ("int(x[0])", 2),
        ("int(a[0] > 1)", 1),
        ("float(np.float32(0.1)) * 10", float(np.float32(0.1)) * 10),
        ("cuda.ffs(b[0]) - cuda.ffs(b[1])", 2.0**64 - 1),
        ("cuda.clz(a[1])", 5),
        ("cuda.popc(numba.int8(-1))", 8),
        ("cuda.popc(a[0] > 1)", 1),
        ("cuda.clz(b[0])", 29),
        ("cuda.clz(5)", 61),
        ("cuda.brev(1)", 2.0**31),
        ("cuda.brev(np.uint64(1))", 2.0**63),
        ("math.floor(x[0]) / 4", 0.5),
        ("math.pow(b[0], 2) / 3", 16 / 3),
        ("10**-6", 1e-6),
        ("-2**-1", -0.5),
        ("(-2) ** -3", -0.125),
        # PTX of numba-cuda 0.30.4: small integers wrap around before they are widened
        ("-a[0]", 253),
        ("(~a[1]) + 1", 251),
        ("-np.uint32(b[0]) >> 1", 2.0**31 - 2),
        ("-np.int8(-128 - x[0] * 0)", -128),
        ("-(b[0] > 1)", -1),
        # and a cast of a float gives the nearest integer; to 8 bits, the lower half of the nearest one of 16 bits
        ("np.uint8(-x[0])", 0),
        ("np.uint8(x[0] * 1e9)", 255),
        ("np.int16(x[0] * -1e9)", -(2.0**15)),
        ("np.int32(x[0] * 1e12)", 2.0**31 - 1),
        ("np.uint32(np.float32(x[0]) * -1e12)", 0),
        ("np.int64(x[0] / 0.0)", 2.0**63),
        ("np.int32(np.float32(x[0] * math.nan))", 0),
        ("round(x[0] * 1e30)", 2.0**63),
        ("(b[0] - 4) ** -2", -(2.0**63)),
        # a quotient of more than 53 bits is rounded before it is subtracted
        ("(x[0] * 2.0**61) % 3.0", -253),
    ],
)
def test_an_expression_has_the_number_that_it_has_on_a_gpu(expression, number):
    assert result(f"out[cuda.threadIdx.x] = {expression}") == number


def test_lanes_below_are_unsigned():
    out = np.zeros(32)
    Kernel.from_source("def kernel(out):\n    out[cuda.laneid] = cuda.lanemask_lt()", "kernel", NAMES)[1, 32](
        out
    )
    np.testing.assert_array_equal(out, 2.0 ** np.arange(32) - 1)


def test_range_takes_floats_and_fill_writes_every_element():
    assert result("t = cuda.threadIdx.x\nfor k in range(math.ceil(x[0])):\n    out[t] += k") == 3
    profile = simt.profile(
        Kernel.from_source(
            "def kernel(out):\n    if cuda.grid(1) == 0:\n        out.fill(7)", "kernel", NAMES
        )[1, 32],
        out := np.zeros((3, 4)),
    )
    assert (out == 7).all() and not profile.hazards
    assert profile.global_store.thread_accesses == 12


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("out[math.floor(x[0])] = 1", "index 0 of out is a float64: indices are integers"),
        ("out[0] = float(x[0] > 1)", "write `1.0 if x\\[0\\] > 1 else 0.0`"),
        ("out[0] = cuda.selp(True, 1, 2.0)", "gets bool, int64 and float64: write `a if condition else b`"),
        ("out[0] = cuda.selp(b[0], 1, 2)", "cuda.selp takes a truth value"),
        (
            "s = cuda.shared.array(32, float)",
            "no type of Python as the dtype of cuda.shared.array: write numba.float64",
        ),
        (
            "s = cuda.local.array(4, int)",
            "no type of Python as the dtype of cuda.local.array: write numba.int64",
        ),
        ("out[0] = np.round(x[0])", "numpy.round is nothing that Numba compiles for a GPU: write round"),
    ],
)
def test_what_numba_refuses_for_a_gpu_is_refused(body, said):
    with pytest.raises(simt.SimtError, match=said):
        result(body)
