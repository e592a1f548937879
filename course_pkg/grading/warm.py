"""Children of a warm parent: each submission is graded in a process of its own that has imported everything already.

The warm parent (:mod:`~.zygote`) is a process of this one. It has one thread, has read no submission, and forks; what
one child does is gone with it. It ends its children and itself when this process has gone, however that ended.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from course_pkg.core.host import available_cores
from course_pkg.grading import leftovers

ZYGOTE = "course_pkg.grading.zygote"
CHUNK = 1 << 20
STOP_S = 2.0  # for the warm parent to put away what it began
TOLD_BYTES = 64 << 20  # what a child may tell, feedback and all: it is ours, but it holds a learner's words


class Gone(Exception):
    """The warm parent ended, because it was stopped or because something ended it."""


@dataclass
class Told:
    """What a child told and how it ended.

    Attributes
    ----------
    lines : list of dict
        One for each line; what was cut short is left out.
    status : int
        As :func:`os.waitstatus_to_exitcode` gives it: negative for a signal.
    late : bool
        Whether it was ended because the wall clock ran out.
    """

    lines: list[dict] = field(default_factory=list)
    status: int = 0
    late: bool = False


class WarmParent:
    """Forks a child for each request; safe to use from several threads."""

    def __init__(self):
        self._lock, self._process, self._control = threading.Lock(), None, None
        self._stopped = False

    def ask(self, request: dict, data: bytes, wall_s: float, answer=None) -> Told:
        """Let a fresh child work on a request until it ends.

        Parameters
        ----------
        request : dict
            What JSON can hold.
        data : bytes
            Goes with it as it is.
        wall_s : float
            Seconds until the child is ended; more on a machine that has more to do than it has cores.
        answer : callable, optional
            Given each line that the child tells; what it returns, if anything, is sent to the child.

        Raises
        ------
        Gone
            If the warm parent ended meanwhile.
        """
        here, there = socket.socketpair()
        reading, writing = os.pipe()
        try:
            with there:
                self._hand_over(there.fileno(), writing)
        except BaseException:
            here.close()
            os.close(reading)
            raise
        finally:
            os.close(writing)
        with here, os.fdopen(reading, "rb", buffering=0) as status:
            return _Talk(here, status, wall_s, answer).hold(request, data)

    def stop(self) -> None:
        """End the warm parent and its children; later requests start another one."""
        with self._lock:
            process, control = self._process, self._control
            self._process = self._control = None
        if process is None:
            return
        control.close()  # it notices, and ends its children
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:  # such as: it still imports the judge, on a busy machine
            end_family(process.pid)
            process.wait(5)
            leftovers.sweep()

    def _hand_over(self, *fds: int) -> None:
        with self._lock:
            for last in (False, True):
                if self._process is None or self._process.poll() is not None:
                    self._start()
                try:
                    socket.send_fds(self._control, [b"f"], list(fds))
                    return
                except OSError as error:
                    self._process.kill()
                    self._process.wait()
                    if last:
                        raise Gone("the judge's process does not start") from error

    def _start(self) -> None:
        if self._control is not None:
            self._control.close()
        self._control, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-m", ZYGOTE],
                stdin=there,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for this process; that one goes when this one says so
            )


class _Talk:
    """One request: what is said to a child and what it says, until it ends."""

    def __init__(self, here: socket.socket, status, wall_s: float, answer):
        self._here, self._status, self._answer = here, status, answer
        self._wall_s, self._begin = wall_s, time.monotonic()
        self._told, self._pid = Told(), None
        here.setblocking(False)

    def hold(self, request: dict, data: bytes) -> Told:
        text = json.dumps(request).encode()
        to_send = bytearray(b"%d %d\n" % (len(text), len(data)) + text)
        to_send += data
        heard = bytearray()
        open_ = True
        try:
            while open_:
                ready, writable = self._wait(to_send)
                if writable:
                    to_send = self._send(to_send)
                if ready:
                    part = self._receive()
                    open_ = bool(part)
                    heard += part
                    *lines, rest = heard.split(b"\n")
                    heard = bytearray(rest)
                    for line in lines:
                        to_send += self._line(line)
                    if len(heard) > TOLD_BYTES:
                        self._end()
            self._told.status = self._ending()
            return self._told
        except BaseException:
            self._end()
            raise

    def _line(self, line: bytes) -> bytes:
        said = json.loads(line)
        if "pid" in said:
            self._pid = said["pid"]
            return b""
        self._told.lines.append(said)
        reply = self._answer(said) if self._answer else None
        return b"" if reply is None else json.dumps(reply).encode() + b"\n"

    def _wait(self, to_send) -> tuple:
        while True:
            ready, writable, _ = select.select([self._here], [self._here] if to_send else [], [], 1.0)
            if ready or writable:
                return ready, writable
            if not self._told.late and time.monotonic() - self._begin > self._wall_s * crowd():
                self._told.late = True
                self._end()

    def _send(self, to_send: bytearray) -> bytearray:
        try:
            return to_send[self._here.send(to_send[:CHUNK]) :]
        except BlockingIOError:
            return to_send
        except OSError:  # it has gone; its end says why
            return bytearray()

    def _receive(self) -> bytes:
        try:
            return self._here.recv(CHUNK)
        except OSError:
            return b""

    def _ending(self) -> int:
        """Return the child's status; what still holds its end of the line has closed it."""
        said = self._status.read(64)
        if not said:
            raise Gone("the judge's process ended")
        return int(said)

    def _end(self) -> None:
        if self._pid is not None:
            end_family(self._pid)
        with suppress(OSError):
            self._here.shutdown(socket.SHUT_RDWR)


def crowd() -> float:
    """Return how many times more runs on this machine than it has cores; at least 1."""
    try:
        return max(1.0, os.getloadavg()[0] / available_cores())
    except OSError:
        return 1.0


def end_family(pid: int) -> None:
    """Kill a process and all that it started."""
    try:
        first = psutil.Process(pid)
        family = [first, *first.children(recursive=True)]
    except psutil.Error:
        return
    for one in family:
        with suppress(psutil.Error, OSError):  # it has ended by itself
            one.send_signal(signal.SIGKILL)


def _environment() -> dict:
    """Return this environment, with one thread for each library: submissions share the cores."""
    one = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    return {**os.environ, **one, "COURSE_BACKEND": "simt"}


_SHARED = WarmParent()
atexit.register(_SHARED.stop)


def parent() -> WarmParent:
    """Return the warm parent of this process; it starts with the first request."""
    return _SHARED
