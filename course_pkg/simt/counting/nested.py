"""Loops in loops: what the compiler sees of a loop after it has written out all trips of the loops inside.

It then unrolls the outer loop as any other one. The limits of :mod:`.compiler` hold here, too: they were compared with
machine code of five bodies in inner loops of 2 to 20 trips.
"""

import ast
import copy
import operator

from course_pkg.simt.counting.unrolling import written_out_of
from course_pkg.simt.front.walking import walk

FOLDED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def without_inner_loops(program, node: ast.For, local: frozenset) -> ast.For | None:
    """Return a loop whose inner loops are written out; None if the compiler does not write out one of them.

    Parameters
    ----------
    program : Program
        Its names from outside may be ends of inner loops.
    node : ast.For
    local : frozenset of str
        Names of local arrays: an inner loop that touches one of them is longer when it is written out.
    """
    body = _written_out(program, node.body, local)
    return None if body is None else ast.copy_location(ast.For(node.target, node.iter, body, []), node)


def _written_out(program, body: list, local: frozenset) -> list | None:
    found: list = []
    for statement in body:
        if isinstance(statement, ast.For):
            trips = _trips(program, statement)
            if trips is None or not isinstance(statement.target, ast.Name) or statement.orelse:
                return None
            touches = any(isinstance(n, ast.Name) and n.id in local for n in walk(statement))
            if written_out_of(statement, len(trips), touches) < len(trips):
                return None
            for number in trips:
                one = _Trip(statement.target.id, number)
                inner = _written_out(program, [one.visit(copy.deepcopy(s)) for s in statement.body], local)
                if inner is None:
                    return None
                found += inner
        elif isinstance(statement, ast.If):
            sides = [_written_out(program, side, local) for side in (statement.body, statement.orelse)]
            if None in sides:
                return None
            found.append(ast.copy_location(ast.If(statement.test, *sides), statement))
        else:
            found.append(statement)
    return found


def _trips(program, node: ast.For) -> range | None:
    """Return the numbers that a loop goes through, if the compiler knows them."""
    call = node.iter
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
        return None
    ends = [_number(program, end) for end in call.args]
    return None if None in ends or 0 in ends[2:] else range(*ends)


def _number(program, end) -> int | None:
    value = end.value if isinstance(end, ast.Constant) else None
    if isinstance(end, ast.Name) and end.id not in program.assigned:
        value = program.names.get(end.id)
    return value if isinstance(value, int) else None


class _Trip(ast.NodeTransformer):
    """Puts a number in the place of a loop's variable."""

    def __init__(self, name: str, number: int):
        self.name, self.number = name, number

    def visit_Name(self, node):
        return ast.copy_location(Written(self.number), node) if node.id == self.name else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        left, right = node.left, node.right
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant) and type(node.op) in FOLDED:
            return ast.copy_location(Written(FOLDED[type(node.op)](left.value, right.value)), node)
        adds = isinstance(node.op, (ast.Add, ast.Sub))
        if adds and isinstance(right, ast.Constant) and right.value == 0:
            return left
        return right if adds and isinstance(left, ast.Constant) and left.value == 0 else node


class Written(ast.Constant):
    """A number that stands for the variable of a loop that was written out."""
