"""What a piece of source may do to memory: a compiler must forget as much."""

import ast
from functools import cache

from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.values import Builtin, Intrinsic, TypeName

EVERYWHERE = frozenset(("global", "shared", "local"))
HARMLESS = (
    *("grid", "gridsize", "popc", "brev", "clz", "ffs", "fma", "cbrt", "selp", "lanemask_lt"),
    *("shared.array", "local.array", "const.array_like"),
)


def effects(run, frame, body: list) -> frozenset:
    """Return the memory spaces that statements may write, or that a barrier in them makes others write.

    What is called and what is written goes by what the names stand for, not by how they are spelt.
    """
    stored, called, assigned = _parts(tuple(body))
    found: set = set()
    for name in stored:
        variable = frame.variables.get(name)
        array = variable.value if variable else None
        if not isinstance(array, Array) or name in assigned:
            return EVERYWHERE
        found.add(array.space)
    for function in called:
        if not _harmless(run, frame, function):
            return EVERYWHERE
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
def _parts(body: tuple) -> tuple:
    """Return the names of arrays that statements write to (None for what has no name), what they call and assign."""
    parts = [part for node in body for part in ast.walk(node)]
    stores = (p.value for p in parts if isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Store))
    stored = dict.fromkeys(base.id if isinstance(base, ast.Name) else None for base in stores)
    called = {ast.dump(p.func): p.func for p in parts if isinstance(p, ast.Call)}
    assigned = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    return tuple(stored), tuple(called.values()), frozenset(assigned)


def _harmless(run, frame, function) -> bool:
    """Whether a call can touch no memory but to read it."""
    try:
        thing = evaluate(run, frame, function, run.wave.nobody)
    except SimtError:  # a name that the statements themselves bind
        return False
    if isinstance(thing, Intrinsic):
        return thing.name in HARMLESS
    return isinstance(thing, (Builtin, TypeName))
