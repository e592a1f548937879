"""Run statements. Each function takes the lanes that run a statement, and returns those that go on to the next one."""

import ast
from functools import cache, reduce

from numba.core.types import Integer

from course_pkg.simt.counting.branches import sunk
from course_pkg.simt.counting.waiting import waiting
from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.front.effects import effects, staying, waits_outside
from course_pkg.simt.front.instead import SYNTAX
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import unify
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Array, Arrays
from course_pkg.simt.run import access, gates, iteration, turns
from course_pkg.simt.run.constructs import at_its_place, unsupported
from course_pkg.simt.run.expressions import binary, condition, evaluate
from course_pkg.simt.run.hindsight import decide
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.leaving import leaving
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.needed import require_numbers
from course_pkg.simt.run.returning import require_returnable
from course_pkg.simt.run.sketch import any_of, sketch_if, widen
from course_pkg.simt.run.state import Frame, Run
from course_pkg.simt.run.sway import leave, scope, swayed
from course_pkg.simt.run.values import Intrinsic, Value, Variable

STATEMENTS: dict = {}


def runs(kind):
    """Return a decorator that registers a function for running one kind of statement."""

    def register(function):
        STATEMENTS[kind] = function
        return function

    return register


def execute(run: Run, frame: Frame, body: list, mask: Mask) -> Mask:
    """Run statements; return the lanes that reach the end of them."""
    behind = 0
    for at, node in enumerate(body):
        if not mask:
            break
        if at < behind:
            continue
        if run.half is not None:
            run.half.divide(run.clock.barriers)
            run.half.comes_to(frame.program.name, node)
            frame.entry, mask = run.half.own(frame.entry), run.half.own(mask)
            if not mask:
                break
        run.step()
        turn = None if run.dry else turns.taken(run, frame, body, at)
        if turn is not None:
            behind, mask = turn.behind, turns.in_turns(run, frame, body, at, turn, mask, execute)
            continue
        handler = STATEMENTS.get(type(node))
        if handler is None:
            raise unsupported(frame, node)
        try:
            if run.gate is not None and node is run.gate.node:
                mask = gates.through_gate(run, frame, node, mask, handler)
            else:
                mask = handler(run, frame, node, mask)
        except SimtError as error:
            if isinstance(error, Unsupported) and error.line is None:
                error = at_its_place(frame, node, error)
            error.passes(frame.program.source, node.lineno)
            raise error from None
    return mask


@runs(ast.Assign)
def _assign(run, frame, node, mask):
    if run.ledger.counts and node in waiting(frame.program):
        with run.ledger.putting_off(True):
            value = evaluate(run, frame, node.value, mask)
    else:
        value = evaluate(run, frame, node.value, mask)
    for target in node.targets:
        bind(run, frame, target, value, mask)
    return mask


@runs(ast.AnnAssign)
def _ann_assign(run, frame, node, mask):
    if node.value is not None:
        bind(run, frame, node.target, evaluate(run, frame, node.value, mask), mask)
    return mask


def bind(run, frame, target, value, mask):
    """Assign a value to a target: a name, an array's element, or a tuple of targets."""
    if isinstance(target, ast.Name):
        assign_name(run, frame, target.id, value, mask, target.lineno)
    elif isinstance(target, (ast.Subscript, ast.Attribute)):
        access.store(run, frame, target, value, mask)
    elif isinstance(target, (ast.Tuple, ast.List)) and not any(
        isinstance(t, ast.Starred) for t in target.elts
    ):
        if isinstance(value, Arrays):
            value = iteration.taken_apart(run, frame, target, value, mask)
        values = value if isinstance(value, tuple) else None
        if values is None or len(values) != len(target.elts):
            raise SimtError.at(
                frame.program.name,
                target.lineno,
                f"{len(target.elts)} names on the left, "
                f"{len(values) if values else 1} value(s) on the right.",
            )
        for one, part in zip(target.elts, values, strict=True):
            bind(run, frame, one, part, mask)
    else:
        raise unsupported(
            frame, target, SYNTAX[ast.Starred] if isinstance(target, (ast.Tuple, ast.List)) else None
        )


def assign_name(run, frame, name, value, mask, line=0):
    """Give a variable a new value in the active lanes; the others keep the old one."""
    value = swayed(run, value)
    if name in frame.program.nonlocals:
        return _assign_around(run, frame, name, value, mask, line)
    old = frame.variables.get(name)
    whole = mask.data is None or mask is frame.entry or mask.threads == frame.entry.threads
    if old is None or whole or mask is old.mask:
        if isinstance(value, Array) and value.space != "global" and value.name == "":
            value.name = name
        frame.variables[name] = Variable(value, None if whole else mask)
        return
    known = None if old.mask is None else old.mask.union(mask)
    if known is not None and known.threads == frame.entry.threads:
        known = None
    newest = (value, mask) if isinstance(value, Value) else None
    seen = name not in frame.program.passing
    if seen and isinstance(value, Value):
        run.ledger.signed_in_branch(value, SourceLine(frame.program.name, line), mask)
        if not any(held.value is old.value for known, held in frame.variables.items() if known != name):
            run.ledger.replaces(value, mask)
    frame.variables[name] = Variable(merge(run, mask, value, old.value, seen), known, newest=newest)


def _assign_around(run, frame, name, value, mask, line):
    """Give a variable of a function around the present one a new value of the same type."""
    around = frame.outer
    while around is not None and name not in around.variables:
        around = around.outer
    if around is None:
        raise SimtError.at(
            frame.program.name,
            line,
            f"{name!r} belongs to host code, and Numba ignores what a kernel assigns to it: write to an array.",
        )
    old = around.variables[name].value
    if getattr(old, "type", None) != getattr(value, "type", None):
        first, second = (getattr(one, "type", type(one).__name__) for one in (old, value))
        raise SimtError.at(
            frame.program.name,
            line,
            f"{name!r} of the function around this one would change from {first} to {second}: begin with {second}.",
        )
    assign_name(run, around, name, value, mask, line)


@runs(ast.Nonlocal)
def _nonlocal(run, frame, node, mask):
    """Do nothing: what the names stand for is decided where the function assigns them."""
    return mask


@runs(ast.AugAssign)
def _aug_assign(run, frame, node, mask):
    target = node.target
    if isinstance(target, ast.Name):
        left = evaluate(run, frame, target, mask)
        right = evaluate(run, frame, node.value, mask)
        if not (type(left) is type(right) is Value or isinstance(right, tuple)):
            require_numbers(frame, (target, left), (node.value, right))
        line = target.lineno if target.id in frame.program.nonlocals else 0
        assign_name(run, frame, target.id, binary(run, frame, node, node.op, left, right, mask), mask, line)
    else:
        place = access.place_of(run, frame, target, mask)
        left = access.load_place(run, frame, place, mask)
        right = evaluate(run, frame, node.value, mask)
        require_numbers(frame, (node.value, right))
        if (
            isinstance(node.op, ast.Div)
            and isinstance(left.type, Integer)
            and isinstance(right.type, Integer)
        ):
            written = ast.unparse(target)
            raise SimtError.at(
                frame.program.name,
                node.lineno,
                f"Numba fails to compile /= of two integers: write {written} = {written} / {ast.unparse(node.value)}, "
                "or //= for whole numbers.",
            )
        access.store_place(run, frame, place, binary(run, frame, node, node.op, left, right, mask), mask)
    return mask


@runs(ast.If)
def _if(run, frame, node, mask):
    test = condition(run, frame, node.test, mask)
    if test.constant:
        return execute(run, frame, node.body if test.number else node.orelse, mask)
    if run.dry:
        return sketch_if(run, frame, node, mask, execute)
    lowered = sunk(frame, node)
    if lowered is not None:
        branch, store = lowered
        return _assign(run, frame, store, _if(run, frame, branch, mask))
    run.ledger.demand(test, mask)
    yes, no = mask.split(test.data)
    with scope(run), run.ledger.branch(run, frame, node, mask):
        decide(run, test, mask)
        changed = effects(run, frame, staying((node,))[1:])  # without the condition, evaluated before
        before = dict(run.versions)
        sides = [(node.body, yes, node.orelse, no), (node.orelse, no, node.body, yes)]
        after, ends = {}, []
        for body, lanes, other, others in sides[:: -1 if turns.waits_for_the_others(run, frame, node) else 1]:
            if after:
                run.versions.update(before)
                run.ledger.new_block()
            with leaving(run, frame, node, others, other):
                idle = not lanes or (body is node.body and _put_off(frame, node, lanes))
                after[id(body)] = run.wave.nobody if idle else _one_side(run, frame, node, body, lanes)
            ends.append((after[id(body)], run.versions["global"]))
        after_yes, after_no = after[id(node.body)], after[id(node.orelse)]
    run.kill(*changed)
    if "global" in changed:
        run.ledger.joined(ends)
    widen(run, frame, node)
    for name in _assigned(node):
        if name in frame.variables:
            frame.variables[name].newest = None
    if after_yes is yes and after_no is no:
        return mask
    return after_yes.union(after_no)


def _one_side(run, frame, node, body: list, lanes):
    """Run a side of a branch; return the lanes that reach its end.

    Where a profile counts, lanes that come to it by different parts of a condition may run it one group after the
    other: they wait for each other only behind the branch.
    """
    ways = _ways(run, node, body) if run.ledger.counts and node.orelse and _alone(tuple(body)) else ()
    groups = [group for group in (lanes.narrow(way.full) for way in ways) if group]
    rest = reduce(Mask.minus, groups, lanes)
    if not groups or not rest:
        return execute(run, frame, body, lanes)
    before, ends = dict(run.versions), []
    for group in (*groups, rest):
        if ends:
            run.versions.update(before)
            run.ledger.new_block()
        ends.append(execute(run, frame, body, group))
    return reduce(Mask.union, ends)


def _ways(run, node: ast.If, body: list) -> list:
    """Return the lanes that come to ``else`` early: they fail a part of an ``and``, with which an ``or`` ends.

    Behind an ``and`` alone, all lanes that fail it wait for each other, and so do all that fulfil an ``or``.
    """
    test = node.test
    if body is node.body or not isinstance(test, ast.BoolOp) or isinstance(test.op, ast.And):
        return []
    last = test.values[-1]
    return run.ways.get(last, []) if isinstance(last, ast.BoolOp) else []


@cache
def _alone(body: tuple) -> bool:
    """Return whether a side consists of assignments that touch memory, and so of nothing that lanes do together."""
    stores = [one for one in body if isinstance(one, (ast.Assign, ast.AugAssign))]
    return len(stores) == len(body) and not any(
        isinstance(part, ast.Call) for one in body for part in walk(one)
    )


def _put_off(frame, node, lanes) -> bool:
    """Postpone a branch that leaves a loop until all lanes have left it; return False if the branch cannot wait."""
    if not frame.loops or not waits_outside(node) or not frame.loops[-1].may_wait:
        return False
    later = frame.loops[-1].later
    later[node] = later[node].union(lanes) if node in later else lanes
    return True


@cache
def _assigned(node: ast.If) -> frozenset:
    names = (n for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return frozenset(n.id for n in names)


@runs(ast.Return)
def _return(run, frame, node, mask):
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        if frame.is_kernel:
            raise SimtError.at(
                frame.program.name, node.lineno, "a kernel returns nothing; write its result to an array."
            )
        value = swayed(run, evaluate(run, frame, node.value, mask))
        require_returnable(frame, node, value)
        earlier = frame.result_mask
        if run.dry and earlier is not None and isinstance(value, Value) and isinstance(frame.result, Value):
            value = run.blank(unify(value.type, frame.result.type))
        if run.dry and earlier is not None and not isinstance(value, Value):
            value = any_of(run, (value, frame.result))
        frame.result = value if earlier is None or run.dry else merge(run, mask, value, frame.result)
        frame.result_mask = mask if earlier is None else earlier.union(mask)
    frame.returned += 1
    leave(run, frame.scope)
    if frame.is_kernel:
        run.exited = run.exited.union(mask)
    return run.wave.nobody


@runs(ast.Expr)
def _expression(run, frame, node, mask):
    if not isinstance(node.value, ast.Constant):
        value = evaluate(run, frame, node.value, mask)
        if isinstance(value, Intrinsic) and isinstance(node.value, ast.Attribute):
            name = ast.unparse(node.value)
            raise SimtError.at(
                frame.program.name, node.lineno, f"{name} without brackets does nothing: write {name}()."
            )
    return gates.those_not_held(run, mask)


@runs(ast.Pass)
def _pass(run, frame, node, mask):
    return mask


@runs(ast.Global)
def _global(run, frame, node, mask):
    """Do nothing if the names are only read, which needs no ``global``; a kernel cannot assign names of its module."""
    written = frame.program.assigned.intersection(node.names)
    if written:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"a kernel cannot change {min(written)!r}, a name of the module: write to an array.",
        )
    return mask
