"""What decides whether a ``while`` loop goes on: the values, the comparisons, and how far these are from turning."""

import ast
from functools import cache

import numpy as np

from course_pkg.simt.front.typing import SCALARS
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.hints import LOADS
from course_pkg.simt.run.locating import owner
from course_pkg.simt.run.state import Frame
from course_pkg.simt.run.turns import program_called
from course_pkg.simt.run.values import Value

ARITHMETIC = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply}
COMPARED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq)
LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
# functions whose results depend only on their arguments, on memory, and on the lanes that call them
KNOWN = (
    *("range", "len", "min", "max", "abs", "int", "float", "bool", "sqrt", "fabs", "exp", "log"),
    *("add", "sub", "exch", "cas", "compare_and_swap", "and_", "or_", "xor", "inc", "dec"),
    *("syncthreads", "syncwarp", "threadfence", "threadfence_block", "grid", "gridsize"),
    *("threadfence_system", "nanosleep", "syncthreads_count", "syncthreads_and", "syncthreads_or"),
    *("activemask", "lanemask_lt", "popc", "clz", "ffs", "brev", "selp", *LOADS, *SCALARS),
    *("ballot_sync", "any_sync", "all_sync", "shfl_sync", "shfl_down_sync", "shfl_up_sync", "shfl_xor_sync"),
)


def leaves(node) -> bool:
    """Return whether a loop's body contains a way out of the loop, such as ``break`` or ``return``."""
    return any(_ways_out(statement, inner=False) for statement in node.body)


def _ways_out(node, inner: bool) -> bool:
    if isinstance(node, (ast.Return, ast.Raise)) or (isinstance(node, ast.Break) and not inner):
        return True
    inner = inner or isinstance(node, (ast.For, ast.While))
    return any(_ways_out(child, inner) for child in ast.iter_child_nodes(node))


@cache
def deciding(node: ast.While) -> frozenset:
    """Return the names whose values decide whether a loop goes on."""
    assignments = list(_assignments(node.body, ()))
    names = _names([node.test, *(test for way in _headers(node.body, ()) for test in way)])
    while True:
        needed = [part for targets, parts in assignments if targets & names for part in parts]
        more = names | _names(needed)
        if more == names:
            break
        names = more
    return frozenset(names)


def all_known(run, frame, node, seen: set) -> bool:
    """Return whether all functions that a piece of source calls are known, or device functions that call such alone."""
    for call in (part for part in walk(node) if isinstance(part, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2] in KNOWN:
            continue
        program = program_called(run, frame, call)
        if program is None:
            return False
        if program not in seen:
            seen.add(program)
            if not all_known(run, Frame(program, run.wave.nobody), program.tree, seen):
                return False
    return True


@cache
def tests(node: ast.While) -> tuple:
    """Return the comparisons of two numbers that decide whether a loop goes on."""
    read = [node.test, *(test for way in _headers(node.body, ()) for test in way)]
    found = (p for one in read for p in walk(one) if isinstance(p, ast.Compare))
    of_two = [c for c in found if len(c.ops) == 1 and isinstance(c.ops[0], COMPARED)]
    if isinstance(node.test, (ast.Name, ast.Subscript)):  # `while k` is `while k != 0`
        of_two.append(ast.Compare(node.test, [ast.NotEq()], [ast.Constant(0)]))
    return tuple(of_two)


def _headers(body, around):
    """Yield, for each way out of a loop, the conditions that lead to it."""
    for statement in body:
        if isinstance(statement, LEAVES):
            yield around
        for test, inner in _branches(statement):
            yield from _headers(inner, (*around, test))


def _assignments(body, around):
    """Yield the names that each statement assigns, and the expressions that determine the assigned values."""
    for statement in body:
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            stored = {n.id for t in targets for n in walk(t) if isinstance(n, ast.Name)}
            yield stored, (statement, *around)
        if isinstance(statement, ast.For):
            yield _names([statement.target]), (statement.iter, *around)
        for test, inner in _branches(statement):
            yield from _assignments(inner, (*around, test))


def _branches(statement):
    if isinstance(statement, (ast.If, ast.While, ast.For)):
        test = statement.iter if isinstance(statement, ast.For) else statement.test
        return [(test, statement.body), (test, statement.orelse)]
    return []


def _names(nodes) -> set:
    return {p.id for node in nodes for p in walk(node) if isinstance(p, ast.Name)}


def same(before, now) -> bool:
    if isinstance(before, Value) and isinstance(now, Value):
        return before is now or np.array_equal(before.data, now.data, equal_nan=True)
    if isinstance(before, tuple) and isinstance(now, tuple):
        return len(before) == len(now) and all(map(same, before, now))
    return before is now


def distance_of(run, frame, test, lanes):
    """Return the distance of a comparison from its turning point in each active lane, as a list of arrays.

    If both sides are known, the list contains the difference of the sides. If only one side is known, it contains the
    value of this side and its negative, because either may measure the distance. If neither is known, return None.
    """
    left, right = (_number(run, frame, side) for side in (test.left, test.comparators[0]))
    if left is None and right is None:
        return None
    if left is not None and right is not None:
        ways = [np.abs(np.subtract(left, right, dtype=float))]
    else:
        one = np.asarray(right if left is None else left, float)
        ways = [one, -one]
    return [np.broadcast_to(way, lanes.wave.shape)[lanes.full] for way in ways]


def closer(before, now) -> bool:
    """Return whether a comparison has come closer to its turning point in every lane."""
    if before is None or now is None:
        return False
    return any(bool((b < a).all()) for a, b in zip(before, now, strict=False) if a.shape == b.shape)


def _number(run, frame, node):
    """Return the value of a simple expression in each lane; None if it has more than names, elements and arithmetic."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name) and node.id in frame.variables:
        value = frame.variables[node.id].value
        return value.data if isinstance(value, Value) and value.data.dtype.kind in "iuf" else None
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = _number(run, frame, node.left), _number(run, frame, node.right)
        return None if left is None or right is None else ARITHMETIC[type(node.op)](left, right)
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in frame.variables
    ):
        return _element(run, frame, node, frame.variables[node.value.id].value)
    return None


def _element(run, frame, node, array):
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    indices = [_number(run, frame, part) for part in parts]
    whole = isinstance(array, Array) and len(indices) == array.ndim and array.dtype.kind in "iuf"
    if not whole or any(np.asarray(i).dtype.kind not in "iu" for i in indices):  # None is not an integer
        return None
    at = sum(i * by for i, by in zip(indices, array.strides, strict=True)) + array.offset + owner(run, array)
    return array.flat.take(at, mode="clip")
