"""Halves: one half of the warps of each block runs up to a barrier, and then the other half does.

The halves are parts (:mod:`.parts`), and the first one begins. At a barrier it lets the other half go on, until that
one comes to a barrier, too, or has ended. Where the half waits in a loop in which nothing changes any more, the other
half runs a statement; then it tries again, and so on. So a half that waits goes on as early as it can.

All threads may run in lock step up to some barrier. A thread of Python cannot be divided in two there, so each half
runs all threads up to that barrier: first one of them; then memory gets its old contents back, and the other one does.
"""

from collections.abc import Callable

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.parts import Part, Parts
from course_pkg.simt.run.roles import Role
from course_pkg.simt.run.waits import Waits

MOST_IN_VAIN = 4  # turns in a row in which both halves only wait


class Half(Part):
    """One half of the warps, as far as it has come.

    Parameters
    ----------
    pair : Pair
    lanes : Mask

    Attributes
    ----------
    divided : bool
        Whether the half runs its own lanes alone; before that, it runs all lanes in lock step.
    met : tuple or None
        What the half has brought to a barrier where it waits.
    """

    def __init__(self, pair: "Pair", lanes: Mask):
        super().__init__(pair, lanes)
        self._pair, self.divided = pair, not pair.in_step
        self.met, self._brought = None, None

    def begin(self, start: Callable) -> None:
        """Run the kernel: all lanes in lock step at first, if ``pair.in_step`` says so."""
        start(self, self.lanes if self.divided else self._pair.lanes)

    def own(self, mask: Mask) -> Mask:
        """Return the lanes of a mask that belong to this half."""
        return super().own(mask) if self.divided else mask

    def divide(self, barriers: int) -> None:
        """Run the own lanes alone from here on, if so many barriers have been passed, and it is this half's turn."""
        if not self.divided and barriers >= self._pair.in_step:
            self.divided = True
            if self is self._pair.members[0]:
                self._pair.begin_again()
            self.hand_over()

    def stepped(self) -> None:
        """Note that the half begins a statement: if the other half waits in a loop, it may try again."""
        self.go_on()
        if self.divided and self.waiting is None:
            self._pair.in_vain = 0
            other = self._pair.other(self)
            if other is not None and other.waiting is not None:
                self.hand_over()

    def waits(self, watch, where=None) -> bool:
        """Let the other half go on; return False if this cannot help, because it has ended or only waits, too."""
        other = self._pair.other(self)
        if not self.divided or other is None or other.met is not None or self._pair.in_vain > MOST_IN_VAIN:
            return False
        self._pair.in_vain += 1
        self.waiting = watch
        self.hand_over()
        return True

    def meets(self, brought: tuple) -> tuple | None:
        """Wait at a barrier for the other half; return what that one has brought, or None if it has ended."""
        other = self._pair.other(self)
        if other is None:
            return None
        if other.met is not None:  # it goes on first
            found, other._brought, other.met = other.met, brought, None
            self.hand_over()
            return found
        self.met, self._brought = brought, None
        self.hand_over()
        self.met = None
        return self._brought

    def storage(self, site, make: Callable) -> np.ndarray:
        """Return the shared memory of both halves for a statement that allocates; ``make`` returns new memory."""
        if site not in self._pair.memory:
            new = make()
            self._pair.memory[site] = new, new.copy()
        return self._pair.memory[site][0]


class Pair(Parts):
    """Two halves that take turns.

    Parameters
    ----------
    lanes : Mask
    halves : list of Mask
        The lanes of each half; the first half begins.
    in_step : int
        The number of barriers up to which all lanes run in lock step.
    arrays : list of ndarray
        All arrays that the kernel may write.
    """

    def __init__(self, lanes: Mask, halves: list, in_step: int, arrays: list):
        super().__init__()
        self.lanes, self.in_step, self.memory, self.in_vain = lanes, in_step, {}, 0
        self._before = [(a, a.copy()) for a in arrays if a.flags.writeable] if in_step else []
        self.members = [Half(self, one) for one in halves]

    def other(self, half: Half) -> Half | None:
        """Return the other half; None if it has ended."""
        return next((one for one in self.members if one is not half and not one.done), None)

    def begin_again(self) -> None:
        """Give memory the contents that it had before the launch."""
        for now, before in (*self._before, *self.memory.values()):
            now[...] = before


def in_halves(lanes: Mask, parity: int, in_step: int, arrays: list, start: Callable) -> None:
    """Run a kernel, one half of the warps after the other between two barriers.

    Parameters
    ----------
    lanes : Mask
        The blocks that run.
    parity : int
        0 if the warps with even numbers are first, 1 if those with odd numbers are.
    in_step : int
        The number of barriers up to which all warps run in lock step.
    arrays : list of ndarray
        All arrays that the kernel may write.
    start : callable
        Runs the kernel for a half and its lanes; the half is None if there is no other one.
    """
    halves = [one for one in lanes.split(lanes.wave.thread_in_block // WARP % 2 == parity) if one]
    if len(halves) == 1:
        start(None, lanes)
    else:
        Pair(lanes, halves, in_step, arrays).work(start)


def met_at_barrier(run, where, mask, living, votes, whole=False, asked=()) -> tuple:
    """Wait at a barrier for the other parts of the wave, and pass it.

    Parameters
    ----------
    where : SourceLine
    mask : Mask
        The lanes of the part that come to the barrier.
    living, votes : ndarray of int
        For each block, how many threads of the part have not left the kernel, and how many vote yes at the barrier.
    whole : bool
        Whether all blocks wait for each other.
    asked : sequence of Value
        What the part votes on, if the threads vote.

    Returns
    -------
    votes, here : ndarray of int, or 0
        For each block, how many threads of other parts vote yes, and how many come.
    passed : int
        Number of blocks that count for this part as having passed the barrier.
    peers : list of (Mask, Value)
        What other roles have voted on, with their lanes; empty if the other parts are no roles.

    Raises
    ------
    SimtError
        If blocks that run together do not come to the same barriers: none of them may count for another one.
    """
    here = np.count_nonzero(run.wave.spread(mask.full), axis=1)
    part, blocks = run.half, here > 0
    if isinstance(part, Role):
        waits = Waits(where, mask, pending=blocks, whole=whole, here=here, votes=votes, arguments=[*asked])
        return *part.meets(waits), waits.peers
    others = None
    if part is not None and part.divided:
        if ((living > 0) & (here == 0)).any():
            raise SimtError(f"Some blocks of {run.launch.name} come to another barrier than in lock step.")
        others = part.meets((votes, here))
    run.clock.pass_barrier(blocks)
    return *(others or (0, 0)), int(blocks.sum()), []
