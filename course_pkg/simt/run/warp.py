"""Warp functions: shuffles, votes, matches and the warp barrier."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import best_match
from course_pkg.simt.memory.unwritten import NOWHERE, first_of
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.hindsight import follow_moved, follow_vote, from_nobody
from course_pkg.simt.run.roles import Role
from course_pkg.simt.run.values import undefined

EXCHANGED = (types.int32, types.int64, types.float32, types.float64)
FULL = 0xFFFFFFFF
LANES = np.arange(32)
SOURCES = {
    "shfl_sync": lambda by: by % 32,
    "shfl_up_sync": lambda by: LANES - by,
    "shfl_down_sync": lambda by: LANES + by,
    "shfl_xor_sync": lambda by: LANES ^ by,
}


@dataclass(frozen=True, eq=False)
class Members:
    """The lanes that call a warp function, and the member masks that they pass.

    Attributes
    ----------
    at_work : ndarray of bool, shape (warps, 32)
        The lanes that call the function.
    bits : ndarray of int64, shape (warps, 32)
        The member mask that each lane passes.
    gone : ndarray of bool, shape (warps, 32)
        Lanes that have left the kernel: no lane waits for them.
    """

    at_work: np.ndarray
    bits: np.ndarray
    gone: np.ndarray

    @cached_property
    def named(self) -> np.ndarray:
        """For each calling lane, which lanes its mask names; bool, shape (warps, 32, 32)."""
        return self.at_work[:, :, None] & ((self.bits[:, :, None] >> LANES) & 1).astype(bool)

    @cached_property
    def whole(self) -> np.ndarray:
        """For each warp, whether all remaining lanes call, and each mask names all of them; bool, shape (warps,)."""
        everybody = np.where(self.gone, 0, 1 << LANES).sum(axis=1)
        alike = (self.bits & everybody[:, None]) == everybody[:, None]
        return (self.gone | (self.at_work & alike)).all(axis=1) & self.at_work.any(axis=1)

    @cached_property
    def together(self) -> np.ndarray:
        """For each calling lane, the named lanes that call with the same mask or that have left the kernel."""
        alike = self.at_work[:, None, :] & (self.bits[:, :, None] == self.bits[:, None, :])
        return self.named & (alike | self.gone[:, None, :])

    @cached_property
    def torn(self) -> np.ndarray:
        """For each calling lane, the named lanes that do not call, and the lane itself if its mask does not name it."""
        itself = np.eye(32, dtype=bool) & self.at_work[:, :, None]
        return (self.named & ~self.together) | (itself & ~self.named)


def _members(run, frame, node, name, arguments, mask) -> Members:
    """Return the members of a call; report lanes that a mask names but that do not call with the same mask."""
    run.ledger.demand(arguments[0], mask)
    wave = run.wave
    bits = wave.by_warp(arguments[0].data.astype(np.int64) & FULL, FULL)
    skipped = name == "syncwarp" and not node.args and bool(run.leaving)
    exited = run.half.crew.exited if isinstance(run.half, Role) else run.exited
    gone = wave.by_warp((exited.union(run.leaving) if skipped else exited).full, True)
    members = Members(mask.rows, bits, gone)
    if skipped and not run.dry:
        _note_skipped(run, SourceLine(frame.program.name, node.lineno), members, name)
    if not members.whole.all() and not run.dry:
        some = np.flatnonzero(members.at_work.any(axis=1) & ~members.whole)
        part = Members(*(rows[some] for rows in (members.at_work, bits, gone)))
        if part.torn.any():
            run.log.torn_warp(run, SourceLine(frame.program.name, node.lineno), some, part.torn, name)
    return members


def _note_skipped(run, where, members, name) -> None:
    """Add a note about a lane that a mask names, if it skips the warp barrier because it is leaving the kernel."""
    on_their_way = run.wave.by_warp(run.leaving.full, False)
    waits = members.named & on_their_way[:, None, :]
    if waits.any():
        row, came, missed = (int(found[0]) for found in np.nonzero(waits))
        block, warp = divmod(row, run.wave.warps_per_block)
        run.log.notes.skipped(run, where, came + 32 * warp, missed + 32 * warp, block, name)


def _shuffle(run, frame, node, name, arguments, mask):
    if len(arguments) != 3:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"cuda.{name} takes a member mask, a value and a lane or distance.",
        )
    value = arguments[1]
    if value.type not in EXCHANGED:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba has cuda.{name} for int32, int64, float32 and float64, "
            f"and the value is a {value.type}: convert it, as in cuda.{name}(mask, numba.int32(value), …).",
        )
    by = arguments[2].data.astype(np.int64)
    by = by.reshape(1) if by.size == 1 else run.wave.by_warp(by, 0)  # usually, it is the same in all lanes
    source = SOURCES[name](by)
    source = np.where((source < 0) | (source > 31), LANES, source)
    members = _members(run, frame, node, name, arguments, mask)
    at_work, bits = members.at_work, members.bits
    there = _taken(at_work, source) & (_taken(bits, source) == bits)
    asleep = at_work & ~there & (source != LANES)
    some = asleep.any()

    def moved(data):
        taken = _taken(run.wave.by_warp(data, 0), source)
        return run.wave.from_warps(np.where(asleep, undefined(taken.dtype), taken) if some else taken)

    run.ledger.instruction(mask)
    found = run.fresh(moved(value.data), value.type, arguments, mask, moved=value)
    found = follow_moved(found, moved, value)

    def taken(numbers):
        rows = _taken(run.wave.by_warp(numbers, NOWHERE), source)
        return run.wave.from_warps(np.where(at_work & ~asleep, rows, NOWHERE))

    found.unwritten = tuple(one.moved(taken) for one in value.unwritten)
    if run.races is not None and some:
        hazard = run.log.absent_lane(SourceLine(frame.program.name, node.lineno), run, asleep, source, name)
        from_nobody(found, found.data, run.races.doubts.absent(hazard), run.wave.from_warps(asleep))
    return found


def _taken(rows, source):
    """Return, for each lane of each row, the entry of its source lane."""
    return rows[:, source] if source.ndim == 1 else np.take_along_axis(rows, source, axis=1)


def _vote(run, frame, node, name, arguments, mask):
    members = _members(run, frame, node, name, arguments, mask)
    value = arguments[1]

    def voted(data):
        outcome = _outcome(name, members, run.wave.by_warp(data, 0))
        return run.wave.from_warps(np.broadcast_to(outcome, members.at_work.shape))

    kind = types.int32 if name == "ballot_sync" else types.boolean
    found = run.fresh(voted(value.data), kind, arguments, mask, moved=value)
    found.unwritten = _of_voters(run, members, value)
    return follow_vote(found, voted, value)


def _of_voters(run, members, value) -> tuple:
    """Return the reads of unwritten memory behind the result of a vote."""

    def first(numbers):
        voters = members.together & members.at_work[:, None, :]
        rows = run.wave.by_warp(numbers, NOWHERE)
        return run.wave.from_warps(first_of(rows[:, None, :], voters))

    return tuple(one.moved(first) for one in value.unwritten)


def _outcome(name, members, rows):
    """Return the result of the vote, for each lane of each warp."""
    voters = members.at_work[:, None, :]  # if all lanes of a warp vote together, one row serves all of them
    if not members.whole.all():
        voters = voters & members.together
    yes = voters & (rows != 0)[:, None, :]
    if name == "ballot_sync":
        return (yes.astype(np.int64) << LANES).sum(axis=2).astype(np.uint32).view(np.int32)
    if name == "any_sync":
        return yes.any(axis=2)
    if name == "all_sync":
        return (yes | ~voters).all(axis=2)
    some = np.take_along_axis(rows, voters.argmax(axis=2), axis=1)
    return ((rows[:, None, :] == some[:, :, None]) | ~voters).all(axis=2)


def _match(run, frame, node, name, arguments, mask):
    """Run ``match_any_sync`` or ``match_all_sync``.

    ``match_any_sync`` returns, in each lane, a bit mask of the lanes with the same value. ``match_all_sync`` returns a
    bit mask of all lanes if all have the same value, and 0 otherwise; it also returns whether all have the same value.
    """
    if len(arguments) != 2:
        raise SimtError.at(frame.program.name, node.lineno, f"cuda.{name} takes a member mask and a value.")
    members, value = _members(run, frame, node, name, arguments, mask), arguments[1]
    if isinstance(value.type, types.Boolean):
        value = cast(run, value, types.int32)
    at = best_match([(kind,) for kind in EXCHANGED], (value.type,))
    value = cast(run, value, EXCHANGED[at or 0])
    as_bits = np.int32 if value.type.bitwidth == 32 else np.int64

    def matched(data):
        rows = run.wave.by_warp(data, 0).view(as_bits)  # a GPU compares bits, so NaN equals itself
        alike = members.together & members.at_work[:, None, :] & (rows[:, :, None] == rows[:, None, :])
        if name == "match_all_sync":
            everybody = members.together & members.at_work[:, None, :]
            alike = everybody & (alike == everybody).all(axis=2)[:, :, None]
        return (alike.astype(np.int64) << LANES).sum(axis=2).astype(np.uint32).view(np.int32)

    def bits(data):
        return run.wave.from_warps(matched(data))

    run.ledger.instruction(mask)
    found = run.fresh(bits(value.data), types.int32, arguments, mask, moved=arguments[1])
    found.unwritten = _of_voters(run, members, value)
    found = follow_vote(found, bits, value)
    if name == "match_any_sync":
        return found
    same = run.view(found, found.data != 0, types.boolean, run.numbering.fresh())
    return found, follow_vote(same, lambda data: bits(data) != 0, value)


def _laid_out(run, data):
    return run.wave.from_warps(np.broadcast_to(data[:, None], (len(data), 32)))


def _activemask(run, frame, node, name, arguments, mask):
    data = (mask.rows.astype(np.int64) << np.arange(32)).sum(axis=1)
    return run.fresh(_laid_out(run, data.astype(np.uint32)), types.uint32)


def _lanemask_lt(run, frame, node, name, arguments, mask):
    lane = run.wave.thread_in_block % 32
    return run.given(((1 << lane) - 1).astype(np.uint32), types.uint32, "lanemask_lt")


def _syncwarp(run, frame, node, name, arguments, mask):
    run.in_parts |= bool(arguments)
    members = _members(run, frame, node, name, arguments or [run.constant(FULL)], mask)
    warps = members.at_work.any(axis=1)
    if members.whole[warps].all():
        run.clock.pass_warp_barrier(None, warps)
    elif arguments or run.races is None or run.races.in_parts:
        run.clock.pass_warp_barrier(members.together, warps)
    else:  # reported: some lanes of these warps never come
        run.clock.pass_warp_barrier(None, warps & members.whole)
    run.ledger.flush()
    run.kill("global", "shared")
    run.ledger.instruction(mask)


FUNCTIONS = {
    **dict.fromkeys(("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"), _shuffle),
    **dict.fromkeys(("ballot_sync", "any_sync", "all_sync", "eq_sync"), _vote),
    **dict.fromkeys(("match_any_sync", "match_all_sync"), _match),
    "activemask": _activemask,
    "lanemask_lt": _lanemask_lt,
    "syncwarp": _syncwarp,
}
ALONE = ("activemask", "lanemask_lt")  # functions at which no lane waits for another one
