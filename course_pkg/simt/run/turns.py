"""Turns: while threads spin for a lock, the threads that hold it go on until they have released it.

All threads of a wave run a statement together. So a thread that has left ``while cuda.atomic.cas(lock, 0, 0, 1) != 0``
would wait after this loop for the others, and the others would wait for the lock. On a GPU of compute capability 7.0 or
later, each thread makes progress by itself. So the interpreter runs the statements, from the one that spins to the one
that releases the lock, in turns. First the threads that have passed the loop run the statements; then the others try
again. Whole blocks go first, then whole warps, because these statements may contain barriers. A thread may hold a lock
and wait at a barrier for threads of its block that spin for this lock. This barrier is a hazard: a GPU would wait
forever.
"""

import ast
from dataclasses import dataclass, replace

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import regions_of
from course_pkg.simt.run.draws import is_draw, ours
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.gates import Gate, held
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.roles import Role, others_first
from course_pkg.simt.run.spinning import atomics, base, gives_back, is_text, prepares, sees_others, spins_on
from course_pkg.simt.run.waits import Waits

BLOCK = ("syncthreads", ".sync(")  # calls at which all threads of a block meet, or of the grid
MOST_WAITED = (
    1 << 17
)  # waiting threads, summed over all turns: 512 threads that take one lock, in ten seconds


@dataclass(frozen=True)
class Spin:
    """A statement in which threads spin before they do anything else.

    Attributes
    ----------
    loop : ast.While
        The loop in which the threads spin; it may be in a device function.
    names : frozenset of str
        The arrays whose atomics the threads wait for, under their names in the function that contains the statement.
    gate : tuple of (ast.stmt, bool) or None
        A statement, such as ``if t == 0:``, in which some threads spin for all the threads that they meet after it; and
        true if these are all threads of their block, false if they are only those of their warp.
    """

    loop: ast.While
    names: frozenset
    gate: tuple[ast.stmt, bool] | None = None


@dataclass(frozen=True)
class Turn:
    """Statements that threads run in turns: the statements after the loop in which they spin.

    ``behind`` is the index of the first statement of the body after these statements. ``meets`` is true if threads have
    to meet within these statements, for example at a barrier.
    """

    loop: ast.While
    behind: int
    meets: bool
    gate: tuple[ast.stmt, bool] | None


def taken(run, frame, body: list, at: int) -> Turn | None:
    """Return the turn that begins with statement ``at``; None if no thread spins there, or nothing releases it."""
    if not isinstance(body[at], (ast.While, ast.If, ast.Expr)):
        return None
    place = (
        body[at],
        at,
        len(body),
    )  # a statement may run by itself as well as among statements in turns
    if place not in run.spins:
        run.spins[place] = _taken(run, frame, body, at)
    return run.spins[place]


def _taken(run, frame, body: list, at: int) -> Turn | None:
    spin, behind, meets, met = _spinning(run, frame, body[at]), None, False, False
    if spin is None:
        return None
    names = _same_arrays(frame, spin.names)
    for number in range(at + 1, len(body)):
        again, comes = _spinning(run, frame, body[number]), _meets(run, frame, body[number])
        if (again is not None and again.names & names) or (comes and behind is not None):
            break
        met |= comes
        if gives_back(body[number], names):
            behind, meets = number + 1, met
    return None if behind is None else Turn(spin.loop, behind, meets, spin.gate)


def over(run, node: ast.While, trips: int) -> bool:
    """Return whether threads wait for their next turn after this many trips of a loop: each has then tried once."""
    return node in run.turns and trips == (1 if atomics(node.test) else 2)


def waits_for_the_others(run, frame, node: ast.If) -> bool:
    """Return whether threads in an ``if`` spin until threads in its ``else``, which do not spin, release them."""
    if node.test not in run.spins:
        names = _spun(run, frame, node.body) if node.orelse else frozenset()
        lets = names and not names & _spun(run, frame, node.orelse)
        run.spins[node.test] = bool(lets) and any(gives_back(one, names) for one in node.orelse)
    return run.spins[node.test]


def may_wait_here(run, frame, node: ast.While) -> bool:
    """Return whether a loop may wait for what other threads do."""
    place = "may wait", node
    if place not in run.spins:
        calls = [part for part in walk(node) if isinstance(part, ast.Call)]
        trees = [node]
        if any(program_called(run, frame, call) is not None for call in calls):
            trees += [program.tree for program in run.launch.programs.values()]
        run.spins[place] = sees_others(trees)
    return run.spins[place]


def in_turns(run, frame, body: list, at: int, turn: Turn, mask: Mask, execute) -> Mask:
    """Run, in turns, the statements from the one that spins to the one that releases the lock.

    Returns
    -------
    Mask
        The lanes that come to the end of these statements.
    """
    spin, rest = body[at : at + 1], body[at + 1 : turn.behind]
    waiting, here, done, waited = mask, run.wave.nobody, run.wave.nobody, 0
    gate = turn.gate and Gate(*turn.gate, run.wave.nobody)
    while waiting or here:
        came, waiting = _one_try(run, frame, spin, turn, gate, waiting, execute)
        here = here.union(came)
        while turn.meets and came and waiting:  # threads that need no help all pass first, then all run on
            came, waiting = _one_try(run, frame, spin, turn, gate, waiting, execute)
            here = here.union(came)
        if _comes_too_early(run, frame, turn, here, waiting):
            continue
        if not here and isinstance(run.half, Role) and run.half.waits(turn, _place(frame, turn, waiting)):
            continue
        if not here:  # the waiting threads can be released only by each other
            here, waiting = execute(run, frame, spin, waiting), run.wave.nobody
        waited += int(waiting.full.sum()) if run.races is not None else 0
        if waited > MOST_WAITED:
            raise SimtError.at(
                run.launch.name,
                turn.loop.lineno,
                "so many threads wait here for one another that it would "
                "take too long to look for races among them: launch fewer threads, or let one thread of each block "
                "wait for all threads of its block.",
            )
        going = _first(run, here, waiting)
        here = here.minus(going)
        run.ledger.new_block()
        done = done.union(execute(run, frame, rest, going))
        run.ledger.flush()
        run.kill("global", "shared")
    if run.half is not None:
        run.half.leaves(turn)
    return done


def _comes_too_early(run, frame, turn: Turn, here: Mask, waiting: Mask) -> bool:
    """Let other parts of the wave go on if lanes would meet others of their warp that still wait for those parts."""
    if not (turn.meets and here and waiting):
        return False
    held = run.wave.by_warp(waiting.full, False).any(axis=1)
    alone = run.wave.by_warp(here.full, False).any(axis=1) & ~held
    if alone.any():
        return False
    where = _place(frame, turn, waiting)
    if run.half is not None and run.half.waits(turn, where):
        return True
    if run.launch.may_begin_again:
        others_first(run, where)
    return False


def _place(frame, turn: Turn, waiting: Mask) -> Waits:
    return Waits(SourceLine(frame.program.name, turn.loop.lineno), waiting, atomics(turn.loop))


def _one_try(
    run, frame, spin: list, turn: Turn, gate: Gate | None, lanes: Mask, execute
) -> tuple[Mask, Mask]:
    """Let lanes try to pass the loop once; return the lanes that passed it, and the lanes that still wait."""
    outer, inner = (run.turns, run.gate), [one for one in walk(turn.loop) if isinstance(one, ast.While)]
    run.turns = {**run.turns, **dict.fromkeys(inner, run.wave.nobody)}
    run.gate = gate
    came = execute(run, frame, spin, lanes) if lanes else lanes
    waiting = held(run, inner)
    run.turns, run.gate = outer
    return came.minus(waiting), waiting


def _first(run, here: Mask, waiting: Mask) -> Mask:
    """Return the lanes of ``here`` that go on.

    These are the lanes in blocks without waiting lanes. If there are none, they are the lanes in warps without waiting
    lanes. If there are none of these either, they are all lanes of ``here``.
    """
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


# ----------------------------------------------------------------------------------------- which statements spin


def _spinning(run, frame, node) -> Spin | None:
    """Return the loop in which threads spin at the beginning of a statement; None if there is none.

    The statement is such a loop itself, or an ``if`` or a call of a device function that begins with such a loop.
    """
    if isinstance(node, ast.While):
        names = spins_on(node)
        return Spin(node, names) if names else None
    if isinstance(node, ast.If):
        return _in_side(run, frame, node.body, node.orelse) or _in_side(run, frame, node.orelse, node.body)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
        return _in_function(run, frame, node.value)
    return None


def _in_side(run, frame, body: list, other: list) -> Spin | None:
    """Return the result of :func:`_spinning` for one side of an ``if``, where no other statement gives back."""
    if not body:
        return None
    at = prepares(tuple(body))
    first, *rest = body[at:]
    found = _spinning(run, frame, first)
    if found is not None:  # `own = flags[i:]` before the loop is a name of an array that the threads wait for
        parts = [base(one.value) for one in body[:at] if one.targets[0].id in found.names]
        found = replace(found, names=found.names.union(filter(None, parts)))
    if found is None or any(gives_back(one, found.names) for one in (*rest, *other)):
        return None
    return _with_gate(run, frame, found, first, rest)


def _with_gate(run, frame, found: Spin, first, rest: list) -> Spin:
    """Return a spin with its gate, if threads meet behind its first statement and not all of them spin there."""
    if found.gate or isinstance(first, ast.While) or not any(_meets(run, frame, one) for one in rest):
        return found
    return replace(found, gate=(first, any(_meets(run, frame, one, BLOCK) for one in rest)))


def _in_function(run, frame, call: ast.Call) -> Spin | None:
    """Return the result of :func:`_spinning` for a call of a device function."""
    if call not in run.spins:
        run.spins[call] = None
        program = program_called(run, frame, call)
        first, *rest = [one for one in program.tree.body if not is_text(one)] if program else [None]
        found = _spinning(run, frame, first) if isinstance(first, (ast.While, ast.If)) else None
        if found is not None:
            found = _with_gate(run, frame, found, first, rest)
            given = dict(zip(program.parameters, map(base, call.args), strict=False))
            names = frozenset(given[name] for name in found.names if given.get(name))
            run.spins[call] = replace(found, names=names) if names else None
    return run.spins[call]


def program_called(run, frame, call: ast.Call):
    """Return the program of the device function that is called; None for any other call, as one that draws a number."""
    try:
        function = evaluate(run, frame, call.func, run.wave.nobody)
    except SimtError:  # running the statement will report the error
        return None
    is_function = hasattr(function, "py_func") and not is_draw(ours(function))
    return run.launch.program(function) if is_function else None


def _spun(run, frame, body: list) -> frozenset:
    found = [_spinning(run, frame, one) for one in body]
    return frozenset().union(*(one.names for one in found if one))


def _same_arrays(frame, names: frozenset) -> frozenset:
    """Return all names that now stand for one of these arrays or for a part of one."""
    arrays = {name: set(map(id, regions_of(v.value))) for name, v in frame.variables.items()}
    regions = {region for name in names for region in arrays.get(name, ())}
    return names | {name for name, own in arrays.items() if own & regions}


def _meets(run, frame, node, words=("sync",)) -> bool:
    """Return whether threads have to meet in a statement: at a barrier, a vote or a shuffle."""
    calls = [part for part in walk(node) if isinstance(part, ast.Call)]
    programs = [program_called(run, frame, call) for call in calls if isinstance(call.func, ast.Name)]
    texts = [f"{ast.unparse(call.func)}(" for call in calls]
    texts += [ast.unparse(program.tree) for program in programs if program is not None]
    return any(word in text for text in texts for word in words)
