"""A watch on the processes of a sandbox: it adds up what they use and ends them if they use too much.

Time is counted so that nobody loses a point because the machine is busy. A request is charged for the processor time
that the sandbox uses, and for the time in which all of its processes sleep; it is not charged for time in which one of
them waits for a core. The watch looks at random times, so that code cannot be active only at the moments of a look.
"""

import random
import sys
import threading
import time

from course_pkg.grading import leftovers, procfs
from course_pkg.grading.terms import Loss

TICK_S = 0.1  # mean time between two looks
# most sleep that is counted per look: if more time has passed, then this process itself had to wait for a core
LONGEST_TICK_S = 2 * TICK_S
LOOP = "your code took more than {:g} s of processor time: is there an endless loop?"
ASLEEP = "your code did not come back within {:g} s: is there an endless loop?"
ALL = "your code took more than {:g} s in all: is there an endless loop?"


class Watch(threading.Thread):
    """Ends a sandbox that uses too much; then ``loss`` says why.

    Parameters
    ----------
    pid : int
        The first process of the sandbox.
    limits : Limits
    end : callable
        Ends the processes.
    spent_s : float
        Seconds that earlier sandboxes have already used of the time limit for all requests.
    """

    def __init__(self, pid: int, limits, end, spent_s: float = 0.0):
        super().__init__(name="sandbox-watch", daemon=True)
        self._pid, self._limits, self._end = pid, limits, end
        self._done, self._lock = threading.Event(), threading.Lock()
        self.loss: Loss | None = None
        self._cpu_s = 0.0  # processor time of all processes at the last look
        self._request_s: float | None = None  # time limit of the current request; None between requests
        self._from_cpu_s: float | None = None
        self._idle_s, self._spent_s = 0.0, spent_s
        self._looked = time.monotonic()
        self._random = random.Random()  # its own generator: looks must not change others' random numbers

    @property
    def spent_s(self) -> float:
        """Time that all requests have used so far."""
        with self._lock:
            return self._spent_s + (self._used_s() if self._request_s is not None else 0.0)

    def begin(self, seconds: float) -> None:
        """Start counting the time of a request, which may take ``seconds``."""
        with self._lock:
            # count from the next look on: time that passed since the last look does not belong to this request
            self._request_s, self._from_cpu_s, self._idle_s = seconds, None, 0.0

    def finish(self) -> None:
        """Stop counting the time of the request, and add it to ``spent_s``."""
        with self._lock:
            self._spent_s += self._used_s()
            self._request_s = None

    def stop(self) -> None:
        """End the watch."""
        self._done.set()
        if self.is_alive() and threading.current_thread() is not self:
            self.join()

    def run(self) -> None:
        """Look about ten times per second, until the watch is stopped or has ended the sandbox."""
        while not self._done.wait(TICK_S * self._random.uniform(0.5, 1.5)):
            self.loss = self._look()
            if self.loss:
                self._end()
                return

    def _look(self) -> Loss | None:
        if sys.platform.startswith("linux"):
            # a process that its parent left behind is now the judge's own child, and counts like the others
            others = leftovers.sandboxes - {self._pid}
            members = procfs.family(self._pid, leftovers.adopter(), others)
            taken = procfs.taken(members)
            most = self._limits.memory_bytes
            memory = procfs.memory_bytes([pid for pid, _ in members], most)
        else:
            taken, memory = procfs.portable(self._pid)
        if taken.processes >= self._limits.processes:
            return Loss(f"your code started {self._limits.processes} processes or more")
        if memory > self._limits.memory_bytes:
            return Loss(f"your code took more than {self._limits.memory_bytes >> 20} MiB of memory")
        return self._time(taken, time.monotonic())

    def _time(self, taken, now: float) -> Loss | None:
        with self._lock:
            passed_s, ran_s = now - self._looked, taken.cpu_s - self._cpu_s
            self._looked, self._cpu_s = now, max(self._cpu_s, taken.cpu_s)
            if self._request_s is None:
                return None
            if self._from_cpu_s is None:
                self._from_cpu_s = self._cpu_s
            elif not taken.busy:
                # no process waits for a core: since the last look they have either run or slept
                self._idle_s += max(0.0, min(passed_s, LONGEST_TICK_S) - max(ran_s, 0.0))
            used = self._used_s()
            if self._spent_s + used > self._limits.total_s:
                return Loss(ALL.format(self._limits.total_s), endless=True, in_all=True)
            why = ASLEEP if self._idle_s > used / 2 else LOOP
            return Loss(why.format(self._request_s), endless=True) if used > self._request_s else None

    def _used_s(self) -> float:
        return 0.0 if self._from_cpu_s is None else self._cpu_s - self._from_cpu_s + self._idle_s
