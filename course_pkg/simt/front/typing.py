"""Ask Numba for types, such as the type of ``int32 + uint32``, or of a variable to which two types are assigned."""

import math
import operator
from functools import cache
from importlib import import_module

import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.typing import signature as make_signature
from numba.np.numpy_support import as_dtype, from_dtype

from course_pkg.simt.errors import Unsupported

SCALARS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
# operations that Numba computes in half precision on a GPU. Numba's CPU target, which answers for all other types,
# does not have them.
_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
_HALVES = {
    *_COMPARISONS,
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, abs),
    *(
        math.sqrt,
        math.exp,
        math.log,
        math.log2,
        math.log10,
        math.sin,
        math.cos,
        math.floor,
        math.ceil,
        math.trunc,
    ),
}
INT64, FLOAT64, BOOL = types.int64, types.float64, types.boolean


@cache
def _context():
    context = cpu_target.typing_context
    context.refresh()
    return context


@cache
def _know_complex_functions():
    """Register Numba's versions of the functions of ``cmath``; it takes a second, so it waits until one is called."""
    import_module("numba.cpython.cmathimpl")
    _context().refresh()


@cache
def signature(function, *arguments):
    """Return ``(argument types, result type)`` of a Python function for Numba types.

    Raises
    ------
    Unsupported
        If Numba has no version for these types.
    """
    if arguments and all(one == types.float16 for one in arguments) and function in _HALVES:
        return arguments, BOOL if function in _COMPARISONS else types.float16
    if getattr(function, "__module__", "") == "cmath":
        _know_complex_functions()
    try:
        found = _context().resolve_function_type(function, arguments, {})
    except NumbaError:
        found = None
    if found is None:
        name = getattr(function, "__name__", str(function))
        raise Unsupported(f"{name} of {' and '.join(map(str, arguments))} has no meaning in Numba.")
    if len(found.args) != len(arguments):  # Numba types min and max as functions of one tuple
        return (found.return_type,) * len(arguments), found.return_type
    return tuple(found.args), found.return_type


@cache
def unify(first, second):
    """Return the type that Numba chooses for a variable with values of two types."""
    if first == second:
        return first
    together = _context().unify_pairs(first, second)
    if together is None:
        raise Unsupported(f"one variable holds {first} here and {second} there, which Numba cannot unify.")
    return together


@cache
def type_of_extreme(name: str, first, second):
    """Return the type of ``min`` or ``max`` of two numbers: the one that fits both.

    The rule is Numba's own (``numba.cpython.builtins``). Numba itself is not asked, because it would compile both
    functions, which takes most of a second.

    Raises
    ------
    Unsupported
        If one of them is neither a real number nor a truth value, or if no type fits both.
    """
    if not all(isinstance(one, (types.Integer, types.Float, types.Boolean)) for one in (first, second)):
        raise Unsupported(f"{name} of {first} and {second} has no meaning in Numba.")
    return unify(first, second)


@cache
def dtype_of(numba_type) -> np.dtype:
    """Return the NumPy dtype of a Numba scalar type."""
    return np.dtype(as_dtype(numba_type))


@cache
def type_of(dtype):
    """Return the Numba type of a NumPy dtype."""
    try:
        return from_dtype(np.dtype(dtype))
    except (NumbaError, NotImplementedError, TypeError):
        raise Unsupported(f"arrays of dtype {dtype} are not known to the interpreter.") from None


def type_of_number(number):
    """Return the Numba type of a Python or NumPy number that is a constant or an argument."""
    if isinstance(number, np.generic):
        return type_of(number.dtype)
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        if -(2**63) <= number < 2**63:
            return INT64
        if number < 2**64:
            return types.uint64
        raise Unsupported(f"{number} needs more than 64 bits.")
    return types.complex128 if isinstance(number, complex) else FLOAT64


def best_match(cases: list, given: tuple) -> int | None:
    """Return the index of the list of types that Numba chooses for arguments; None if no list fits.

    Raises
    ------
    numba.core.errors.NumbaError
        If two lists fit equally well.

    Examples
    --------
    >>> best_match([(INT64,), (FLOAT64,)], (types.float32,))
    1
    """
    signatures = [make_signature(types.none, *arguments) for arguments in cases]
    found = _context().resolve_overload("the function", signatures, given, {}, allow_ambiguous=False)
    return None if found is None else signatures.index(found)


def has_member(kind, name: str) -> bool:
    """Return whether a kernel can write ``x.name`` for an ``x`` of a Numba type.

    Examples
    --------
    >>> has_member(types.float64, "real"), has_member(types.float64, "shape")
    (True, False)
    """
    return _context().resolve_getattr(kind, name) is not None


def converted(data, dtype):
    """Return real numbers as another type, as a GPU's ``cvt`` does: an integer is the nearest one that the type has.

    A conversion to 8 bits goes through 16 bits, of which the lower half is kept. NaN becomes the number whose highest
    bit alone is set, but 0 if it comes from a float32 and the integer has at most 32 bits.

    Examples
    --------
    >>> converted(np.array([-2.5, 250.9, 300.0, 1e9]), np.dtype(np.uint8)).tolist()
    [0, 250, 44, 255]
    """
    if data.dtype.kind != "f" or dtype.kind not in "iu":
        return data.astype(dtype, copy=False)
    through = dtype if dtype.itemsize > 1 else np.dtype(f"{dtype.kind}2")
    low, high = np.iinfo(through).min, np.iinfo(through).max
    numbers = data.astype(np.float32) if data.dtype == np.float16 else data
    fits = (numbers > low - 1) & (numbers < high + 1)
    if fits.all():
        return data.astype(through).astype(dtype, copy=False)
    none = 0 if data.dtype != np.float64 and through.itemsize <= 4 else 1 << 8 * through.itemsize - 1
    nan = np.array(none, f"u{through.itemsize}").view(through)
    outside = np.where(numbers > 0, through.type(high), np.where(numbers < 0, through.type(low), nan))
    return np.where(fits, np.where(fits, data, 0).astype(through), outside).astype(dtype, copy=False)
