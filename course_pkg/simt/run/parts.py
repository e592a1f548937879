"""Parts: threads of a wave that run a kernel in turn with others, each part in a thread of Python of its own.

Each part has variables of its own; all share global and shared memory. Only one of them runs at a time, until it hands
over to the next one.
"""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np

from course_pkg.simt.run.lanes import Mask


class Abandoned(BaseException):
    """Ends a part because another part has failed."""


class Part:
    """Some lanes of a wave, as far as they have come.

    Parameters
    ----------
    parts : Parts
    lanes : Mask

    Attributes
    ----------
    waiting : object
        The watch of the loop in which the part waits; None if it does not wait.
    shared : Run or None
        The run whose clock, value numbers and allocations the part uses; None if it has its own.
    """

    shared: Any = None

    def __init__(self, parts: "Parts", lanes: Mask):
        self.parts, self.lanes, self.turn = parts, lanes, threading.Semaphore(0)
        self.done, self.waiting = False, None

    def joins(self, run) -> None:
        """Note the part's run, before it begins."""

    def begin(self, start: Callable) -> None:
        """Run the kernel."""
        start(self, self.lanes)

    def work(self, start: Callable) -> None:
        """Run the kernel when it is this part's turn; then let the next part go on."""
        self.turn.acquire()
        try:
            if self.parts.error is None:
                with np.errstate(all="ignore"):
                    self.begin(start)
        except Abandoned:
            pass
        except BaseException as error:  # the thread that waits for the parts raises it again
            self.parts.error = self.parts.error or error
        self.done, self.waiting = True, None
        self.parts.next_after(self).release()

    def divide(self, barriers: int) -> None:
        """Note that so many barriers have been passed, before a statement runs."""

    def own(self, mask: Mask) -> Mask:
        """Return the lanes of a mask that belong to this part."""
        return mask if mask.within(self.lanes) else mask.narrow(self.lanes.full)

    def comes_to(self, function: str, node) -> None:
        """Note that this part comes to a statement."""

    def updated(self) -> None:
        """Note that an atomic of this part has run."""

    def makes_ready(self) -> None:
        """Note that this part comes to a fence or a barrier, behind which its work may be published."""

    def leaves(self, watch) -> None:
        """Note that the part has left a loop in which it may have waited."""
        if self.waiting is watch:
            self.waiting = None

    def hand_over(self) -> None:
        """Let the next part go on; return when it is this part's turn again."""
        self.parts.next_after(self).release()
        self.turn.acquire()
        self.go_on()

    def go_on(self) -> None:
        """End this part if another one has failed."""
        if self.parts.error is not None:
            raise Abandoned


class Parts:
    """Parts that run in turn. The first member begins."""

    def __init__(self):
        self.error: BaseException | None = None
        self.members: list = []
        self._end = threading.Semaphore(0)

    def next_after(self, part: Part) -> threading.Semaphore:
        """Return the semaphore for which the next part waits; if no other part is left, the launch's."""
        at = self.members.index(part)
        others = (*self.members[at + 1 :], *self.members[:at])
        return next((one.turn for one in others if not one.done), self._end if part.done else part.turn)

    def work(self, start: Callable) -> None:
        """Run the kernel by all parts, and raise the first error of any."""
        threads = [
            threading.Thread(target=copy_context().run, args=(part.work, start), daemon=True)
            for part in self.members
        ]
        for thread in threads:
            thread.start()
        self.members[0].turn.release()
        try:
            self._end.acquire()
        except BaseException as error:  # the launch was interrupted: all parts end at their next statement
            self.error = error
            self._end.acquire()
        for thread in threads:
            thread.join()
        if self.error is not None:
            raise self.error
