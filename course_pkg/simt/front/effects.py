"""Which memory a piece of source may write: a compiler must load values from this memory again afterwards."""

import ast
from functools import cache
from weakref import WeakKeyDictionary

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.state import Frame
from course_pkg.simt.run.values import Builtin, Intrinsic, TypeName

EVERYWHERE = frozenset(("global", "shared", "local"))
HARMLESS = (
    *("grid", "gridsize", "popc", "brev", "clz", "ffs", "fma", "cbrt", "selp", "lanemask_lt"),
    *("shared.array", "local.array", "const.array_like"),
    *("ldca", "ldcg", "ldcs", "ldlu", "ldcv"),
)


def effects(run, frame, body: list) -> frozenset:
    """Return the memory spaces that may change while statements run.

    The statements may write to memory themselves. If they contain a barrier, other threads may write meanwhile. The
    result depends on the objects that the names stand for, not on the names.
    """
    stored, called, assigned = _parts(tuple(body))
    found: set = set()
    for name in stored:
        variable = frame.variables.get(name)
        array = variable.value if variable else None
        if not isinstance(array, Arrays) or array.space == "several" or name in assigned:
            return EVERYWHERE
        found.add(array.space)
    for function in called:
        if not _harmless(run, frame, function):
            return EVERYWHERE
    return frozenset(found)


@cache
def staying(body: tuple) -> tuple:
    """Return statements without the branches that leave the loop or the function, as nothing follows these."""
    found = []
    for node in body:
        if isinstance(node, ast.If):
            ways = [() if _leaves(way) else staying(tuple(way)) for way in (node.body, node.orelse)]
            found.append(ast.Expr(node.test))
            found += [*ways[0], *ways[1]]
        else:
            found.append(node)
    return tuple(found)


@cache
def waits_outside(node: ast.If) -> bool:
    """Return whether a branch only assigns and then breaks. A compiler moves these assignments out of the loop."""
    *first, last = node.body
    return (
        bool(first)
        and isinstance(last, ast.Break)
        and all(isinstance(one, ast.Assign) for one in first)
        and not any(isinstance(part, ast.Call) for one in first for part in walk(one))
    )


@cache
def free_of_waiting(node: ast.For | ast.While) -> bool:
    """Return whether no thread can wait for another one in a loop, because the loop calls only functions of numbers."""
    calls = [part.func for part in walk(node) if isinstance(part, ast.Call)]
    return all(
        getattr(getattr(function, "value", None), "id", "") in ("math", "np", "numpy")
        or getattr(function, "id", "") in ("range", "min", "max", "abs", "int", "float", "len", "round")
        for function in calls
    )


@cache
def kept_element(node: ast.For | ast.While) -> ast.Subscript | None:
    """Return the array element that a loop changes, if each trip stores to this same element and to no other."""
    stored, called, assigned = _parts(tuple(node.body))
    targets = [
        one.target if isinstance(one, ast.AugAssign) else one.targets[0]
        for one in node.body
        if isinstance(one, (ast.Assign, ast.AugAssign))
    ]
    targets = [one for one in targets if isinstance(one, ast.Subscript)]
    parts = [p for statement in node.body for p in walk(statement)]
    changed = [p for p in parts if isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Store)]
    if len(changed) != 1 or changed != targets or (called and not free_of_waiting(node)):
        return None
    counter = walk(node.target) if isinstance(node, ast.For) else ()
    moving = assigned | {n.id for n in counter if isinstance(n, ast.Name)}
    names = {n.id for n in walk(targets[0]) if isinstance(n, ast.Name)}
    return None if names & moving or stored == (None,) else targets[0]


def _leaves(body: list) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Break, ast.Return))


@cache
def unused_calls(function: ast.FunctionDef) -> frozenset:
    """Return the calls whose results are not used: calls as statements, or assigned to a name that is never read."""
    read = {n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return frozenset(
        node.value
        for node in walk(function)
        if isinstance(node, ast.Expr)
        or (
            isinstance(node, ast.Assign)
            and all(isinstance(t, ast.Name) and t.id not in read for t in node.targets)
        )
    )


@cache
def _parts(body: tuple) -> tuple:
    """Return three things: the arrays that statements write (None if unnamed), the calls, and the assigned names."""
    parts = [part for node in body for part in walk(node)]
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
    except SimtError:  # the statements themselves assign this name
        return False
    if isinstance(thing, Intrinsic):
        return thing.name in HARMLESS
    if hasattr(thing, "py_func"):
        return _only_computes(run, run.launch.program(thing))
    return isinstance(thing, (Builtin, TypeName))


def _only_computes(run, program) -> bool:
    """Return whether a device function stores nothing, and calls only functions that write no memory."""
    if program not in _ONLY_COMPUTE:
        _ONLY_COMPUTE[program] = False  # preliminary: ends the recursion if it calls itself
        _ONLY_COMPUTE[program] = not effects(run, Frame(program, run.wave.nobody), program.tree.body)
    return _ONLY_COMPUTE[program]


_ONLY_COMPUTE: WeakKeyDictionary = WeakKeyDictionary()
