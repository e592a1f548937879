"""What a compiler does to a kernel before the hardware counts it: loops written out, common loads moved up.

Each rule was found in the machine code of small kernels and holds to the last unit on those that
``course verify counters`` runs; the kernels it lists as inexact show where the rules end.
"""

import ast

import numpy as np

from course_pkg.simt.expressions import evaluate

LOOP_SIZE = 150  # instructions that a loop may have once it is written out several times
LOAD, STORE, OPERATION = 6, 5, 1  # instructions of each, with its address
NEVER = ("syncthreads", "syncwarp", "_sync", "atomic")  # what keeps a loop from being written out


def unrolled_by(node: ast.For) -> int:
    """Return how many passes of a loop with an unknown number of passes a compiler writes out together.

    That regroups the lanes of a warp where they make different numbers of passes: first each lane makes those that
    fill no group, then all go on in whole groups.
    """
    size = 2
    for part in (p for statement in node.body for p in ast.walk(statement)):
        if isinstance(part, (ast.Break, ast.Return, ast.For, ast.While)):
            return 1
        if isinstance(part, ast.Call) and any(word in ast.unparse(part.func) for word in NEVER):
            return 1
        if isinstance(part, ast.Subscript):
            size += STORE if isinstance(part.ctx, ast.Store) else LOAD
        elif isinstance(part, (ast.BinOp, ast.AugAssign, ast.Compare)):
            size += OPERATION
    return next((times for times in (4, 2) if times * size <= LOOP_SIZE), 1)


def passes(trips: np.ndarray, together: int):
    """Yield ``(pass, lanes)`` of a loop in the order in which a warp makes them.

    Parameters
    ----------
    trips : ndarray of int64
        How many passes each lane makes.
    together : int
        Passes that are written out as one group.

    Yields
    ------
    at : int or ndarray
        Number of the pass in each lane.
    lanes : ndarray of bool, or None for all
    """
    most = int(trips.max()) if trips.size else 0
    if trips.size == 1 or together == 1:
        for at in range(most):
            yield at, None if trips.size == 1 else trips > at
        return
    groups, rest = trips // together, trips % together
    for part in range(int(rest.max())):
        yield part, rest > part
    for group in range(int(groups.max())):
        for part in range(together):
            yield rest + group * together + part, groups > group


def hoist(run, frame, node: ast.If, mask) -> None:
    """Load what both branches load first before they part: once for all lanes, as a compiler does."""
    compared = _compared(node.test)
    for one, other in zip(_events(node.body), _events(node.orelse), strict=False):
        if ast.dump(one) != ast.dump(other):
            return
        if isinstance(one, ast.Subscript):
            if compared & _names(one.slice):
                return  # in each branch the compiler knows something else about the index, so the addresses differ
            run.settle(evaluate(run, frame, one, mask))


def _events(body: list):
    """Yield loads and operations of the statements at the head of a branch, in the order of their evaluation."""
    for statement in body:
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or statement.value is None:
            return
        yield from _in_order(statement.value)
        if any(isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Store) for p in ast.walk(statement)):
            return


def _in_order(node):
    if isinstance(node, ast.Subscript):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
    if isinstance(node, (ast.BinOp, ast.Call, ast.Compare, ast.IfExp)):
        yield node


def _compared(test) -> set:
    """Names that a condition compares by size: they are better known on either side of it."""
    found: set = set()
    for part in ast.walk(test):
        if isinstance(part, ast.Compare) and not all(isinstance(op, (ast.Eq, ast.NotEq)) for op in part.ops):
            found |= _names(part)
    return found


def _names(node) -> set:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
