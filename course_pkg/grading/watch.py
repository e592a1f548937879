"""A watch on the processes of a sandbox, from outside: what they take together, whether the judge waits or not.

Time is counted so that a busy machine costs nobody a point. Of a request count the processor time that the sandbox
uses, and the time in which all of its processes sleep; time in which one of them waits for a core does not count. The
watch looks at moments that nobody can foresee, so that code cannot be awake for them alone.
"""

import random
import sys
import threading
import time

from course_pkg.grading import procfs

TICK_S = 0.1  # on average
LONGEST_TICK_S = 2 * TICK_S  # what is counted of a longer one, in which this process itself waited for a core
LOOP = "your code took more than {:g} s of processor time: is there an endless loop?"
ASLEEP = "your code did not come back within {:g} s: is there an endless loop?"
ALL = "your code took more than {:g} s in all: is there an endless loop?"


class Watch(threading.Thread):
    """Ends a sandbox that takes too much; `reason` says what, in a learner's words.

    Parameters
    ----------
    pid : int
        The first process.
    limits : Limits
    end : callable
        Ends the processes.
    spent_s : float
        What was used before, of the time of all requests.
    """

    def __init__(self, pid: int, limits, end, spent_s: float = 0.0):
        super().__init__(name="sandbox-watch", daemon=True)
        self._pid, self._limits, self._end = pid, limits, end
        self._done, self._lock = threading.Event(), threading.Lock()
        self.reason = ""
        self._cpu_s = 0.0  # of all processes, when last seen
        self._request_s: float | None = None  # what the request may take; None between requests
        self._from_cpu_s: float | None = None
        self._idle_s, self._spent_s = 0.0, spent_s
        self._looked = time.monotonic()

    @property
    def spent_s(self) -> float:
        """Time that all requests have used so far."""
        with self._lock:
            return self._spent_s + (self._used_s() if self._request_s is not None else 0.0)

    def begin(self, seconds: float) -> None:
        """Begin to count a request that may take so many seconds."""
        with self._lock:
            # counted from the first look on: what was last seen may be old, and what came since is no request's
            self._request_s, self._from_cpu_s, self._idle_s = seconds, None, 0.0

    def finish(self) -> None:
        """The request is over."""
        with self._lock:
            self._spent_s += self._used_s()
            self._request_s = None

    def stop(self) -> None:
        """Look no more."""
        self._done.set()
        if self.is_alive() and threading.current_thread() is not self:
            self.join()

    def run(self) -> None:
        """Look ten times a second or so."""
        while not self._done.wait(TICK_S * random.uniform(0.5, 1.5)):
            self.reason = self._look()
            if self.reason:
                self._end()
                return

    def _look(self) -> str:
        if sys.platform.startswith("linux"):
            members = procfs.family(self._pid)
            taken = procfs.taken(members)
            most = self._limits.memory_bytes
            memory = procfs.memory_bytes([pid for pid, _ in members], most)
        else:
            taken, memory = procfs.portable(self._pid)
        if taken.processes >= self._limits.processes:
            return f"your code started {self._limits.processes} processes or more"
        if memory > self._limits.memory_bytes:
            return f"your code took more than {self._limits.memory_bytes >> 20} MiB of memory"
        return self._time(taken, time.monotonic())

    def _time(self, taken, now: float) -> str:
        with self._lock:
            passed_s, ran_s = now - self._looked, taken.cpu_s - self._cpu_s
            self._looked, self._cpu_s = now, max(self._cpu_s, taken.cpu_s)
            if self._request_s is None:
                return ""
            if self._from_cpu_s is None:
                self._from_cpu_s = self._cpu_s
            elif not taken.busy:  # what it did not run of the time since the last look, it slept
                self._idle_s += max(0.0, min(passed_s, LONGEST_TICK_S) - max(ran_s, 0.0))
            used = self._used_s()
            if self._spent_s + used > self._limits.total_s:
                return ALL.format(self._limits.total_s)
            why = ASLEEP if self._idle_s > used / 2 else LOOP
            return why.format(self._request_s) if used > self._request_s else ""

    def _used_s(self) -> float:
        return 0.0 if self._from_cpu_s is None else self._cpu_s - self._from_cpu_s + self._idle_s
