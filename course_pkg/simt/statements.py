"""Statements: who goes where. Each takes the lanes that enter and returns those that go on to the next one."""

import ast

import numpy as np

from course_pkg.simt import access
from course_pkg.simt.compiler import hoist, passes, speculated, sunk, unrolled_by
from course_pkg.simt.effects import effects
from course_pkg.simt.errors import SimtError
from course_pkg.simt.expressions import binary, evaluate, truth, unsupported
from course_pkg.simt.lanes import Mask
from course_pkg.simt.memory import Array
from course_pkg.simt.merge import merge
from course_pkg.simt.run import Frame, Loop, Run
from course_pkg.simt.sketch import sketch_if, sketch_loop, widen
from course_pkg.simt.typing import dtype_of, unify
from course_pkg.simt.values import Range, Value, Variable

UNROLLED = 128  # a loop of that many passes, known when it is compiled, is written out by the compiler


def execute(run: Run, frame: Frame, body: list, mask: Mask) -> Mask:
    """Run statements; return the lanes that reach the end of them."""
    for node in body:
        if not mask:
            break
        run.step()
        handler = _STATEMENTS.get(type(node))
        if handler is None:
            raise unsupported(frame, node)
        mask = handler(run, frame, node, mask)
    return mask


def _assign(run, frame, node, mask):
    value = evaluate(run, frame, node.value, mask)
    for target in node.targets:
        bind(run, frame, target, value, mask)
    return mask


def _ann_assign(run, frame, node, mask):
    if node.value is not None:
        bind(run, frame, node.target, evaluate(run, frame, node.value, mask), mask)
    return mask


def bind(run, frame, target, value, mask):
    """Store a value under a name, in an array's element, or in several targets."""
    if isinstance(target, ast.Name):
        assign_name(run, frame, target.id, value, mask)
    elif isinstance(target, ast.Subscript):
        access.store(run, frame, target, value, mask)
    elif isinstance(target, (ast.Tuple, ast.List)) and not any(
        isinstance(t, ast.Starred) for t in target.elts
    ):
        values = value if isinstance(value, tuple) else None
        if values is None or len(values) != len(target.elts):
            raise SimtError(
                f"{frame.program.name}, line {target.lineno}: {len(target.elts)} names on the left, "
                f"{len(values) if values else 1} value(s) on the right."
            )
        for one, part in zip(target.elts, values, strict=True):
            bind(run, frame, one, part, mask)
    else:
        raise unsupported(frame, target)


def assign_name(run, frame, name, value, mask):
    """Give a variable its value in the lanes at work; the others keep theirs."""
    old = frame.variables.get(name)
    whole = mask.data is None or mask is frame.entry or mask.threads == frame.entry.threads
    if old is None or whole or mask is old.mask:
        if isinstance(value, Array) and value.space != "global" and value.name == "":
            value.name = name
        frame.variables[name] = Variable(value, None if whole else mask)
        return
    merged = merge(run, mask, value, old.value)
    frame.variables[name] = Variable(merged, None)


def _aug_assign(run, frame, node, mask):
    target = node.target
    if isinstance(target, ast.Name):
        left = evaluate(run, frame, ast.copy_location(ast.Name(target.id, ast.Load()), target), mask)
        right = evaluate(run, frame, node.value, mask)
        assign_name(run, frame, target.id, binary(run, frame, node, node.op, left, right, mask), mask)
    else:
        place = access.place_of(run, frame, target, mask)
        left = access.load_place(run, frame, place, mask)
        right = evaluate(run, frame, node.value, mask)
        access.store_place(run, frame, place, binary(run, frame, node, node.op, left, right, mask), mask)
    return mask


def _if(run, frame, node, mask):
    test = truth(run, frame, evaluate(run, frame, node.test, mask), node)
    if test.constant:
        return execute(run, frame, node.body if test.number else node.orelse, mask)
    if run.dry:
        return sketch_if(run, frame, node, mask, execute)
    lowered = sunk(frame, node)
    if lowered is not None:
        branch, store = lowered
        return _assign(run, frame, store, _if(run, frame, branch, mask))
    run.demand(test, mask)
    yes, no = mask.split(test.data)
    if run.counters is not None:
        run.counters.issue(mask)
    outer = run.speculating
    if run.counters is not None:
        run.hoisted = set()
        if node.orelse:
            hoist(run, frame, node, mask)
        if run.speculating is None and speculated(run, frame, node):
            run.speculating = mask
    changed = effects(frame, node.body) | effects(frame, node.orelse)
    before = dict(run.versions)
    run.new_block()
    after_yes = execute(run, frame, node.body, yes) if yes else yes
    run.versions = before
    run.new_block()
    after_no = execute(run, frame, node.orelse, no) if no else no
    run.new_block()
    run.speculating = outer
    run.kill(*changed)
    widen(run, frame, node)
    if after_yes is yes and after_no is no:
        return mask
    return after_yes.union(after_no)


def _while(run, frame, node, mask):
    if run.dry:
        return sketch_loop(run, frame, node, mask, execute, lambda: _endless(run, frame, node, mask))
    widen(run, frame, node)
    left, returned, current = run.wave.nobody, frame.returned, mask
    written_out = truth(run, frame, evaluate(run, frame, node.test, mask), node).constant
    loop = _begin_loop(run, frame, node, mask, written_out)
    while current:
        run.step()
        if not written_out:
            run.new_block()
        with run.one_pass(keep_all=written_out):
            test = truth(run, frame, evaluate(run, frame, node.test, current), node)
            written_out = written_out and test.constant
            run.demand(test, current)
            stay, leave = current.split(test.data)
            left = left.union(leave)
            current = _one_pass(run, frame, loop, node, stay) if stay else stay
    return _end_loop(run, frame, node, mask, loop, left, returned, written_out)


def _endless(run, frame, node, mask) -> bool:
    """Whether a loop's condition is true by construction."""
    test = truth(run, frame, evaluate(run, frame, node.test, mask), node)
    return test.constant and bool(test.number)


def _for(run, frame, node, mask):
    sequence = evaluate(run, frame, node.iter, mask)
    if isinstance(sequence, tuple):
        return _for_each(run, frame, node, mask, sequence)
    if not isinstance(sequence, Range):
        raise unsupported(frame, node, "a loop over something else than range or a tuple")
    start, stop, step = sequence.start, sequence.stop, sequence.step
    if run.dry:
        return sketch_loop(
            run,
            frame,
            node,
            mask,
            execute,
            lambda: bind(run, frame, node.target, run.blank(start.type), mask),
        )
    widen(run, frame, node)
    for end in (start, stop, step):
        run.demand(end, mask)
    trips = _trips(frame, node, start, stop, step)
    constant = start.constant and stop.constant and step.constant and int(trips.max()) <= UNROLLED
    together = 1 if constant or trips.size == 1 else unrolled_by(node)
    loop, returned = _begin_loop(run, frame, node, mask, constant), frame.returned
    gone = run.wave.nobody
    for at, wanted in passes(trips, together, not start.constant):
        stay = mask.narrow(wanted) if wanted is not None else mask
        stay = stay.minus(gone) if gone else stay
        if not stay:
            continue
        run.step()
        if not constant:
            run.new_block()
        with run.one_pass(keep_all=constant):
            bind(run, frame, node.target, _loop_value(run, start, step, at, constant), stay)
            rest = _one_pass(run, frame, loop, node, stay)
        if rest is not stay:
            gone = gone.union(stay.minus(rest))
    return _end_loop(run, frame, node, mask, loop, mask.minus(gone) if gone else mask, returned, constant)


def _for_each(run, frame, node, mask, sequence):
    loop, returned, current = _begin_loop(run, frame, node, mask, True), frame.returned, mask
    for item in sequence:
        if not current:
            break
        bind(run, frame, node.target, item, current)
        after = _one_pass(run, frame, loop, node, current)
        current = current if run.dry else after
    return _end_loop(run, frame, node, mask, loop, current, returned, True)


def _begin_loop(run, frame, node, mask, constant=False):
    if not constant:
        run.flush()
        run.kill(*effects(frame, node.body))
    frame.loops.append(Loop(run.wave.nobody, run.wave.nobody))
    return frame.loops[-1]


def _one_pass(run, frame, loop, node, mask):
    loop.continued = run.wave.nobody
    rest = execute(run, frame, node.body, mask)
    widen(run, frame, node)
    return rest.union(loop.continued) if loop.continued else rest


def _end_loop(run, frame, node, mask, loop, left, returned, constant=False):
    frame.loops.pop()
    if not constant:
        run.kill(*effects(frame, node.body))
        run.new_block()
    if node.orelse:
        left = execute(run, frame, node.orelse, left)
    if frame.returned == returned and not node.orelse:
        return mask
    return left.union(loop.broken)


def _trips(frame, node, start, stop, step) -> np.ndarray:
    """How many passes each lane makes."""
    if not step.data.all():
        raise SimtError(f"{frame.program.name}, line {node.lineno}: the step of range is 0.")
    first, last, by = (v.data.astype(np.int64) for v in (start, stop, step))
    return np.maximum(0, -((first - last) // by))


def _loop_value(run, start, step, at, constant) -> Value:
    if constant:
        return run.constant(start.number + at * step.number, start.type)
    dtype = dtype_of(start.type)
    passed = np.asarray(at).astype(dtype)
    return run.fresh((start.data + passed * step.data).astype(dtype), start.type)


def _break(run, frame, node, mask):
    frame.loops[-1].breaking.append(frame.variables)
    frame.loops[-1].broken = frame.loops[-1].broken.union(mask)
    return run.wave.nobody


def _continue(run, frame, node, mask):
    frame.loops[-1].continuing.append(frame.variables)
    frame.loops[-1].continued = frame.loops[-1].continued.union(mask)
    return run.wave.nobody


def _return(run, frame, node, mask):
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        if frame.is_kernel:
            raise SimtError(
                f"{frame.program.name}, line {node.lineno}: a kernel returns nothing; write its result to an array."
            )
        value = evaluate(run, frame, node.value, mask)
        earlier = frame.result_mask
        if run.dry and earlier is not None and isinstance(value, Value) and isinstance(frame.result, Value):
            value = run.blank(unify(value.type, frame.result.type))
        frame.result = value if earlier is None or run.dry else merge(run, mask, value, frame.result)
        frame.result_mask = mask if earlier is None else earlier.union(mask)
    frame.returned += 1
    if frame.is_kernel:
        run.exited = run.exited.union(mask)
    return run.wave.nobody


def _expression(run, frame, node, mask):
    if not isinstance(node.value, ast.Constant):
        evaluate(run, frame, node.value, mask)
    return mask


def _pass(run, frame, node, mask):
    return mask


def _assert(run, frame, node, mask):
    return mask  # compiled kernels drop assertions unless they are compiled for debugging


def _raise(run, frame, node, mask):
    """Stop the launch where a lane comes here; a compiled kernel would go on without a word."""
    error = SimtError(f"{frame.program.name}, line {node.lineno}: raises {_exception(node.exc)}.")
    if not run.dry:
        raise error
    frame.raised = frame.raised or error
    return run.wave.nobody


def _exception(node) -> str:
    """Return what a raise statement says: the exception, and its text where that is written out."""
    arguments = node.args if isinstance(node, ast.Call) else []
    name = ast.unparse(node.func if isinstance(node, ast.Call) else node) if node else "an exception"
    text = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else ""
    if name == "NotImplementedError" and not text:
        text = "the kernel is not written yet"
    text = " ".join(str(text).split()).rstrip(".")
    return f"{name}: {text}" if text else name


_STATEMENTS = {
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Pass: _pass,
    ast.Assert: _assert,
    ast.Raise: _raise,
}
