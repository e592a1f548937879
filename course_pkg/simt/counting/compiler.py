"""A model of the compiler, which changes a kernel before the hardware counts it.

It unrolls loops, moves loads that two branches share before the branch, computes short branches for all lanes, and
moves stores behind a branch. Each rule was found in the machine code of small kernels. With these rules the counts of
all kernels that ``course verify counters`` runs are exact, except those of the kernels that it lists as inexact.
"""

import ast
from functools import lru_cache

import numpy as np

from course_pkg.simt.counting.certainty import never_unrolled
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.values import Value

# {trips per group: most instructions in the body}: a loop is unrolled by 4, or else by 2, if its body is short enough.
# The limits were found by compiling bodies of 1 to 90 operations with one to three indices.
WRITTEN_OUT = {4: 47, 2: 90}
# both sides of a branch together may have so many operations if all lanes are to compute both sides
SPECULATED = 4
PURE = (
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.Name,
    ast.Constant,
    ast.expr_context,
    ast.Subscript,
)
DIVISION = 6  # a floating-point division counts as this number of instructions


@lru_cache(1024)  # the same for each launch of a kernel
def unrolled_by(node: ast.For) -> int:
    """Return by how many trips a compiler unrolls a loop whose number of trips it does not know.

    If the lanes of a warp make different numbers of trips, unrolling changes which lanes run a trip together.
    """
    if never_unrolled(node):
        return 1
    size = _Size(node).of(node.body)
    return next((times for times, limit in WRITTEN_OUT.items() if size <= limit), 1)


class _Size:
    """Counts the instructions of a loop's body. What is the same in every trip is moved out and does not count."""

    def __init__(self, node: ast.For):
        self.changing = _names(node.target)
        for part in (p for statement in node.body for p in ast.walk(statement)):
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
            return (
                2 + self._access(part.target) + self.of(part.value)
            )  # an operation, and a store besides the load
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
        moving = [i for i in indices if self._changes(i)]
        if not moving and isinstance(node.ctx, ast.Load):
            return 0
        if isinstance(node.ctx, ast.Load) and not self._new("load", array, *indices):
            return 0
        size = 2 + sum(self._index(array, i) for i in moving)  # 2: the address, and the load or store
        for d in range(1, len(indices)):  # (i * rows + j) * columns + k
            size += any(map(self._changes, indices[:d])) * self._new("product", array, *indices[:d])
            size += any(map(self._changes, indices[: d + 1])) * self._new("sum", array, *indices[: d + 1])
        return size

    def _index(self, array: str, index) -> int:
        """Count an index' arithmetic, the test of its sign, and the addition that wraps a negative index."""
        size = 0
        for part in ast.walk(index):
            if isinstance(part, ast.BinOp) and self._changes(part):
                size += self._new("operation", part)
            elif isinstance(part, ast.Subscript):
                size += self._access(part)
        if "uint" in ast.unparse(index):
            return size + 1  # an unsigned index needs no test: one instruction clears its upper half
        return size + self._new("sign", index) + 2 * self._new("end", array, index)

    def _changes(self, index) -> bool:
        return bool(_names(index) & self.changing)

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


def hoist(run, frame, node: ast.If, mask) -> None:
    """Move loads with which both branches begin before the branch: they then count once, for all lanes."""
    compared = _compared(frame.program, node.test)
    for one, other in zip(_events(node.body), _events(node.orelse), strict=False):
        if ast.dump(one) != ast.dump(other):
            return
        if isinstance(one, ast.Subscript):
            if compared & _names(one.slice):
                return  # the compiler knows another range of the index in each branch, so the address code differs
            loaded = evaluate(run, frame, one, mask)
            if isinstance(loaded, Value):  # and no row of a matrix, which is no load
                run.ledger.settle(loaded)
            run.ledger.hoisted.add(ast.dump(one))


def speculated(ledger, frame, node: ast.If) -> bool:
    """Return whether all lanes compute both sides and then select one, as for a little arithmetic without memory."""
    operations = 0
    for statement in (*node.body, *node.orelse):
        if not isinstance(statement, (ast.Assign, ast.AugAssign)) or _stores(statement):
            return False
        operations += isinstance(statement, ast.AugAssign)
        for part in ast.walk(statement.value):
            if not isinstance(part, PURE):
                return False
            operations += isinstance(part, ast.BinOp)
            if isinstance(part, ast.Subscript) and ast.dump(part) not in ledger.hoisted:
                return False
            if isinstance(part, ast.Name) and _moves_down(frame, part.id):
                return False
    return 0 < operations <= SPECULATED


def predicated(frame, node: ast.If) -> bool:
    """Return whether a branch becomes stores under a predicate, so that what they store is computed before it.

    That is an ``if`` which only stores variables, and after which the kernel goes on. At the kernel's end, the other
    lanes leave instead, and the computation moves behind their way out.
    """
    if node.orelse or id(node) in _tails(frame.program):
        return False
    return all(_stores_a_variable(statement) for statement in node.body)


def _stores_a_variable(statement) -> bool:
    if (
        not isinstance(statement, ast.Assign)
        or not _stores(statement)
        or not isinstance(statement.value, ast.Name)
    ):
        return False
    loads = (p for target in statement.targets for p in ast.walk(target) if isinstance(p, ast.Subscript))
    return all(isinstance(p.ctx, ast.Store) for p in loads)


def _moves_down(frame, name: str) -> bool:
    """Return whether a variable holds a load that is used once; such a load moves into the branch that uses it."""
    variable = frame.variables.get(name)
    origin = getattr(variable.value, "origin", None) if variable else None
    if origin is None or origin.done or not origin.space:
        return False
    uses = [n for n in ast.walk(frame.program.tree) if isinstance(n, ast.Name) and n.id == name]
    return sum(isinstance(n.ctx, ast.Load) for n in uses) == 1


def sunk(frame, node: ast.If) -> tuple | None:
    """Return an ``if`` and one store behind it, if both of its branches end with a store to the same element.

    Return None for an ``if`` at the end of a kernel: there the bytecode has a return in each branch, and the stores
    stay inside.
    """
    if not node.orelse or id(node) in _tails(frame.program):
        return None
    first, second = node.body[-1], node.orelse[-1]
    for last in (first, second):
        if not (isinstance(last, ast.Assign) and len(last.targets) == 1 and _stores(last)):
            return None
    target = first.targets[0]
    if ast.dump(target) != ast.dump(second.targets[0]) or _compared(frame.program, node.test) & _names(
        target
    ):
        return None
    if (id(frame.program), id(node)) not in _SUNK:
        name = f".value {node.lineno}"  # not a valid Python name, so no variable of the kernel can have it
        ways = [
            [
                *body[:-1],
                ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], body[-1].value), body[-1]),
            ]
            for body in (node.body, node.orelse)
        ]
        branch = ast.copy_location(ast.If(node.test, *ways), node)
        store = ast.copy_location(ast.Assign([target], ast.Name(name, ast.Load())), first)
        _SUNK[id(frame.program), id(node)] = (
            ast.fix_missing_locations(branch),
            ast.fix_missing_locations(store),
            node,
        )
    return _SUNK[id(frame.program), id(node)][:2]


_SUNK: dict = {}
_TAILS: dict = {}


def _tails(program) -> set:
    """Return the ids of the ``if`` statements that are the last ones to run in a function."""
    if id(program) not in _TAILS:
        found, bodies = set(), [program.tree.body]
        while bodies:
            last = bodies.pop()[-1]
            if isinstance(last, ast.If):
                found.add(id(last))
                bodies += [body for body in (last.body, last.orelse) if body]
        _TAILS[id(program)] = found, program
    return _TAILS[id(program)][0]


def _stores(statement) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(t, ast.Subscript) for t in targets)


def _events(body: list):
    """Yield the loads and operations at the start of a branch, up to its first store, in the order of evaluation."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _in_order(statement.test)
            return
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


def _compared(program, test) -> set:
    """Return the names whose size a condition compares with constants: in a branch the compiler knows their sign."""
    found: set = set()
    for part in ast.walk(test):
        if not isinstance(part, ast.Compare) or all(isinstance(op, (ast.Eq, ast.NotEq)) for op in part.ops):
            continue
        if any(not _names(side) & program.assigned for side in (part.left, *part.comparators)):
            found |= _names(part)
    return found


def _names(node) -> set:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
