"""Run code in a separate process, so that an endless loop, a crash or a lack of memory does not harm the notebook.

On Linux the separate process is a forked copy of this one. The copy has all objects of the notebook, its changes do not
reach the notebook, and it sends its results back as pickled data. On other systems forking is not safe. There the code
runs in this process, and a timer interrupts it.
"""

import contextlib
import faulthandler
import gc
import io
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import warnings
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from typing import NamedTuple

import psutil

WALL_S = 4.0  # for each answer, on a busy machine, too, so that there is a verdict within 5 s
CPU_S = 3.0  # right answers need up to 0.2 s
MEMORY_BYTES = 512 << 20  # of address space, in addition to what the notebook already uses
# in addition, per core: a BLAS library reserves a buffer and a stack for each of its threads
CORE_BYTES = 160 << 20
MESSAGE_BYTES = 64 << 20
ENDLESS, BUSY, MEMORY, CRASHED = "endless", "busy", "memory", "crashed"


class Lost(Exception):
    """The process was stopped or has crashed.

    Attributes
    ----------
    reason : str
        ``"endless"``, ``"memory"``, ``"crashed"``, or ``"busy"``: its time was over, but other processes kept the
        cores busy, and it got less than half of its processor time.
    waited_s, used_s : float
        If it is ``"busy"``: the time that it was given, and the processor time that it got.
    """

    def __init__(self, reason: str, waited_s: float = 0.0, used_s: float = 0.0):
        super().__init__(reason)
        self.reason, self.waited_s, self.used_s = reason, waited_s, used_s


def run(
    work: Callable[[], Iterator],
    *,
    wall_s: float | None = None,
    cpu_s: float | None = None,
    memory_bytes: int | None = None,
    most_s: float | None = None,
) -> Iterator:
    """Run ``work()`` in a separate process, and yield each of its results as soon as it arrives.

    Parameters
    ----------
    work : callable
        Returns an iterator of objects that can be pickled.
    wall_s, cpu_s : float, optional
        Wall-clock time and processor time, in seconds, after which the process is stopped; by default, the limits of an
        answer.
    memory_bytes : int, optional
        Address space that it may use, in addition to what this process uses and what libraries reserve per core.
    most_s : float, optional
        Used in place of ``wall_s`` while other processes keep the cores busy; by default, no more than ``wall_s``.

    Raises
    ------
    Lost
        If ``work`` takes too much time or memory, or ends the process.
    """
    limits = _Limits(wall_s or WALL_S, cpu_s or CPU_S, memory_bytes or MEMORY_BYTES, most_s or 0.0)
    yield from (_forked(work, limits) if sys.platform.startswith("linux") else _here(work, limits))


class _Limits(NamedTuple):
    wall_s: float
    cpu_s: float
    memory_bytes: int
    most_s: float


def _forked(work, limits):
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns about a fork while threads run
        child = os.fork()
    if child == 0:
        _child(work, writing, limits)
    os.close(writing)
    ended = False
    try:
        patience = _Patience(child, limits)
        while (message := _next(reading, patience)) is not None:
            kind, value = message
            if kind == "lost":
                raise Lost(value)
            yield value
        ended = True
    finally:
        os.close(reading)
        if not ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if status:
        raise Lost(ENDLESS if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF else CRASHED)


class _Patience:
    """How long to wait for a process, and why the waiting ends."""

    def __init__(self, child: int, limits: _Limits):
        self.process, self.limits = psutil.Process(child), limits
        self.start = time.monotonic()
        self.until = self.start + limits.wall_s

    def left_s(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def end(self) -> Lost | None:
        """Return why the process has to be stopped; None if there is more time, since others keep the cores busy."""
        waited = time.monotonic() - self.start
        with contextlib.suppress(psutil.Error):
            used = sum(self.process.cpu_times()[:2])
            if used < waited / 2 and self.process.status() == psutil.STATUS_RUNNING:
                self.until = time.monotonic() + 1.0
                if waited < self.limits.most_s:
                    return None
                if used < self.limits.cpu_s / 2:
                    return Lost(BUSY, waited, used)
        return Lost(ENDLESS)


def _next(reading, patience):
    """Return the next message, or None if there are no more messages."""
    head = _bytes(reading, 8, patience)
    if not head:
        return None
    (size,) = struct.unpack("<q", head)
    if size > MESSAGE_BYTES:
        raise Lost(MEMORY)
    body = _bytes(reading, size, patience)
    return pickle.loads(body) if body else None  # empty if the process died while it was sending


def _bytes(reading, size, patience) -> bytes:
    found = b""
    while len(found) < size:
        while not select.select([reading], [], [], patience.left_s())[0]:
            if lost := patience.end():
                raise lost
        piece = os.read(reading, min(size - len(found), 1 << 20))
        if not piece:
            return b""
        found += piece
    return found


def _child(work, writing, limits) -> None:
    """Do the work, then end the process; never return to the code of the notebook."""
    status = 1
    try:
        faulthandler.disable()  # a sentence tells the learner of a crash
        gc.disable()  # this process must not free what belongs to the notebook, above all memory on a GPU
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, limits.cpu_s)
        _limit_memory(limits.memory_bytes)
        sys.stdout = sys.stderr = io.StringIO()
        sys.stdin = io.StringIO()
        with os.fdopen(writing, "wb") as out:
            try:
                for value in work():
                    _send(out, "value", value)
            except MemoryError:
                _send(out, "lost", MEMORY)
        status = 0
    finally:
        os._exit(status)


def _limit_memory(more: int) -> None:
    import resource  # does not exist on Windows

    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + more + CORE_BYTES * (os.cpu_count() or 1)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))


def _send(out, kind, value) -> None:
    data = pickle.dumps((kind, value))
    out.write(struct.pack("<q", len(data)) + data)
    out.flush()


def _here(work, limits):
    """Do the work in this process; a timer interrupts the main thread, as Ctrl-C would."""
    late = threading.Event()

    def interrupt():
        late.set()
        interrupt_main()

    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if main else None
    if main and not callable(handler):  # started in the background, where a shell lets Ctrl-C be ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(limits.wall_s, interrupt)
    timer.start()
    try:
        yield from work()
    except KeyboardInterrupt:
        if not late.is_set():
            raise
        raise Lost(ENDLESS) from None
    except MemoryError:
        raise Lost(MEMORY) from None
    finally:
        timer.cancel()
        if main and not callable(handler) and handler is not None:
            signal.signal(signal.SIGINT, handler)
