"""A model of the compiler, which changes a kernel before the hardware counts it.

This module unrolls loops of unknown length, :mod:`.unrolling` unrolls the other loops, and :mod:`.branches` transforms
branches. Each rule was found in the machine code of small kernels. With these rules the counts of
all kernels that ``course verify counters`` runs are exact, except those of the kernels that it lists as inexact.
"""

import ast
from functools import lru_cache

import numpy as np

from course_pkg.simt.counting.branches import names_in
from course_pkg.simt.counting.forms import never_unrolled
from course_pkg.simt.counting.nested import Written, without_inner_loops
from course_pkg.simt.front.walking import walk

# {trips per group: most instructions in the body}: a loop is unrolled by 4, or else by 2, if its body is short enough.
# The limits were found by compiling bodies of 1 to 90 operations with one to three indices.
WRITTEN_OUT = {4: 47, 2: 90}
DIVISION = 6  # a floating-point division counts as this number of instructions


@lru_cache(1024)  # the same for each launch of a kernel
def unrolled_by(program, node: ast.For, local: frozenset) -> int:
    """Return the factor by which a compiler unrolls a loop whose number of trips it does not know.

    If the lanes of a warp make different numbers of trips, unrolling changes which lanes run a trip together.
    ``local`` holds the names of local arrays, which stay in registers if the compiler knows all indices.
    """
    node = without_inner_loops(program, node, local)
    if node is None or never_unrolled(node):
        return 1
    size = _Size(node, local).of(node.body)
    return next((times for times, limit in WRITTEN_OUT.items() if size <= limit), 1)


def rest_begins(program, node: ast.For, local: frozenset, trips: int) -> int | None:
    """Return the trip with which a loop over the trips that fill no group begins; None if there is no such loop.

    It comes behind the loop over groups, which may have been left out. So nothing that this loop has loaded or stored
    is in a register there.
    """
    together = unrolled_by(program, node, local)
    whole = trips - trips % together
    return whole if 0 < whole < trips else None


class _Size:
    """Counts the instructions of a loop's body, without those that are the same in every trip: these are moved out."""

    def __init__(self, node: ast.For, local: frozenset):
        self.changing, self.local = names_in(node.target), local
        for part in (p for statement in node.body for p in walk(statement)):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.changing.add(part.id)
        self.seen: set = set()

    def of(self, part) -> int:
        """Count a statement, an expression, or a list of them."""
        if isinstance(part, list):
            return sum(map(self.of, part))
        if isinstance(part, ast.Subscript):
            return self._access(part)
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Subscript):
            access = self._access(part.target)
            return (
                1 + bool(access) + access + self.of(part.value)
            )  # the operation, and a store besides the load
        inner = sum(map(self.of, ast.iter_child_nodes(part)))
        return inner + self._own(part)

    @staticmethod
    def _own(part) -> int:
        if isinstance(part, ast.BinOp):
            return DIVISION if isinstance(part.op, ast.Div) else 1
        return int(isinstance(part, (ast.AugAssign, ast.Compare, ast.If, ast.IfExp, ast.Call)))

    def _access(self, node) -> int:
        """Count a load or a store: negative indices are wrapped, then all indices are combined into one address."""
        array, indices = ast.unparse(node.value), _indices(node)
        if array in self.local and all(isinstance(i, ast.Constant) for i in indices):
            return 0
        moving = [i for i in indices if self._changes(i)]
        if not moving and isinstance(node.ctx, ast.Load):
            return 0
        if isinstance(node.ctx, ast.Load) and not self._new("load", array, *indices):
            return 0
        size = 2 + sum(self._index(array, i) for i in moving)  # 2: the address, and the load or store
        for d in range(1, len(indices)):  # (i * rows + j) * columns + k
            rows = any(self._changes(i) or (isinstance(i, Written) and i.value) for i in indices[:d])
            size += rows * self._new("product", array, *indices[:d])
            size += any(map(self._changes, indices[: d + 1])) * self._new("sum", array, *indices[: d + 1])
        return size

    def _index(self, array: str, index) -> int:
        """Count the arithmetic of an index, the test of its sign, and the addition that wraps a negative index."""
        size = 0
        for part in walk(index):
            if isinstance(part, ast.BinOp) and self._changes(part):
                size += self._new("operation", part)
            elif isinstance(part, ast.Subscript):
                size += self._access(part)
        if "uint" in ast.unparse(index):
            return size + 1  # an unsigned index needs no test: one instruction clears its upper half
        return size + self._new("sign", index) + 2 * self._new("end", array, index)

    def _changes(self, index) -> bool:
        return bool(names_in(index) & self.changing)

    def _new(self, *what) -> bool:
        """Return whether this expression is computed for the first time in the body."""
        key = tuple(ast.dump(part) if isinstance(part, ast.AST) else part for part in what)
        new = key not in self.seen
        self.seen.add(key)
        return new


def _indices(node: ast.Subscript) -> list:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def passes(trips: np.ndarray, together: int, rest_first: bool):
    """Yield ``(trip, lanes)`` of a loop in the order in which a warp runs its trips.

    Parameters
    ----------
    trips : ndarray of int64
        Number of trips of each lane.
    together : int
        Number of trips in one group of the unrolled loop.
    rest_first : bool
        Whether the trips that do not fill a group come first. They do, unless the loop starts at a constant.

    Yields
    ------
    at : int or ndarray
        Number of the trip in each lane.
    lanes : ndarray of bool, or None
        The lanes that run this trip; None stands for all.
    """
    most = int(trips.max()) if trips.size else 0
    if trips.size == 1 or together == 1:
        for at in range(most):
            yield at, None if trips.size == 1 else trips > at
        return
    groups, rest = trips // together, trips % together
    begin, end = (0, rest) if rest_first else (together * groups, 0)
    if rest_first:
        for part in range(int(rest.max())):
            yield begin + part, rest > part
    for group in range(int(groups.max())):
        for part in range(together):
            yield end + group * together + part, groups > group
    if not rest_first:
        for part in range(int(rest.max())):
            yield begin + part, rest > part
