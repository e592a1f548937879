"""Roles: threads that wait for each other, each in a loop of its own, run the kernel one after another.

All threads of a wave run in lock step. So a warp that fills tiles in a loop, inside one side of an ``if``, would come
to the end of this loop before the warp that empties the tiles, on the other side, begins. If the first one waits there
for the second, nothing changes any more. The launch then begins again (:mod:`.waits`), and the waiting threads are a
part of their own (:mod:`.parts`): a *role*. A role runs until it waits in a loop, or at a barrier, and then lets the
next one go on. If no role can go on, one of them is divided once more, until nothing is left to divide.
"""

import ast
import threading
from collections.abc import Callable

import numpy as np

from course_pkg.simt.run.lanes import Mask, Wave
from course_pkg.simt.run.parts import Part, Parts
from course_pkg.simt.run.waits import Waits, divide, each_block, in_blocks

IN_VAIN = 3  # rounds in which no role does more than wait


class Role(Part):
    """Threads that wait for other roles, each in a loop of its own.

    Attributes
    ----------
    run : Run
        The role's run; it shares value numbers, clock and allocations with those of the other roles.
    stuck : Waits or None
        Where the role waits.
    """

    def __init__(self, crew: "Crew", lanes: Mask, stops: frozenset = frozenset()):
        super().__init__(crew, lanes)
        self.crew, self.run, self.stuck = crew, None, None
        self.tried, self.stops, self._awaited = -1, stops, stops
        self._told, self._to_publish = False, False

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
            self.crew.news += 1
            if self._told:
                self._told = False
                super().hand_over()  # as a role that does not wait

    def comes_to(self, function: str, node: ast.stmt) -> None:
        """Note that the role comes to a statement: it may be late from here, or from its next fence or barrier, on."""
        here = [at_once for name, line, at_once in self._awaited if name == function and _holds(node, line)]
        self._to_publish |= bool(here)
        if any(here):
            self._becomes_late()

    def makes_ready(self) -> None:
        """Note that the role comes to a fence or a barrier, behind which its work may be published."""
        if self._to_publish:
            self._becomes_late()

    def _becomes_late(self) -> None:
        self._awaited, self._to_publish = frozenset(), False
        self.crew.is_late(self)
        super().hand_over()

    def updated(self) -> None:
        """Note an atomic or a barrier: in a sequence, waiting roles before this one try again before it goes on."""
        self._told = self.crew.in_sequence and self.crew.one_waits_before(self)

    def hand_over(self) -> None:
        """Let the next role go on; return when it is this role's turn again."""
        self.tried = self.crew.news
        super().hand_over()

    def waits(self, watch, where: Waits) -> bool:
        """Let other roles go on; return False if this cannot help, because all of them have ended or only wait, too."""
        self.stuck = where
        if not self.crew.others(self):
            return False
        if self.crew.in_sequence:
            self.crew.divide(self)
        in_vain = self.crew.in_vain > IN_VAIN * len(self.crew.members)
        if in_vain and not (where.in_loop and self.crew.meets_in_vain):
            return False
        self.crew.in_vain += 1
        self.waiting = watch
        self.hand_over()
        return True

    def lets_others_on(self, watch) -> bool:
        """Let other roles go on, although this one may not wait.

        In a sequence it then counts as waiting, and its loop should let them on in each trip: if so, return true.
        """
        if self.crew.others(self):
            if self.crew.in_sequence:
                self.waiting = watch
            self.hand_over()
        return self.crew.in_sequence

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
        self.makes_ready()
        before, self.stuck, passed = (self.waiting, self.stuck), waits, 0
        waits.all_here, waits.all_votes = waits.here.copy(), waits.votes.copy()
        while waits.pending.any():
            passed += self._pass()
            if waits.pending.any() and not self.waits(waits, waits):
                self.crew.divide()
                self.crew.torn(self, waits.pending)
                passed += self._goes_on(waits.pending)
        self.waiting, self.stuck = before
        self.updated()
        return waits.all_votes - waits.votes, waits.all_here - waits.here, passed

    def _pass(self) -> int:
        """Let all blocks of which the last thread has come pass the barrier; return how many these are."""
        at = [one for one in self.crew.members if not one.done and one.at_barrier]
        here = sum(np.where(one.stuck.pending, one.stuck.here, 0) for one in at)
        living = sum(each_block(one.living) for one in self.crew.members)
        complete = self.stuck.pending & (here == living)
        if self.stuck.whole:
            complete = (here > 0) & (here == living).all()
        if not complete.any():
            return 0
        for one in at:
            both = one.stuck.pending & complete
            if both.any() and one.stuck.where != self.stuck.where:
                self.crew.torn(one, both)
        votes = sum(np.where(one.stuck.pending, one.stuck.votes, 0) for one in at)
        asked = [(one, in_blocks(one.stuck.lanes, complete), one.stuck.arguments) for one in at]
        for one in at:
            one.stuck.peers += [
                (lanes, a[0]) for other, lanes, a in asked if other is not one and lanes and a
            ]
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
    stops : list of frozenset, or None
        Where each role begins to be late, if a role goes on only if none of those before it can (:mod:`.late`).
        None if each role lets the next one go on.

    Attributes
    ----------
    in_sequence : bool
        Whether a role goes on only if none of those before it can.
    news : int
        How many statements the roles have run, except those in loops where they only wait.
    """

    def __init__(self, wave: Wave, roles: list, stops: list | None = None):
        super().__init__()
        self.wave, self.in_vain, self.first = wave, 0, None
        self.in_sequence, self.news, self._late = stops is not None, 0, 0
        each = zip(roles, stops or [frozenset()] * len(roles), strict=True)
        self.members = [Role(self, Mask(wave, lanes), stop) for lanes, stop in each]
        self._sequence = [*self.members]
        warps = sum(wave.by_warp(lanes, False).any(axis=1).astype(int) for lanes in roles)
        self.in_parts_of_warps = bool((warps > 1).any())

    @property
    def exited(self) -> Mask:
        """The lanes that have left the kernel."""
        left = self.wave.nobody
        for one in self.members:
            left = left.union(one.lanes.minus(one.living))
        return left

    def next_after(self, part: Part) -> threading.Semaphore:
        """Return the semaphore for which the next role waits: in a sequence, the first one that can learn of news."""
        if self.in_sequence:
            for one in self._sequence:
                if one is not part and not one.done and one.tried < self.news:
                    return one.turn
        return super().next_after(part)

    def is_late(self, role: Role) -> None:
        """Let a role go on only if no other one can, not even one that became late after it."""
        self._sequence.remove(role)
        self._sequence.insert(len(self._sequence) - self._late, role)
        self._late += 1

    def one_waits_before(self, role: Role) -> bool:
        """Return whether a role waits that comes before this one in the sequence."""
        before = self._sequence[: self._sequence.index(role)]
        return any(one.waiting is not None and not one.done for one in before)

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

    def divide(self, only: Role | None = None) -> None:
        """Begin again with one more role, if any role, or ``only`` this one, can be divided; by warps if possible."""
        for by_warp in (True, False):
            for at, role in enumerate(self.members):
                if not role.done and role.stuck is not None and only in (None, role):
                    others = [(one.lanes.full, one.stops) for one in self.members]
                    others = others[:at], others[at + 1 :]
                    divide(role.lanes, role.run.exited, role.stuck.kept, others, by_warp, role.stops)


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
            divide(run.wave.everyone, run.exited, waits.lanes, ([], []), by_warp)


def _holds(node: ast.stmt, line: int) -> bool:
    """Return whether a line belongs to a statement, without the statements in it."""
    body = getattr(node, "body", None)
    return node.lineno <= line <= (body[0].lineno if body else node.end_lineno)


def parts_of(roles: list, lanes: np.ndarray) -> list:
    """Return the parts of roles that these lanes are, without those that have no lane."""
    return [part for part in (role & lanes for role in roles) if part.any()]


def in_roles(wave: Wave, roles: list, start: Callable, stops: list | None = None):
    """Run the kernel by roles, and return the run of the first one.

    Parameters
    ----------
    wave : Wave
    roles : list of ndarray of bool
        The lanes of each role.
    start : callable
        Runs the kernel for a role and its lanes.
    stops : list of frozenset, or None
        As for :class:`Crew`.
    """
    crew = Crew(wave, roles, stops)
    crew.work(start)
    return crew.first
