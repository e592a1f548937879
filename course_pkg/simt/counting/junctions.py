"""Where the compiler computes the parts of a condition that are joined by ``and`` or ``or``.

LLVM first moves a part before the branch of the previous part, if it has at most one operation besides its comparison.
A condition in it, such as the ``or`` in ``a and (b or c)``, is an operation for each of its parts.
A conversion counts as an operation: the 0 in ``x > 0`` is converted if x is a float, and x as well if it is a float32.
Then LLVM drops conversions of constants, moves values that only one part uses to that part, and tries again. Each
remaining part begins behind a branch. Only the lanes for which the condition is not decided yet go on there.
"""

import ast
from functools import lru_cache
from itertools import pairwise

from numba.core import types

from course_pkg.simt.counting.waiting import names_in
from course_pkg.simt.front.walking import walk
from course_pkg.simt.run.values import Value

FOLDED = 1  # most operations of a part that all lanes of the previous part compute, too


def begin_blocks(frame, node: ast.BoolOp) -> frozenset:
    """Return the numbers of those parts of a condition that have a branch before them.

    Parameters
    ----------
    frame : Frame
        Holds the variables. Their types decide which conversions are needed.
    node : ast.BoolOp
    """
    costs = [_cost(frame, part) for part in node.values]
    begins = [at for at in range(1, len(costs)) if sum(costs[at]) > FOLDED]
    if not begins:
        return frozenset()
    alone = {at for at in begins if at + 1 in begins or at + 1 == len(costs)}
    return frozenset(at for at in begins if at not in alone or _stays(frame, node.values[at], costs[at]))


def _stays(frame, part, cost) -> bool:
    """Tell whether a part stays behind a branch after its conversions were dropped."""
    operations, _ = cost
    return operations > FOLDED or any(_loaded_for(frame.program, name) for name in names_in(part))


def _cost(frame, part) -> tuple:
    """Return the numbers of operations and of conversions in a part; the first is infinite if it has a load or call."""
    operations, compares = _outline(part)
    conversions = 0
    for sides in compares:
        kinds = [_kind(frame, side) for side in sides]
        if any(isinstance(kind, types.Float) for kind in kinds):
            conversions += sum(isinstance(kind, types.Integer) for kind in kinds)
            wide = any(kind != types.float32 for kind in kinds if kind is not None)
            conversions += wide * sum(kind == types.float32 for kind in kinds)
    return operations, conversions


@lru_cache(4096)
def _outline(part) -> tuple:
    """Return the number of operations of a part, and the sides of its comparisons."""
    operations, compares = 0.0, []
    for node in walk(part):
        if isinstance(node, (ast.Subscript, ast.Call, ast.IfExp)):
            operations = float("inf")
        operations += isinstance(node, ast.BinOp)
        if isinstance(node, ast.BoolOp):  # a condition in a condition: its comparisons, and what joins them
            operations += len(node.values)
        if isinstance(node, ast.Compare):
            operations += len(node.ops) - 1
            sides = (node.left, *node.comparators)
            compares += pairwise(sides)
    return operations, tuple(compares)


def _kind(frame, side):
    """Return the type of one side of a comparison, if it is a name or a number."""
    if isinstance(side, ast.Constant):
        return types.int64 if isinstance(side.value, int) else types.float64
    names = [frame.variables.get(name) for name in names_in(side)]
    kinds = {held.value.type for held in names if held is not None and isinstance(held.value, Value)}
    return kinds.pop() if len(kinds) == 1 else None


@lru_cache(4096)
def _loaded_for(program, name: str) -> bool:
    """Tell whether a name is assigned once, from a loaded element, and is used once."""
    stores, loads = [], 0
    for node in walk(program.tree):
        if isinstance(node, ast.Name) and node.id == name:
            loads += isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Assign) and any(names_in(t) == {name} for t in node.targets):
            stores.append(node.value)
    return loads == 1 and len(stores) == 1 and isinstance(stores[0], ast.Subscript)
