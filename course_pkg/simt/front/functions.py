"""Functions of ``math``, NumPy and Python that kernels may call, and how each of them is counted."""

import ast
import cmath
import math
import operator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Function:
    """A function of numbers.

    Attributes
    ----------
    name : str
    python : callable
        The Python function whose types in Numba apply.
    compute : callable
        Computes the function for NumPy arrays.
    counts : str
        The kind of operation that a call counts as: ``sqrt``, ``special`` (a transcendental function), ``fma`` or
        ``""`` (no flop).
    """

    name: str
    python: Any
    compute: Any
    counts: str = "special"
    typed_as: Any = None  # another function with the same types, used if Numba types this one only on a GPU
    kind: Any = None  # the class of syntax tree operator that it is equivalent to


def _each(function):
    """Return a function of arrays that applies a function of Python numbers to each element; NumPy lacks it."""

    def defined(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(defined, otypes=[float])


def _fmod(a, b):
    return np.fmod(a, np.where(b == 0, np.nan, b))


def _result(function, number, x):
    return function(x)[number]


_remainder = np.vectorize(
    lambda a, b: math.remainder(a, b) if b and math.isfinite(a) else math.nan, otypes=[float]
)


# fmt: off
_TABLE = [
    Function("sqrt", math.sqrt, np.sqrt, "sqrt"),
    *(
        Function(n, getattr(math, n), getattr(np, m or n))
        for n, m in [
            ("exp", ""), ("expm1", ""), ("log", ""), ("log2", ""), ("log10", ""), ("log1p", ""),
            ("sin", ""), ("cos", ""), ("tan", ""), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"),
            ("sinh", ""), ("cosh", ""), ("tanh", ""), ("asinh", "arcsinh"), ("acosh", "arccosh"),
            ("atanh", "arctanh"), ("atan2", "arctan2"), ("hypot", ""), ("pow", "power"), ("exp2", ""),
        ]
    ),
    *(Function(n, getattr(math, n), _each(getattr(math, n))) for n in ("erf", "erfc", "gamma", "lgamma")),
    Function("fmod", math.fmod, _fmod, typed_as=math.atan2),
    Function("remainder", math.remainder, _remainder, typed_as=math.atan2),
    Function("ldexp", math.ldexp, lambda x, n: np.ldexp(x, n.astype(np.int32)), ""),
    Function("nextafter", math.nextafter, np.nextafter, ""),
    # On a GPU, Numba gives these three the types of sqrt: their results are floats, so they cannot be indices
    *(Function(n, getattr(math, n), getattr(np, n), "", math.sqrt) for n in ("floor", "ceil", "trunc")),
    Function("copysign", math.copysign, np.copysign, ""),
    Function("fabs", math.fabs, np.abs, ""),
    *(Function(n, getattr(math, n), getattr(np, n), "") for n in ("isnan", "isinf", "isfinite")),
    *(
        Function(f"cmath.{n}", getattr(cmath, n), getattr(np, m or n))
        for n, m in [
            ("exp", ""), ("log10", ""), ("sqrt", ""), ("sin", ""), ("cos", ""), ("tan", ""), ("sinh", ""), ("cosh", ""),
            ("tanh", ""), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("asinh", "arcsinh"),
            ("acosh", "arccosh"), ("atanh", "arctanh"), ("phase", "angle"),
        ]
    ),
    Function("cmath.log", cmath.log, lambda z, *base: np.log(z) / np.log(*base) if base else np.log(z)),
    Function("cmath.rect", cmath.rect, lambda r, phi: r * np.cos(phi) + 1j * (r * np.sin(phi))),
    Function("cmath.polar", cmath.polar, np.abs, ""),  # returns two numbers: see run/calls.py
    *(Function(f"cmath.{n}", getattr(cmath, n), getattr(np, n), "") for n in ("isnan", "isinf", "isfinite")),
    Function("modf", math.modf, np.modf), Function("frexp", math.frexp, np.frexp),  # two numbers: see PARTS
    Function("degrees", math.degrees, np.degrees, "special"),
    Function("radians", math.radians, np.radians, "special"),
]
# fmt: on

FUNCTIONS: dict[int, Function] = {id(f.python): f for f in _TABLE}
BY_NAME = {f.name: f for f in _TABLE}
PARTS = {  # functions with two results, and the functions that compute them
    name: [
        Function(f"{name}, result {k}", python, partial(_result, numpys, k), "", math.fabs) for k in (0, 1)
    ]
    for name, python, numpys in (("modf", math.modf, np.modf), ("frexp", math.frexp, np.frexp))
}


# NumPy's ufuncs that Numba compiles for scalars on a GPU (numba-cuda 0.30, numba/cuda/ufuncs.py). np.add and np.sqrt
# are not among them.
# fmt: off
for _ufunc, _name in [
    (np.log, "log"), (np.log2, "log2"), (np.log10, "log10"), (np.sin, "sin"), (np.cos, "cos"), (np.tan, "tan"),
    (np.arcsin, "asin"), (np.arccos, "acos"), (np.arctan, "atan"), (np.arctan2, "atan2"), (np.hypot, "hypot"),
    (np.sinh, "sinh"), (np.cosh, "cosh"), (np.tanh, "tanh"), (np.arcsinh, "asinh"), (np.arccosh, "acosh"),
    (np.arctanh, "atanh"), (np.isnan, "isnan"), (np.deg2rad, "radians"), (np.rad2deg, "degrees"),
    (np.radians, "radians"), (np.degrees, "degrees"),
]:
    FUNCTIONS[id(_ufunc)] = BY_NAME[_name]
UFUNCS = {
    np.divide: ast.Div, np.less: ast.Lt, np.less_equal: ast.LtE, np.greater: ast.Gt, np.greater_equal: ast.GtE,
    np.equal: ast.Eq, np.not_equal: ast.NotEq, np.bitwise_and: ast.BitAnd, np.bitwise_or: ast.BitOr,
    np.bitwise_xor: ast.BitXor, np.left_shift: ast.LShift, np.right_shift: ast.RShift, np.invert: ast.Invert,
    np.maximum: None, np.minimum: None, np.fmax: None, np.fmin: None, np.conjugate: None,
    np.logical_and: ast.And, np.logical_or: ast.Or, np.logical_xor: ast.BitXor, np.logical_not: ast.Not,
}
OPERATORS = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod,
    "pow": ast.Pow, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor, "lshift": ast.LShift,
    "rshift": ast.RShift, "iadd": ast.Add, "isub": ast.Sub, "imul": ast.Mult, "itruediv": ast.Div,
    "ifloordiv": ast.FloorDiv, "imod": ast.Mod, "ipow": ast.Pow, "iand": ast.BitAnd, "ior": ast.BitOr,
    "ixor": ast.BitXor, "ilshift": ast.LShift, "irshift": ast.RShift, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt,
    "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq, "neg": ast.USub, "pos": ast.UAdd, "invert": ast.Invert,
    "not_": ast.Not,
}
# fmt: on
for _ufunc, _kind in UFUNCS.items():
    FUNCTIONS[id(_ufunc)] = Function(f"numpy.{_ufunc.__name__}", _ufunc, _ufunc, "", kind=_kind)
for _name, _kind in OPERATORS.items():
    _function = getattr(operator, _name)
    FUNCTIONS[id(_function)] = Function(f"operator.{_name}", _function, _function, "", kind=_kind)
