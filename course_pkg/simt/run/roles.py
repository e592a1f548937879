"""Roles: threads that wait for each other, each in a loop of its own, run the kernel one after another.

All threads of a wave run in lock step. So a warp that fills tiles in a loop, inside one side of an ``if``, would come
to the end of this loop before the warp that empties the tiles, on the other side, begins. If the first one waits there
for the second, nothing changes any more. The launch then begins again (:class:`Apart`), and the waiting threads are a
part of their own (:mod:`.parts`): a *role*. A role runs until it waits in a loop, or at a barrier, and then lets the
next one go on. If no role can go on, one of them is divided once more, until nothing is left to divide.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.run.lanes import Mask, Wave
from course_pkg.simt.run.parts import Part, Parts

IN_VAIN = 3  # rounds in which no role does more than wait
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
    steps : int or None
        How many statements the launch may still run.
    """

    wave: tuple
    roles: list
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
    call, arguments
        At a shuffle, a vote or a warp's barrier: its call, and the arguments.
    found : list
        The result of this call, as soon as it is known.
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
    found: list = field(default_factory=list)

    @property
    def in_loop(self) -> bool:
        """Whether threads wait in a loop, and not at a place where threads meet."""
        return self.pending is None and self.call is None


class Role(Part):
    """Threads that wait for other roles, each in a loop of its own.

    Attributes
    ----------
    run : Run
        The role's run; it shares value numbers, clock and allocations with those of the other roles.
    stuck : Waits or None
        Where the role waits.
    """

    def __init__(self, crew: "Crew", lanes: Mask):
        super().__init__(crew, lanes)
        self.crew, self.run, self.stuck = crew, None, None

    @property
    def shared(self):
        """The run of the first role; None for this role itself."""
        return self.crew.first

    def joins(self, run) -> None:
        """Note the role's run, before it begins."""
        self.run = run
        self.crew.first = self.crew.first or run

    @property
    def living(self) -> Mask:
        """The lanes of the role that have not left the kernel."""
        if self.done:
            return self.lanes.wave.nobody
        return self.lanes if self.run is None else self.lanes.minus(self.run.exited)

    def stepped(self) -> None:
        """Note that the role begins a statement."""
        self.go_on()
        if self.waiting is None:
            self.crew.in_vain = 0

    def waits(self, watch, where: Waits) -> bool:
        """Let other roles go on; return False if this cannot help, because all of them have ended or only wait, too."""
        self.stuck = where
        if not self.crew.others(self):
            return False
        in_vain = self.crew.in_vain > IN_VAIN * len(self.crew.members)
        if in_vain and not (where.in_loop and self.crew.meets_in_vain):
            return False
        self.crew.in_vain += 1
        self.waiting = watch
        self.hand_over()
        return True

    def lets_others_on(self) -> None:
        """Let other roles go on, although this one may not wait."""
        if self.crew.others(self):
            self.hand_over()

    def leaves(self, watch) -> None:
        """Note that the role has left a loop in which it may have waited."""
        super().leaves(watch)
        if self.waiting is None:
            self.stuck = None

    def meets(self, waits: Waits) -> tuple:
        """Wait at a barrier until all threads of each block have come to one.

        Returns
        -------
        votes, here : ndarray of int
            For each block, how many threads of other roles voted yes, and how many came.
        passed : int
            Number of blocks with which this role was the last to come.
        """
        before, self.stuck, passed = (self.waiting, self.stuck), waits, 0
        waits.all_here, waits.all_votes = waits.here.copy(), waits.votes.copy()
        while waits.pending.any():
            passed += self._pass()
            if waits.pending.any() and not self.waits(waits, waits):
                self.crew.divide()
                self.crew.torn(self, waits.pending)
                passed += self._goes_on(waits.pending)
        self.waiting, self.stuck = before
        return waits.all_votes - waits.votes, waits.all_here - waits.here, passed

    def _pass(self) -> int:
        """Let all blocks of which the last thread has come pass the barrier; return how many these are."""
        at = [one for one in self.crew.members if not one.done and one.at_barrier]
        here = sum(np.where(one.stuck.pending, one.stuck.here, 0) for one in at)
        living = sum(_each_block(one.living) for one in self.crew.members)
        complete = self.stuck.pending & (here == living)
        if self.stuck.whole and not (here == living).all():
            return 0
        if not complete.any():
            return 0
        for one in at:
            both = one.stuck.pending & complete
            if both.any() and one.stuck.where != self.stuck.where:
                self.crew.torn(one, both)
        votes = sum(np.where(one.stuck.pending, one.stuck.votes, 0) for one in at)
        for one in at:
            one.stuck.all_here = np.where(one.stuck.pending & complete, here, one.stuck.all_here)
            one.stuck.all_votes = np.where(one.stuck.pending & complete, votes, one.stuck.all_votes)
            one.stuck.pending &= ~complete
        return self._goes_on(complete)

    def _goes_on(self, blocks: np.ndarray) -> int:
        """Note that blocks have passed a barrier; return how many these are."""
        passed = blocks.copy()
        self.stuck.pending &= ~passed
        self.run.clock.pass_barrier(passed)
        return int(passed.sum())

    @property
    def at_barrier(self) -> bool:
        """Whether the role waits at a barrier."""
        return self.stuck is not None and self.stuck.pending is not None


class Crew(Parts):
    """The roles of a wave.

    Parameters
    ----------
    wave : Wave
    roles : list of ndarray of bool
        The lanes of each role.
    """

    def __init__(self, wave: Wave, roles: list):
        super().__init__()
        self.wave, self.in_vain, self.first = wave, 0, None
        self.members = [Role(self, Mask(wave, lanes)) for lanes in roles]
        warps = sum(wave.by_warp(lanes, False).any(axis=1).astype(int) for lanes in roles)
        self.in_parts_of_warps = bool((warps > 1).any())

    @property
    def exited(self) -> Mask:
        """The lanes that have left the kernel."""
        left = self.wave.nobody
        for one in self.members:
            left = left.union(one.lanes.minus(one.living))
        return left

    def others(self, role: Role) -> bool:
        """Return whether another role than this one has not ended."""
        return any(one is not role and not one.done for one in self.members)

    @property
    def meets_in_vain(self) -> bool:
        """Whether a role waits at a barrier, or at a function of a warp: a hazard will be reported there."""
        return any(not one.in_loop for one in self.stuck())

    def torn(self, role: Role, blocks: np.ndarray) -> None:
        """Report a barrier at which a role waits, and to which other threads of these blocks do not come."""
        alive = self.wave.nobody
        for one in self.members:
            alive = alive.union(one.living)
        role.run.log.divergent(role.run, role.stuck.where, role.stuck.lanes, alive, blocks)

    def stuck(self) -> list[Waits]:
        """Return where the roles wait."""
        return [one.stuck for one in self.members if not one.done and one.stuck is not None]

    def divide(self) -> None:
        """Begin again with one more role, if a role can be divided: if possible, between two warps."""
        for by_warp in (True, False):
            for role in self.members:
                if not role.done and role.stuck is not None:
                    others = [one.lanes.full for one in self.members if one is not role]
                    _divide(role.lanes, role.run.exited, role.stuck.lanes, others, by_warp)


def _each_block(lanes: Mask) -> np.ndarray:
    return np.count_nonzero(lanes.wave.spread(lanes.full), axis=1)


def others_first(run, waits: Waits) -> None:
    """Begin the launch again with one more role, if threads wait in a loop while others have not come to it.

    Raises
    ------
    Apart
        If there is one more role now.
    """
    if run.half is not None:
        run.half.crew.divide()
    else:
        for by_warp in (True, False):
            _divide(run.wave.everyone, run.exited, waits.lanes, [], by_warp)


def _divide(lanes: Mask, exited: Mask, stuck: Mask, others: list, by_warp: bool) -> None:
    """Make two roles of one: of the lanes that are stuck, and of the others, if some of these have not left.

    ``by_warp``: whether all lanes of a warp with a stuck lane are in the first of these roles.
    """
    wave, apart = lanes.wave, stuck.full
    if by_warp:
        rows = stuck.rows
        apart = wave.from_warps(np.broadcast_to(rows.any(axis=1)[:, None], rows.shape))
    rest = lanes.full & ~apart
    if (rest & ~exited.full).any() and len(others) + 2 <= MOST:
        raise Apart(wave.first, [*others, lanes.full & apart, rest])


def parts_of(roles: list, lanes: np.ndarray) -> list:
    """Return the parts of roles that these lanes are, without those that have no lane."""
    return [part for part in (role & lanes for role in roles) if part.any()]


def in_roles(wave: Wave, roles: list, start: Callable):
    """Run the kernel by roles, and return the run of the first one.

    Parameters
    ----------
    wave : Wave
    roles : list of ndarray of bool
        The lanes of each role.
    start : callable
        Runs the kernel for a role and its lanes.
    """
    crew = Crew(wave, roles)
    crew.work(start)
    return crew.first
