"""Functions of ``math``, NumPy and Python that kernels may call, and how each of them is counted."""

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Function:
    """A function of numbers.

    Attributes
    ----------
    name : str
    python : callable
        The one whose Numba typing applies.
    compute : callable
        The same on NumPy arrays.
    counts : str
        ``sqrt``, ``special`` (a transcendental function), ``fma`` or ``""`` (no flop).
    """

    name: str
    python: Any
    compute: Any
    counts: str = "special"
    typed_as: Any = None  # another function with the same types, where Numba types this one on a GPU only


def _each(function):
    """Apply a function of Python numbers to each element of an array, because NumPy does not have the function."""

    def defined(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(defined, otypes=[float])


def _fmod(a, b):
    return np.fmod(a, np.where(b == 0, np.nan, b))


# fmt: off
_TABLE = [
    Function("sqrt", math.sqrt, np.sqrt, "sqrt"),
    *(
        Function(n, getattr(math, n), getattr(np, m or n))
        for n, m in [
            ("exp", ""), ("expm1", ""), ("log", ""), ("log2", ""), ("log10", ""), ("log1p", ""),
            ("sin", ""), ("cos", ""), ("tan", ""), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"),
            ("sinh", ""), ("cosh", ""), ("tanh", ""), ("asinh", "arcsinh"), ("acosh", "arccosh"),
            ("atanh", "arctanh"), ("atan2", "arctan2"), ("hypot", ""), ("pow", "power"),
        ]
    ),
    *(Function(n, getattr(math, n), _each(getattr(math, n))) for n in ("erf", "erfc", "gamma", "lgamma")),
    Function("fmod", math.fmod, _fmod, typed_as=math.atan2),
    *(Function(n, getattr(math, n), getattr(np, n), "") for n in ("floor", "ceil", "trunc", "copysign")),
    Function("fabs", math.fabs, np.abs, ""),
    *(Function(n, getattr(math, n), getattr(np, n), "") for n in ("isnan", "isinf", "isfinite")),
    Function("degrees", math.degrees, np.degrees, "special"),
    Function("radians", math.radians, np.radians, "special"),
]
# fmt: on

FUNCTIONS: dict[int, Function] = {id(f.python): f for f in _TABLE}
BY_NAME = {f.name: f for f in _TABLE}

# NumPy's names for the same, called on numbers
for _numpy, _name in [
    (np.sqrt, "sqrt"), (np.exp, "exp"), (np.log, "log"), (np.log2, "log2"), (np.log10, "log10"),
    (np.sin, "sin"), (np.cos, "cos"), (np.tan, "tan"), (np.tanh, "tanh"), (np.arctan2, "atan2"),
    (np.hypot, "hypot"), (np.fabs, "fabs"), (np.isnan, "isnan"), (np.isinf, "isinf"), (np.power, "pow"),
]:  # fmt: skip
    FUNCTIONS[id(_numpy)] = BY_NAME[_name]
for _operator in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
):
    FUNCTIONS[id(getattr(operator, _operator))] = Function(
        _operator, getattr(operator, _operator), getattr(operator, _operator), ""
    )
