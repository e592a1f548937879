"""A sketch of loops: trips until the types of the variables settle, and the ways on which threads leave a loop."""

import ast
from dataclasses import replace
from functools import cache

from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.named import rebuilt
from course_pkg.simt.run.sketch import joined, names_of, record
from course_pkg.simt.run.state import Loop
from course_pkg.simt.run.values import Value, Variable

# each round except the last changes the type of a variable, and no kernel has nearly this many variables
MOST_ROUNDS = 1000


@cache
def _changed(node) -> frozenset:
    """Return the names that a loop assigns."""
    stored = (n for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return frozenset(n.id for n in stored)


def sketch_loop(run, frame, node, mask, execute, begin):
    """Run a loop's body until the types of its variables no longer change; ``begin`` starts a trip."""
    header = dict(frame.variables)
    changed = _changed(node)
    for _ in range(MOST_ROUNDS):
        frame.variables = {n: _unknown(run, v) if n in changed else v for n, v in header.items()}
        ends, leaving, endless = _trip(run, frame, node, mask, execute, begin)
        behind = joined(run, frame, node, [header, *ends])
        if _settled(behind) == _settled(header):
            break
        header = behind
    else:
        raise unsupported(frame, node, "a loop whose variables are something else after every trip")
    frame.variables = behind  # where the header has a constant that a trip changes, this has not
    record(run, frame, node)
    return _behind(run, frame, node, mask, execute, [] if endless else [behind], leaving)


def sketch_items(run, frame, node, mask, execute, begins):
    """Run a loop's body once for each item of a tuple; each of ``begins`` starts a trip."""
    leaving: list = []
    for begin in begins:
        ends, out, _ = _trip(run, frame, node, mask, execute, begin)
        leaving += out
        frame.variables = joined(run, frame, node, ends) if ends else dict(frame.variables)
    return _behind(run, frame, node, mask, execute, [frame.variables], leaving)


def _trip(run, frame, node, mask, execute, begin) -> tuple[list, list, bool]:
    """Run a loop's body; return the variables where a trip ends, those where it leaves, and what ``begin`` returns."""
    loop = Loop(run.wave.nobody, run.wave.nobody, [], [])
    frame.loops.append(loop)
    told = begin()
    end = execute(run, frame, node.body, mask)
    frame.loops.pop()
    return [*([frame.variables] if end else []), *loop.continuing], loop.breaking, bool(told)


def _behind(run, frame, node, mask, execute, done: list, leaving: list):
    """Join the ways behind a loop: those on which it is ``done``, which pass through its ``else``, and the others."""
    out = list(leaving)
    for variables in done:
        frame.variables = dict(variables)
        if execute(run, frame, node.orelse, mask):
            out.append(frame.variables)
    if not out:
        return run.wave.nobody
    frame.variables = joined(run, frame, node, out)
    return mask


def require_no_growth(frame, node, before: dict) -> None:
    """Raise an error if a loop has made a tuple longer or shorter: its type would be another one in each trip."""
    for name, variable in before.items():
        old, new = variable.value, frame.variables[name].value
        if isinstance(old, tuple) and isinstance(new, tuple) and len(old) != len(new):
            raise unsupported(
                frame,
                node,
                f"a tuple that grows in a loop, {name!r},",
                way="fill a cuda.local.array in the loop",
            )


def _unknown(run, variable):
    return Variable(_of_any_trip(run, variable.value), variable.mask)


def _of_any_trip(run, value):
    """Return a value that represents a variable in all trips of a loop that changes it; no part of it is constant."""
    if isinstance(value, Value):
        return run.blank(value.type)
    if isinstance(value, tuple):
        return rebuilt(value, (_of_any_trip(run, part) for part in value))
    if isinstance(value, Array):
        return replace(value, shape=tuple(run.blank(extent.type) for extent in value.shape))
    return value


def _settled(variables: dict) -> dict:
    """Return the properties of the variables that a round must not change if the sketch of a loop is to end."""
    return {n: _outline(v.value) for n, v in variables.items()}


def _outline(value):
    if isinstance(value, tuple):
        return tuple(map(_outline, value))
    return value.type if isinstance(value, Value) else names_of(value) if isinstance(value, Array) else None
