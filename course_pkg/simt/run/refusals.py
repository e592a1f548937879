"""Sentences for operands that are no numbers: what they are, and what to write instead."""

import ast

from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.values import Builtin, Intrinsic, Method, Module, Range, TypeName, Value

SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.USub: "-", ast.UAdd: "+",
    ast.Invert: "~", ast.MatMult: "@",
}  # fmt: skip
THREE = ("threadIdx", "blockIdx", "blockDim", "gridDim")


def no_numbers(frame, node, op, *operands) -> SimtError:
    """Return the error for an operator whose operands are not all numbers."""
    thing = next(one for one in operands if not isinstance(one, Value))
    sign = SIGNS.get(type(op), type(op).__name__)
    return SimtError(f"{frame.program.name}, line {node.lineno}: `{sign}` is given {what_it_is(thing)}")


def what_it_is(thing) -> str:
    """Say what a thing is that was met in place of a number, and what to write instead, as the end of a sentence.

    Examples
    --------
    >>> what_it_is(Intrinsic("threadIdx"))
    'cuda.threadIdx, which has three parts: write cuda.threadIdx.x.'
    """
    if isinstance(thing, Intrinsic):
        if thing.name in THREE:
            return f"cuda.{thing.name}, which has three parts: write cuda.{thing.name}.x."
        return f"cuda.{thing.name}, which is a function: call it, as in cuda.{thing.name}(…)."
    if thing is None:
        return "None, which is no number: give the name its value, or the function its return."
    if hasattr(thing, "strides") and hasattr(thing, "space"):
        return (
            f"the array {thing.name}, and a kernel computes with single elements: write {thing.name}[i], in a loop if "
            "each thread has several."
        )
    if isinstance(thing, tuple):
        return "a tuple, which is no number: take one of its parts, as in t[0]."
    if isinstance(thing, (Builtin, Method)) or hasattr(thing, "py_func"):
        name = getattr(thing, "name", getattr(thing, "__name__", "f"))
        return f"{name}, which is a function: call it, as in {name}(…)."
    if isinstance(thing, TypeName):
        return f"the type {thing.type}, which is no number: call it, as in {thing.type}(x)."
    if isinstance(thing, Module):
        return f"the module {thing.name}, which is no number."
    if isinstance(thing, Range):
        return "a range, which is no number: loop over it."
    return "something that is no number."


def no_index(frame, node, array, d: int, part) -> SimtError:
    """Return the error for an index that is no integer."""
    where = f"{frame.program.name}, line {node.lineno}: index {d} of {array.name} is"
    if isinstance(part, Value):
        return SimtError(f"{where} a {part.type}: indices are integers.")
    return SimtError(f"{where} {what_it_is(part)}")
