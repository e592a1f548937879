"""Halves: one half of the warps of each block runs some statements, and then the other half does.

A half may wait where only the other one can let it go on. Then each half runs in a thread of Python with variables of
its own, but only one of them runs at a time. The first half begins. Where it waits in a loop in which nothing changes
any more, the second half runs a statement; then the first half tries again, and so on. So a half that waits goes on as
early as it can.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from copy import copy

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.values import Range, Value, Variable

MOST_IN_VAIN = 4  # turns in a row in which both halves only wait


class Abandoned(BaseException):
    """Ends a half because the other half has failed."""


class Half:
    """One half of the warps, as far as it has come.

    Parameters
    ----------
    pair : Pair
    run : Run
    frame : Frame
    lanes : Mask

    Attributes
    ----------
    run : Run
        A copy, so that both halves can be in different functions, loops and branches.
    state : dict
        The attributes of the frame, as this half has left them.
    waiting : object
        The watch of the loop in which the half waits; None if it does not wait.
    reached : Mask
        The lanes that have reached the end of the statements.
    """

    def __init__(self, pair: "Pair", run, frame, lanes):
        self.run, self.frame, self.lanes = copy(run), frame, lanes
        self.run.half, self.run.scopes, self.run.calling = self, list(run.scopes), list(run.calling)
        self.run.watching = []
        self.state = vars(frame) | {
            "entry": lanes,
            "variables": dict(frame.variables),
            "loops": list(frame.loops),
        }
        self.waiting, self.done, self.reached = None, False, run.wave.nobody
        self._pair, self.turn = pair, threading.Semaphore(0)

    def work(self, body: list, execute: Callable) -> None:
        """Run the statements when it is this half's turn; then let the other half go on."""
        self.turn.acquire()
        vars(self.frame).update(self.state)
        try:
            if self._pair.error is None:
                with np.errstate(all="ignore"):
                    self.reached = execute(self.run, self.frame, body, self.lanes)
        except Abandoned:
            pass
        except BaseException as error:  # the thread that waits for the halves raises it again
            self._pair.error = self._pair.error or error
        self.done, self.waiting, self.state = True, None, dict(vars(self.frame))
        self._pair.next_after(self).release()

    def stepped(self) -> None:
        """Note that the half begins a statement: if the other half waits, it may try again."""
        if self._pair.error is not None:
            raise Abandoned
        if self.waiting is None:
            self._pair.in_vain = 0
            other = self._pair.other(self)
            if other is not None and other.waiting is not None:
                self._hand_over()

    def waits(self, watch) -> bool:
        """Let the other half go on; return False if this cannot help, because it has ended or only waits, too."""
        if self._pair.other(self) is None or self._pair.in_vain > MOST_IN_VAIN:
            return False
        self._pair.in_vain += 1
        self.waiting = watch
        self._hand_over()
        return True

    def leaves(self, watch) -> None:
        """Note that the half has left a loop."""
        if self.waiting is watch:
            self.waiting = None

    def _hand_over(self) -> None:
        self.state = dict(vars(self.frame))
        self._pair.next_after(self).release()
        self.turn.acquire()
        vars(self.frame).update(self.state)
        if self._pair.error is not None:
            raise Abandoned


class Pair:
    """Two halves that take turns."""

    def __init__(self, run, frame, lanes: list):
        self.error: BaseException | None = None
        self.in_vain = 0
        self.halves = [Half(self, run, frame, one) for one in lanes]
        self._end = threading.Semaphore(0)

    def other(self, half: Half) -> Half | None:
        """Return the other half; None if it has ended."""
        return next((one for one in self.halves if one is not half and not one.done), None)

    def next_after(self, half: Half) -> threading.Semaphore:
        """Return what lets the other half go on; if both have ended, what lets the launch go on."""
        other = self.other(half)
        return self._end if other is None else other.turn

    def work(self, body: list, execute: Callable) -> None:
        """Run the statements by both halves, and raise the first error of either."""
        threads = [
            threading.Thread(target=copy_context().run, args=(half.work, body, execute), daemon=True)
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


def side_by_side(run, frame, body: list, lanes: list, execute: Callable) -> list:
    """Run statements by both halves; return ``(lanes, reached, variables)`` of each.

    Parameters
    ----------
    lanes : list of Mask
        The lanes of each half; the first half begins.
    """
    before, patience = dict(vars(frame)), run.patience
    pair = Pair(run, frame, lanes)
    try:
        pair.work(body, execute)
    finally:
        vars(frame).update(before)
    for half in pair.halves:
        run.exited = run.exited.union(half.run.exited)
        run.patience += half.run.patience - patience
        returned, result, known = (half.state[name] for name in ("returned", "result", "result_mask"))
        if returned == before["returned"]:
            continue
        frame.returned += 1
        if known is not None:
            first = frame.result_mask is None
            frame.result = result if first else merge(run, half.lanes, result, frame.result)
            frame.result_mask = known if first else frame.result_mask.union(known)
    return [(half.lanes, half.reached, half.state["variables"]) for half in pair.halves]


def one_after_another(run, frame, body: list, mask: Mask, execute: Callable, assign: Callable) -> Mask:
    """Run statements by the warps that are first, then by the others; return the lanes that reach their end.

    ``execute`` runs statements, and ``assign`` gives a variable a new value in some lanes.
    """
    order, run.order = run.order, None
    lanes = [some for some in mask.split(run.wave.thread_in_block // WARP % 2 == order.parity) if some]
    try:
        if order.takes_turns and len(lanes) > 1:
            ends = side_by_side(run, frame, body, lanes, execute)
        else:
            ends = [_alone(run, frame, body, some, execute) for some in lanes]
    finally:
        run.order = order
    _put_together(run, frame, mask, ends, assign)
    done = run.wave.nobody
    for _, reached, _ in ends:
        done = done.union(reached)
    return mask if done.threads == mask.threads else done


def _alone(run, frame, body: list, lanes: Mask, execute: Callable) -> tuple:
    """Run statements by one half of the warps; return its lanes, those that reach the end, and the variables."""
    entry, before = frame.entry, frame.variables
    frame.entry, frame.variables = lanes, dict(before)
    try:
        run.ledger.new_block()
        reached = execute(run, frame, body, lanes)
        run.ledger.flush()
        run.kill("global", "shared")
        return lanes, reached, frame.variables
    finally:
        frame.entry, frame.variables = entry, before


def _put_together(run, frame, mask: Mask, ends: list, assign: Callable) -> None:
    """Give the variables the values that they have in each half of the warps.

    A name may stand for another array afterwards, such as after ``old, new = new, old``. While the other half of the
    warps had not run yet, it stood for two arrays; then it stands for one again.
    """
    before = frame.variables
    for name in {name: None for _, _, variables in ends for name in variables}:
        found = [(lanes, variables[name]) for lanes, _, variables in ends if name in variables]
        if name in before and all(variable is before[name] for _, variable in found):
            continue
        if len(found) == len(ends) and all(variable.mask is None for _, variable in found):
            value = found[0][1].value
            for lanes, variable in found[1:]:
                value = _of_both(run, lanes, variable.value, value)
            found = [(mask, Variable(value, None))]
        for lanes, variable in found:
            known = lanes if variable.mask is None else lanes.narrow(variable.mask.full)
            if known:
                assign(run, frame, name, variable.value, known)


def _of_both(run, lanes: Mask, new, old):
    """Return ``new`` in some lanes and ``old`` in the others; functions and types are the same in both halves."""
    if isinstance(new, Range) and isinstance(old, Range):
        names = "start", "stop", "step"
        return Range(*(merge(run, lanes, getattr(new, name), getattr(old, name)) for name in names))
    alike = type(new) is type(old) and not isinstance(new, (Value, Array, tuple))
    return old if alike else merge(run, lanes, new, old)
