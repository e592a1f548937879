"""What a piece of source may do to memory, read off its text: a compiler must forget as much."""

import ast
from functools import cache

from course_pkg.simt.memory.regions import Array

EVERYWHERE = frozenset(("global", "shared", "local"))
BARRIERS = ("syncthreads", "syncwarp", "threadfence", "_sync", "atomic", "activemask")


def effects(frame, body: list) -> frozenset:
    """Return the memory spaces that statements may write, or that a barrier in them makes others write."""
    found: set = set()
    for place in _places(tuple(body)):
        if place is None:
            return EVERYWHERE
        variable = frame.variables.get(place)
        array = variable.value if variable else None
        if not isinstance(array, Array):
            return EVERYWHERE
        found.add(array.space)
    return frozenset(found)


@cache
def unused_calls(function: ast.FunctionDef) -> frozenset:
    """Return the calls whose results a function does not use: those that stand alone or go to a name nobody reads."""
    read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return frozenset(
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Expr)
        or (
            isinstance(node, ast.Assign)
            and all(isinstance(t, ast.Name) and t.id not in read for t in node.targets)
        )
    )


@cache
def _places(body: tuple) -> tuple:
    """Names of arrays that statements write to; None for a barrier, or a call that may hold one."""
    places: list = []
    for node in body:
        for part in ast.walk(node):
            if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                base = part.value
                places.append(base.id if isinstance(base, ast.Name) else None)
            elif isinstance(part, ast.Call) and not _harmless(part.func):
                places.append(None)
    return tuple(dict.fromkeys(places))


def _harmless(function) -> bool:
    """Whether a call can touch no memory, as far as its name tells."""
    text = ast.unparse(function)
    if any(word in text for word in BARRIERS):
        return False
    return "." in text or text in _PURE


_PURE = {"range", "len", "min", "max", "abs", "round", "int", "float", "bool", "complex", "divmod", "pow"}
