"""Functions of ``operator`` and NumPy, ``and`` and ``or`` for their value: as Numba compiles them for a GPU."""

import ast
import cmath
import operator

import numpy as np
import pytest
from compiled_oracle import assert_as_compiled, interpret

from course_pkg import cuda
from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.front.functions import OPERATORS, UFUNCS
from course_pkg.simt.report.profiling import profile
from course_pkg.simt.run.kernel import Kernel

THREADS = 12
NAMES = {"operator": operator}


def arguments():
    i = np.arange(THREADS)
    return {
        "k": i * 5 % 7 - 3,
        "m": (i * 3 % 8 - 2).astype(np.int32),
        "f": ((i * 5 % 7 - 3) / 2).astype(np.float32),
        "x": (i * 7 % 9 - 4) / 4,
        "out": np.zeros((THREADS, 4)),
    }


ON_INTEGERS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.Invert)


def calls(name, kind, one):
    """Return a body that calls a function with several types."""
    if one:
        given = ["k[i]", "m[i]", "x[i] > 0"] if kind in ON_INTEGERS else ["k[i]", "x[i]", "f[i]", "m[i]"]
    elif kind in (ast.LShift, ast.RShift):
        given = ["k[i], 3", "m[i], 2", "k[i], m[i] & 3"]
    elif kind in ON_INTEGERS:
        given = ["k[i], m[i]", "m[i], 3", "m[i], m[i]"]
    elif kind is ast.Pow:
        given = ["x[i], 3", "k[i], 2", "k[i], m[i]", "k[i], -2"]
    else:
        given = ["x[i], 2.0", "f[i], f[i]", "k[i], m[i] | 1", "f[i], 2.5"]
    return "\n".join(f"out[i, {at}] = {name}({a})" for at, a in enumerate(given))


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_ufuncs_of_numbers_are_as_compiled(ufunc):
    name = ufunc.__name__
    kind = None if name.startswith("logical") else UFUNCS[ufunc]
    assert_as_compiled(calls(f"np.{name}", kind, ufunc.nin == 1), arguments())


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_as_functions_are_as_compiled(name):
    kind = OPERATORS[name]
    assert_as_compiled(calls(f"operator.{name}", kind, issubclass(kind, ast.unaryop)), arguments(), **NAMES)


def test_the_larger_of_a_number_and_no_number():
    """``maximum`` hands on what is no number, ``fmax`` leaves it out; ``max`` keeps the first."""
    body = "p = x[i] / (x[i] * 0)\n" + "\n".join(
        f"out[i, {at}] = {call}"
        for at, call in enumerate(
            ["np.maximum(p, 1.0)", "np.fmax(p, 1.0)", "np.minimum(1.0, p)", "np.fmin(1.0, p)"]
        )
    )
    assert_as_compiled(body, arguments())


@pytest.mark.parametrize(
    ("call", "flops"),
    [("np.divide(x[i], 3.0)", 1), ("np.less(x[i], 3.0)", 0), ("operator.mul(x[i], 3.0)", 1)],
)
def test_functions_count_as_the_operators_that_they_stand_for(call, flops):
    counts = []
    for source in (call, {"np.d": "x[i] / 3.0", "np.l": "x[i] < 3.0", "oper": "x[i] * 3.0"}[call[:4]]):
        text = f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {source}\n"
        kernel = Kernel.from_source(text, "kernel", {"cuda": cuda, "np": np, "operator": operator})
        found = profile(kernel[1, 32], np.arange(32.0), np.zeros(32))
        counts.append(found.to_dict()["flops"])
        assert found.flops.total == 32 * flops
    assert counts[0] == counts[1]


REFUSED = {
    "sqrt": ("np.sqrt(x[i])", "math.sqrt(x)"),
    "add": ("np.add(x[i], 2.0)", "x + y"),
    "power": ("np.power(x[i], 2)", "x ** y"),
    "abs": ("np.abs(x[i])", "abs(x)"),
    "where": ("np.where(x[i] > 0, 1.0, 2.0)", "if condition else"),
    "fabs": ("np.fabs(x[i])", "math.fabs(x)"),
    "isinf": ("np.isinf(x[i])", "math.isinf(x)"),
    "exp": ("np.exp(x[i])", "math.exp(x)"),
    "getitem": ("operator.getitem(x, i)", "x[i]"),
    "walrus": ("(y := x[i]) + y", "line of its own"),
    "min of one": ("min(x[i])", "min of one number"),
    "raise": ("y = 1\nif i < 0:\n    raise ValueError(f'bad {i}')", "plain text"),
    "match": ("y = 1\nmatch (i, 0):\n    case (0, 0):\n        y = 5", "if, elif and else"),
    "text, compared": ("y = 1\nif MODE == 'fast':\n    y = 2", "compare numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_names_its_line_and_what_to_write(name):
    source, way = REFUSED[name]
    body = source if "\n" in source else f"out[i, 0] = {source}"
    names = {**NAMES, "TABLE": np.ones(2), "MODE": "fast"}
    with pytest.raises(Unsupported) as refused:
        interpret(body, arguments(), **names)
    said = str(refused.value)
    assert way in said and "line " in said, said


def test_an_array_is_not_taken_apart_into_another_number_of_names():
    with pytest.raises(SimtError, match=r"line \d+: 3 names on the left, \d+ element\(s\) on the right"):
        interpret("a, b, c = out[0, :2]", arguments())


VALUES = {
    "and gives its last part": "out[i, 0] = x[i] and 2.0; out[i, 1] = k[i] and m[i]; out[i, 2] = f[i] and x[i]",
    "or gives its first part": "out[i, 0] = x[i] or 2.0; out[i, 1] = k[i] or m[i] or 7; out[i, 2] = k[i] or x[i]",
    "a literal that cannot decide": "out[i, 0] = True and x[i]; out[i, 1] = False or x[i]; out[i, 2] = 3 and k[i]",
    "a literal that decides": "out[i, 0] = False and x[i]; out[i, 1] = 2.5 or x[i]; out[i, 2] = x[i] and 0 and k[i]",
    "a truth and a number": "out[i, 0] = x[i] > 0 and k[i]; out[i, 1] = k[i] or x[i] > 0; "
    "out[i, 2] = not (k[i] and f[i])",
    "both": "out[i, 0] = x[i] > 0 and x[i] or -1.0; out[i, 1] = (k[i] or 2) and (m[i] or 3)",
    "as conditions": "if x[i] and k[i]:\n    out[i, 0] = 1\nif x[i] or k[i]:\n    out[i, 1] = 2\n"
    "if not (x[i] and k[i]):\n    out[i, 2] = 3\nout[i, 3] = 4 if k[i] and x[i] else 5",
    "as a condition of a loop": "n = 3\nwhile n and k[i]:\n    n -= 1\n    out[i, 0] += 1",
}


@pytest.mark.parametrize("name", VALUES)
def test_and_and_or_give_the_part_that_decides(name):
    assert_as_compiled(VALUES[name].replace("; ", "\n"), arguments())


def test_what_the_first_part_decides_is_not_loaded():
    """``and`` for its value is a branch: only the threads that need the second part load it."""
    text = "def kernel(x, y, out):\n    i = cuda.grid(1)\n    out[i] = x[i] and y[i]\n"
    x = np.zeros(64)
    x[40] = 1.0
    for zeros, requests in ((x, 3), (np.zeros(64), 2), (np.ones(64), 4)):
        out = np.zeros(64)
        found = profile(
            Kernel.from_source(text, "kernel", {"cuda": cuda})[1, 64], zeros, np.full(64, 7.0), out
        )
        assert found.global_load.requests == requests
        np.testing.assert_array_equal(out, np.where(zeros, 7.0, 0.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_complex_number_is_made_of_length_and_angle(dtype):
    text = "def kernel(r, phi, out, back):\n    i = cuda.grid(1)\n    out[i] = cmath.rect(r[i], phi[i])\n"
    text += "    back[i, 0], back[i, 1] = cmath.polar(out[i])\n"
    r, phi = np.linspace(0, 2, 9).astype(dtype), np.linspace(-4, 4, 9).astype(dtype)
    out, back = np.zeros(9, np.result_type(dtype, np.complex64)), np.zeros((9, 2), dtype)
    Kernel.from_source(text, "kernel", {"cuda": cuda, "cmath": cmath})[1, 9](r, phi, out, back)
    np.testing.assert_allclose(back, [cmath.polar(z) for z in out], rtol=4 * np.finfo(dtype).eps)
    expected = [cmath.rect(a, b) for a, b in zip(r, phi, strict=True)]
    np.testing.assert_allclose(out, expected, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)
