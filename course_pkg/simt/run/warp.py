"""Functions of a warp: shuffles, votes, and its own barrier."""

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.run.hindsight import follow, in_both
from course_pkg.simt.run.values import undefined

FULL = 0xFFFFFFFF


def _expect(run, frame, node, name, arguments, mask) -> None:
    """Tell of lanes that the member mask names and that do not come, though they have not left the kernel."""
    run.ledger.demand(arguments[0], mask)
    wave, at_work = run.wave, mask.rows
    alive = (wave.everyone.minus(run.exited) if run.exited else wave.everyone).rows
    bits = wave.by_warp(np.broadcast_to(arguments[0].data.astype(np.int64) & FULL, wave.shape), 0)
    named = np.where(at_work, bits, 0).max(axis=1)
    members = alive & ((named[:, None] >> np.arange(32)) & 1).astype(bool)
    torn = at_work.any(axis=1) & (members & ~at_work).any(axis=1)
    if torn.any() and not run.dry:
        run.log.torn_warp(run, SourceLine(frame.program.name, node.lineno), at_work, members, torn, name)


def _shuffle(run, frame, node, name, arguments, mask):
    if len(arguments) != 3:
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: cuda.{name} takes a member mask, a value and a lane "
            "or distance."
        )
    value = arguments[1]
    by = run.wave.by_warp(arguments[2].data.astype(np.int64), 0)
    lane = np.arange(32)
    source = {
        "shfl_sync": by % 32,
        "shfl_up_sync": lane - by,
        "shfl_down_sync": lane + by,
        "shfl_xor_sync": lane ^ by,
    }[name]
    source = np.where((source < 0) | (source > 31), lane, source)
    at_work = mask.rows
    _expect(run, frame, node, name, arguments, mask)
    asleep = at_work & ~np.take_along_axis(at_work, source, axis=1)

    def moved(data):
        taken = np.take_along_axis(run.wave.by_warp(data, 0), source, axis=1)
        return run.wave.from_warps(np.where(asleep, undefined(taken.dtype), taken))

    run.ledger.instruction(mask)
    return follow(run.fresh(moved(value.data), value.type, arguments, mask), in_both(moved), value)


def _vote(run, frame, node, name, arguments, mask):
    at_work = mask.rows
    _expect(run, frame, node, name, arguments, mask)
    value = arguments[1]

    def voted(data):
        return _laid_out(run, _outcome(name, at_work, run.wave.by_warp(data, 0)))

    kind = types.int32 if name == "ballot_sync" else types.boolean
    return follow(run.fresh(voted(value.data), kind, arguments, mask), in_both(voted), value)


def _outcome(name, at_work, rows):
    """Return what each warp's vote comes to."""
    yes = at_work & (rows != 0)
    if name == "ballot_sync":
        return (yes.astype(np.int64) << np.arange(32)).sum(axis=1).astype(np.uint32).view(np.int32)
    if name == "any_sync":
        return yes.any(axis=1)
    if name == "all_sync":
        return (yes | ~at_work).all(axis=1)
    some = np.take_along_axis(rows, at_work.argmax(axis=1)[:, None], axis=1)
    return ((rows == some) | ~at_work).all(axis=1)


def _laid_out(run, data):
    return run.wave.from_warps(np.broadcast_to(data[:, None], (len(data), 32)))


def _activemask(run, frame, node, name, arguments, mask):
    data = (mask.rows.astype(np.int64) << np.arange(32)).sum(axis=1)
    return run.fresh(_laid_out(run, data.astype(np.uint32).view(np.int32)), types.int32)


def _lanemask_lt(run, frame, node, name, arguments, mask):
    lane = run.wave.thread_in_block % 32
    return run.given(((1 << lane) - 1).astype(np.uint32).view(np.int32), types.int32, "lanemask_lt")


def _syncwarp(run, frame, node, name, arguments, mask):
    wave, at_work = run.wave, mask.rows
    _expect(run, frame, node, name, arguments or [run.constant(FULL)], mask)
    run.clock.pass_warp_barrier(at_work.any(axis=1).reshape(wave.blocks, wave.warps_per_block))
    run.ledger.flush()
    run.kill("global", "shared")
    run.ledger.instruction(mask)


FUNCTIONS = {
    **dict.fromkeys(("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"), _shuffle),
    **dict.fromkeys(("ballot_sync", "any_sync", "all_sync", "eq_sync"), _vote),
    "activemask": _activemask,
    "lanemask_lt": _lanemask_lt,
    "syncwarp": _syncwarp,
}
