"""Gates: threads of a block or warp wait for the one of them that spins for all, before they meet at a barrier.

Threads that spin in turns (:mod:`.turns`) leave the statement and try again. The others must not come to the barrier
before them. So they wait behind the statement in which some spin, and do not run it again.
"""

import ast
from dataclasses import dataclass

from course_pkg.simt.run.lanes import Mask


@dataclass
class Gate:
    """A statement behind which threads of a block or warp wait for those of them that spin in it.

    ``of_block`` is true if threads of a block meet there. ``passed`` are the lanes that wait behind it.
    """

    node: ast.stmt
    of_block: bool
    passed: Mask


def those_not_held(run, mask: Mask) -> Mask:
    """Return the lanes that wait for no turn; a device function in which lanes spin returns all lanes."""
    return mask.minus(held(run, run.turns)) if run.turns else mask


def held(run, loops) -> Mask:
    """Return the lanes that wait in some loops for their next turn."""
    lanes = run.wave.nobody
    for one in loops:
        lanes = lanes.union(run.turns[one])
    return lanes


def through_gate(run, frame, node, mask: Mask, handler) -> Mask:
    """Run a statement behind which others wait; return the lanes that go on."""
    gate, wave = run.gate, run.wave
    mask = handler(run, frame, node, mask.minus(gate.passed)).union(gate.passed)
    waiting = held(run, run.turns)
    if gate.of_block:
        lanes = wave.spread(waiting.full)
        neighbours = (lanes.any(axis=1)[:, None] | lanes).reshape(wave.shape)
    else:
        rows = wave.by_warp(waiting.full, False)
        neighbours = wave.from_warps(rows.any(axis=1)[:, None] | rows)
    gate.passed = mask.narrow(neighbours)
    loop = next(reversed(run.turns))  # the loop of the innermost turns
    run.turns[loop] = run.turns[loop].union(gate.passed)
    return mask.minus(gate.passed)
