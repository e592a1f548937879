"""Named tuples, members of an Enum, types that a kernel asks for, and views of another size: as numba-cuda 0.30.4."""

from collections import namedtuple
from enum import Enum, IntEnum

import numba
import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.run.kernel import Kernel


class Colour(Enum):
    RED = 1
    BLUE = 2.5


class Axis(IntEnum):
    ROW = 0
    COLUMN = 1


Point, Box = namedtuple("Point", "x y"), namedtuple("Box", "left right")
NAMES = {"cuda": cuda, "np": np, "numba": numba, "Colour": Colour, "Axis": Axis, "Point": Point}
NAMES["ORIGIN"] = Point(1, 2.5)


def compiled_for_a_cpu(v):
    return 2 * v


NAMES["doubled"] = numba.vectorize(["float64(float64)"])(compiled_for_a_cpu)


def result(body, shared_bytes=0):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    arguments = np.zeros(1), np.array([4, 8, 3, -7], np.int32), np.array([2.5, 1.0, -3.5, 6.0]), 2
    kernel = Kernel.from_source(f"def kernel(out, b, x, n):\n{lines}", "kernel", dict(NAMES))
    kernel[1, 1, 0, shared_bytes](*arguments)
    return arguments[0][0]


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("p = Point(1, n)\nout[0] = p.x + p.y + p[1] + len(p)", 7),
        ("p = Point(y=1, x=2.5)\nout[0] = p[1] + p.x", 3.5),
        ("p = Point(1, 2)\nif n > 1:\n    p = Point(p.x + 1, p.y)\nu, v = p\nout[0] = p.x + v", 4),
        ("p = Point(3, 4) if n > 2 else Point(b[0], b[1])\nout[0] = p.y", 8),
        ("p = Point(0, n)\nfor i in range(n):\n    p = Point(p.y, p.x + i)\nout[0] = 10 * p.x + p.y", 3),
        ("p = Point(x, n)\nout[0] = p.x[p.y] + ORIGIN.y", -1),
        ("out[0] = Colour.BLUE.value", 2.5),
        (
            "out[0] = (Colour.RED == Colour.RED) + 2 * (Colour.RED is Colour.BLUE) + 4 * (Colour.RED != Colour.BLUE)",
            5,
        ),
        ("out[0] = x[Axis.COLUMN] + Axis.COLUMN.value + (Axis.ROW if n == 3 else Axis.COLUMN + 5)", 8),
        ("out[0] = isinstance(n, int) + 2 * isinstance(x[0], (int, float)) + 4 * isinstance(b[0], int)", 3),
        ("out[0] = len(ORIGIN) if isinstance(ORIGIN, tuple) else x.size", 2),
        ("out[0] = hasattr(x, 'shape') + 2 * hasattr(x, 'length') + 4 * hasattr(n, 'real')", 5),
        ("out[0] = np.float32(x[0]).view(np.int32)", 1075838976),
        ("out[0] = b.view(np.int64)[0] + b[2:].view(np.int64).size", 8 * 2**32 + 5),
        ("v = b.view(np.int64)\nv[1] = -1\nout[0] = b[2] + b[3]", -2),
        (
            "s = cuda.shared.array(0, np.uint8)\nv = s[16:].view(np.float64)\nv[0] = 1.5\nout[0] = v[0] + v.size",
            7.5,
        ),
        (
            "s = cuda.shared.array((2, 4), np.float32)\ns[1, 2] = s[1, 3] = 1\nout[0] = s.view(np.int32)[1, 2]",
            0x3F800000,
        ),
        ("for v in np.nditer(x):\n    out[0] += v[()] + v.item()", 12),
    ],
)
def test_what_numba_compiles_has_its_number(body, number):
    assert result(body, shared_bytes=64) == number


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("p = Point(1)", r"Point takes 2 values \(x, y\) and gets 1"),
        ("p = Point(1, 2) + (3,)", "Numba joins no named tuples: write a tuple of all items"),
        ("p = Point(1, 2)\nout[0] = p.z", r"the attribute \.z"),
        ("out[0] = Colour.RED.name", r"the attribute \.name"),
        ("out[0] = b[1:3].view(np.int64)[0]", "b cannot be seen as int64: size and place in memory"),
        ("out[0] = np.int64(n).view(np.int32)", "view of a int64 takes a type of 64 bits"),
        ("for v in np.nditer(x):\n    out[0] += v", "v is"),
        ("k = (1,)\nfor v in (1, 2):\n    k = k + (v,)\nout[0] = k[2]", "a tuple that grows in a loop, 'k'"),
        ("cuda.atomic.add(x, (0,), 1)", "cuda.atomic.add takes the index of x as a number"),
        ("out[0] = doubled(x[0])", "doubled"),
        (
            "s = cuda.shared.array(n, numba.float64)",
            r"n is known only .* cuda.shared.array\(0, dtype\) and let the launch",
        ),
        ("s = cuda.shared.array((n, 2), numba.float64)", r"\(n, 2\) is known only while it runs"),
        (
            "s = cuda.shared.array(cuda.blockDim.x, numba.float64)",
            "cuda.blockDim.x is known only while it runs",
        ),
        (
            "s = cuda.local.array(b[0], numba.float64)",
            "or of a function around the kernel, such as the largest",
        ),
    ],
)
def test_what_numba_refuses_is_refused_with_what_to_write(body, said):
    with pytest.raises(simt.SimtError, match=said):
        result(body)


def test_a_function_that_is_returned_uses_no_variable_of_the_call_that_ended():
    def returned(body):
        source = f"def made(k):\n    def f(v):\n        return {body}\n    return f"
        made = Kernel.from_source(source, "made", {}, device=True)
        out = np.zeros(1)
        Kernel.from_source("def kernel(out):\n    out[0] = made(2)(5)", "kernel", {"made": made})[1, 1](out)
        return out[0]

    assert returned("v * 3") == 15
    with pytest.raises(simt.SimtError, match="Numba returns no function that uses 'k', a variable of made"):
        returned("v * k")


def test_an_argument_may_be_a_named_tuple_and_its_arrays_are_found_under_their_names():
    @cuda.jit
    def shifted(pair, n):
        i = cuda.grid(1)
        if i < n:
            pair.left[i] = pair.right[i]

    u = np.arange(65.0)
    (race,) = simt.profile(shifted[1, 64], Box(u[:64], u[1:]), 64).hazards
    assert "pair.left" in str(race)
    out, a = np.zeros(64), np.arange(64.0)
    found = simt.profile(shifted[1, 64], Box(out, a), 64)
    assert found.hazards == []
    assert found.by_array["pair.right"].global_load.thread_accesses == 64
    assert found.by_array["pair.left"].global_store.thread_accesses == 64
    np.testing.assert_array_equal(out, a)
    with pytest.raises(
        simt.SimtError, match=r"the attribute \.(left|right)"
    ):  # another kind of argument, sketched anew
        shifted[1, 64]((out, a), 64)
    shifted[1, 64](namedtuple("Swapped", "right left")(a, out), 64)
