"""The stage on which a file runs: ``numba.cuda`` is the interpreter, and each launch is watched."""

import contextlib
import inspect
import sys
import types
from collections import Counter
from math import prod

import numba
import numpy as np

import course_pkg
from course_pkg import simt
from course_pkg.check.found import Trial
from course_pkg.core.errors import CourseError
from course_pkg.simt import Kernel, Launch, api, vectorizing

CHECKED = 2  # launches of a kernel with the same grid and types that are counted; later ones only compute
MOST_THREADS = 1 << 21  # largest launch that is counted, which takes a second or two


class Stage:
    """Watches what a file makes and launches.

    Parameters
    ----------
    parts : iterable of str
        Names of the parts of the source, as tracebacks show them.
    steps : int
        Limit on the statements of one launch.
    only : str or None
        The one kernel that is checked.
    """

    def __init__(self, parts, steps: int, only: str | None = None):
        self.parts, self.steps, self.only = set(parts), steps, only
        self.made: list[Watched] = []
        self.functions: list = []  # what vectorize and guvectorize have made
        self.trials: list[Trial] = []
        self.current: Trial | None = None
        self.origin = ""
        self._seen: Counter = Counter()
        self._taken = 0

    def take(self) -> list[Trial]:
        """Return the trials since the last call."""
        new = self.trials[self._taken :]
        self._taken = len(self.trials)
        return new

    def jit(self, function=None, *, signature=None, **options):
        """Do what ``cuda.jit`` does, and remember the kernel and its signature."""
        if function is not None and (not callable(function) or hasattr(function, "return_type")):
            function, signature = None, function
        if function is None:
            return lambda given: self.jit(given, signature=signature, **options)
        plain = api.jit(function, **options, **({} if signature is None else {"signature": signature}))
        kernel = Watched.__new__(Watched)
        vars(kernel).update(vars(plain), stage=self, signature=signature)
        self.made.append(kernel)
        return kernel

    def function(self, made) -> None:
        """Remember a function that ``vectorize`` or ``guvectorize`` has made."""
        self.functions.append(made)

    def launch(self, launch: Launch, arguments, made=None) -> None:
        """Run a launch. Count it only if it is one of the first with the same grid and types, and is not too large.

        Parameters
        ----------
        launch : Launch
        arguments : sequence
        made : Vectorized or Generalized, optional
            The function around which the kernel was made.
        """
        kernel = launch.kernel if made is None else made.function
        kinds = tuple(_kind(a) for a in arguments)
        key = (kernel.__name__, launch.grid, launch.block, kinds)
        self._seen[key] += 1
        wanted = self.only in (None, kernel.__name__)
        large = prod(launch.grid) * prod(launch.block) > MOST_THREADS
        if not wanted or self._seen[key] > CHECKED or large:
            if wanted and large and self._seen[key] == 1:
                self.trials.append(self._trial(kernel, launch, arguments, too_large=True))
            # only the first launches are judged, and the program may need what the later ones compute
            with contextlib.suppress(CourseError):
                Launch.__call__(launch, *arguments)
            return
        self.current = trial = self._trial(kernel, launch, arguments)
        self.trials.append(trial)
        try:
            trial.profile = simt.profile(launch, *arguments, steps=self.steps)
        except CourseError as error:
            trial.error = str(error)
        except RecursionError:
            trial.error = f"{trial.kernel} calls itself without end: name the case that ends the recursion."
        self.current = None

    def _trial(self, kernel, launch, arguments, too_large=False) -> Trial:
        code = kernel.py_func.__code__
        names = [*inspect.signature(kernel.py_func).parameters, "out"]  # vectorize adds its result
        said = ", ".join(f"{name} {described(a)}" for name, a in zip(names, arguments, strict=False))
        trial = Trial(
            kernel.__name__, code.co_filename, first_line(kernel), self.origin or self._line(), said,
            launch.grid, launch.block, launch.dynamic_shared, made=bool(self.origin), too_large=too_large,
        )  # fmt: skip
        if too_large:
            threads = prod(launch.grid) * prod(launch.block)
            trial.error = (
                f"The launch has {threads:,} threads, and at most {MOST_THREADS:,} are checked: launch it with smaller "
                "sizes, by --set or --inputs."
            )
        return trial

    def _line(self) -> str:
        """Return the place in the file that is launching the kernel."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename in self.parts:
                return f"launched in {frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        return "launched by the file"


class Watched(Kernel):
    """A kernel whose launches the stage sees."""

    stage: Stage
    signature: object

    def __getitem__(self, configuration) -> "WatchedLaunch":
        return _watched(super().__getitem__(configuration))

    def forall(self, *arguments, **options) -> "WatchedLaunch":
        """Return a launch with at least as many threads as there are tasks."""
        return _watched(super().forall(*arguments, **options))


class WatchedLaunch(Launch):
    """A launch that the stage counts."""

    def __call__(self, *arguments):
        """Launch, on the stage."""
        self.kernel.stage.launch(self, arguments)


def _watched(launch) -> WatchedLaunch:
    return WatchedLaunch(launch.kernel, launch.grid, launch.block, 0, launch.dynamic_shared)


@contextlib.contextmanager
def numba_cuda(stage: Stage):
    """Replace ``numba.cuda`` and ``course_pkg.cuda`` by the interpreter inside a ``with`` block."""
    door = types.ModuleType("numba.cuda")
    door.__getattr__ = lambda name: getattr(api, name)
    door.__path__ = []  # a package, so that an import of numba.cuda.… says what is missing
    door.__all__ = api.__all__
    door.jit = stage.jit
    before = {name: sys.modules.get(name) for name in ("numba.cuda", "numba.cuda.random", "course_pkg.cuda")}
    attributes = [(owner, vars(owner).get("cuda")) for owner in (numba, course_pkg)]
    sys.modules["numba.cuda"] = sys.modules["course_pkg.cuda"] = numba.cuda = course_pkg.cuda = door
    sys.modules.pop("numba.cuda.random", None)
    if hasattr(api, "random"):
        sys.modules["numba.cuda.random"] = api.random
    try:
        with vectorizing.watched_by(stage):
            yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
        for owner, cuda in attributes:
            if cuda is None:
                del owner.cuda
            else:
                owner.cuda = cuda


def first_line(kernel: Kernel) -> int:
    """Return the line of a kernel's ``def``."""
    try:
        return kernel.program.tree.lineno
    except CourseError:
        return kernel.py_func.__code__.co_firstlineno


def described(argument) -> str:
    """Return type and shape of an argument, or the value of a number."""
    shape = getattr(argument, "shape", None)
    if shape:
        return f"{np.dtype(argument.dtype)}[{', '.join(map(str, shape))}]"
    return repr(argument.item() if isinstance(argument, np.generic) else argument)[:40]


def _kind(argument):
    shape = getattr(argument, "shape", None)
    return (str(argument.dtype), tuple(shape)) if shape else type(argument).__name__
