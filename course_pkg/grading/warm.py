"""Grade each submission in a process of its own, forked from a warm parent that has already imported everything.

The warm parent (:mod:`~.zygote`) is a child of this process. It has one thread and never reads a submission. It forks a
child for each one, so nothing that a child does affects a later one. When this process ends, in whatever way, the warm
parent ends its children and itself.
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
STOP_S = 2.0  # time for the warm parent to end its children and to remove their folders
TOLD_BYTES = 64 << 20  # most bytes that a child may report: the feedback may contain text from a learner


class Gone(Exception):
    """The warm parent has ended: it was stopped, or something else ended it."""


@dataclass
class Told:
    """What a child reported and how it ended.

    Attributes
    ----------
    lines : list of dict
        One for each complete line that the child sent.
    status : int
        The exit code as :func:`os.waitstatus_to_exitcode` returns it: negative for a signal.
    late : bool
        Whether the child was ended because its wall-clock time was over.
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
        """Let a new child work on a request, and wait until it ends.

        Parameters
        ----------
        request : dict
            The request, in values that JSON can represent.
        data : bytes
            Sent after the request, unchanged.
        wall_s : float
            Seconds after which the child is ended; multiplied by the load if the machine has more to do than cores.
        answer : callable, optional
            Called with each line that the child sends; what it returns, unless None, is sent to the child.

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
        control.close()  # the warm parent notices this, and ends its children
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:  # for example because it still imports the judge, on a busy machine
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
                start_new_session=True,  # Ctrl-C must reach only this process, which then ends the warm parent
            )


class _Talk:
    """The exchange of messages with one child, until it ends."""

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
        except OSError:  # the child has ended; its exit code says why
            return bytearray()

    def _receive(self) -> bytes:
        try:
            return self._here.recv(CHUNK)
        except OSError:
            return b""

    def _ending(self) -> int:
        """Return the child's exit code, once its end of the line has been closed."""
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
    """Return the load of this machine, in processes per core; at least 1."""
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
        with suppress(psutil.Error, OSError):  # the process has already ended
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
