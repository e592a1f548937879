"""Turns: threads that spin until they get a lock let those go on that have it, up to where these give it back.

All threads of a wave run a statement together. So a thread that has left ``while cuda.atomic.cas(lock, 0, 0, 1) != 0``
would wait behind this loop for the others, and they for the lock. On a GPU of compute capability 7.0 or later, each
thread makes progress by itself. So the statements from the one that spins to the one that gives the lock back are run
in turns: those that have passed the loop run them, then the others try again. Whole blocks go first, then whole
warps, because there may be barriers on the way. If a thread holds a lock for which others of its block spin, and
waits for them at a barrier, this barrier is a hazard; a GPU would wait for ever.
"""

import ast
from functools import cache

from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.lanes import Mask

QUIET = (ast.Pass, ast.Continue)


def spinning(run, frame, node) -> tuple[ast.While, frozenset] | None:
    """Return the loop in which a statement lets threads spin before it does anything else, and what they spin on.

    A statement is such a loop, or an ``if`` or a call of a device function that begins with one.
    """
    if isinstance(node, ast.While):
        names = _spins_on(node)
        return (node, names) if names else None
    if isinstance(node, ast.If):
        first, *rest = node.body
        found = None if node.orelse else spinning(run, frame, first)
        return found if found and not any(_gives_back(one, found[1]) for one in rest) else None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
        return _in_function(run, frame, node.value)
    return None


def _in_function(run, frame, call: ast.Call):
    """Return what :func:`spinning` does, for a call of a device function."""
    if call not in run.spins:
        run.spins[call] = None
        try:
            function = evaluate(run, frame, call.func, run.wave.nobody)
        except SimtError:  # whoever runs the statement says what is wrong
            return None
        if not hasattr(function, "py_func"):
            return None
        program = run.launch.program(function)
        first = next((one for one in program.tree.body if not _is_text(one)), None)
        found = spinning(run, frame, first) if isinstance(first, (ast.While, ast.If)) else None
        if found is not None:
            given = dict(zip(program.parameters, map(_base, call.args), strict=False))
            names = frozenset(given[name] for name in found[1] if given.get(name))
            run.spins[call] = (found[0], names) if names else None
    return run.spins[call]


def taken(run, frame, body: list, at: int) -> tuple[ast.While, int] | None:
    """Return the loop in which statement ``at`` lets threads spin, and which is the first behind those run in turns.

    None if it lets none spin, or if none of the statements after it gives back what they spin on.
    """
    if not isinstance(body[at], (ast.While, ast.If, ast.Expr)):
        return None
    place = (
        body[at],
        at,
        len(body),
    )  # a statement is also run by itself, and among those that are run in turns
    if place not in run.spins:
        run.spins[place] = _taken(run, frame, body, at)
    return run.spins[place]


def _taken(run, frame, body: list, at: int):
    found, behind = spinning(run, frame, body[at]), None
    if found is None:
        return None
    for number in range(at + 1, len(body)):
        again = spinning(run, frame, body[number])
        if again is not None and again[1] & found[1]:
            break
        if _gives_back(body[number], found[1]):
            behind = number + 1
    return None if behind is None else (found[0], behind)


def over(run, node: ast.While, trips: int) -> bool:
    """Tell whether threads that have made so many trips of a loop wait for their next turn: each has tried once."""
    return node in run.turns and trips == (1 if _atomics(node.test) else 2)


def waits_for_the_others(run, frame, node: ast.If) -> bool:
    """Tell whether threads on the one side of a branch spin until those on the other, who do not, let them go on."""
    if node.test not in run.spins:
        names = _spun(run, frame, node.body) if node.orelse else frozenset()
        lets = names and not names & _spun(run, frame, node.orelse)
        run.spins[node.test] = bool(lets) and any(_gives_back(one, names) for one in node.orelse)
    return run.spins[node.test]


def _spun(run, frame, body: list) -> frozenset:
    found = [spinning(run, frame, one) for one in body]
    return frozenset().union(*(one[1] for one in found if one))


def in_turns(run, frame, parts: tuple[list, list], loop: ast.While, mask: Mask, execute) -> Mask:
    """Run the statement that spins, and those up to the one that gives back, in turns.

    Returns
    -------
    Mask
        The lanes that come to the end of these statements.
    """
    spin, rest = parts
    waiting, here, done, outer = mask, run.wave.nobody, run.wave.nobody, run.turns
    while waiting or here:
        run.turns = {**outer, loop: run.wave.nobody}
        came = execute(run, frame, spin, waiting)
        held, run.turns = run.turns[loop], outer
        here = here.union(came.minus(held))
        if not here:  # nobody can let them in but they themselves
            here, held = execute(run, frame, spin, waiting), run.wave.nobody
        waiting = held
        going = _first(run, here, waiting)
        here = here.minus(going)
        run.ledger.new_block()
        done = done.union(execute(run, frame, rest, going))
        run.ledger.flush()
        run.kill("global", "shared")
    return done


def _first(run, here: Mask, waiting: Mask) -> Mask:
    """Return which lanes go on: those whose whole block has come, else those whose warp has, else all."""
    if not waiting or not here:
        return here
    wave, held = run.wave, run.wave.spread(waiting.full)
    rows = wave.by_warp(waiting.full, False)
    of_blocks = held.any(axis=1)[:, None] | held
    blocks = here.narrow(~of_blocks.reshape(wave.shape))
    if blocks:
        return blocks
    of_warps = wave.from_warps(rows.any(axis=1)[:, None] | rows)
    return here.narrow(~of_warps) or here


def _is_text(node) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _base(node) -> str:
    """Return the name of the array in which an element or a part lies."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _atomics(node) -> frozenset:
    """Return the names of the arrays that atomics in a piece of source change or look at."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call) and part.args)
    return frozenset(_base(c.args[0]) for c in calls if "atomic" in ast.unparse(c.func)) - {""}


@cache
def _spins_on(node: ast.While) -> frozenset:
    """Return the names of the arrays on whose atomics a loop waits, if it does nothing else."""
    if node.orelse:
        return frozenset()
    found = _atomics(node.test)
    for one in node.body:
        value = getattr(one, "value", None)
        if isinstance(one, (ast.Assign, ast.Expr)) and isinstance(value, ast.Call) and _atomics(one):
            found |= _atomics(one)
        elif not isinstance(one, QUIET) and not _is_text(one) and not _is_fence(value):
            return frozenset()
    return found


def _is_fence(node) -> bool:
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return name.rpartition(".")[2] in ("threadfence", "threadfence_block", "nanosleep")


@cache
def _gives_back(node, names: frozenset) -> bool:
    """Whether a statement stores to one of these arrays, by an atomic or without, or hands one to a function."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and any(_base(one) in names for one in part.args):
            return True
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and _base(part) in names:
            return True
    return False
