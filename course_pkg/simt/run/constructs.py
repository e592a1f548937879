"""The error for a construct that the interpreter does not support."""

from dataclasses import replace

from course_pkg.simt.errors import Unsupported
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
