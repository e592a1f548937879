"""What Numba compiles for a GPU runs, with the numbers of compiled code; what it refuses is refused, in a sentence.

``compiled_for_a_gpu.json`` holds, for each body of a kernel, whether numba-cuda 0.30.4 makes PTX for sm_90 of it, and
the number that Numba 0.68.1 leaves in ``out[0]`` when it compiles the same body for the CPU (null if it has none).
"""

import cmath
import json
import math
import operator
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.kernel import Kernel

TABLE = json.loads(Path(__file__).with_name("compiled_for_a_gpu.json").read_text())
NAMES = {"np": np, "math": math, "cmath": cmath, "cuda": cuda, "numba": numba, "operator": operator}
NAMES |= {"T": (3, 5, 7), "CONST": np.arange(8.0), "CONSTI": np.arange(8)}
NAMES |= {name: getattr(numba, name) for name in ("float32", "float64", "int32", "int64", "uint32")}

# what Numba compiles and the interpreter refuses, by the beginning of its reason
REFUSED_HERE = {
    "texts": ("'a'", "'abc' == ", "ord(", "len('abc')", "in 'abc'", "b'a'"),
    "loops over nothing, rows that do not fit, and other mistakes": (
        *(
            "i, j = x",
            "assert (n > 1",
            "x.item()",
            "atomic.add(x, x[0]",
            "const.array_like(x)",
            "this_grid().sync()",
        ),
        *("k = [1, 2]", "async def", "(k := n)", "if None", "T and 1", "count_nonzero(x[0])"),
        *("array_equal", "np.sin(x, out)"),
    ),
}
# numbers that differ between a CPU and a GPU: a cast to an integer gives the nearest one there
OTHER_THERE = ("x[0] * 1e12",)


def _run(body):
    out = np.zeros(1)
    source = "def kernel(out, a, b, x, z, n):\n    t = cuda.grid(1)\n" + textwrap.indent(body, "    ")
    kernel = Kernel.from_source(source, "kernel", dict(NAMES))
    bytes_, integers = np.array([3, 5, 200], np.uint8), np.array([4, 8, 3, -7], np.int32)
    kernel[1, 1](out, bytes_, integers, np.array([2.5, 1.0, -3.5, 6.0]), np.array([1.5 + 2j, -0.5 + 1j]), 2)
    return out[0]


def _holds(parts, body):
    return any(part in body for part in parts)


REFUSED = tuple(part for parts in REFUSED_HERE.values() for part in parts)


@pytest.mark.parametrize("body", [body for body, (compiles, _) in TABLE.items() if compiles])
def test_what_numba_compiles_runs_with_the_same_number(body):
    number = TABLE[body][1]
    if _holds(REFUSED, body):
        with pytest.raises(SimtError, match=r"line [0-9]+"):
            _run(body)
        return
    found = _run(body)
    if number is not None and not _holds(OTHER_THERE, body):
        precision = 1e-6 if "float32" in body else 1e-13
        np.testing.assert_allclose(found, float(number), rtol=precision, atol=0)


@pytest.mark.parametrize("body", [body for body, (compiles, _) in TABLE.items() if not compiles])
def test_what_numba_refuses_is_refused_with_construct_and_line(body):
    with pytest.raises(SimtError, match=r"^(kernel|lambda|f), line [0-9]+: .*[.?]$"):
        _run(body)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("cuda.syncthreads", r"cuda.syncthreads without brackets does nothing: write cuda.syncthreads\(\)"),
        ("out[0] = x.shape()", "x.shape is no function: leave the brackets behind it out"),
        ("out[0] = x(0)", r"x is an array: write its index in square brackets, as in x\[i\]"),
        ("i = cuda.threadIdx()", "write cuda.threadIdx.x, without brackets"),
        ("s = cuda.shared(4)", r"write cuda.shared.array\(32, numba.float32\)"),
        ("out[0] = None", "only numbers can be stored in an array, and this is None"),
        ("out[0] = x.shape", "only numbers can be stored in an array, and a tuple is a tuple that holds one"),
        ("out[x[0]] = 1", r"indices are integers, so write // for /, or int\(…\) around it"),
        ("b[0] /= 3", r"fails to compile /= of two integers: write b\[0\] = b\[0\] / 3"),
        (
            "out[0] = cuda.syncthreads_or(n > 1)",
            r"takes an integer, .*: write cuda.syncthreads_or\(1 if n > 1 else 0\)",
        ),
        ("out[0] = pow(2, 3, 5)", r"pow takes two numbers: write \(a \*\* b\) % c"),
        ("out[0] = 2**64", "18446744073709551616 needs more than 64 bits"),
        ("t3 = T * n", "Numba does not repeat a tuple: write its items out"),
        ("out[0] = x.length", r"write x.size"),
        (
            "assert (n > 1, 'why')",
            "an assertion of a tuple never fails: leave the brackets out, as in assert n > 1",
        ),
    ],
)
def test_a_mistake_is_named_with_what_to_write_instead(body, said):
    with pytest.raises(SimtError, match=said):
        _run(body)


def _through(body):
    """Return what a kernel reads in the array that a device function with this body returns."""
    source = "def chosen(v, w):\n" + textwrap.indent(body, "    ")
    helper = Kernel.from_source(source, "chosen", {"cuda": cuda, "np": np}, device=True)
    kernel = Kernel.from_source("def kernel(x, y):\n    x[0] = chosen(x, y)[1]", "kernel", {"chosen": helper})
    x = np.arange(4.0)
    kernel[1, 1](x, 10 * x)
    return x[0]


@pytest.mark.parametrize(
    ("body", "number"), [("return v", 1), ("return w", 10), ("if v[2] > 1:\n    return w\nreturn v", 10)]
)
def test_a_device_function_returns_its_arguments(body, number):
    assert _through(body) == number


@pytest.mark.parametrize(
    "body",
    [
        *("return v[1:]", "u = v\nreturn u", "v = v[1:]\nreturn v", "return v if v[0] > 1 else w"),
        *("if v[0] > 1:\n    v = w\nreturn v", "return cuda.shared.array(2, np.float64)"),
    ],
)
def test_a_device_function_returns_no_other_array(body):
    with pytest.raises(SimtError, match=r"chosen, line [0-9]: of arrays, .* only its arguments"):
        _through(body)
