"""Unrolling: how many trips of a loop a compiler writes out one after the other, if it knows the number of trips.

It writes out all trips if they have few instructions in total, or if they touch a local array, which then stays in
registers. Otherwise it writes out a group of trips: a power of two that divides their number. The limits were found by
compiling loops of 8 to 128 trips around 14 bodies.
"""

import ast
from functools import lru_cache

from course_pkg.simt.front.walking import walk

UNROLLED = 128  # most trips of a loop that is written out completely
WHOLE, GROUP = 320, 140  # most instructions of a loop, and of a group of trips, that are written out
LARGEST_GROUP = 16
DIVISION, ROOT, EXPANDED, BRANCH = (
    5,
    5,
    25,
    4,
)  # number of instructions for a division, a root, a function such as exp, an if
ROOTS = ("sqrt", "rsqrt")
SHORT = ("max", "min", "abs", "fabs", "floor", "ceil", "range", "fma", "len", "bool", "int", "float")
MATHEMATICS = ("math", "np", "numpy")


@lru_cache(1024)  # the same for each launch of a kernel
def written_out_of(node: ast.For, trips: int, local: bool) -> int:
    """Return how many trips of a loop of ``trips`` trips are written out one after the other.

    Parameters
    ----------
    node : ast.For
    trips : int
    local : bool
        Whether the loop touches a local array.

    Examples
    --------
    >>> loop = ast.parse("for k in range(32): total += near[k] / far[k]").body[0]
    >>> [written_out_of(loop, trips, False) for trips in (8, 32, 48)]
    [8, 8, 8]
    """
    if trips <= UNROLLED and (trips * size(node) <= WHOLE or local):
        return max(trips, 1)
    group = LARGEST_GROUP
    while group > 1 and (trips % group or group * size(node) > GROUP):
        group //= 2
    return group


@lru_cache(1024)
def moves_before(node: ast.For | ast.While) -> bool:
    """Return whether loads that are the same in each trip are moved before the loop.

    The compiler tests once, before the loop, whether there is a first trip. It moves the loads that this trip certainly
    does before the loop, and puts the test for further trips at the end of the body. If the body already ends by
    leaving the loop, the compiler keeps the test at the beginning. Then no load is certain, and none is moved.
    """
    last = node.body[-1]
    leaves = (
        isinstance(last, ast.If) and not last.orelse and isinstance(last.body[-1], (ast.Break, ast.Return))
    )
    return not leaves


def size(node: ast.For) -> int:
    """Estimate the instructions of a trip: its statements, and the step of the loop's variable."""
    changing = {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
    seen: set = set()
    return 1 + sum(_of(statement, changing, seen) for statement in node.body)


def _of(part, changing: set, seen: set) -> int:
    if isinstance(part, ast.For):
        ends = part.iter.args if isinstance(part.iter, ast.Call) else []
        trips = ends[0].value if len(ends) == 1 and isinstance(ends[0], ast.Constant) else 2
        return trips * (1 + sum(_of(statement, changing, seen) for statement in part.body))
    inner = sum(_of(child, changing, seen) for child in ast.iter_child_nodes(part))
    if isinstance(part, ast.Subscript):
        return inner + _access(part, changing, seen)
    if isinstance(part, ast.BinOp):
        return inner + (DIVISION if isinstance(part.op, (ast.Div, ast.Mod, ast.FloorDiv)) else 1)
    if isinstance(part, ast.AugAssign):
        return inner + (DIVISION if isinstance(part.op, ast.Div) else 1)
    if isinstance(part, ast.Call):
        return inner + _called(part)
    return inner + int(isinstance(part, (ast.Compare, ast.IfExp))) + BRANCH * isinstance(part, ast.If)


def _access(node: ast.Subscript, changing: set, seen: set) -> int:
    """Count an access: its address and itself, the product with the row's number, and the sum with the last index."""
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(node.ctx, ast.Load) and not _new(node, seen):
        return 0
    rows = {n.id for index in indices[:-1] for n in walk(index) if isinstance(n, ast.Name)}
    found = 2
    if rows & changing:
        row = ast.Tuple([node.value, *indices[:-1]], ast.Load())
        found += _new(row, seen) + (not isinstance(indices[-1], ast.Constant))
    return found


def _new(node: ast.AST, seen: set) -> bool:
    """Tell whether an expression is met for the first time in the body."""
    key = ast.dump(node)
    new = key not in seen
    seen.add(key)
    return new


def _called(node: ast.Call) -> int:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ROOTS:
        return ROOT
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return EXPANDED if getattr(owner, "id", "") in MATHEMATICS and name not in SHORT else 1
