"""Comparisons, ``and``, ``or`` and conditional expressions. They may decide which lanes evaluate their operands."""

import ast
from dataclasses import replace

import numpy as np

from course_pkg.simt.counting.junctions import begin_blocks
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.effects import effects
from course_pkg.simt.front.instead import of_node
from course_pkg.simt.front.typing import BOOL, unify
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import (
    CONDITIONS,
    binary,
    cast,
    condition,
    evaluate,
    handles,
    negated,
    truth,
)
from course_pkg.simt.run.hindsight import decide, follow
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.needed import require_numbers
from course_pkg.simt.run.sketch import any_of
from course_pkg.simt.run.sway import scope, swayed
from course_pkg.simt.run.values import Value


@handles(ast.Compare)
def _compare(run, frame, node, mask):
    left_node, left, result = node.left, evaluate(run, frame, node.left, mask), None
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        inner = mask if result is None or run.dry else mask.split(result.data)[0]
        _decide(run, frame, right_node, result, mask)
        right = evaluate(run, frame, right_node, inner)
        if isinstance(op, (ast.Is, ast.IsNot)):
            return _identity(run, frame, node, op, left, right, inner)
        if (left is None or right is None) and isinstance(op, (ast.Eq, ast.NotEq)):
            return run.constant.truth((left is right) == isinstance(op, ast.Eq))
        if isinstance(op, (ast.In, ast.NotIn)):
            one = _among(run, frame, node, op, left, right, inner)
        elif isinstance(left, tuple) and isinstance(right, tuple) and isinstance(op, (ast.Eq, ast.NotEq)):
            one = _alike(run, frame, node, op, left, right, inner)
        else:
            require_numbers(frame, (left_node, left), (right_node, right))
            one = binary(run, frame, node, op, left, right, inner)
        result = one if result is None else _both(run, result, one, mask)
        left_node, left = right_node, right
    return result


def _decide(run, frame, node, result, mask) -> None:
    """Note that the result so far decides which lanes evaluate an expression, if the expression has side effects."""
    if result is not None and effects(run, frame, [node]):
        run.ledger.demand(result, mask)


def _identity(run, frame, node, op, left, right, mask):
    """Evaluate ``is`` or ``is not`` with None on one side, or with True or False on the right.

    A truth value is True or False. A number is none of the three.
    """
    if left is None or right is None:
        return run.constant.truth((left is right) == isinstance(op, ast.Is))
    if isinstance(left, Value) and isinstance(right, Value) and right.constant and right.type == BOOL:
        if left.type != BOOL:
            return run.constant.truth(isinstance(op, ast.IsNot))
        return binary(
            run, frame, node, ast.Eq() if isinstance(op, ast.Is) else ast.NotEq(), left, right, mask
        )
    raise unsupported(frame, node, of_node(op))


def _among(run, frame, node, op, left, right, mask):
    """Evaluate ``in`` or ``not in``: return whether a number equals an item of a tuple, or whether it equals none."""
    if not isinstance(right, tuple) or not isinstance(left, Value):
        raise unsupported(frame, node, of_node(op))
    if len({getattr(part, "type", None) for part in right}) > 1:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "behind `in`, Numba takes numbers of one type: give all of them "
            "the same type, or compare by == and or.",
        )
    result = run.constant.truth(False)
    for part in right:
        result = _joined(run, False, result, binary(run, frame, node, ast.Eq(), left, part, mask), mask)
    return negated(run, result) if isinstance(op, ast.NotIn) else result


def _alike(run, frame, node, op, left, right, mask):
    """Return whether two tuples are equal, or for ``!=`` whether they differ."""
    result = run.constant.truth(len(left) == len(right))
    for a, b in zip(left, right, strict=False):
        both = isinstance(a, tuple) and isinstance(b, tuple)
        one = (
            _alike(run, frame, node, ast.Eq(), a, b, mask)
            if both
            else binary(run, frame, node, ast.Eq(), a, b, mask)
        )
        result = _both(run, result, one, mask)
    return negated(run, result) if isinstance(op, ast.NotEq) else result


def _both(run, a, b, mask):
    key = run.numbering.of("and", a.key, b.key)
    value = run.derived(a.data & b.data, BOOL, key, (a, b), mask, a.constant and b.constant)
    return follow(value, np.logical_and, a, b)


def _junction(run, frame, node, mask):
    """Evaluate ``and`` or ``or`` as a truth value, as in a condition."""
    conjunction, result, inner = isinstance(node.op, ast.And), None, mask
    begins = begin_blocks(frame, node) if run.ledger.counts else ()
    reaching = mask  # the lanes that reach the branch before the current operand
    for at, part in enumerate(node.values):
        _decide(run, frame, part, result, mask)
        if at in begins:
            run.ledger.demand(result, reaching)
            run.ledger.new_block()
            reaching = inner
        test = condition(run, frame, part, reaching if run.ledger.counts else inner)
        result = test if result is None else _joined(run, conjunction, result, test, mask)
        if result.constant and result.number != conjunction:
            return result
        if run.dry:
            continue  # a sketch evaluates every operand
        yes, no = inner.split(test.data)
        inner = yes if conjunction else no
        if not inner and (not run.ledger.counts or _calls(node.values[at + 1 :])):
            break  # when counting, go on: a compiler may compute the other operands without a branch
    return result


CONDITIONS[ast.BoolOp] = _junction


def _calls(parts: list) -> bool:
    """Return whether operands of a condition contain a function call."""
    return any(isinstance(node, ast.Call) for part in parts for node in ast.walk(part))


def _joined(run, conjunction, result, test, mask):
    both = np.logical_and if conjunction else np.logical_or
    key = run.numbering.of("and" if conjunction else "or", result.key, test.key)
    constant = result.constant and test.constant
    value = run.derived(both(result.data, test.data), BOOL, key, (result, test), mask, constant)
    return follow(value, both, result, test)


@handles(ast.BoolOp)
def _bool_op(run, frame, node, mask):
    """Evaluate ``and`` or ``or`` outside a condition: as in Python, the result is the operand that decides."""
    if all(map(_is_truth, node.values)):
        return _junction(run, frame, node, mask)
    first, *rest = _without_literals(node)
    if not rest:
        return evaluate(run, frame, first, mask)
    one = evaluate(run, frame, first, mask)
    test = truth(run, frame, one, node)
    others = ast.copy_location(ast.BoolOp(node.op, rest), node) if len(rest) > 1 else rest[0]
    if run.dry:
        other = evaluate(run, frame, _kept(node, others), mask)
        return _common_type(run, node, one, other)
    if isinstance(node.op, ast.Or):
        test = negated(run, test)
    value = _other_where(run, frame, test, one, _kept(node, others), mask)
    wanted = run.types.get((run.path, id(node)))
    return cast(run, value, wanted) if wanted is not None else value


def _other_where(run, frame, test, one, other, mask):
    """Return the value of ``other`` in the lanes where a test holds, and ``one`` in the lanes where it fails."""
    if test.constant:
        return evaluate(run, frame, other, mask) if test.number else one
    run.ledger.demand(test, mask)
    with scope(run):
        decide(run, test, mask)
        yes, no = mask.split(test.data)
        if not yes:
            return swayed(run, one)
        value = swayed(run, evaluate(run, frame, other, yes))
    return merge(run, yes if yes.data is not None else mask, value, one) if no else value


_REST: dict = {}


def _kept(node, others):
    """Return the syntax tree for the rest of a chain. Types are stored by node, so each call returns the same tree."""
    return _REST.setdefault(id(node), (others, node))[0]


def _without_literals(node) -> list:
    """Return the operands that Python compiles: no literal that cannot decide, nothing after a literal that does."""
    goes_on, parts = isinstance(node.op, ast.And), []
    for part in node.values[:-1]:
        if not isinstance(part, ast.Constant):
            parts.append(part)
        elif bool(part.value) != goes_on:
            return [*parts, part]
    return [*parts, node.values[-1]]


def _is_truth(node) -> bool:
    """Return whether the syntax alone shows that an expression is a truth value, so that no common type is needed."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_truth, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


@handles(ast.IfExp)
def _conditional(run, frame, node, mask):
    test = condition(run, frame, node.test, mask)
    if run.dry and test.constant and _is_literal(node.test):  # Numba drops the other branch without typing it
        return evaluate(run, frame, node.body if test.number else node.orelse, mask)
    if run.dry:
        ways = [evaluate(run, frame, part, mask) for part in (node.body, node.orelse)]
        return _common_type(run, node, *ways)
    value = _chosen(run, frame, node, test, mask)
    wanted = run.types.get((run.path, id(node)))
    return cast(run, value, wanted) if wanted is not None and isinstance(value, Value) else value


def _is_literal(node) -> bool:
    """Return whether a condition is a literal, or compares two literals."""
    parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node]
    return len(parts) <= 2 and all(isinstance(part, ast.Constant) for part in parts)


def _common_type(run, node, one, other):
    """In a sketch, record the common type of both results of a conditional expression, and return a value of it."""
    if not isinstance(one, Value) or not isinstance(other, Value):
        return any_of(run, (one, other))
    kind = unify(one.type, other.type)
    run.types[run.path, id(node)] = kind
    return run.blank(kind)


def _selected(run, value):
    """Return the value that all lanes chose. It no longer counts as a product that an addition could fuse."""
    if not isinstance(value, Value) or value.product is None:
        return value
    run.ledger.use(value)
    return replace(value, product=None)


def _chosen(run, frame, node, test, mask):
    if test.constant:
        return evaluate(run, frame, node.body if test.number else node.orelse, mask)
    run.ledger.demand(test, mask)
    with scope(run):
        decide(run, test, mask)
        yes, no = mask.split(test.data)
        if not yes or not no:
            only = evaluate(run, frame, node.body, yes) if yes else evaluate(run, frame, node.orelse, no)
            return swayed(run, _selected(run, only))
        one, other = evaluate(run, frame, node.body, yes), evaluate(run, frame, node.orelse, no)
        one, other = swayed(run, one), swayed(run, other)
    return merge(run, yes if yes.data is not None else mask, one, other)
