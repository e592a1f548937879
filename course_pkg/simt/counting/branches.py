"""What a compiler does with short branches, and with loads and stores that both sides of a branch have.

If both sides begin with the same load, the compiler moves it before the branch. It computes short branches for all
lanes, and turns branches that only store into stores under a predicate. If both sides end with a store to the same
element, it moves the store behind the branch.
"""

import ast
from functools import lru_cache

from course_pkg.simt.counting.waiting import names_in
from course_pkg.simt.front.walking import walk
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.values import Value

# the most operations that both sides of a branch may have together if all lanes compute both sides
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


def hoist(run, frame, node: ast.If, mask) -> None:
    """Move the loads with which both sides of a branch begin before the branch. They then count once, for all lanes."""
    compared = _compared(frame.program, node.test)
    for one, other in zip(_events(node.body), _events(node.orelse), strict=False):
        if ast.dump(one) != ast.dump(other):
            return
        if isinstance(one, ast.Subscript):
            if compared & names_in(one.slice):
                return  # the compiler knows another range of the index in each branch, so the address code differs
            loaded = evaluate(run, frame, one, mask)
            if isinstance(loaded, Value):  # a row of a matrix is not a load
                run.ledger.settle(loaded)
            run.ledger.hoisted.add(ast.dump(one))


def speculated(ledger, frame, node: ast.If) -> bool:
    """Return whether all lanes compute both sides and then select one result.

    The compiler does so for a few arithmetic operations without memory accesses. It does not if there are three or more
    alternatives, as with ``elif``.
    """
    operations = 0
    if node in _one_of_many(frame.program):
        return False
    for statement in (*node.body, *node.orelse):
        if not isinstance(statement, (ast.Assign, ast.AugAssign)) or _stores(statement):
            return False
        operations += isinstance(statement, ast.AugAssign)
        for part in walk(statement.value):
            if not isinstance(part, PURE):
                return False
            operations += isinstance(part, ast.BinOp)
            if isinstance(part, ast.Subscript) and ast.dump(part) not in ledger.hoisted:
                return False
            if isinstance(part, ast.Name) and _moves_down(frame, part.id):
                return False
    return (operations > 0 or _only_signs(node)) and operations <= SPECULATED


def _only_signs(node: ast.If) -> bool:
    """Tell whether each statement of a branch gives a variable a number with a minus sign."""
    values = [getattr(statement, "value", None) for statement in (*node.body, *node.orelse)]
    return all(isinstance(v, ast.UnaryOp) and isinstance(v.op, ast.USub) for v in values)


@lru_cache(1024)
def _one_of_many(program) -> frozenset:
    """Return the ``if`` statements that stand alone in the ``else`` of another ``if``, such as ``elif``."""
    branches = (n for n in walk(program.tree) if isinstance(n, ast.If) and len(n.orelse) == 1)
    return frozenset(n.orelse[0] for n in branches if isinstance(n.orelse[0], ast.If))


def predicated(frame, node: ast.If) -> bool:
    """Return whether a branch becomes stores under a predicate; the stored values are then computed before it.

    This is so for an ``if`` that only stores variables and that is not the last statement of the kernel. At the end of
    the kernel, the lanes that do not take the branch exit instead, and the values are computed after their exit.
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
    loads = (p for target in statement.targets for p in walk(target) if isinstance(p, ast.Subscript))
    return all(isinstance(p.ctx, ast.Store) for p in loads)


def _moves_down(frame, name: str) -> bool:
    """Return whether a variable holds a load that is used once; such a load moves into the branch that uses it."""
    variable = frame.variables.get(name)
    origin = getattr(variable.value, "origin", None) if variable else None
    if origin is None or origin.done or not origin.space:
        return False
    uses = [n for n in walk(frame.program.tree) if isinstance(n, ast.Name) and n.id == name]
    return sum(isinstance(n.ctx, ast.Load) for n in uses) == 1


def sunk(frame, node: ast.If) -> tuple | None:
    """Return an ``if`` and one store behind it, if both of its branches end with a store to the same element.

    Return None for an ``if`` at the end of a kernel: there each branch has a return in the bytecode, so the stores stay
    inside the branches.
    """
    if not node.orelse or id(node) in _tails(frame.program):
        return None
    first, second = node.body[-1], node.orelse[-1]
    for last in (first, second):
        if not (isinstance(last, ast.Assign) and len(last.targets) == 1 and _stores(last)):
            return None
    target = first.targets[0]
    if ast.dump(target) != ast.dump(second.targets[0]) or _compared(frame.program, node.test) & names_in(
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
        if any(isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Store) for p in walk(statement)):
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
    """Return the names that a condition compares by size with constants: in a branch the compiler knows their sign."""
    found: set = set()
    for part in walk(test):
        if not isinstance(part, ast.Compare) or all(isinstance(op, (ast.Eq, ast.NotEq)) for op in part.ops):
            continue
        if any(not names_in(side) & program.assigned for side in (part.left, *part.comparators)):
            found |= names_in(part)
    return found
