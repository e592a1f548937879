"""The errors for constructs that the interpreter, or Numba, does not support; what operators do with tuples."""

import ast
from dataclasses import replace

from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.front import literal
from course_pkg.simt.front.instead import Refusal, of_node, refusal


def unsupported(frame, node, what: Refusal | str | None = None, way="", *, compiled=False) -> Unsupported:
    """Return the error for a construct that the interpreter does not support.

    Parameters
    ----------
    what : Refusal or str, optional
        The construct; as a text, it is what the sentence calls it. Without it, the construct is the node.
    way : str
        If ``what`` is a text: what to write instead.
    compiled : bool
        If ``what`` is a text: whether Numba compiles the construct for a GPU.
    """
    if what is None:
        what = of_node(node)
    found = what if isinstance(what, Refusal) else refusal(what, way, compiled=compiled)
    line = getattr(node, "lineno", frame.program.tree.lineno)
    error = Unsupported.at(frame.program.name, line, str(found))
    error.refusal = found
    return error


def at_its_place(frame, node, error: Unsupported, of: str = "") -> Unsupported:
    """Return an error that has no place yet as one about a node; ``of`` names the variable that it is about."""
    begins = f"in {of!r}, " if of else ""
    if error.refusal is None:
        return Unsupported.at(frame.program.name, node.lineno, f"{begins}{error.said}")
    return unsupported(frame, node, replace(error.refusal, construct=begins + error.refusal.construct))


def of_tuples(frame, node, op, left: tuple, right) -> tuple | None:
    """Return ``left + right`` of two tuples, or a tuple that Python itself repeats; None for any other operation."""
    where = frame.program.name, node.lineno
    if isinstance(right, tuple) and isinstance(op, ast.Add):
        if hasattr(left, "fields") or hasattr(right, "fields"):
            raise SimtError.at(*where, "Numba joins no named tuples: write a tuple of all items.")
        return left + right
    if isinstance(op, ast.Mult) and hasattr(right, "number"):
        if not literal.is_literal(node):
            raise SimtError.at(*where, "Numba does not repeat a tuple: write its items out.")
        return left * right.number
    return None
