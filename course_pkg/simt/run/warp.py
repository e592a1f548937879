"""Functions of a warp: shuffles, votes, and its own barrier."""

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
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
    rows = run.wave.by_warp(value.data, 0)
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
    moved = np.where(asleep, undefined(rows.dtype), np.take_along_axis(rows, source, axis=1))
    run.ledger.instruction(mask)
    return run.fresh(run.wave.from_warps(moved), value.type, arguments, mask)


def _vote(run, frame, node, name, arguments, mask):
    at_work = mask.rows
    _expect(run, frame, node, name, arguments, mask)
    value = arguments[1]
    rows = run.wave.by_warp(value.data, 0)
    yes = at_work & (rows != 0)
    if name == "ballot_sync":
        data = (yes.astype(np.int64) << np.arange(32)).sum(axis=1)
        return _per_warp(run, data.astype(np.uint32).view(np.int32), types.int32, arguments, mask)
    if name == "any_sync":
        data = yes.any(axis=1)
    elif name == "all_sync":
        data = (yes | ~at_work).all(axis=1)
    else:
        some = np.take_along_axis(rows, at_work.argmax(axis=1)[:, None], axis=1)
        data = ((rows == some) | ~at_work).all(axis=1)
    return _per_warp(run, data, types.boolean, arguments, mask)


def _per_warp(run, data, numba_type, operands, mask):
    rows = np.broadcast_to(data[:, None], (len(data), 32))
    return run.fresh(run.wave.from_warps(rows), numba_type, operands, mask)


def _activemask(run, frame, node, name, arguments, mask):
    data = (mask.rows.astype(np.int64) << np.arange(32)).sum(axis=1)
    return _per_warp(run, data.astype(np.uint32).view(np.int32), types.int32, (), mask)


def _lanemask_lt(run, frame, node, name, arguments, mask):
    lane = run.wave.thread_in_block % 32
    return run.given(((1 << lane) - 1).astype(np.uint32).view(np.int32), types.int32, "lanemask_lt")


def _syncwarp(run, frame, node, name, arguments, mask):
    wave, at_work = run.wave, mask.rows
    _expect(run, frame, node, name, arguments or [run.constant(FULL)], mask)
    run.pass_warp_barrier(at_work.any(axis=1).reshape(wave.blocks, wave.warps_per_block))
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
