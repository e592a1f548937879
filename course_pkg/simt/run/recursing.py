"""Device functions that call themselves. Numba compiles them if a signature declares their types."""

import ast
from dataclasses import dataclass
from typing import Any

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import Program
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.values import Value

DEEPEST = 32  # calls inside each other; the stack of a GPU's thread has 1 KiB unless the host asks for more


@dataclass(frozen=True)
class Call:
    """A call of a device function that is being run.

    Attributes
    ----------
    program : Program
    path : tuple
        The calls that lead to it. All calls of a function inside each other have the path of the outermost one, because
        the signature gives them the same types.
    arrays : tuple of frozenset
        For each array among the arguments, the names of the arrays that it may be.
    inner : bool
        Whether the function calls itself.
    """

    program: Program
    path: tuple
    arrays: tuple
    inner: bool = False


def called(run, frame, node, program, signature, given: dict) -> Call | None:
    """Return a call that is to be run now; None if a sketch has seen all that it does.

    Raises
    ------
    SimtError
        If Numba does not compile the recursion, or if it is too deep.
    """
    path = *run.path, id(node)
    arrays = tuple(a.others | {a.name} for a in given.values() if isinstance(a, Array))
    within = [one for one in run.calling if one.program is program]
    if not within:
        return Call(program, path, arrays)
    if run.calling[-1].program is not program:
        raise unsupported(
            frame,
            node,
            f"recursion of several functions, by which {program.name} calls itself,",
            way="write one function, or a loop",
        )
    if signature is None:
        raise unsupported(
            frame,
            node,
            f"recursion without declared types, in which {program.name} calls itself,",
            way="declare the types of arguments and result, as in @cuda.jit('int64(int64)', device=True), or write a "
            "loop",
        )
    if len(within) >= DEEPEST:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{program.name} calls itself more than {DEEPEST} calls deep, and the stack of a GPU's thread is small: "
            "name the case that ends the recursion, or write a loop.",
        )
    if run.dry and any(one.arrays == arrays for one in within):
        return None
    return Call(program, within[0].path, arrays, inner=True)


def result_of(run, frame, node, signature) -> Any:
    """Return a value of the type that a function returns to ``frame``, a call of itself; nobody looks at its number.

    Raises
    ------
    SimtError
        If the type follows neither from the signature nor from a ``return`` before the call.
    """
    if signature.result is not None:
        return run.blank(signature.result)
    if signature.whole or (frame.result is None and _returns_nothing(frame.program)):
        return None
    if not isinstance(frame.result, Value):
        raise unsupported(
            frame,
            node,
            f"a call of {frame.program.name} by itself before its first return",
            way="declare what it returns, as in @cuda.jit('int64(int64)', device=True)",
            compiled=True,
        )
    return run.blank(frame.result.type)


def _returns_nothing(program) -> bool:
    return all(n.value is None for n in walk(program.tree) if isinstance(n, ast.Return))
