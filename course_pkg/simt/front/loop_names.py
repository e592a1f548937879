"""Names in the source of a loop: those that a trip assigns, updates or uses; and whether its test has elements."""

import ast
from functools import cache

from course_pkg.simt.front.walking import walk


@cache
def carried(node) -> frozenset:
    """Return the names that a trip updates by an augmented assignment, such as ``n += 1``."""
    parts = (part for statement in node.body for part in walk(statement))
    targets = (part.target for part in parts if isinstance(part, ast.AugAssign))
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


@cache
def multiplied(node) -> frozenset:
    """Return the names that a trip updates by a product, as by ``p *= x``: the next trip multiplies them again."""
    parts = (part for statement in node.body for part in walk(statement) if isinstance(part, ast.AugAssign))
    return frozenset(
        part.target.id
        for part in parts
        if isinstance(part.op, ast.Mult) and isinstance(part.target, ast.Name)
    )


@cache
def used(node) -> set:
    """Return the names that a trip uses or assigns."""
    return {n.id for statement in node.body for n in walk(statement) if isinstance(n, ast.Name)}


@cache
def assigned(node) -> set:
    """Return the names that a trip assigns."""
    names = (n for statement in node.body for n in walk(statement) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


@cache
def has_elements(test) -> bool:
    """Return whether a condition has an element of an array in it: no such condition is constant."""
    return any(isinstance(part, ast.Subscript) for part in walk(test))
