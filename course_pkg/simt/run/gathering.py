"""Functions of whole sequences: ``len``, ``sum``, ``zip`` and others, and NumPy's functions of arrays."""

import ast

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import library
from course_pkg.simt.front.instead import of_object
from course_pkg.simt.front.known import ARRAY_FUNCTIONS, NUMBER_FUNCTIONS
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.memory.regions import Array, Arrays, Choice
from course_pkg.simt.run.choices import each
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import binary, truth
from course_pkg.simt.run.fields import part_of_complex
from course_pkg.simt.run.functions import call_function
from course_pkg.simt.run.iteration import enumerated, indices_of, length_of, written_out, zipped
from course_pkg.simt.run.iterators import made_iterator, next_item
from course_pkg.simt.run.members import array_member, flattened, method, part_of_number
from course_pkg.simt.run.sequences import SEQUENCES, Elements, Zipped
from course_pkg.simt.run.values import Method, Module, Range, TypeName, Value
from course_pkg.simt.run.views import made_slice

NOTHING = object()  # the function is not one of those in this file


def of_sequences(run, frame, node, name: str, arguments: list, mask):
    """Call a function of sequences by its name; return ``NOTHING`` if the name is not that of such a function."""
    if name.startswith("numpy."):
        name = name.removeprefix("numpy.")
        if name in ARRAY_FUNCTIONS:
            return _of_array(run, frame, node, name, arguments, mask)
        if name in NUMBER_FUNCTIONS:
            return _of_number(run, frame, node, name, arguments, mask)
        return NOTHING
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](run, frame, node, arguments, mask)
    if name in _EXTREMES and len(arguments) == 1 and isinstance(arguments[0], Arrays):
        return _of_vector(run, frame, node, f"`{name}`", _EXTREMES[name], arguments, mask)
    return NOTHING


def _enumerate(run, frame, node, arguments, mask):
    return enumerated(run, frame, node, arguments)


def _zip(run, frame, node, arguments, mask):
    return zipped(run, frame, node, arguments)


def _tuple(run, frame, node, arguments, mask):
    if len(arguments) != 1 or not isinstance(arguments[0], tuple):
        raise unsupported(frame, node, "tuple of something else than a tuple")
    return arguments[0]


def _slice(run, frame, node, arguments, mask):
    if not 1 <= len(arguments) <= 3:
        raise SimtError.at(frame.program.name, node.lineno, "slice takes one to three integers.")
    parts = [None, *arguments] if len(arguments) == 1 else arguments
    return made_slice(frame, node, [*parts, None, None][:3])


def _len(run, frame, node, arguments, mask):
    if len(arguments) != 1 or not isinstance(arguments[0], (Array, Choice, tuple, Range)):
        raise unsupported(
            frame, node, "len of something that is no array, tuple or range", "take an array's len"
        )
    return length_of(run, arguments[0], mask)


def _sum(run, frame, node, arguments, mask):
    """Return the sum of the items of a tuple, of the elements of an array, or of the numbers of a range."""
    if not 1 <= len(arguments) <= 2 or not isinstance(arguments[0], SEQUENCES):
        raise unsupported(frame, node, of_object(sum, "sum"))
    total = arguments[1] if len(arguments) == 2 else run.constant(0)
    parts = written_out(run, arguments[0])
    if parts is None:
        return _of_vector(run, frame, node, "`sum`", "added_up", [arguments[0], total], mask)
    for part in parts:
        total = binary(run, frame, node, ast.Add(), total, part, mask)
    return total


_FUNCTIONS = {
    "enumerate": _enumerate,
    "zip": _zip,
    "tuple": _tuple,
    "slice": _slice,
    "len": _len,
    "sum": _sum,
    "iter": made_iterator,
    "next": next_item,
}
_EXTREMES = {"min": "smallest", "max": "largest"}


def _of_vector(run, frame, node, text, name, arguments, mask):
    """Call a function of the library whose first argument must not have rows."""
    if getattr(arguments[0], "ndim", 1) != 1:
        raise SimtError.at(
            frame.program.name, node.lineno, f"{text} takes an array of one dimension: loop over the rows."
        )
    return call_function(run, frame, node, library.function(name), arguments, {}, mask)


def _of_array(run, frame, node, name, arguments, mask):
    """Call a NumPy function of arrays that Numba compiles for a GPU."""
    if name == "ndindex":
        return indices_of(run, frame, node, arguments, mask)
    if name == "searchsorted":
        return _searchsorted(run, frame, node, arguments, mask)
    if name in ("all", "any") and len(arguments) == 1 and isinstance(arguments[0], Value):
        return truth(run, frame, arguments[0], node)
    if len(arguments) != 1 or not isinstance(arguments[0], Arrays):
        raise SimtError.at(frame.program.name, node.lineno, f"numpy.{name} takes one array in a kernel.")
    array = arguments[0]
    if name in ("size", "shape"):
        return array_member(run, frame, node, array, name, mask)
    if name == "asarray":
        return array
    if name == "count_nonzero":
        return call_function(run, frame, node, library.function(name), [array], {}, mask)
    if name == "nditer":
        if isinstance(array, Choice):
            raise unsupported(frame, node, "nditer of arrays that differ between threads", compiled=True)
        return Elements(array, array_member(run, frame, node, array, "size", mask))
    if name == "ndenumerate":
        indices = indices_of(run, frame, node, [array.shape], mask)
        return Zipped((indices, each(run, array, mask, lambda one, own: flattened(run, one))))
    return method(run, frame, node, Method(name, array), [], mask)


def _searchsorted(run, frame, node, arguments, mask):
    side = _text(node)
    if len(arguments) != 2 or not isinstance(arguments[1], Value) or side not in SIDES:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "in a kernel, numpy.searchsorted takes an array, a number, and side='left' or side='right'.",
        )
    return _of_vector(run, frame, node, "numpy.searchsorted", SIDES[side], arguments, mask)


def _text(node) -> str:
    """Return the text that a call of ``numpy.searchsorted`` gives as its side."""
    given = [*node.args[2:3], *(k.value for k in node.keywords if k.arg == "side")] or [ast.Constant("left")]
    return getattr(given[0], "value", "")


def without_side(node: ast.Call) -> ast.Call:
    """Return a call of ``numpy.searchsorted`` without its side, a text, which a kernel cannot evaluate."""
    others = [k for k in node.keywords if k.arg != "side"]
    return ast.copy_location(ast.Call(node.func, node.args[:2], others), node)


SIDES = {"left": "places_left_of", "right": "places_up_to"}


def _of_number(run, frame, node, name, arguments, mask):
    """Call a NumPy function of one number, or return the limits of a type."""
    (thing,) = arguments if len(arguments) == 1 else (None,)
    where = frame.program.name, node.lineno
    if name == "dtype" and isinstance(thing, TypeName):
        return thing
    if name in LIMITS:
        kind = getattr(thing, "type", None)
        if not isinstance(thing, (TypeName, Value)) or not isinstance(kind, LIMITS[name]):
            raise SimtError.at(*where, f"numpy.{name} takes a type of {'whole ' * (name == 'iinfo')}numbers.")
        return Module(f"numpy.{name}", getattr(np, name)(dtype_of(kind)))
    if name in ("real", "imag") and isinstance(thing, Arrays):
        return each(run, thing, mask, lambda one, own: part_of_complex(run, frame, node, one, name))
    if not isinstance(thing, Value):
        raise SimtError.at(*where, f"numpy.{name} takes one number in a kernel.")
    if name in ("real", "imag"):
        return part_of_number(run, thing, name)
    if name == "isscalar":
        return run.constant.truth(True)
    return call_function(run, frame, node, library.function(name), [thing], {}, mask)


LIMITS = {"finfo": types.Float, "iinfo": types.Integer}
