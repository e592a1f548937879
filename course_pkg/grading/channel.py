"""A channel: two pipes to an untrusted process. It sends and receives frames, watches the process and ends it."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time

import psutil

from course_pkg.grading import leftovers, protocol
from course_pkg.grading.terms import Loss
from course_pkg.grading.watch import LOOP, Watch

TICK_S = 0.1
CHUNK = 1 << 20
END_S = 5.0


class Ended(Exception):
    """The process has ended, or the judge gave it up; ``loss`` says why."""

    def __init__(self, loss: Loss):
        super().__init__(loss.reason)
        self.loss = loss


class TooBusy(BaseException):
    """The machine is too busy to grade, which is not the code's fault. No ``except Exception`` of a test catches it."""


class Channel:
    """A started process and its pipes.

    Parameters
    ----------
    command : list of str
    environment : dict
        All environment variables of the process.
    folder : str or None
        Its working directory.
    spent_s : float
        Seconds that earlier channels have already used of the time limit for all requests.
    mark : str
        The value of ``leftovers.MARK`` in the environment, by which all that the process starts is found; empty if a
        pid namespace contains them.
    keep : tuple of int
        File descriptors that it inherits.
    """

    def __init__(self, command, environment, folder, limits, spent_s=0.0, mark="", keep=()):
        self._limits, self._mark = limits, mark
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                cwd=folder,
                start_new_session=True,
                pass_fds=keep,
                bufsize=0,
            )
        except OSError as error:
            self._errors.close()
            raise TooBusy(f"the sandbox did not start ({error.strerror})") from error
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        for fd in (self._to, self._from):
            os.set_blocking(fd, False)
        leftovers.sandboxes.add(self._process.pid)
        self.watch = Watch(self._process.pid, limits, self._kill, spent_s)
        self.watch.start()

    # ------------------------------------------------------------------------------------------------- transport

    def send(self, parts, deadline: float) -> None:
        """Write a frame; raise Ended if the process has ended, and TooBusy after the deadline."""
        for part in parts:
            view = memoryview(part)
            while view:
                self._wait(self._to, selectors.EVENT_WRITE, deadline)
                try:
                    view = view[os.write(self._to, view[:CHUNK]) :]
                except BlockingIOError:
                    continue
                except OSError:
                    raise Ended(self._epitaph()) from None

    def receive(self, deadline: float):
        """Read a frame and return its value; raise Ended for anything that is not a frame."""
        try:
            text, data = protocol.sizes(
                self._read(protocol.HEADER.size, deadline), self._limits.message_bytes
            )
            value = protocol.decode(bytes(self._read(text, deadline)), self._read(data, deadline))
        except protocol.Malformed as error:
            raise Ended(Loss(f"your code sent something that is not a result ({error})")) from None
        if self.watch.loss:  # the watch gave the process up, but this frame came before it was killed
            raise Ended(self.watch.loss)
        return value

    def _read(self, size: int, deadline: float) -> bytearray:
        data = bytearray()  # not allocated in advance: the announced size may be a lie
        while len(data) < size:
            self._wait(self._from, selectors.EVENT_READ, deadline)
            try:
                part = os.read(self._from, min(size - len(data), CHUNK))
            except BlockingIOError:
                continue
            if not part:
                raise Ended(self._epitaph())
            data += part
        return data

    def _wait(self, fd: int, event: int, deadline: float) -> None:
        """Wait until the pipe is ready; raise Ended if the process ends first."""
        with selectors.DefaultSelector() as selector:
            selector.register(fd, event)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TooBusy("a sandbox got no time to run in")
                if selector.select(min(left, TICK_S)):
                    return
                # look at the process, too: another process that it has started can keep the pipe open
                if self._process.poll() is not None and not selector.select(0):
                    raise Ended(self._epitaph())

    # ------------------------------------------------------------------------------------------------------- end

    def _epitaph(self) -> Loss:
        """Return how the process ended."""
        if self.watch.loss:
            return self.watch.loss
        try:
            code = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            return Loss("your code closed the pipe that its results go through")
        number = -code if code < 0 else code - 128
        if number == signal.SIGXCPU:
            return Loss(LOOP.format(self._limits.cpu_s), endless=True)
        if number > 0:
            return Loss(f"your code crashed Python, or killed it (signal {number})")
        return Loss("your code ended the Python process that runs it: leave out os._exit and similar calls")

    def errors(self) -> str:
        """Return the end of what the process wrote on standard error before the learner's code ran."""
        self._errors.seek(0)
        return self._errors.read(1 << 16).decode("utf-8", "replace").strip()[-2000:]

    def close(self) -> None:
        """Kill the process and all that it started, even if they ignore signals; return when none is left."""
        if self._errors.closed:
            return
        self.watch.stop()
        if self._mark:
            self._kill_marked()
        else:
            self._kill_namespace()
        leftovers.sandboxes.discard(self._process.pid)
        for file in (self._process.stdin, self._process.stdout, self._errors):
            file.close()

    def _kill(self) -> None:
        """Kill the processes that can be found now; do not wait for their end."""
        _end({*self._family(), *self._strangers()})

    def _family(self) -> list:
        """Return the process and all its descendants."""
        try:
            own = psutil.Process(self._process.pid)
            return [own, *own.children(recursive=True)]
        except psutil.Error:
            return []

    def _strangers(self) -> list:
        """Return the processes that this sandbox's processes left behind, without those of other sandboxes."""
        return leftovers.adopted(leftovers.sandboxes - {self._process.pid})

    def _kill_namespace(self) -> None:
        """Kill the first process of the pid namespace: the kernel then kills all others before it is gone."""
        try:
            first = psutil.Process(self._process.pid).children()
        except psutil.Error:
            first = []
        for process in first or [self._process]:
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                process.kill()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(END_S)
        psutil.wait_procs(first, END_S)
        # if the watch has killed the parent of that first process, this process has adopted the rest: on a busy
        # machine it may still be ending, and the next sandbox would have to answer for it
        until = time.monotonic() + END_S
        while (left := self._strangers()) and time.monotonic() < until:
            _end(left)
            _bury(left)
            time.sleep(0.01)

    def _kill_marked(self) -> None:
        """Kill the session of the process and all processes with its mark, until none is left."""
        end = time.monotonic() + END_S
        while time.monotonic() < end:
            family = {*self._family(), *leftovers.marked(self._mark), *self._strangers()}
            if not family:
                break
            _end(family)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            _bury(process for process in family if process.pid != self._process.pid)
            self._process.poll()
            time.sleep(0.01)
        self._process.wait(END_S)


def _end(processes) -> None:
    """Kill processes; stop all of them first, because each death makes room in which another one could fork."""
    for what in (psutil.Process.suspend, psutil.Process.kill):
        for process in processes:
            with contextlib.suppress(psutil.Error):
                what(process)


def _bury(processes) -> None:
    """Reap the processes that have ended, if they are children of this process."""
    for process in processes:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def supported() -> bool:
    """Return whether channels work on this operating system."""
    return sys.platform != "win32"
