"""Loads of both sides of a branch of which the compiler makes one, behind the branch: it selects the address.

LLVM does so where a variable gets an element on each side: ``v = a[i - 1]`` or ``v = a[n - 1]``. It does so as well where
an operation of both sides differs in one operand (``a[i] * s`` or ``b[i] * s``): then the operation comes behind the
branch, too. It does not where both operands differ (``a[i] * s`` or ``b[i] * t``), where a side stores something after its
load, or where a side uses the element once more. Read in the machine code of some fifty small kernels.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, reduce

import numpy as np

from course_pkg.simt.counting.waiting import names_in
from course_pkg.simt.front.walking import walk
from course_pkg.simt.run.lanes import Mask

COMMUTE = (ast.Add, ast.Mult)


@lru_cache(1024)  # the same for each launch of a kernel
def selected(program) -> dict:
    """Return ``{load: (branch, group, size)}`` for each load that the compiler joins with loads of other sides.

    ``branch`` names the branch as :func:`name_of` does, ``group`` is the first load of the group, ``size`` the number of its
    loads.
    """
    found: dict = {}
    for branch, sides, own in _branches(program):
        for group in _groups(sides, own):
            for node in group:
                found.setdefault(node, (branch, group[0], len(group)))
    return found


def name_of(node) -> tuple:
    """Return a name for a branch: its place in the source, which a rewritten copy of it has as well."""
    return type(node).__name__, node.lineno, node.col_offset


def _branches(program) -> Iterator[tuple]:
    """Yield the name of each branch, and for each value that its sides make what they compute, and the sides' names."""
    tree = program.tree
    last = walk(tree.body[-1])  # Python writes the end of a kernel into both ways of a choice
    for node in walk(tree):
        if isinstance(node, ast.If) and node.orelse:
            own = _assigned([node])
            for name in sorted(_assigned(node.body) & _assigned(node.orelse)):
                ways = [*_ends(node.body, name), *_ends(node.orelse, name)]
                if None not in ways:
                    yield name_of(node), ways, own - {name}
            stored = [_stored(body[-1]) for body in (node.body, node.orelse)]
            if node not in last and None not in stored and stored[0][0] == stored[1][0]:
                yield name_of(node), [value for _, value in stored], own
        elif isinstance(node, ast.IfExp) and node not in last:
            yield name_of(node), _flat(node), set()
    returned = [n.value for n in walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    if len(returned) > 1 and not any(isinstance(n, (ast.For, ast.While)) for n in walk(tree)):
        yield name_of(tree), returned, set()


def _flat(node) -> list:
    return [*_flat(node.body), *_flat(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def _assigned(body: list) -> set:
    """Return the names to which statements assign, also inside of branches."""
    return {n.id for one in body for n in walk(one) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _ends(body: list, name: str) -> list:
    """Return what a side gives a variable: one value for each way to its end; ``[None]`` if that cannot be told."""
    for at in reversed(range(len(body))):
        one = body[at]
        if isinstance(one, ast.If) and at == len(body) - 1 and one.orelse:
            if name in _assigned([one]):
                return [*_ends(one.body, name), *_ends(one.orelse, name)]
            return [None]
        value = _given(one, name)
        if value is not None:
            return [value]
        if not isinstance(one, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass)) or _writes(one):
            return [None]
        if any(isinstance(n, ast.Name) and n.id == name for n in walk(one)):
            return [None]  # a later statement of this side uses it
    return [None]


def _given(statement, name: str):
    """Return the value that a statement gives a variable, or None."""
    if isinstance(statement, ast.AugAssign) and getattr(statement.target, "id", "") == name:
        return statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    (target,), value = statement.targets, statement.value
    if isinstance(target, ast.Name):
        return value if target.id == name else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        names = [getattr(one, "id", "") for one in target.elts]
        return value.elts[names.index(name)] if names.count(name) == 1 else None
    return None


def _stored(statement):
    """Return the element that a statement stores to, and the value; None if it is no such statement."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _writes(statement):
        return ast.dump(statement.targets[0]), statement.value
    return None


def _writes(statement) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(n, (ast.Subscript, ast.Attribute)) for n in targets)


def _groups(values: list, own: set) -> Iterator[list]:
    """Yield the loads that become one; each side gives one of the values, and ``own`` are names that sides assign."""
    if all(map(_loads, values)):
        if len({ast.dump(value) for value in values}) > 1:
            yield values
        return
    if not all(isinstance(value, (ast.BinOp, ast.AugAssign)) for value in values):
        return
    if len({type(value.op) for value in values}) > 1 or isinstance(values[0].op, ast.Pow):
        return
    left, right = zip(*map(_operands, values), strict=True)
    if _alike(left, own) or _alike(right, own):
        yield from _groups(list(right if _alike(left, own) else left), own)
    elif len(values) == 2 and all(map(_loads, left + right)) and _of_one_array(right):
        yield list(left)
        yield list(right)


def _operands(value) -> tuple:
    """Return both operands, a constant last if they may be exchanged."""
    if isinstance(value, ast.AugAssign):
        return ast.Name(value.target.id, ast.Load()), value.value
    both = value.left, value.right
    constant_first = isinstance(value.left, ast.Constant) and isinstance(value.op, COMMUTE)
    return both[::-1] if constant_first else both


def _alike(operands, own: set) -> bool:
    """Tell whether an operand is the same on all sides: made of nothing that a side has computed itself."""
    return len({ast.dump(one) for one in operands}) == 1 and not names_in(operands[0]) & own


def _loads(value) -> bool:
    """Tell whether an expression is an element, or a field of one."""
    value = value.value if isinstance(value, ast.Attribute) else value
    return isinstance(value, ast.Subscript) and isinstance(value.ctx, ast.Load)


def _of_one_array(values) -> bool:
    arrays = {getattr(getattr(value, "value", None), "id", None) for value in values}
    return len(arrays) == 1 and None not in arrays


def joined(sides: list) -> list:
    """Return ``(place, lanes)`` of the accesses that are left of the loads of all sides.

    Parameters
    ----------
    sides : list of (Place, Mask)
        The element of each side, and the lanes that load it.
    """
    kinds: dict = {}
    for place, lanes in sides:
        kinds.setdefault((place.array.space, place.array.dtype), []).append((place, lanes))
    return [_one_of(alike) for alike in kinds.values()]


def _one_of(sides: list) -> tuple:
    lanes = reduce(Mask.union, (own for _, own in sides))
    by_array: dict = {}
    for place, own in sides:
        by_array.setdefault(_memory(place.array), []).append((place, own))
    parts = [_in_one_array(alike) for alike in by_array.values()]
    if len(parts) == 1:
        return parts[0], lanes
    return replace(parts[0], parts=tuple(parts)), lanes


def _memory(array) -> tuple:
    return array.region.number, array.flat.__array_interface__["data"][0], array.flat.strides


def _in_one_array(sides: list):
    """Return a place for the lanes of several sides in one array."""
    place, lanes = sides[0]
    at = place.offset
    for other, own in sides[1:]:
        at, lanes = np.where(own.full, other.offset, at), lanes.union(own)
    return replace(place, offset=at, lanes=lanes, inside=lanes, astray=False)
