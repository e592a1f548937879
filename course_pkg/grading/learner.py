"""A learner's answers, seen from the judge: kernels as source to interpret, everything else behind a sandbox.

Nothing of a learner is executed here. A kernel is read off the syntax tree of its cell; a function becomes a stand-in
that sends plain values to the sandbox; a variable is fetched from there as a plain value.
"""

import ast
import math
import operator
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass

import numba
import numpy as np
from numba.core import types

from course_pkg.core.errors import CourseError
from course_pkg.grading import check
from course_pkg.grading.sandbox import LearnerError, SandboxLost
from course_pkg.simt import Kernel, api
from course_pkg.simt.front.functions import FUNCTIONS
from course_pkg.simt.front.names import BUILTINS, TYPES
from course_pkg.simt.front.source import split_lines

MOST_SOURCE = 100_000  # characters of an answer cell
MOST_RESTARTS = 10
MODULES = {
    "numpy": np,
    "math": math,
    "operator": operator,
    "numba": numba,
    "numba.types": types,
    "numba.cuda": api,
    "course_pkg.cuda": api,
}


class Unreadable(CourseError):
    """An answer cell whose text is no Python."""


@dataclass(frozen=True)
class Binding:
    """What a cell binds a name to: ``kernel``, ``device``, ``function`` or ``variable``, and where."""

    kind: str
    node: ast.AST


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a cell; lines for IPython (``%time``, ``!ls``) are passed over.

    Raises
    ------
    Unreadable
        With the line and what Python says about it.
    """
    if len(source) > MOST_SOURCE:
        raise Unreadable(f"the answer cell holds more than {MOST_SOURCE:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(without_magics(source))
    except SyntaxError as error:
        raise Unreadable(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"the answer cell cannot be read ({type(error).__name__})") from None


def without_magics(source: str) -> str:
    """Return a cell's text with its lines for IPython left empty, so that line numbers stay.

    A text that is Python as it stands is left alone: a line may begin with ``%`` there, too.
    """
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(source)
        return source
    return re.sub(r"^[ \t]*[%!].*$", "", source, flags=re.MULTILINE)


def bindings(tree: ast.Module) -> dict[str, Binding]:
    """Return the names that a cell binds at its left margin, each with its last binding."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = Binding(_kind(node), node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                    found[name] = Binding("variable", node)
    return found


def _kind(node: ast.FunctionDef) -> str:
    """Tell a kernel by its decorator, which must be its only one."""
    if len(node.decorator_list) != 1:
        return "function"
    jit = node.decorator_list[0]
    keywords = jit.keywords if isinstance(jit, ast.Call) else []
    path = ast.unparse(jit.func if isinstance(jit, ast.Call) else jit)
    if path != "cuda.jit" and not path.endswith(".cuda.jit"):
        return "function"
    device = any(k.arg == "device" and getattr(k.value, "value", False) is True for k in keywords)
    return "device" if device else "kernel"


def kernel(source: str, binding: Binding, names: dict) -> Kernel:
    """Make a kernel of its text alone; its lines keep their numbers in the cell."""
    node = binding.node
    first = min(node.lineno, *(d.lineno for d in node.decorator_list))
    lines = split_lines(without_magics(source))
    text = "\n".join([""] * (first - 1) + lines[first - 1 : node.end_lineno])
    return Kernel.from_source(text, node.name, names, device=binding.kind == "device", file="your cell")


def imported(tree: ast.Module) -> dict:
    """Return the names of numbers, types and functions of numbers that a cell imports, without importing anything."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = MODULES.get(alias.name if alias.asname else alias.name.partition(".")[0])
                if module is not None:
                    found[alias.asname or alias.name.partition(".")[0]] = module
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                thing = member(node.module, alias.name)
                if thing is not None:
                    found[alias.asname or alias.name] = thing
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            path, _, last = ast.unparse(node.value).rpartition(".")
            thing = member({"np": "numpy", "nb": "numba", "cuda": "numba.cuda"}.get(path, path), last)
            for target in node.targets:
                if thing is not None and isinstance(target, ast.Name):
                    found[target.id] = thing
    return found


def member(module: str, name: str):
    """Return what a kernel may use of a module: a type, a function of numbers, a number; None for anything else."""
    whole = f"{module}.{name}"
    if whole in MODULES:
        return MODULES[whole]
    owner = MODULES.get(module)
    if owner is None or name.startswith("_"):
        return None
    if owner is api:
        return api._NAMES.get(name)
    thing = vars(owner).get(name)
    known = id(thing) in TYPES or id(thing) in FUNCTIONS or id(thing) in BUILTINS
    return thing if known or isinstance(thing, float) else None


def loaded(node: ast.AST) -> set[str]:
    """Return the names that a piece of source reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def is_constant(value) -> bool:
    """Return whether a kernel may name a value: a number, or a tuple of them."""
    if isinstance(value, tuple):
        return all(map(is_constant, value))
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))


class Session:
    """The sandbox with its history: where a cell or a call ends it, a new one is brought to the same state.

    So an endless loop in one function costs the tests that call it, and no others.

    Parameters
    ----------
    make : callable
        Returns a new :class:`~course_pkg.grading.sandbox.Sandbox`.
    """

    def __init__(self, make):
        self._make, self._sandbox, self._starts = make, None, 0
        self._history: list[tuple[str, str, float | None]] = []
        self._lost: dict[str, SandboxLost] = {}
        self._last: SandboxLost | None = None
        self.contained, self.note = False, ""

    def __enter__(self) -> "Session":
        self._open()
        return self

    def __exit__(self, *exception) -> None:
        self._close()

    def run(self, source: str, name: str, *, call_s: float | None = None) -> None:
        """Execute a cell; a LearnerError or SandboxLost says why it came to no end."""
        with self._watched():
            sandbox = self._open()
            self._history.append((source, name, call_s))
            try:
                sandbox.run(source, name, call_s=call_s)
            except SandboxLost:
                self._history.pop()
                raise

    def call(self, name: str, args: tuple, kwargs: dict):
        """Call a function; return its value and its arguments after the call."""
        if name in self._lost:
            raise self._lost[name]
        with self._watched(name):
            return self._open().call(name, args, kwargs)

    def get(self, name: str):
        """Return a variable."""
        with self._watched():
            return self._open().get(name)

    def names(self) -> set[str]:
        """Return the names that the cells have bound."""
        with self._watched():
            return self._open().names()

    def function(self, name: str):
        """Return a stand-in for a function: plain values go in and out; arrays of ``check.out`` change as it says.

        An answer that changes anything else it is given fails, since a test compares with its inputs afterwards.
        """

        def stand_in(*args, **kwargs):
            value, after = self.call(name, tuple(map(_plain, args)), kwargs)
            for number, (given, now) in enumerate(zip(args, after, strict=True)):
                if isinstance(given, check.Out):
                    _copy_back(given, now)
                elif not _same(_plain(given), now):
                    raise check.Failed(
                        f"{name} changes its argument {number + 1}, which is an input: work on a copy of it.",
                        f"{name} changes an input.",
                    )
            return value

        stand_in.__name__ = stand_in.__qualname__ = name
        return stand_in

    def _watched(self, name: str | None = None):
        return _Watch(self, name)

    def _open(self):
        if self._sandbox is None:
            if self._starts > MOST_RESTARTS:
                raise self._last
            self._starts += 1
            self._sandbox = self._make().__enter__()
            self.contained, self.note = self._sandbox.contained, self._sandbox.note
            for source, name, call_s in self._history:
                with suppress(LearnerError):  # as the first time
                    self._sandbox.run(source, name, call_s=call_s)
        return self._sandbox

    def _close(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.__exit__(None, None, None)

    def _ended(self, error: SandboxLost, name: str | None) -> None:
        self._last = error
        if name is not None:
            self._lost[name] = error
        self._close()


class _Watch:
    """Notes that the sandbox ended, and during which function."""

    def __init__(self, session, name):
        self.session, self.name = session, name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, SandboxLost):
            self.session._ended(error, self.name)


def _plain(value):
    """Return a device array as the array it holds, and a dtype as its name; the sandbox takes plain values only."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if isinstance(value, check.Out):
        return value.view(np.ndarray)
    return value.host if hasattr(value, "host") else value


def _same(given, now) -> bool:
    """Return whether an argument came back as it was sent."""
    if isinstance(given, np.ndarray):
        return isinstance(now, np.ndarray) and given.tobytes() == now.tobytes()
    return not isinstance(given, (list, dict)) or repr(given) == repr(now)


def _copy_back(given, now) -> None:
    if isinstance(now, np.ndarray) and now.shape == given.shape:
        np.copyto(given, now, casting="unsafe")
