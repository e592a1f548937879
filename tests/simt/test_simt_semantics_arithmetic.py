"""Types and values are Numba's to the last bit: the interpreter is compared with code compiled for the CPU."""

import math

import numpy as np
import pytest
from compiled_oracle import DeviceFunction, assert_as_compiled, examples, interpret
from hypothesis import given
from hypothesis import strategies as st
from programs import real, signed, unsigned

THREADS = 41
DTYPES = (
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float32, np.float64, np.bool_),
)


def integers(dtype):
    """Small numbers, large ones, and both ends of the type."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng(info.bits)
    some = rng.integers(info.min, info.max, THREADS, dtype, endpoint=True)
    some[::3] = np.arange(0, THREADS, 3) - (7 if info.min else 0)
    some[:2] = info.min + 1, info.max
    return some


def reals(dtype):
    rng = np.random.default_rng(5)
    return np.round(rng.uniform(-100, 100, THREADS), 3).astype(dtype)


def store(expressions):
    return "\n".join(f"out[i, {k}] = {text}" for k, text in enumerate(expressions))


def results(expressions, dtype):
    return np.zeros((THREADS, len(expressions)), dtype)


@given(expressions=st.lists(signed, min_size=12, max_size=12))
@examples(5, shrink=False)
def test_signed_expressions(expressions):
    inputs = {"a": integers(np.int32), "b": integers(np.int64) >> 24, "c": integers(np.int8)}
    assert_as_compiled(store(expressions), inputs | {"out": results(expressions, np.int64)})


@given(expressions=st.lists(unsigned, min_size=12, max_size=12))
@examples(5, shrink=False)
def test_unsigned_expressions(expressions):
    inputs = {"u": integers(np.uint32), "v": integers(np.uint64)}
    assert_as_compiled(store(expressions), inputs | {"out": results(expressions, np.uint64)})


@given(expressions=st.lists(real, min_size=12, max_size=12))
@examples(5, shrink=False)
def test_real_expressions(expressions):
    inputs = {"a": integers(np.int8), "b": integers(np.int16), "c": integers(np.int8)}
    inputs |= {"f": reals(np.float32), "g": reals(np.float64)}
    assert_as_compiled(store(expressions), inputs | {"out": results(expressions, np.float64)})


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_each_dtype_with_each_other(dtype):
    others = [np.dtype(d).name.replace("bool", "bool_") for d in DTYPES]
    x = integers(dtype) if np.issubdtype(dtype, np.integer) else (reals(np.float64) > 0).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        x = reals(dtype)
    operations = [f"x[i] {o} np.{name}(3)" for name in others for o in ("+", "*", "/", "<")]
    inputs = {"x": x, "out": results(operations, np.float64)}
    assert_as_compiled(store(operations), inputs)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_augmented_assignment_keeps_the_array_type(dtype):
    body = """
        out[i] += x[i]
        out[i] *= 3
        out[i] -= 100
        for k in range(5):
            out[i] += k
    """
    x = integers(np.int64) % 128
    assert_as_compiled(body, {"x": x, "out": np.ones(THREADS, dtype)})


WRAP = {
    "an int32 variable is int64 after a sum": "p = a[i]; out[i, 0] = p + p; p += a[i]; out[i, 1] = p * 2",
    "a cast wraps": "out[i, 0] = np.int32(b[i]); out[i, 1] = np.int8(a[i]); out[i, 2] = np.uint16(a[i])",
    "int64 wraps": "p = b[i] * b[i]; out[i, 0] = p; out[i, 1] = p * p + 1; out[i, 2] = -p",
    "uint32 wraps when it is cast": "p = np.uint32(a[i]); "
    "out[i, 0] = np.uint32(p - np.uint32(1)); out[i, 1] = p - np.uint32(1)",
    "division and remainder of negative numbers": "\n".join(
        f"out[i, {k}] = a[i] {o} {n}"
        for k, (o, n) in enumerate((o, n) for o in ("//", "%") for n in (7, -7, 3))
    ),
    "shifts by a variable": "out[i, 0] = 1 << (i % 60); out[i, 1] = b[i] >> (i % 60); out[i, 2] = a[i] << 3",
    "integer division by zero": "out[i, 0] = a[i] // (i % 2); out[i, 1] = a[i] % (i % 2)",
    "true division of integers": "out[i, 0] = int(a[i] / 7 * 1000)",
    "powers": "out[i, 0] = (i - 20) ** 3; out[i, 1] = (i - 20) ** (i % 5); out[i, 2] = 2 ** (i % 40)",
    "bool counts as one": "out[i, 0] = (a[i] > 0) + (b[i] > 0); "
    "out[i, 1] = True + i; out[i, 2] = not (a[i] > 0)",
    "bit operations": "out[i, 0] = ~a[i]; out[i, 1] = a[i] ^ b[i]; out[i, 2] = (a[i] | 5) & 0xFF",
    "minimum and maximum of several": "out[i, 0] = min(a[i], 5, i); "
    "out[i, 1] = max(a[i], b[i], i); out[i, 2] = abs(a[i])",
    "int, bool and float as casts": "out[i, 0] = int(2.9); "
    "out[i, 1] = int(bool(i % 3)); out[i, 2] = int(-float(i) / 3)",
    "round to even": "out[i, 0] = round(i / 2); "
    "out[i, 1] = round(-i / 4); out[i, 2] = int(round(i / 7, 2) * 1000)",
}


@pytest.mark.parametrize("name", WRAP)
def test_integers_as_compiled(name):
    inputs = {"a": integers(np.int32), "b": integers(np.int64), "out": np.zeros((THREADS, 6), np.int64)}
    assert_as_compiled(WRAP[name].replace("; ", "\n"), inputs)


REAL = {
    "float32 stays float32": "p = f[i] * f[i]\np = p / np.float32(3)\n"
    "out[i, 0] = p\nout[i, 1] = p + f[i] * np.float32(0.1)",
    "a Python constant makes it float64": "out[i, 0] = f[i] * 0.1; "
    "out[i, 1] = f[i] + 1; out[i, 2] = f[i] / 3",
    "int32 times float32 is float64": "out[i, 0] = c[i] * f[i]; out[i, 1] = np.float32(c[i]) * f[i]",
    "the array's type as a cast": "out[i, 0] = f.dtype.type(0.1); "
    "out[i, 1] = f[i] * f.dtype.type(6); out[i, 2] = g.dtype.type(6)",
    "Numba's type as a cast": "out[i, 0] = numba.float32(g[i]); "
    "out[i, 1] = numba.int32(g[i]); out[i, 2] = numba.float64(f[i])",
    "a sum in float32": "p = np.float32(0)\nfor k in range(10):\n    p += f[i]\nout[i, 0] = p",
    "a float32 sum that becomes float64": "p = np.float32(0)\nfor k in range(10):\n"
    "    p += g[i]\nout[i, 0] = p",
    "infinities and not-a-number": "p = 1 / (g[i] * 0)\nout[i, 0] = p\n"
    "out[i, 1] = p - p\nout[i, 2] = p > 0\nout[i, 3] = p - p == p - p",
    "constants of math": "out[i, 0] = math.pi; out[i, 1] = math.e; "
    "out[i, 2] = math.inf; out[i, 3] = math.nan",
    "a number in a conditional expression": "out[i, 0] = 1 if i % 2 else 0.5; "
    "out[i, 1] = f[i] if i % 2 else g[i]",
    "floor division and remainder": "out[i, 0] = g[i] // 3; "
    "out[i, 1] = g[i] % -3; out[i, 2] = f[i] // np.float32(0.7)",
    "exact functions": "out[i, 0] = math.floor(g[i]); out[i, 1] = math.ceil(f[i]); out[i, 2] = math.trunc(g[i])\n"
    "out[i, 3] = math.copysign(f[i], g[i]); out[i, 4] = math.sqrt(abs(f[i])); out[i, 5] = math.fabs(g[i])",
    "tests of numbers": "out[i, 0] = math.isnan(g[i]); "
    "out[i, 1] = math.isinf(1 / (g[i] * 0)); out[i, 2] = math.isfinite(g[i])",
}


@pytest.mark.parametrize("name", REAL)
def test_reals_as_compiled(name):
    inputs = {"c": integers(np.int32), "f": reals(np.float32), "g": reals(np.float64)}
    assert_as_compiled(REAL[name].replace("; ", "\n"), inputs | {"out": np.zeros((THREADS, 6))})


FUNCTIONS = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "erf",
    "erfc",
    "gamma",
    "lgamma",
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_transcendental_functions_are_near(name, dtype):
    x = np.linspace(0.05, 0.95, THREADS).astype(dtype)
    out = np.zeros(THREADS)
    interpret(f"out[i] = math.{name}(x[i])", {"x": x, "out": out})
    function = getattr(math, name)
    np.testing.assert_allclose(out, [function(float(v)) for v in x], rtol=4 * np.finfo(dtype).eps, atol=0)


def test_functions_of_two_numbers_are_near():
    x, out = np.linspace(0.05, 3, THREADS), np.zeros((THREADS, 5))
    interpret(
        "out[i, 0] = math.atan2(x[i], 0.3)\nout[i, 1] = math.hypot(x[i], 2.0)\nout[i, 2] = math.pow(x[i], 1.7)\n"
        "out[i, 3] = math.fmod(x[i], 0.7)\nout[i, 4] = x[i] ** 0.3",
        {"x": x, "out": out},
    )
    expected = [[math.atan2(v, 0.3), math.hypot(v, 2), v**1.7, math.fmod(v, 0.7), v**0.3] for v in x]
    np.testing.assert_allclose(out, expected, rtol=1e-15)


OTHER = {
    "tuples": """
        pair = (a[i], f[i])
        p, q = pair
        out[i, 0] = p
        out[i, 1] = pair[1] + q
        out[i, 2] = len(pair)
        (p, q), r = (q, p), 3
        out[i, 3] = p + r
    """,
    "shape, size, ndim and len": """
        rows, columns = out.shape
        out[i, 0] = rows * columns
        out[i, 1] = out.size + out.ndim * 1000 + len(out) * 10
        out[i, 2] = a.shape[0]
    """,
    "negative indices have Numba's value": """
        out[i, 0] = a[-1]
        out[i, -1] = a[-i - 1]
        out[i, 2] = f[i - 41]
    """,
    "an index of several dimensions": """
        out[i, 1] = i
        out[i, 2] = out[i, 1] + out[(i, 1)]
        out[i][3] = 4
    """,
    "a global constant": "out[i, 0] = WIDTH * i\nout[i, 1] = SCALE * f[i]",
    "a global tuple": "out[i, 0] = WEIGHTS[0]\nfor k in range(3):\n    out[i, 1] += WEIGHTS[k]",
    "bool arrays": "flags[i] = a[i] > 0\nout[i, 0] = flags[i]\n"
    "if flags[i]:\n    out[i, 1] = 7\nout[i, 2] = flags[i] + flags[i]",
    "augmented assignments": "p = 5\np += i\np -= 2\np *= 3\np //= 2\np %= 50\np <<= 2\n"
    "p >>= 1\np |= 1\np &= 0xFF\np ^= 3\n"
    "out[i, 0] = p\nq = 3.0\nq /= 7\nq **= 2\nout[i, 1] = q",
    "a chained assignment": "p = q = a[i]\nq += 1\nout[i, 0] = p\nout[i, 1] = q",
    "an annotated assignment": "p: int = 3\nout[i, 0] = p",
}


@pytest.mark.parametrize("name", OTHER)
def test_other_constructs_as_compiled(name):
    inputs = {"a": integers(np.int32), "f": reals(np.float32), "flags": np.zeros(THREADS, np.bool_)}
    constants = {"WIDTH": 12, "SCALE": np.float32(0.1), "WEIGHTS": (0.5, 1.5, -2.0)}
    assert_as_compiled(OTHER[name], inputs | {"out": np.zeros((THREADS, 4))}, **constants)


def test_nested_device_functions():
    square = DeviceFunction("def square(x):\n    return x * x\n", "square")
    clamp = DeviceFunction(
        "def clamp(x, low, high):\n"
        "    if x < low:\n        return low\n"
        "    while x > high:\n        x = x - square(1) * 0.5\n"
        "    return x\n",
        "clamp",
        square=square,
    )
    divide = DeviceFunction("def divide(a, b):\n    return a // b, a % b\n", "divide")
    fill = DeviceFunction("def fill(out, i, value):\n    out[i, 3] = value\n", "fill")
    body = """
        p = clamp(f[i], -10, 20.5)
        q, r = divide(a[i], 7)
        out[i, 0] = p + square(f[i])
        out[i, 1] = square(square(i)) + q
        out[i, 2] = r
        if i % 3:
            fill(out, i, clamp(float(i), 5, 9))
    """
    inputs = {"a": integers(np.int32), "f": reals(np.float32), "out": np.zeros((THREADS, 4))}
    assert_as_compiled(body, inputs, square=square, clamp=clamp, divide=divide, fill=fill)


@pytest.mark.parametrize("number", [3, -7, 2.5, np.float32(0.1), np.int8(100), np.uint32(2**32 - 1), True])
def test_a_number_as_argument_keeps_its_type(number):
    body = "out[i, 0] = n * n\nout[i, 1] = n + i\nout[i, 2] = n / 3"
    assert_as_compiled(body, {"n": number, "out": np.zeros((THREADS, 3))})


def test_complex_numbers():
    z = np.round(reals(np.float64)) + 1j * np.round(
        reals(np.float64)[::-1]
    )  # whole numbers: exact in any order
    body = "p = z[i] * z[i] + 2\nout[i, 0] = p.real\nout[i, 1] = p.imag\nz[i] = p * 1j"
    assert_as_compiled(body, {"z": z, "out": np.zeros((THREADS, 3))})
