"""Loops: run trips until no lane is left, in the order that a compiler chooses."""

import ast
from functools import partial

import numpy as np
from numba.core import types

from course_pkg.simt.counting.compiler import passes, rest_begins, unrolled_by
from course_pkg.simt.counting.unrolling import moves_before, written_out_of
from course_pkg.simt.counting.waiting import names_in
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.effects import effects, free_of_waiting, kept_element, staying
from course_pkg.simt.front.loop_names import assigned, carried, has_elements, multiplied, used
from course_pkg.simt.front.typing import INT64, dtype_of
from course_pkg.simt.run.access import place_of
from course_pkg.simt.run.budget import endless
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.deciding import leaves
from course_pkg.simt.run.doubtful import require_no_doubt
from course_pkg.simt.run.endless import Watch
from course_pkg.simt.run.expressions import condition
from course_pkg.simt.run.hindsight import decide, decide_by_trips, follow, may_be_a_branch
from course_pkg.simt.run.iteration import counted_by, item_of, sequence_of, written_out
from course_pkg.simt.run.iterators import as_while
from course_pkg.simt.run.sequences import Iterator
from course_pkg.simt.run.sketch import of_one_type, require_one_layout, widen
from course_pkg.simt.run.sketch_loops import require_no_growth, sketch_items, sketch_loop
from course_pkg.simt.run.state import Loop
from course_pkg.simt.run.statements import bind, execute, runs
from course_pkg.simt.run.sway import leave
from course_pkg.simt.run.turns import over
from course_pkg.simt.run.values import Value, Variable


@runs(ast.While)
def _while(run, frame, node, mask):
    if run.dry:
        return sketch_loop(run, frame, node, mask, execute, lambda: _endless(run, frame, node, mask))
    widen(run, frame, node)
    left, returned, current = run.wave.nobody, frame.returned, mask
    watch, moves, trips, first = Watch(run, frame, node), moves_before(node), 0, None
    plain, changes = free_of_waiting(node.test), bool(assigned(node) & names_in(node.test))
    written_out = changes and plain and not has_elements(node.test)
    if written_out or (moves and plain and not over(run, node, 0)):
        watch.begin(current)
        first = condition(run, frame, node.test, current)
        # a constant test has no side effect, and the loop is not `while True`, which is never unrolled
        written_out = written_out and first.constant
    if first is not None and not written_out:
        if moves:  # the compiler tests once before the loop
            run.ledger.demand(first, current)
        else:
            first = None
    loop = _begin_loop(run, frame, node, mask, written_out)
    while current:
        if over(run, node, trips):
            run.turns[node] = run.turns[node].union(current)
            break
        trips += 1
        run.step()
        if first is None:
            watch.begin(current)
        if not written_out:
            run.ledger.new_block()
        with run.ledger.one_pass(keep_all=written_out, lanes=current if moves else None):
            test, first = condition(run, frame, node.test, current) if first is None else first, None
            written_out = written_out and test.constant
            run.ledger.demand(test, current)
            if trips == 1:
                run.ledger.first_test()
            if moves:
                run.ledger.tested(loop.before[0])
            decide(run, test, current)
            stay, leave = current.split(test.data)
            left = left.union(leave)
            current = _one_pass(run, frame, loop, node, stay, written_out) if stay else stay
    watch.leave()
    after = _end_loop(run, frame, node, mask, loop, left, returned, written_out)
    return after.minus(run.turns[node]) if run.turns.get(node) else after


def _endless(run, frame, node, mask) -> bool:
    """Return whether a loop's condition is a true constant, as in ``while True``."""
    test = condition(run, frame, node.test, mask)
    return test.constant and bool(test.number)


@runs(ast.For)
def _for(run, frame, node, mask):
    sequence = sequence_of(run, frame, node.iter, mask)
    if isinstance(sequence, Iterator):
        name, loop = as_while(node)
        frame.variables[name] = Variable(sequence, None)
        return _while(run, frame, loop, mask)
    parts = written_out(run, sequence)
    if parts is not None:
        return _for_each(run, frame, node, mask, parts)
    numbers = counted_by(run, sequence, mask)
    start, stop, step = numbers.start, numbers.stop, numbers.step
    if run.dry:

        def begin():
            item = item_of(run, frame, node, sequence, run.blank(start.type), mask)
            bind(run, frame, node.target, item, mask)

        return sketch_loop(run, frame, node, mask, execute, begin)
    widen(run, frame, node)
    for end in (start, stop, step):
        run.ledger.demand(end, mask)
    counted = _trips(run, frame, node, start, stop, step)
    trips = counted.data
    counts_from = (start, step) if counted.otherwise and may_be_a_branch(counted) else (start, stop, step)
    for end in counts_from:
        require_no_doubt(run, end, mask)
    constant, together = start.constant and stop.constant and step.constant, 1
    if constant:
        most = int(trips.max())
        together = written_out_of(node, most, False)
        if together < most and _local_arrays(frame, node):
            together = written_out_of(node, most, True)
        constant = together >= most
    elif trips.size > 1:
        together = unrolled_by(frame.program, node, _local_arrays(frame, node))
    rest_first = not start.constant and not _counts_from_a_constant(frame, node)
    rest = None
    if run.ledger.counts and trips.size == 1 and not (constant or rest_first) and _stores(run, frame, node):
        rest = rest_begins(frame.program, node, _local_arrays(frame, node), int(trips.max()))
    loop, returned = _begin_loop(run, frame, node, mask, constant), frame.returned
    if trips.size and trips.max() > run.patience and mask.data is not None:
        trips = np.where(mask.data, trips, 0)  # inactive threads may hold arbitrary bounds
    entering = mask.narrow(trips > 0)
    gone, moves = run.wave.nobody, moves_before(node)
    if trips.size and trips.max() > run.patience and not leaves(node):
        raise endless(run)
    for at, wanted in passes(trips, together, rest_first):
        stay = mask.narrow(wanted) if wanted is not None else mask
        stay = stay.minus(gone) if gone else stay
        if not stay:
            continue
        run.step()
        if rest is not None and at == rest:
            run.kill("global")
            _still_held(run, loop, mask)
        decide_by_trips(run, counted, at, stay)
        if not constant:
            run.ledger.new_block()
        entrance = entering, *loop.before
        with run.ledger.one_pass(keep_all=constant, lanes=stay if moves else None, entrance=entrance):
            number = _loop_value(run, start, step, at, constant, stay)
            bind(run, frame, node.target, item_of(run, frame, node, sequence, number, stay), stay)
            if constant and sequence is numbers and isinstance(node.target, ast.Name):
                frame.variables[node.target.id].number = number
            ends = _one_pass(run, frame, loop, node, stay, constant)
        if ends is not stay:
            gone = gone.union(stay.minus(ends))
            if gone.threads == mask.threads:
                break
    decide_by_trips(run, counted, trips, mask.minus(gone) if gone else mask)
    return _end_loop(run, frame, node, mask, loop, mask.minus(gone) if gone else mask, returned, constant)


def _for_each(run, frame, node, mask, sequence):
    if not of_one_type(sequence):
        way = "cast its items to one type, as in (int64(i), j)"
        raise unsupported(frame, node, "a loop over a tuple whose items have different types", way)
    require_one_layout(run, frame, node, sequence, "a loop over", "write a loop for each array")
    if run.dry:
        before = dict(frame.variables)
        begins = [partial(bind, run, frame, node.target, item, mask) for item in sequence]
        end = sketch_items(run, frame, node, mask, execute, begins)
        require_no_growth(frame, node, before)
        return end
    returned, current = frame.returned, mask
    loop = _begin_loop(run, frame, node, mask, True)
    for item in sequence:
        if not current:
            break
        bind(run, frame, node.target, item, current)
        current = _one_pass(run, frame, loop, node, current, True)
    return _end_loop(run, frame, node, mask, loop, current, returned, True)


def _begin_loop(run, frame, node, mask, constant=False):
    before, kept = (len(run.numbering.birth), run.versions["global"]), None
    if not constant:
        run.ledger.flush()
        kept = _kept(run, frame, node, mask)
        run.kill(*effects(run, frame, staying(tuple(node.body))))
        _forget(run, frame, node, _is_number)
    may_wait = not run.dry and free_of_waiting(node)
    frame.loops.append(Loop(run.wave.nobody, run.wave.nobody, before, may_wait, kept=kept))
    _still_held(run, frame.loops[-1], mask)
    run.scopes.append(frame.loops[-1].scope)
    return frame.loops[-1]


def _still_held(run, loop: Loop, mask) -> None:
    """Note that lanes hold the element that each trip changes, whatever way they have come."""
    if loop.kept is not None:
        state = run.versions[loop.kept.array.space]
        run.ledger.holds(run.numbering.of(("load", state), loop.kept.key), mask)


def _stores(run, frame, node) -> bool:
    """Return whether a loop may change global memory."""
    return "global" in effects(run, frame, staying(tuple(node.body)))


def _counts_from_a_constant(frame, node) -> bool:
    """Return whether an integer that the loop updates is constant before it. Then the left-over trips come last."""
    held = (frame.variables.get(name) for name in carried(node))
    values = (variable.value for variable in held if variable)
    return any(isinstance(v, Value) and v.constant and isinstance(v.type, types.Integer) for v in values)


def _kept(run, frame, node, mask):
    """Return the element that each trip of a loop changes, if all lanes hold it in a register before the loop."""
    target = kept_element(node)
    if target is None or not run.ledger.counts:
        return None
    place = place_of(run, frame, target, mask)
    since = run.ledger.since(place.key, run.versions[place.array.space])
    lanes = run.ledger.known_to(run.numbering.of(("load", since), place.key))
    return place if lanes is not None and mask.within(lanes) else None


def _one_pass(run, frame, loop, node, mask, written_out):
    loop.continued = run.wave.nobody
    rest = execute(run, frame, node.body, mask)
    widen(run, frame, node)
    if not written_out:
        for name in multiplied(node):
            value = frame.variables[name].value if name in frame.variables else None
            if isinstance(value, Value):  # the last trip does what all trips do
                run.ledger.use(value)
        _forget(run, frame, node, _is_constant)
    return rest.union(loop.continued) if loop.continued else rest


def _forget(run, frame, node, which) -> None:
    """Give new value numbers to the variables that a loop assigns: a compiler does not know them between trips."""
    for name in assigned(node):
        variable = frame.variables.get(name)
        value = variable.value if variable else None
        if which(value):
            unknown = run.view(value, value.data, value.type, run.numbering.fresh())
            unknown.otherwise = value.otherwise
            frame.variables[name] = Variable(unknown, variable.mask)


def _is_number(value) -> bool:
    return isinstance(value, Value)


def _is_constant(value) -> bool:
    return isinstance(value, Value) and value.constant


def _local_arrays(frame, node) -> frozenset:
    """Return the names of arrays in local memory that a loop's body uses."""
    held = {name: frame.variables.get(name) for name in used(node)}
    return frozenset(name for name, one in held.items() if one and getattr(one.value, "space", "") == "local")


def _end_loop(run, frame, node, mask, loop, left, returned, constant=False):
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id in frame.variables:
        frame.variables[node.target.id].number = None  # after the loop, the variable may differ between lanes
    for branch, lanes in loop.later.items():
        execute(run, frame, branch.body, lanes)
    frame.loops.pop()
    run.scopes.pop()
    if not constant:
        run.kill(*effects(run, frame, node.body))
        run.ledger.new_block()
    if node.orelse:
        left = execute(run, frame, node.orelse, left)
    if frame.returned == returned and not node.orelse:
        return mask
    return left.union(loop.broken)


def _trips(run, frame, node, start, stop, step) -> Value:
    """Return the number of trips that each lane makes."""
    if not step.data.all():
        raise SimtError.at(frame.program.name, node.lineno, "the step of range is 0.")

    def counted(first, last, by):
        first, last, by = (data.astype(np.int64) for data in (first, last, by))
        return np.maximum(0, -((first - last) // np.where(by == 0, 1, by)))

    ends = start, stop, step
    trips = run.fresh(counted(*(v.data for v in ends)), INT64)
    return follow(trips, counted, *ends)


def _loop_value(run, start, step, at, constant, mask) -> Value:
    if constant:
        return run.constant(start.number + at * step.number, start.type)
    dtype = dtype_of(start.type)
    passed = np.asarray(at).astype(dtype)
    return run.fresh((start.data + passed * step.data).astype(dtype), start.type, (start, step), mask)


@runs(ast.Break)
def _break(run, frame, node, mask):
    frame.loops[-1].breaking.append(frame.variables)
    frame.loops[-1].broken = frame.loops[-1].broken.union(mask)
    leave(run, frame.loops[-1].scope)
    return run.wave.nobody


@runs(ast.Continue)
def _continue(run, frame, node, mask):
    frame.loops[-1].continuing.append(frame.variables)
    frame.loops[-1].continued = frame.loops[-1].continued.union(mask)
    leave(run, frame.loops[-1].scope)
    return run.wave.nobody
