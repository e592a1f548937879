"""NVIDIA's device library, ``cuda.libdevice``. The interpreter runs and counts its functions as kernel code.

The names are NVIDIA's: ``sinf`` is for float32, ``sin`` is for float64, and ``fast_sinf`` is the fast, approximate
version. Here, a fast version returns the result of the accurate one; on a GPU, the last digits of the two differ. The
interpreter does not have the functions that round in a direction other than to nearest, nor the functions that take
numbers apart bit by bit.

Source: CUDA, Libdevice User's Guide, as a whole.
"""

from functools import cache

from course_pkg.simt.front.stubs import CUDA
from course_pkg.simt.run.kernel import Kernel

_ALIKE = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt erf erfc"
_ALIKE_TWO = "pow fmod atan2 hypot copysign nextafter remainder"
_FLOATS = {
    **{name: f"math.{name}(x)" for name in f"{_ALIKE} lgamma floor ceil trunc fabs".split()},
    **{name: f"math.{name}(x, y)" for name in _ALIKE_TWO.split()},
    "tgamma": "math.gamma(x)",
    "cbrt": "cuda.cbrt(x)",
    "rcbrt": "T(1) / cuda.cbrt(x)",
    "rsqrt": "T(1) / math.sqrt(x)",
    "exp10": "math.pow(T(10), x)",
    "sinpi": "math.sin(T(math.pi) * x)",
    "cospi": "math.cos(T(math.pi) * x)",
    "rint": "T(round(x))",
    "nearbyint": "T(round(x))",
    "round": "math.copysign(math.floor(math.fabs(x) + T(0.5)), x)",
    "normcdf": "T(0.5) * math.erfc(-x * T(math.sqrt(0.5)))",
    "saturate": "min(max(x, T(0)), T(1))",
    "fdim": "max(x - y, T(0))",
    "fmax": "y if x != x else x if y != y else max(x, y)",
    "fmin": "y if x != x else x if y != y else min(x, y)",
    "fdivide": "x / y",
    "fma": "cuda.fma(x, y, z)",
}
_ROUNDED = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "div": "x / y",
    "rcp": "T(1) / x",
    "sqrt": "math.sqrt(x)",
}
_INTEGERS = {
    **{name: f"cuda.{name}(x)" for name in ("popc", "clz", "ffs", "brev")},
    **{f"{name}ll": f"cuda.{name}(x)" for name in ("popc", "clz", "ffs", "brev")},
    "abs": "abs(x)", "llabs": "abs(x)", "max": "max(x, y)", "min": "min(x, y)",
    "llmax": "max(x, y)", "llmin": "min(x, y)",
}  # fmt: skip
_CASTS = {
    "double2float_rn": ("float64", "float32(x)"), "int2float_rn": ("int32", "float32(x)"),
    "int2double_rn": ("int32", "float64(x)"), "ll2float_rn": ("int64", "float32(x)"),
    "ll2double_rn": ("int64", "float64(x)"), "float2int_rz": ("float32", "int32(x)"),
    "double2int_rz": ("float64", "int32(x)"), "float2ll_rz": ("float32", "int64(x)"),
    "double2ll_rz": ("float64", "int64(x)"), "float2int_rn": ("float32", "int32(round(x))"),
    "double2int_rn": ("float64", "int32(round(x))"), "float2int_rd": ("float32", "int32(math.floor(x))"),
    "double2int_rd": ("float64", "int32(math.floor(x))"), "float2int_ru": ("float32", "int32(math.ceil(x))"),
    "double2int_ru": ("float64", "int32(math.ceil(x))"),
}  # fmt: skip


def meaning(name: str) -> tuple[str, str, str] | None:
    """Return the argument type, the result type and the result as kernel code; None if only a GPU has the function.

    Examples
    --------
    >>> meaning("fast_expf"), meaning("dadd_rn")
    (('float32', 'float32', 'math.exp(x)'), ('float64', 'float64', 'x + y'))
    >>> meaning("fadd_rz")
    """
    if name in _CASTS:
        kind, text = _CASTS[name]
        return kind, text.partition("(")[0], text
    if name in _INTEGERS:
        kind = "int64" if "ll" in name else "int32"
        return kind, "int32" if name in ("popcll", "clzll", "ffsll") else kind, _INTEGERS[name]
    short, dot, direction = name.rpartition("_r")
    if dot and direction == "n":
        kind = {"f": "float32", "d": "float64"}.get(short[0], "")
        if short in ("fma", "fmaf"):
            name = short
        elif kind and short[1:] in _ROUNDED:
            return kind, kind, _ROUNDED[short[1:]]
        elif short == "frsqrt":
            name = "rsqrtf"
    plain = name.removeprefix("fast_")
    for whole, kind in ((plain, "float64"), (plain.removesuffix("f"), "float32")):
        if whole in _FLOATS and (kind == "float32" or whole == plain == name):
            return kind, kind, _FLOATS[whole]
    return None


@cache
def function(name: str):
    """Return a function of the library as a device function; None if only a GPU has the function."""
    found = meaning(name)
    if found is None:
        return None
    kind, result, text = found
    text = text.replace("T(", f"{kind}(")
    arguments = [letter for letter in "xyz" if letter in _letters(text)]
    lines = [f"def {name}({', '.join(arguments)}):"]
    lines += [f"    {letter} = {kind}({letter})" for letter in arguments]
    lines += [f"    return {result}({text})"]
    return Kernel.from_source(
        "\n".join(lines) + "\n", name, _names(), device=True, file="<the interpreter's library>"
    )


@cache
def _names() -> dict:
    import math

    from numba.core import types

    kinds = ("float32", "float64", "int32", "int64")
    return {"math": math, "cuda": CUDA, **{name: getattr(types, name) for name in kinds}}


def _letters(text: str) -> set:
    import ast

    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}


def __getattr__(name: str):
    if not name.startswith("_"):
        found = function(name)
        if found is not None:
            return found
    raise AttributeError(f"cuda.libdevice.{name} is not in the interpreter: only a GPU has it.")
