"""What a piece of source may write to memory: after it, a compiler must load these values again."""

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
    *("ldca", "ldcg", "ldcs", "ldlu", "ldcv"),
)


def effects(run, frame, body: list) -> frozenset:
    """Return the memory spaces that statements may write, themselves or, if they contain a barrier, in other threads.

    The objects behind the names decide about this, not the names.
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
    """Return the calls whose results are not used: calls as statements, or assigned to a name that is never read."""
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
    """Return the names of arrays that statements write (None if without a name), the calls, and the assigned names."""
    parts = [part for node in body for part in ast.walk(node)]
    stores = (
        p.value
        for p in parts
        if isinstance(p, (ast.Subscript, ast.Attribute)) and isinstance(p.ctx, ast.Store)
    )
    stored = dict.fromkeys(base.id if isinstance(base, ast.Name) else None for base in stores)
    called = {ast.dump(p.func): p.func for p in parts if isinstance(p, ast.Call)}
    assigned = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    return tuple(stored), tuple(called.values()), frozenset(assigned)


def _harmless(run, frame, function) -> bool:
    """Return whether a call writes no memory."""
    try:
        thing = evaluate(run, frame, function, run.wave.nobody)
    except SimtError:  # a name that these statements themselves assign
        return False
    if isinstance(thing, Intrinsic):
        return thing.name in HARMLESS
    return isinstance(thing, (Builtin, TypeName))
