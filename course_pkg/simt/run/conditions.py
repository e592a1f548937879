"""``and``, ``or`` and conditional expressions. They may decide which lanes evaluate their operands."""

import ast
from dataclasses import replace

from course_pkg.simt.counting.junctions import begin_blocks
from course_pkg.simt.counting.selecting import name_of
from course_pkg.simt.front.typing import unify
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.unwritten import of_choice, together
from course_pkg.simt.run.comparisons import decide_if_needed, joined
from course_pkg.simt.run.expressions import (
    CONDITIONS,
    cast,
    condition,
    evaluate,
    handles,
    negated,
    truth,
)
from course_pkg.simt.run.hindsight import decide
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.sketch import any_of
from course_pkg.simt.run.sway import scope, swayed
from course_pkg.simt.run.values import Value


def _junction(run, frame, node, mask):
    """Evaluate ``and`` or ``or`` as a truth value, as in a condition."""
    conjunction, result, inner = isinstance(node.op, ast.And), None, mask
    begins = begin_blocks(frame, node) if run.ledger.counts else ()
    reaching = mask  # the lanes that reach the branch before the current operand
    ways = run.ways[node] = []  # the lanes that branch early, one group for each branch
    for at, part in enumerate(node.values):
        decide_if_needed(run, frame, part, result, mask)
        if at in begins:
            run.ledger.demand(result, reaching)
            run.ledger.new_block()
            ways.append(reaching.minus(inner))
            reaching = inner
        test = condition(run, frame, part, reaching if run.ledger.counts else inner)
        if result is None:
            result = test
        else:
            first, result = result, joined(run, conjunction, result, test, mask)
            if test.unwritten:  # not used where an earlier operand decides
                result.unwritten = together(first.unwritten, of_choice((inner.full, test)))
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
    return any(isinstance(node, ast.Call) for part in parts for node in walk(part))


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
    run.ledger.opens(name_of(node))
    with scope(run):
        decide(run, test, mask)
        yes, no = mask.split(test.data)
        if not yes or not no:
            only = evaluate(run, frame, node.body, yes) if yes else evaluate(run, frame, node.orelse, no)
            return swayed(run, _selected(run, only))
        one, other = evaluate(run, frame, node.body, yes), evaluate(run, frame, node.orelse, no)
        one, other = swayed(run, one), swayed(run, other)
    return merge(run, yes if yes.data is not None else mask, one, other)
