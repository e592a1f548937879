"""Halves: one half of the warps of each block runs up to a barrier, and then the other half does.

Each half runs in a thread of Python with variables of its own; they share global and shared memory. Only one of them
runs at a time. The first half begins. At a barrier it lets the other half go on, until that one comes to a barrier,
too, or has ended. Where the half waits in a loop in which nothing changes any more, the other half runs a statement;
then it tries again, and so on. So a half that waits goes on as early as it can.

All threads may run in lock step up to some barrier. A thread of Python cannot be divided in two there, so each half
runs all threads up to that barrier: first one of them; then memory gets its old contents back, and the other one does.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.lanes import Mask

MOST_IN_VAIN = 4  # turns in a row in which both halves only wait


class Abandoned(BaseException):
    """Ends a half because the other half has failed."""


class Half:
    """One half of the warps, as far as it has come.

    Parameters
    ----------
    pair : Pair
    lanes : Mask

    Attributes
    ----------
    divided : bool
        Whether the half runs its own lanes alone; before that, it runs all lanes in lock step.
    waiting : object
        The watch of the loop in which the half waits; None if it does not wait.
    met : tuple or None
        What the half has brought to a barrier where it waits.
    """

    def __init__(self, pair: "Pair", lanes: Mask):
        self._pair, self.lanes, self.turn = pair, lanes, threading.Semaphore(0)
        self.divided, self.done = not pair.in_step, False
        self.waiting, self.met, self._brought = None, None, None

    def work(self, start: Callable) -> None:
        """Run the kernel when it is this half's turn; then let the other half go on."""
        self.turn.acquire()
        try:
            if self._pair.error is None:
                with np.errstate(all="ignore"):
                    start(self, self.lanes if self.divided else self._pair.lanes)
        except Abandoned:
            pass
        except BaseException as error:  # the thread that waits for the halves raises it again
            self._pair.error = self._pair.error or error
        self.done, self.waiting = True, None
        self._pair.next_after(self).release()

    def own(self, mask: Mask) -> Mask:
        """Return the lanes of a mask that belong to this half."""
        return mask if not self.divided or mask.within(self.lanes) else mask.narrow(self.lanes.full)

    def divide(self, barriers: int) -> None:
        """Run the own lanes alone from here on, if so many barriers have been passed, and it is this half's turn."""
        if not self.divided and barriers >= self._pair.in_step:
            self.divided = True
            if self is self._pair.halves[0]:
                self._pair.begin_again()
            self._hand_over()

    def stepped(self) -> None:
        """Note that the half begins a statement: if the other half waits in a loop, it may try again."""
        if self._pair.error is not None:
            raise Abandoned
        if self.divided and self.waiting is None:
            self._pair.in_vain = 0
            other = self._pair.other(self)
            if other is not None and other.waiting is not None:
                self._hand_over()

    def waits(self, watch) -> bool:
        """Let the other half go on; return False if this cannot help, because it has ended or only waits, too."""
        other = self._pair.other(self)
        if not self.divided or other is None or other.met is not None or self._pair.in_vain > MOST_IN_VAIN:
            return False
        self._pair.in_vain += 1
        self.waiting = watch
        self._hand_over()
        return True

    def leaves(self, watch) -> None:
        """Note that the half has left a loop."""
        if self.waiting is watch:
            self.waiting = None

    def meets(self, brought: tuple) -> tuple | None:
        """Wait at a barrier for the other half; return what that one has brought, or None if it has ended."""
        other = self._pair.other(self)
        if other is None:
            return None
        if other.met is not None:  # it goes on first
            found, other._brought, other.met = other.met, brought, None
            self._hand_over()
            return found
        self.met, self._brought = brought, None
        self._hand_over()
        self.met = None
        return self._brought

    def storage(self, site, make: Callable) -> np.ndarray:
        """Return the shared memory of both halves for a statement that allocates; ``make`` returns new memory."""
        if site not in self._pair.memory:
            new = make()
            self._pair.memory[site] = new, new.copy()
        return self._pair.memory[site][0]

    def _hand_over(self) -> None:
        self._pair.next_after(self).release()
        self.turn.acquire()
        if self._pair.error is not None:
            raise Abandoned


class Pair:
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
        self.lanes, self.in_step, self.memory, self.in_vain = lanes, in_step, {}, 0
        self._before = [(a, a.copy()) for a in arrays if a.flags.writeable] if in_step else []
        self.error: BaseException | None = None
        self.halves = [Half(self, one) for one in halves]
        self._end = threading.Semaphore(0)

    def other(self, half: Half) -> Half | None:
        """Return the other half; None if it has ended."""
        return next((one for one in self.halves if one is not half and not one.done), None)

    def next_after(self, half: Half) -> threading.Semaphore:
        """Return the semaphore for which the other half waits; if both have ended, the launch's."""
        other = self.other(half)
        return self._end if other is None else other.turn

    def begin_again(self) -> None:
        """Give memory the contents that it had before the launch."""
        for now, before in (*self._before, *self.memory.values()):
            now[...] = before

    def work(self, start: Callable) -> None:
        """Run the kernel by both halves, and raise the first error of either."""
        threads = [
            threading.Thread(target=copy_context().run, args=(half.work, start), daemon=True)
            for half in self.halves
        ]
        for thread in threads:
            thread.start()
        self.halves[0].turn.release()
        try:
            self._end.acquire()
        except BaseException as error:  # the launch was interrupted: both halves end at their next statement
            self.error = error
            self._end.acquire()
        for thread in threads:
            thread.join()
        if self.error is not None:
            raise self.error


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


def met_at_barrier(run, here, living, brought: tuple) -> tuple | None:
    """Wait at a barrier for the other half of the warps; return what that half has brought to it.

    Parameters
    ----------
    here, living : ndarray of int
        For each block, how many threads of the half come to the barrier, and how many have not left the kernel.
    brought : tuple

    Raises
    ------
    SimtError
        If blocks that run together do not come to the same barriers: none of them may count for another one.
    """
    if run.half is None or not run.half.divided:
        return None
    if ((living > 0) & (here == 0)).any():
        raise SimtError(f"Some blocks of {run.launch.name} come to another barrier than in lock step.")
    return run.half.meets(brought)
