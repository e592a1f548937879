"""What a device function may return: numbers, tuples, its own array arguments, and functions without its variables."""

import ast

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.run.state import LocalFunction


def require_returnable(frame, node, value) -> None:
    """Raise an error if a device function returns what Numba lets it not return."""
    if isinstance(value, Arrays) and frame.outer is None:
        _require_argument(frame, node)
    if isinstance(value, LocalFunction) and value.frame is frame:
        _require_no_variables(frame, node, value)


def _require_no_variables(frame, node, function) -> None:
    """Raise an error if a function that is returned uses variables of the call that ends here, as Numba does."""
    seen = {n.id for n in walk(function.program.tree) if isinstance(n, ast.Name)} - function.program.assigned
    kept = sorted(seen & frame.program.assigned)
    if kept:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba returns no function that uses {kept[0]!r}, a variable of {frame.program.name}: make it in a "
            "function of the host, or pass the number to it.",
        )


def _require_argument(frame, node) -> None:
    """Raise an error if a device function returns an array that is none of its arguments, which Numba refuses."""
    name = getattr(node.value, "id", None)
    if name in frame.program.parameters and name not in frame.program.stored:
        return
    raise SimtError.at(
        frame.program.name,
        node.lineno,
        "of arrays, Numba lets a device function return only its arguments, by their own names: let the caller make "
        "the array or the slice, and pass it.",
    )
