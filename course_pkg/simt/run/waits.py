"""Where threads wait for others, and how a launch begins again with one more role (:mod:`.roles`) because of that."""

import ast
from dataclasses import dataclass, field

import numpy as np

from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.run.lanes import Mask

MOST = 64  # roles of a wave


@dataclass
class Apart(Exception):
    """Ends a launch that begins again with more roles.

    Attributes
    ----------
    wave : tuple of int
        The first block of the wave.
    roles : list of ndarray of bool
        The lanes of each role.
    stops : list
        Where each role begins to be late (:mod:`.late`).
    steps : int or None
        How many statements the launch may still run.
    """

    wave: tuple
    roles: list
    stops: list
    steps: int | None = None


@dataclass
class Waits:
    """Where a role waits, and for what.

    Attributes
    ----------
    where : SourceLine
    lanes : Mask
    names : frozenset of str
        In a loop: the arrays whose atomics the threads wait for.
    pending : ndarray of bool, or None
        At a barrier: the blocks that have not passed it.
    whole : bool
        Whether all blocks wait for each other.
    here, votes : ndarray of int
        For each block, how many threads of the role came to the barrier, and how many of them voted yes.
    all_here, all_votes : ndarray of int
        The same of all roles, for the blocks that have passed.
    call
        At a shuffle, a vote or a warp's barrier: its call.
    arguments : list of Value
        Of this call, or what the threads of blocks vote on.
    peers : list of (Mask, Value)
        What other roles have voted on, with their lanes, in blocks that have passed.
    found : list
        The result of this call, as soon as it is known.
    alone : ndarray of bool, or None
        Of these calls: the warps that wait for lanes which have not come.
    """

    where: SourceLine
    lanes: Mask
    names: frozenset = frozenset()
    pending: np.ndarray | None = None
    whole: bool = False
    here: np.ndarray | None = None
    votes: np.ndarray | None = None
    all_here: np.ndarray | None = None
    all_votes: np.ndarray | None = None
    call: ast.Call | None = None
    arguments: list = field(default_factory=list)
    peers: list = field(default_factory=list)
    found: list = field(default_factory=list)
    alone: np.ndarray | None = None

    @property
    def kept(self) -> Mask:
        """The lanes that cannot go on: at a barrier, those of the blocks or warps that have not all come."""
        wave = self.lanes.wave
        if self.alone is not None:
            return self.lanes.narrow(
                wave.from_warps(np.broadcast_to(self.alone[:, None], self.lanes.rows.shape))
            )
        if self.pending is not None:
            return in_blocks(self.lanes, self.pending)
        return self.lanes

    @property
    def in_loop(self) -> bool:
        """Whether threads wait in a loop, and not at a place where threads meet."""
        return self.pending is None and self.call is None


def in_blocks(lanes: Mask, blocks: np.ndarray) -> Mask:
    """Return the lanes of a mask that belong to some blocks."""
    return lanes.narrow(np.repeat(blocks, lanes.wave.threads_per_block).reshape(lanes.wave.shape))


def each_block(lanes: Mask) -> np.ndarray:
    """Return how many lanes of a mask each block has."""
    return np.count_nonzero(lanes.wave.spread(lanes.full), axis=1)


def divide(
    lanes: Mask, exited: Mask, stuck: Mask, others: tuple, by_warp: bool, stops: frozenset = frozenset()
) -> None:
    """Make two roles of one: of the lanes that are stuck, and of the others, if some of these have not left.

    ``others``: the roles before and behind the divided one, each with its ``stops``. ``by_warp``: whether all lanes of
    a warp with a stuck lane are in the first of the two.
    """
    wave, apart, (before, behind) = lanes.wave, stuck.full, others
    if by_warp:
        rows = stuck.rows
        apart = wave.from_warps(np.broadcast_to(rows.any(axis=1)[:, None], rows.shape))
    rest = lanes.full & ~apart
    if apart.any() and (rest & ~exited.full).any() and len(before) + len(behind) + 2 <= MOST:
        roles = [*before, (lanes.full & apart, stops), (rest, stops), *behind]
        raise Apart(wave.first, [one for one, _ in roles], [stop for _, stop in roles])
