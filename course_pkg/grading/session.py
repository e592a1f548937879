"""The judge's view of a learner's functions and variables, which exist only in the sandbox.

The judge sees a function as a stand-in, which sends plain values to the sandbox and returns its answer. It fetches a
variable from the sandbox as a plain value.
"""

from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np

from course_pkg.core.errors import CourseError
from course_pkg.grading import check
from course_pkg.grading.explain import InputChanged
from course_pkg.grading.terms import LearnerError, Loss, SandboxLost

MOST_RESTARTS = 10
START_S = 60.0  # time limit for the code that runs before any code of a learner
LOOK = "_look"  # the function that inside.py defines in the sandbox


@cache
def inside() -> str:
    """Return the code that the sandbox runs first."""
    return Path(__file__).with_name("inside.py").read_text(encoding="utf-8")


class Session:
    """The sandbox and its history: if a cell or a call ends the sandbox, a new one repeats what the old one had done.

    So an endless loop in a function makes only those tests fail that call this function. All sandboxes of a session
    together share the time limit for all requests.

    Parameters
    ----------
    make : callable
        Takes the seconds that earlier sandboxes have used; returns a new
        :class:`~course_pkg.grading.sandbox.Sandbox`.
    endless : dict of str to str, optional
        Cells and functions that took too much time in an earlier session, each with the reason; they are not run again.
        Those of this session are added.
    """

    def __init__(self, make, endless: dict[str, str] | None = None):
        self._make, self._sandbox, self._starts = make, None, 0
        self._spent_s, self.endless = 0.0, {} if endless is None else endless
        self._history: list[tuple[str, str, float | None]] = []
        self._lost: dict[str, SandboxLost] = {}
        self._last: SandboxLost | None = None
        self._twin: Session | None = None  # see _apart
        self._copied, self._before_twin_s = 0, 0.0
        self.contained, self.note = False, ""

    def __enter__(self) -> "Session":
        self._open()
        try:
            self.run(inside(), "inside", call_s=START_S)
        # not the learner's fault, because no code of the learner has run yet
        except (LearnerError, SandboxLost) as error:
            raise CourseError(f"The sandbox cannot be prepared, check the installation: {error}") from None
        return self

    def __exit__(self, *exception) -> None:
        self._close()
        if self._twin is not None:
            self._twin.__exit__(*exception)

    def run(self, source: str, name: str, *, call_s: float | None = None) -> None:
        """Execute a cell; raise a LearnerError or SandboxLost if it does not finish."""
        self._refuse(f"cell {name}")
        with self._watched(f"cell {name}"):
            sandbox = self._open()
            self._history.append((source, name, call_s))
            try:
                sandbox.run(source, name, call_s=call_s)
            except SandboxLost:
                self._history.pop()
                raise

    def call(self, name: str, args: tuple, kwargs: dict, instead: dict | None = None):
        """Call a function, see :meth:`.Sandbox.call`; return its value and its arguments after the call."""
        if name in self._lost:
            raise self._lost[name]
        self._refuse(name)
        with self._watched(name):
            return self._open().call(name, args, kwargs, instead)

    def get(self, name: str):
        """Return a variable."""
        with self._watched():
            return self._open().get(name)

    def names(self) -> set[str]:
        """Return the names that the cells have bound."""
        with self._watched():
            return self._open().names()

    def look(self, names: list[str]) -> dict:
        """Return what names stand for, as :mod:`~course_pkg.grading.inside` describes it; empty if it fails."""
        try:
            with self._watched():
                told = self._open().call(LOOK, (list(names),), {})[0] if names else {}
        except (LearnerError, SandboxLost):
            return {}
        return told if isinstance(told, dict) else {}

    def function(self, name: str, instead: dict | None = None):
        """Return a stand-in for a function. It takes and returns plain values, and writes to arrays of ``check.out``.

        If the function changes another argument, the test fails, because tests use their inputs again afterwards.
        """

        def stand_in(*args, **kwargs):
            value, after = self.call(name, tuple(map(_plain, args)), kwargs, instead)
            for number, (given, now) in enumerate(zip(args, after, strict=True), start=1):
                if isinstance(given, check.Out):
                    _copy_back(given, now)
                elif not _same(_plain(given), now):
                    raise InputChanged(name, number)
            return value

        stand_in.__name__ = stand_in.__qualname__ = name
        stand_in.using = partial(self._using, name)
        stand_in.apart = partial(self._apart, name)
        return stand_in

    def _apart(self, name: str):
        """Return the same function in a second sandbox, which has run the same cells as this one.

        Code in one sandbox cannot know what the other one was given.
        """
        if self._twin is None:
            self._twin = Session(self._make, self.endless)
            self._twin._spent_s = self._before_twin_s = self.spent_s
        for source, cell, call_s in self._history[self._copied :]:
            with suppress(LearnerError, SandboxLost):  # the first sandbox tells what is wrong
                self._twin.run(source, cell, call_s=call_s)
        self._copied = len(self._history)
        return self._twin.function(name)

    def _using(self, name: str, kernels: dict):
        """Return the function with other kernels in place of its own; ``kernels`` maps each name to its replacement."""
        known = self.names()
        for other in kernels.values():
            if other.__name__ not in known:  # a kernel of a test: no cell of the exercise has defined it here
                self.run("\n".join(other.program.source.lines), other.__name__)
        return self.function(name, {one: other.__name__ for one, other in kernels.items()})

    @property
    def spent_s(self) -> float:
        """Seconds that all requests have used so far."""
        own_s = self._sandbox.spent_s if self._sandbox else self._spent_s
        return own_s + (self._twin.spent_s - self._before_twin_s if self._twin else 0.0)

    def _refuse(self, name: str) -> None:
        if name in self.endless:
            raise SandboxLost(Loss(self.endless[name], endless=True))

    def _watched(self, name: str | None = None):
        return _Watch(self, name)

    def _open(self):
        if self._sandbox is None:
            if self._starts > MOST_RESTARTS:
                raise self._last
            self._starts += 1
            self._sandbox = self._make(spent_s=self._spent_s).__enter__()
            self.contained, self.note = self._sandbox.contained, self._sandbox.note
            for source, name, call_s in self._history:
                with suppress(LearnerError):  # the cell raised an error the first time, too
                    self._sandbox.run(source, name, call_s=call_s)
        return self._sandbox

    def _close(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            self._spent_s = sandbox.spent_s
            sandbox.__exit__(None, None, None)

    def _ended(self, error: SandboxLost, name: str | None) -> None:
        self._last = error
        if name is not None:
            self._lost[name] = error
            if error.loss.endless and not error.loss.in_all:
                self.endless[name] = error.reason
        self._close()


class _Watch:
    """Records that the sandbox ended, and which cell or function was running."""

    def __init__(self, session, name):
        self.session, self.name = session, name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, SandboxLost):
            self.session._ended(error, self.name)


def _plain(value):
    """Turn a device array into a NumPy array, and a dtype into its name: the sandbox takes only plain values."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if isinstance(value, check.Out):
        return value.view(np.ndarray)
    return value.host if hasattr(value, "host") else value


def _same(given, now) -> bool:
    """Return whether an argument has not changed."""
    if isinstance(given, np.ndarray):
        return isinstance(now, np.ndarray) and given.tobytes() == now.tobytes()
    return not isinstance(given, (list, dict)) or repr(given) == repr(now)


def _copy_back(given, now) -> None:
    if isinstance(now, np.ndarray) and now.shape == given.shape:
        np.copyto(given, now, casting="unsafe")
