"""Chance: whether the data of a launch decide which barriers its threads come to.

With such a kernel, one launch shows little: with other data, the barrier that it needs may be left out. The text alone
is asked, so the answer may also be yes where the data always decide in the same way.
"""

import ast
from collections.abc import Iterable

from course_pkg.simt.front.walking import walk

BARRIERS = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "sync")
OF_THE_LAUNCH = (
    "grid",
    "gridsize",
    "this_grid",
    "range",
    "min",
    "max",
    "len",
    "int",
    "abs",
    "divmod",
    "bool",
)
LEAVES = (ast.Break, ast.Continue, ast.Return)


def data_decide(programs: Iterable) -> bool:
    """Return whether a condition or a loop that leads to a barrier, or past one, depends on elements of arrays.

    Parameters
    ----------
    programs : iterable of Program
        The kernel and the device functions that it calls. A name means the same in all of them here.
    """
    trees = [program.tree for program in programs]
    functions = {one.name: one for tree in trees for one in walk(tree) if isinstance(one, ast.FunctionDef)}
    meeting = _closed(functions, lambda node, found: _meets(node, found))
    if not meeting:
        return False
    drawn = _drawn(trees, functions)
    return any(
        _depends(test, drawn) and (_meets(node, meeting) or _leaves(node))
        for tree in trees
        for node in walk(tree)
        for test in _tests(node)
    )


def _tests(node) -> list:
    """Return what decides which parts of a piece of source run, and how often."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.For):
        return [node.iter]
    return node.values[:-1] if isinstance(node, ast.BoolOp) else []


def _leaves(node) -> bool:
    return any(isinstance(part, LEAVES) for part in walk(node))


def _meets(node, functions) -> bool:
    """Return whether a piece of source has a barrier, or calls one of these functions."""
    return any(
        (isinstance(part, ast.Attribute) and part.attr in BARRIERS)
        or (isinstance(part, ast.Name) and part.id in functions)
        for part in walk(node)
    )


def _closed(functions: dict, holds) -> set:
    """Return the names of functions that satisfy ``holds``; repeat, as ``holds`` may use the names found so far."""
    found: set = set()
    while more := {name for name, one in functions.items() if name not in found and holds(one, found)}:
        found |= more
    return found


def _drawn(trees: list, functions: dict) -> set:
    """Return the names that may hold a number that depends on elements of arrays."""
    drawn: set = set()
    while True:
        more = set()
        for node in (part for tree in trees for part in walk(tree)):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.NamedExpr)):
                value = node.iter if isinstance(node, ast.For) else node.value
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                elements = isinstance(value, ast.Name) and isinstance(node, ast.For)
                if elements or (value is not None and _depends(value, drawn)):
                    more |= _stored(*targets)
            elif isinstance(node, (ast.If, ast.While)) and _depends(node.test, drawn):
                more |= _stored(node)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in functions:
                parameters = functions[node.func.id].args.args
                more |= {
                    parameter.arg
                    for parameter, given in zip(parameters, node.args, strict=False)
                    if _depends(given, drawn)
                }
        if more <= drawn:
            return drawn
        drawn |= more


def _stored(*nodes) -> set:
    """Return the names that pieces of source assign."""
    parts = (part for node in nodes for part in walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _depends(node, drawn: set) -> bool:
    """Return whether an expression depends on elements of arrays; calls are taken to do so, if they are not known."""
    if (isinstance(node, ast.Subscript) and not _of_a_shape(node)) or _asks_an_array(node):
        return True
    if isinstance(node, ast.Name):
        return node.id in drawn
    if isinstance(node, ast.Call):
        known = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if known not in OF_THE_LAUNCH:
            return True
        return any(_depends(part, drawn) for part in node.args)
    return any(_depends(part, drawn) for part in ast.iter_child_nodes(node))


def _of_a_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")


def _asks_an_array(node) -> bool:
    """Return whether an expression is ``max(a)``, ``min(a)`` or ``x in a``, where ``a`` may be a whole array."""
    asked = []
    if isinstance(node, ast.Call) and len(node.args) == 1:
        asked = node.args if getattr(node.func, "id", None) in ("min", "max") else []
    elif isinstance(node, ast.Compare):
        pairs = zip(node.ops, node.comparators, strict=True)
        asked = [right for op, right in pairs if isinstance(op, (ast.In, ast.NotIn))]
    return any(isinstance(one, (ast.Name, ast.Attribute)) for one in asked)
