"""The Python objects that a kernel may name, and the interpreter's object for each of them."""

import builtins
import cmath
import math
import operator
import sys
from enum import Enum, EnumType, IntEnum
from types import FunctionType, ModuleType

import numba
import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.functions import FUNCTIONS
from course_pkg.simt.front.given import constant_array
from course_pkg.simt.front.instead import of_object
from course_pkg.simt.front.stubs import MEANINGS
from course_pkg.simt.front.typing import SCALARS, type_of
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.named import Member, NamedKind, named
from course_pkg.simt.run.values import Builtin, Intrinsic, Module, TypeName

DOOR = ("course_pkg.simt.api", "numba.cuda", "course_pkg.cuda")


ARRAY_FUNCTIONS = (
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "any",
    "all",
    "argmax",
    "argmin",
    "ndindex",
    "nditer",
    "ndenumerate",
    "searchsorted",
    "count_nonzero",
    "size",
    "shape",
    "asarray",
)
NUMBER_FUNCTIONS = ("real", "imag", "angle", "sinc", "isscalar", "finfo", "iinfo", "dtype")


def _types() -> dict:
    """Return a dictionary from the id of each object that names a scalar type to the Numba type."""
    found = {}
    for name in SCALARS:
        scalar = getattr(types, name)
        found[id(getattr(np, name))] = scalar
        found[id(scalar)] = scalar
    found[id(np.bool_)] = found[id(bool)] = found[id(types.boolean)] = types.boolean
    found[id(np.longlong)], found[id(np.ulonglong)] = types.int64, types.uint64  # separate types on Linux
    found[id(np.intp)], found[id(np.uintp)] = types.intp, types.uintp
    found[id(int)], found[id(float)], found[id(complex)] = types.int64, types.float64, types.complex128
    return found


TYPES = _types()


BUILTINS = {
    id(getattr(builtins, n)): n
    for n in (
        "range",
        "len",
        "min",
        "max",
        "abs",
        "round",
        "divmod",
        "pow",
        "print",
        "enumerate",
        "zip",
        "iter",
        "next",
        "sum",
        "slice",
        "tuple",
        "isinstance",
        "hasattr",
    )
}


MODULES = {
    id(math): "math",
    id(cmath): "cmath",
    id(np): "numpy",
    id(numba): "numba",
    id(types): "numba.types",
    id(operator): "operator",
}


def entity(run, frame, node, thing):
    """Return the interpreter's object for a Python object that a kernel names."""
    if isinstance(thing, IntEnum):
        return run.constant(int(thing))
    if isinstance(thing, Enum):
        return Member(thing)
    if isinstance(thing, (bool, int, float, complex, np.number, np.bool_)):
        return run.constant(thing if not isinstance(thing, np.generic) else thing.item(), _scalar_type(thing))
    if thing is None:
        return None
    if isinstance(thing, tuple):
        parts = [entity(run, frame, node, part) for part in thing]
        return named(parts, thing._fields) if hasattr(thing, "_fields") else tuple(parts)
    if isinstance(thing, type) and issubclass(thing, tuple) and hasattr(thing, "_fields"):
        return NamedKind(thing)
    if isinstance(thing, EnumType):
        return Module(thing.__name__, thing)
    if id(thing) in TYPES:
        return TypeName(TYPES[id(thing)], thing in (int, float, bool, complex))
    if isinstance(thing, np.dtype) and thing.kind in "biufcV":
        return TypeName(type_of(thing))
    if isinstance(thing, types.Record):
        return TypeName(thing)
    if id(thing) in BUILTINS:
        return Builtin(BUILTINS[id(thing)], thing)
    if id(thing) in FUNCTIONS:
        return Builtin(FUNCTIONS[id(thing)].name, thing)
    if id(thing) in MODULES:
        return Module(MODULES[id(thing)], thing)
    if isinstance(thing, ModuleType) and thing.__name__ in DOOR:
        return Intrinsic("")
    name = cuda_name(thing)
    if name is not None:
        return Intrinsic(name)
    if isinstance(thing, np.ndarray):
        return constant_array(run, frame, node, thing)
    if hasattr(thing, "py_func"):
        return thing
    if isinstance(thing, ModuleType):
        return Module(thing.__name__, thing)
    name = getattr(node, "id", None) or getattr(node, "attr", "")
    if isinstance(thing, FunctionType):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{name} is a function of the host: decorate what kernels call with @cuda.jit(device=True).",
        )
    raise unsupported(frame, node, of_object(thing, name))


def cuda_name(thing) -> str | None:
    """Return the dotted name of an object of ``cuda``, such as ``shared.array``; None for anything else."""
    name = getattr(thing, "simt_name", None) if not isinstance(thing, type) else None
    if name is not None:
        return name
    module = sys.modules.get("numba.cuda")
    if module is not None:
        for known in MEANINGS:
            if "." not in known and getattr(module, known, None) is thing:
                return known
    return None


def is_device_function(thing) -> bool:
    """Return whether an object was made for kernels to call, by the interpreter or by Numba.

    Kernels may also call other kernels, and functions that Numba compiles for the CPU.
    """
    if not hasattr(thing, "py_func"):
        return False
    if hasattr(thing, "device"):
        return bool(thing.device)
    return bool(getattr(thing, "targetoptions", {}).get("device"))


def _scalar_type(thing):
    return type_of(thing.dtype) if isinstance(thing, np.generic) else None
