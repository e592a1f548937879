"""Error messages for places where a single number is needed: what stands there, and what to write instead."""

import ast

from numba.core import types

from course_pkg.simt.errors import NoIndex, SimtError, Unsupported
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.run.values import Builtin, Intrinsic, Method, Module, Range, TypeName, Value

THREE = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_CALLED = {"grid": "cuda.grid(1)", "gridsize": "cuda.gridsize(1)"}


def require_numbers(frame, *operands) -> None:
    """Raise an error for the first operand that is known not to be a single number.

    Parameters
    ----------
    *operands : tuple of (ast.expr, object)
        The expression in the kernel, and the object that it evaluates to.

    Raises
    ------
    Unsupported
        If there is such an operand; the message says what to write instead.
    """
    if all(isinstance(thing, tuple) for _, thing in operands):
        return  # tuples can be concatenated
    for node, thing in operands:
        if not isinstance(
            thing, Value
        ):  # checked first, because it nearly always is one, and making the text is slow
            said = no_number(node, thing)
            if said:
                raise Unsupported.at(frame.program.name, node.lineno, f"{said}.")


def no_numbers(frame, node, *operands) -> SimtError:
    """Return the error for an operation whose operands are not all numbers; ``node`` is the whole operation."""
    thing = next(one for one in operands if not isinstance(one, Value))
    said = no_number(None, thing) or "something is no number here"
    return SimtError.at(frame.program.name, getattr(node, "lineno", 0), f"{said}.")


def no_index(frame, node, array, d: int, part) -> SimtError:
    """Return the error for an index that is not an integer."""
    where, which = (frame.program.name, node.lineno), f"index {d} of {array.name} is"
    if not isinstance(part, Value):
        return SimtError.at(*where, f"{which} no integer.")
    instead = ", so write // for /, or int(…) around it" * isinstance(part.type, types.Float)
    error = NoIndex.at(*where, f"{which} a {part.type}: indices are integers{instead}.")
    error.what, error.type = f"{which} a {part.type}", str(part.type)
    return error


def no_elements(frame, node, thing) -> SimtError:
    """Return the error for a subscript of something without elements, or for an attribute that cannot be set."""
    owner, whole = ast.unparse(node.value), ast.unparse(node)
    where = frame.program.name, node.lineno
    if isinstance(node, ast.Attribute):
        launch = "the launch gives it, kernel[blocks, threads]"
        why = launch if node.attr in THREE else f"{owner} is no record with fields"
        return SimtError.at(*where, f"{whole} cannot be set in a kernel: {why}.")
    if isinstance(thing, tuple):
        return SimtError.at(*where, f"{owner} is a tuple, which cannot be changed.")
    if isinstance(thing, Value):
        return SimtError.at(
            *where, f"{owner} is one number and has no elements: write {owner} alone, or pass an array."
        )
    return SimtError.at(
        *where, f"{no_number(node.value, thing) or f'{owner} is no array and has no elements'}."
    )


def not_called(frame, node: ast.Call, thing) -> SimtError | None:
    """Return the error for round brackets behind something that is not a function; None if nothing better is known."""
    text = ast.unparse(node.func)
    if isinstance(thing, Arrays):
        instead = f"an array: write its index in square brackets, as in {text}[i]"
    elif isinstance(thing, (Value, tuple)):
        instead = "no function: leave the brackets behind it out"
    else:
        return None
    return SimtError.at(frame.program.name, node.lineno, f"{text} is {instead}.")


def no_number(node: ast.expr | None, thing) -> str:
    """Return why something is not a single number and what to write; an empty string if it is, or if that is unknown.

    Parameters
    ----------
    node : ast.expr, optional
        The expression in the kernel; without it, the message uses the object's own name.

    Examples
    --------
    >>> no_number(ast.parse("i", mode="eval").body, Intrinsic("threadIdx"))
    'i is cuda.threadIdx, which has a part for each direction: write cuda.threadIdx.x'
    >>> no_number(None, Intrinsic("gridsize"))
    'cuda.gridsize is a function and no number: call it, as in cuda.gridsize(1)'
    """
    if isinstance(thing, Value):
        return ""
    text = "" if node is None else ast.unparse(node)
    if isinstance(thing, Intrinsic):
        return _intrinsic(text, thing.name)
    if isinstance(thing, tuple):
        return _tuple(text or "a tuple", thing)
    if isinstance(thing, Arrays):
        if isinstance(node, ast.Subscript):
            return f"{text} is a whole row, and one number is needed: {_indices(thing.ndim)} missing"
        return f"{text or thing.name} is a whole array, and one number is needed: choose an element of it"
    if thing is None:
        return f"{text or 'this'} is None and no number: give the name its value, or the function its return"
    if isinstance(thing, (Builtin, Method)) or hasattr(thing, "py_func"):
        name = text or getattr(thing, "name", getattr(thing, "__name__", "f"))
        return f"{name} is a function and no number: call it, as in {name}(…)"
    if isinstance(thing, TypeName):
        return f"{text or thing.type} is a type and no number: call it, as in {text or thing.type}(x)"
    if isinstance(thing, Module):
        return f"{text or thing.name} is a module and no number"
    if isinstance(thing, Range):
        return f"{text or 'this'} is a range and no number: loop over it"
    return ""


def _intrinsic(text: str, name: str) -> str:
    if not name:
        return ""
    whole = f"cuda.{name}"
    if name in THREE:
        named = "" if not text or text.endswith(whole) else f"{text} is {whole}, which "
        return f"{named or f'{text or whole} '}has a part for each direction: write {whole}.x"
    return f"{text or whole} is a function and no number: call it, as in {_CALLED.get(name, f'{whole}(…)')}"


def _tuple(text: str, things: tuple) -> str:
    if len(things) == 1:
        return f"{text} is a tuple that holds one number: take it out by {text}[0]"
    return f"{text} is {len(things)} numbers, and one is needed: choose one of them, such as {text}[0]"


def _indices(count: int) -> str:
    return "an index is" if count == 1 else f"{count} indices are"
