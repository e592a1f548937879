"""Comparisons of numbers and tuples, and the search for a number in a sequence."""

import ast

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import library
from course_pkg.simt.front.effects import effects
from course_pkg.simt.front.instead import of_node
from course_pkg.simt.front.typing import BOOL
from course_pkg.simt.memory.regions import Array, Arrays
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import binary, evaluate, handles, negated
from course_pkg.simt.run.functions import call_function
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.named import Member
from course_pkg.simt.run.needed import require_numbers
from course_pkg.simt.run.values import Range, Value

_STRICT = {ast.Lt: ast.Lt, ast.LtE: ast.Lt, ast.Gt: ast.Gt, ast.GtE: ast.Gt}


@handles(ast.Compare)
def _compare(run, frame, node, mask):
    left_node, left, result = node.left, evaluate(run, frame, node.left, mask), None
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        inner = mask if result is None or run.dry else mask.split(result.data)[0]
        decide_if_needed(run, frame, right_node, result, mask)
        right = evaluate(run, frame, _written_items(op, right_node), inner)
        if isinstance(op, (ast.Is, ast.IsNot)):
            return _identity(run, frame, node, op, left, right, inner)
        if isinstance(left, Member) and isinstance(right, Member) and isinstance(op, (ast.Eq, ast.NotEq)):
            return run.constant.truth((left == right) == isinstance(op, ast.Eq))
        if (left is None or right is None) and isinstance(op, (ast.Eq, ast.NotEq)):
            return run.constant.truth((left is right) == isinstance(op, ast.Eq))
        if isinstance(op, (ast.In, ast.NotIn)):
            one = _among(run, frame, node, op, left, right, inner)
        elif isinstance(left, tuple) and isinstance(right, tuple):
            order = _ordered if type(op) in _STRICT else _alike
            one = order(run, frame, node, op, left, right, inner)
        else:
            require_numbers(frame, (left_node, left), (right_node, right))
            one = binary(run, frame, node, op, left, right, inner)
        result = one if result is None else joined(run, True, result, one, mask)
        left_node, left = right_node, right
    return result


def decide_if_needed(run, frame, node, result, mask) -> None:
    """Note that the result so far decides which lanes evaluate an expression, if the expression has side effects."""
    if result is not None and effects(run, frame, [node]):
        run.ledger.demand(result, mask)


def _identity(run, frame, node, op, left, right, mask):
    """Evaluate ``is`` or ``is not``: with None, with True or False on the right, or for two numbers or two arrays.

    A truth value is True or False. A number is none of the three. Two numbers of one type are compared by ``==``.
    """
    if left is None or right is None:
        return run.constant.truth((left is right) == isinstance(op, ast.Is))
    if isinstance(left, Member) and isinstance(right, Member):
        return run.constant.truth((left == right) == isinstance(op, ast.Is))
    if isinstance(left, Value) and isinstance(right, Value) and right.constant and right.type == BOOL:
        if left.type != BOOL:
            return run.constant.truth(isinstance(op, ast.IsNot))
        return binary(run, frame, node, _equality(op), left, right, mask)
    if isinstance(left, Value) and isinstance(right, Value):
        if left.type != right.type:
            return run.constant.truth(isinstance(op, ast.IsNot))
        return binary(run, frame, node, _equality(op), left, right, mask)
    if isinstance(left, Array) and isinstance(right, Array) and left.key == right.key:
        return run.constant.truth(isinstance(op, ast.Is))
    raise unsupported(frame, node, of_node(op))


def _equality(op) -> ast.cmpop:
    return ast.Eq() if isinstance(op, ast.Is) else ast.NotEq()


def _written_items(op, node):
    """Return the right side of a comparison. Behind ``in``, a list in the source is treated as a tuple."""
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(node, ast.List):
        return _TUPLES.setdefault(id(node), (ast.copy_location(ast.Tuple(node.elts, node.ctx), node), node))[
            0
        ]
    return node


_TUPLES: dict = {}  # keeps each list of a source, so that no other node gets its id


def _among(run, frame, node, op, left, right, mask):
    """Evaluate ``in`` or ``not in``: return whether an item of a sequence equals ``left``, or whether none does."""
    if isinstance(right, tuple):
        found = _in_tuple(run, frame, node, left, right, mask)
    elif isinstance(right, Arrays) and isinstance(left, Value):
        found = call_function(run, frame, node, library.function("in_array"), [left, right], {}, mask)
    elif isinstance(right, Range) and isinstance(left, Value):
        given = [left, right.start, right.stop, right.step]
        found = call_function(run, frame, node, library.function("in_range"), given, {}, mask)
    else:
        raise unsupported(frame, node, of_node(op))
    return negated(run, found) if isinstance(op, ast.NotIn) else found


def _in_tuple(run, frame, node, one, items: tuple, mask):
    if len({getattr(part, "type", None) for part in items}) > 1:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "behind `in`, Numba takes numbers of one type: give all of them "
            "the same type, or compare by == and or.",
        )
    result = run.constant.truth(False)
    for part in items:
        result = joined(run, False, result, _equal(run, frame, node, one, part, mask), mask)
    return result


def _equal(run, frame, node, a, b, mask):
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _alike(run, frame, node, ast.Eq(), a, b, mask)
    return binary(run, frame, node, ast.Eq(), a, b, mask)


def _alike(run, frame, node, op, left, right, mask):
    """Return whether two tuples are equal, or for ``!=`` whether they differ."""
    result = run.constant.truth(len(left) == len(right))
    for a, b in zip(left, right, strict=False):
        result = joined(run, True, result, _equal(run, frame, node, a, b, mask), mask)
    return negated(run, result) if isinstance(op, ast.NotEq) else result


def _ordered(run, frame, node, op, left, right, mask):
    """Return whether one tuple comes before another: their first items that differ decide, and then their lengths."""
    if not left or not right:
        return run.constant.truth(
            {ast.Lt: bool(right), ast.Gt: bool(left), ast.LtE: not left, ast.GtE: not right}[type(op)]
        )
    (a, *left), (b, *right) = left, right
    if isinstance(a, tuple) and isinstance(b, tuple):
        before = _ordered(run, frame, node, _STRICT[type(op)](), a, b, mask)
    else:
        before = binary(run, frame, node, _STRICT[type(op)](), a, b, mask)
    equal = _equal(run, frame, node, a, b, mask)
    rest = _ordered(run, frame, node, op, tuple(left), tuple(right), mask)
    return joined(run, False, before, joined(run, True, equal, rest, mask), mask)


def joined(run, conjunction, result, test, mask):
    """Return ``result and test``, or ``result or test`` if ``conjunction`` is false, of two truth values."""
    both = np.logical_and if conjunction else np.logical_or
    key = run.numbering.of("and" if conjunction else "or", result.key, test.key)
    constant = result.constant and test.constant
    value = run.derived(both(result.data, test.data), BOOL, key, (result, test), mask, constant)
    return follow(value, both, result, test)
