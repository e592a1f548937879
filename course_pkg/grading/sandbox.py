"""A :class:`Sandbox` runs a learner's code where it can do no harm.

The code runs in a process of its own, always under limits, and isolated by bubblewrap if that is installed. Only plain
values and arrays go in and out. Results are compared outside, so code in the sandbox cannot forge a comparison.
"""

import json
import os
import secrets
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np

from course_pkg.core.errors import CourseError
from course_pkg.grading import bubblewrap, protocol, seccomp
from course_pkg.grading.channel import Channel, Ended, TooBusy, supported
from course_pkg.grading.leftovers import folder_for, processes_now, remove
from course_pkg.grading.terms import LearnerError, Limits, Loss, SandboxLost, clean
from course_pkg.grading.warm import crowd

__all__ = ["LearnerError", "Limits", "Sandbox", "SandboxLost", "TooBusy"]

NO_RESULT = Loss("your code sent something that is not a result")
START_S = 600.0  # time for Python to start: long, because a busy machine is not the learner's fault
PATIENCE = (
    20  # a request may take this many times its limit times the load; beyond that the machine is at fault
)


class Sandbox:
    """A process that runs a learner's cells. It is a context manager.

    The constructor starts the process and does not wait for it; the first request does. The process ends when the
    thread that started it ends.

    Parameters
    ----------
    limits : Limits
    require : bool
        Refuse to run without bubblewrap. On CI the sandbox always refuses.
    spent_s : float
        Seconds that earlier sandboxes have already used of the time limit for all requests.

    Attributes
    ----------
    contained : bool
        Whether bubblewrap isolates the code.
    note : str
        If the code is not isolated, a sentence that says so; otherwise empty.
    output : str
        Text that the last request printed, up to the limit.

    Raises
    ------
    CourseError
        If bubblewrap is required but missing, or if no sandbox can run on this system.
    """

    def __init__(self, limits: Limits | None = None, *, require: bool = False, spent_s: float = 0.0):
        self._limits, self._before_s = limits or Limits(), spent_s
        self._channel, self._folder, self._lost = None, None, None
        self._ready, self._number = False, 0
        self.output = ""
        if not supported():
            raise CourseError("Grading needs Linux or macOS: on Windows, run it inside WSL.")
        obstacle = bubblewrap.obstacle()
        self.contained = not obstacle
        self.note = f"This code ran without a sandbox, not isolated: {obstacle}." if obstacle else ""
        if not seccomp.program():
            self.note = f"{self.note} {seccomp.MISSING}.".lstrip()
        if obstacle and (require or os.environ.get("CI", "").lower() in ("1", "true")):
            raise CourseError(f"A sandbox is required, but it cannot be made here: {obstacle}.")
        self._start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # -------------------------------------------------------------------------------------------------- requests

    def run(self, source: str, name: str, *, call_s: float | None = None) -> None:
        """Execute the source of a cell; errors name the line in this source.

        Parameters
        ----------
        call_s : float, optional
            Time limit in place of that in ``limits``. The exercise's own cells need it: they import much, and a busy
            machine is not the learner's fault.

        Raises
        ------
        LearnerError
            If the code raised an error.
        SandboxLost
            If the process ended or was killed; then each later request raises this error again.
        """
        self._ask({"do": "run", "source": str(source), "name": str(name)}, call_s)

    def call(
        self, name: str, args: tuple = (), kwargs: dict | None = None, instead: dict | None = None
    ) -> tuple:
        """Call a learner's function with plain values; return its result and its arguments after the call.

        If the same array is passed twice, or passed and returned, both sides see one array. ``instead`` maps
        names of kernels to the names of those that replace them during this call.

        Raises
        ------
        LearnerError
            If the function raised an error; of kind ``NotPlain`` if it returned anything but plain values.
        SandboxLost
            As for :meth:`run`.
        protocol.NotPlain
            If an argument is not a plain value.
        """
        request = {"do": "call", "name": str(name), "args": list(args), "kwargs": dict(kwargs or {})}
        reply = self._ask(request | {"instead": dict(instead or {})})
        after = reply.get("args")
        if type(after) is not list or len(after) != len(args) or "value" not in reply:
            raise self._lose(NO_RESULT)
        for k, (old, new) in enumerate(zip(args, after, strict=True), 1):
            if isinstance(old, np.ndarray) and not _alike(old, new):
                raise LearnerError("NotPlain", f"{name} changed the shape or dtype of its argument {k}")
        return reply["value"], after

    def get(self, name: str):
        """Return a learner's variable; raises the errors of :meth:`call`."""
        reply = self._ask({"do": "get", "name": str(name)})
        if "value" not in reply:
            raise self._lose(NO_RESULT)
        return reply["value"]

    def names(self) -> set[str]:
        """Return the names that the learner's cells have defined."""
        found = self._ask({"do": "names"}).get("value")
        if type(found) is not list or not all(type(name) is str for name in found):
            raise self._lose(NO_RESULT)
        return set(found)

    @property
    def spent_s(self) -> float:
        """Seconds that all requests have used so far, including those to earlier sandboxes."""
        return self._channel.watch.spent_s if self._channel else self._before_s

    def close(self) -> None:
        """End the process and all that it started; may be called more than once."""
        if self._channel is not None:
            self._channel.close()
        if self._folder is not None:
            remove(self._folder)
        self._lost = self._lost or Loss("the sandbox is closed")

    # ------------------------------------------------------------------------------------------------- machinery

    def _ask(self, request: dict, call_s: float | None = None) -> dict:
        """Send a request and return its answer; if the answer is an error, raise it."""
        if self._lost:
            raise SandboxLost(self._lost)
        self._number += 1
        parts = protocol.encode(request | {"id": self._number}, self._limits.message_bytes)
        self._await_start()
        begin = time.monotonic()
        call_s = call_s or self._limits.call_s
        self._channel.watch.begin(call_s)
        try:
            deadline = begin + PATIENCE * call_s * crowd()
            self._channel.send(parts, deadline)
            reply = self._channel.receive(deadline)
        except Ended as error:
            raise self._lose(error.loss) from None
        finally:
            self._channel.watch.finish()
        if type(reply) is not dict or reply.get("id") != self._number:
            raise self._lose(NO_RESULT)
        self.output = clean(reply.get("output"), self._limits.output_bytes)
        if "error" in reply:
            raise LearnerError.told(reply["error"])
        return reply

    def _await_start(self) -> None:
        """Wait for the first message of the worker."""
        if self._ready:
            return
        try:
            self._channel.receive(time.monotonic() + START_S)
        except Ended as error:
            said = self._channel.errors() or str(error)
            self._lose(Loss("the sandbox did not start"))
            raise TooBusy(f"the sandbox did not start, check the installation: {said}") from None
        self._ready = True

    def _lose(self, loss: Loss) -> SandboxLost:
        """End the sandbox, and return the error to raise, which gives the reason."""
        self._lost = loss
        self.close()
        return SandboxLost(loss)

    def _start(self) -> None:
        python = [bubblewrap.python(), "-I", "-S", "-B"]
        mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        if self.contained:
            inside = Path(bubblewrap.INSIDE)
            settings = self._settings(
                str(inside),
                bubblewrap.packages_inside(),
                bubblewrap.WORK,
                bubblewrap.new_uid(),
                inside / "judge",
                0,
            )
            with _file_of(seccomp.program()) as keep:
                line = [*bubblewrap.command(self._limits.tmp_bytes, mark, *keep), *python]
                line += [str(inside / "judge" / "worker.py"), json.dumps(settings)]
                environment = bubblewrap.own_environment()
                self._channel = Channel(line, environment, "/", self._limits, self._before_s, keep=keep)
            return
        self._folder = folder_for(os.getpid())
        course, work = Path(self._folder, "course"), Path(self._folder, "work")
        work.mkdir()
        for path, name in bubblewrap.shown():
            target = course / "course_pkg" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
        settings = self._settings(
            str(course), bubblewrap.packages(), str(work), bubblewrap.NOBODY, bubblewrap.HERE, processes_now()
        ) | {
            "uid_alone": bubblewrap.new_uid() if sys.platform.startswith("linux") else bubblewrap.NOBODY,
            "landlock": str(bubblewrap.HERE / "landlock.py"),
            "filter": seccomp.program().hex(),
            "readable": [*bubblewrap.readable(), str(course)],
            "writable": [*bubblewrap.DEVICES, str(work)],
        }
        line = [*python, str(bubblewrap.HERE / "worker.py"), json.dumps(settings)]
        self._channel = Channel(
            line,
            bubblewrap.environment(str(work), mark),
            str(work),
            self._limits,
            self._before_s,
            mark,
        )

    def _settings(self, course: str, packages: list, folder: str, uid: int, judge: Path, others: int) -> dict:
        """Return the settings for the worker's command line."""
        limits = self._limits
        return asdict(limits) | {
            "uid": uid,
            "alone": not self.contained,
            "folder": folder,
            "path": [course, *packages],
            "protocol": str(judge / "protocol.py"),
            "loop": str(judge / "loop.py"),
            "landlock": "",
            "rlimits": {
                "RLIMIT_CPU": int(limits.cpu_s),
                "RLIMIT_AS": limits.memory_bytes,
                "RLIMIT_FSIZE": limits.file_bytes,
                "RLIMIT_NPROC": limits.processes + others,
                "RLIMIT_NOFILE": 256,
                "RLIMIT_CORE": 0,
            },
        }


@contextmanager
def _file_of(data: bytes):
    """Yield a tuple with the descriptor of an open file that contains some bytes; an empty tuple if there are none."""
    if not data:
        yield ()
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield (file.fileno(),)


def _alike(old, new) -> bool:
    return type(new) is np.ndarray and new.shape == old.shape and new.dtype == old.dtype
