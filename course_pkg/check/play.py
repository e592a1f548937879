"""Run a file on the stage, statement by statement, in a process of its own."""

import ast
import importlib
import linecache
import os
import signal
import sys
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from course_pkg.check import inputs as made_inputs
from course_pkg.check import read
from course_pkg.check.found import Trial
from course_pkg.check.stage import Stage, first_line, numba_cuda
from course_pkg.core.errors import CourseError
from course_pkg.simt import door_of_numba

LAUNCHES = "launches"  # the default name of the function that --inputs calls


@dataclass(frozen=True)
class Note:
    """A message about the host code of a file.

    Attributes
    ----------
    text : str
    fatal : bool
        Whether a kernel could not be checked because of it.
    too_large : bool
        Whether smaller sizes would help.
    """

    text: str
    fatal: bool = False
    too_large: bool = False


@dataclass(frozen=True)
class Found:
    """A kernel that ``cuda.jit`` made."""

    name: str
    file: str
    line: int


@dataclass(frozen=True)
class Work:
    """What is to be run.

    Attributes
    ----------
    path : Path
    values : dict of str to int
        Names of module-level variables, and the values that they are set to.
    inputs : tuple of (Path, str) or None
        A file with a function that launches the kernels, and its name.
    only : str or None
        The one kernel to check.
    seconds : float
        Time limit for the file, and again for the launches with made inputs.
    steps : int
        Limit on the statements of one launch.
    """

    path: Path
    values: dict[str, int] = field(default_factory=dict)
    inputs: tuple[Path, str] | None = None
    only: str | None = None
    seconds: float = 20.0
    steps: int = 20_000


class _TimeUp(BaseException):
    """The time of the host's program is up; ``except Exception`` must not swallow this."""


def play(work: Work, parts: list[read.Part]) -> Iterator[Trial | Note | Found]:
    """Run a file and yield each launch; then launch, with made inputs, each kernel that was not launched."""
    os.environ["MPLBACKEND"] = "Agg"  # a program that shows figures must not wait for a window
    sys.argv = [str(work.path)]
    sys.path.insert(0, str(work.path.resolve().parent))
    stage = Stage([p.name for p in parts], work.steps, work.only)
    door_of_numba.serve()
    for part in parts:
        linecache.cache[part.name] = (len(part.text), None, part.text.splitlines(keepends=True), part.name)
    with numba_cuda(stage):
        module = _module(work)
        enter = [lambda: _enter(module)]
        yield from _timed(work, stage, chain(enter, _statements(parts, module)))
        functions = [made.function for made in stage.functions]
        for kernel in (*(one for one in stage.made if not one.device), *functions):
            yield Found(kernel.__name__, kernel.py_func.__code__.co_filename, first_line(kernel))
        if work.inputs is not None:
            yield from _timed(work, stage, [lambda: _given(work, module)])
            return
        yield from _timed(work, stage, _made(work, stage, parts))


def _module(work) -> types.ModuleType:
    """Return the module in which the file runs.

    It is called ``__main__``, or by the file's own name if the file belongs to a package or ``--inputs`` is given.
    """
    path = work.path.resolve()
    packages, folder = [], path.parent
    while (folder / "__init__.py").is_file():
        packages.insert(0, folder.name)
        folder = folder.parent
    name = "__main__"
    if packages or work.inputs is not None:
        name = ".".join([*packages, path.stem])
    module = types.ModuleType(name)
    if packages:
        sys.path.insert(0, str(folder))
        module.__package__ = ".".join(packages)
    module.__file__ = str(path)
    module.display = lambda *things, **options: None  # notebooks have this function
    return module


def _enter(module) -> None:
    """Put the module into ``sys.modules``, where pickles and dataclasses look for it; import its package first."""
    package = vars(module).get("__package__")
    try:
        if package:
            importlib.import_module(package)  # it may import this module's file itself
    finally:
        sys.modules[module.__name__] = module


def _statements(parts, module):
    """Yield a piece of work for each module-level statement."""
    for part in parts:
        future = sum(
            getattr(__import__("__future__"), a.name).compiler_flag
            for n in part.tree.body
            if isinstance(n, ast.ImportFrom) and n.module == "__future__"
            for a in n.names
        )
        for statement in part.tree.body:
            code = compile(ast.Module([statement], []), part.name, "exec", flags=future, dont_inherit=True)
            yield lambda code=code: exec(code, vars(module))


def _timed(work, stage, pieces) -> Iterator[Trial | Note]:
    """Do pieces of work one after the other. If one raises an exception, yield a note and go on with the next."""
    left = work.seconds
    for piece in pieces:
        note = None
        try:
            with _at_most(left) as clock:
                piece()
        except _TimeUp:
            note = _too_long(work, stage)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # a SystemExit, too
            note = _raised(error, stage)
        left = clock()
        yield from stage.take()
        if note is not None:
            yield note
        if left <= 0:
            if note is None:
                yield _too_long(work, stage)
            return


@contextmanager
def _at_most(seconds: float):
    """Raise ``_TimeUp`` if a ``with`` block takes more processor time than ``seconds``.

    Yields a function that returns the seconds left. Nothing is raised on systems without such a timer.
    """
    if not hasattr(signal, "ITIMER_VIRTUAL"):
        yield lambda: seconds
        return
    left = [seconds]

    def up(number, frame):
        raise _TimeUp

    before = signal.signal(signal.SIGVTALRM, up)
    signal.setitimer(signal.ITIMER_VIRTUAL, max(seconds, 0.01))
    try:
        yield lambda: left[0]
    finally:
        left[0] = signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0]
        signal.signal(signal.SIGVTALRM, before)


def _too_long(work, stage) -> Note:
    trial, stage.current = stage.current, None
    instead = "make the sizes smaller by --set NAME=N or --inputs, or give it more by --seconds N"
    if trial is not None:
        trial.error = f"The launch was stopped after {work.seconds:g} s: {instead}."
        trial.too_large = True
        return Note(f"The program was stopped after {work.seconds:g} s, in {trial.kernel}.")
    return Note(f"The program was stopped after {work.seconds:g} s: {instead}.", fatal=True, too_large=True)


def _raised(error, stage) -> Note:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{f.filename}:{f.lineno}" for f in frames if f.filename in stage.parts]
    said = str(error).strip().split("\n")[0] or "it says no more"
    refused = isinstance(error, CourseError)
    what = said if refused else f"{type(error).__name__}: {said}"
    return Note(f"{lines[-1] if lines else 'The program'}: {what}", fatal=refused)


def _given(work, module) -> None:
    """Call the user's function that launches the kernels."""
    path, name = work.inputs
    if path.resolve() == work.path.resolve():
        function = getattr(module, name, None)
    else:
        (part,) = read.parts(path)
        names = {"__name__": path.stem, "__file__": str(path)}
        sys.path.insert(0, str(path.resolve().parent))
        exec(compile(part.tree, part.name, "exec"), names)
        function = names.get(name)
    if not callable(function):
        raise CourseError(
            f"{path} has no function {name}: define {name}(module), which launches the kernels."
        )
    takes = function.__code__.co_argcount if hasattr(function, "__code__") else 1
    function(*[module][:takes])


def _made(work, stage, parts):
    """Yield a piece of work for each module-level kernel that was not launched."""
    called = {name for k in stage.made for name in _calls(k)}
    run = {(t.kernel, t.line) for t in stage.trials if t.profile or t.error}
    trees = [part.tree for part in parts]
    for kernel in stage.made:
        at = kernel.__name__, first_line(kernel)
        own = kernel.py_func.__code__.co_filename in stage.parts
        if kernel.device or not own or at in run or kernel.__name__ in called:
            continue
        if work.only in (None, kernel.__name__):
            yield lambda kernel=kernel: _launch_made(stage, kernel, trees)
    for made in stage.functions:
        kernel = made.function
        own = kernel.py_func.__code__.co_filename in stage.parts
        if own and (kernel.__name__, first_line(kernel)) not in run and work.only in (None, kernel.__name__):
            yield lambda made=made: _call_made(stage, made)


def _calls(kernel) -> set[str]:
    try:
        tree = kernel.program.tree
    except CourseError:
        return set()
    return {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}


def _launch_made(stage, kernel, trees) -> None:
    """Launch a kernel with made inputs, at one size after the other, until a launch is refused."""
    try:
        launches = made_inputs.make(kernel, trees)
    except CourseError as error:
        place = kernel.py_func.__code__.co_filename, first_line(kernel)
        stage.trials.append(Trial(kernel.__name__, *place, "no inputs", error=f"{error} {template(kernel)}"))
        return
    for launch in launches:
        stage.origin = launch.origin
        try:
            kernel[launch.grid, launch.block, 0, launch.dynamic_shared](*launch.arguments)
        finally:
            stage.origin = ""
        stage.trials[-1].even = launch.even
        if stage.trials[-1].error:
            stage.trials[-1].error += f" {template(kernel)}"
            return


def _call_made(stage, made) -> None:
    """Call a function that ``vectorize`` or ``guvectorize`` has made with made inputs."""
    kernel = made.function
    try:
        for inputs in made_inputs.make_for_function(made):
            stage.origin = inputs.origin
            made(*inputs.arguments)
            trial = stage.trials[-1]
            trial.even = inputs.even
            if trial.error:
                trial.error += f" {template(kernel)}"
                return
    except CourseError as error:
        place = kernel.py_func.__code__.co_filename, first_line(kernel)
        stage.trials.append(Trial(kernel.__name__, *place, "no inputs", error=f"{error} {template(kernel)}"))
    finally:
        stage.origin = ""


def template(kernel) -> str:
    """Return a sentence that says how a user can give the kernel its inputs."""
    name = kernel.__name__
    brackets = "" if kernel.device else "[blocks, threads]"
    names = ", ".join(kernel.py_func.__code__.co_varnames[: kernel.py_func.__code__.co_argcount])
    return (
        f"If the inputs are to blame, give some: in a file, `def {LAUNCHES}(module):` makes {names} and calls "
        f"`module.{name}{brackets}({names})`; then add --inputs FILE."
    )
