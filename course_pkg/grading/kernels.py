"""Take over a learner's kernels: the judge interprets their text, and names in it can only mean objects of the judge.

The sandbox reports which names of a cell are kernels, and on which line the text of each begins. A kernel may be made
by ``@cuda.jit`` or by ``cuda.jit(function)``, under another name or inside another function. Its text is taken from the
submission, numbers and the types of a signature are sent by the sandbox, and everything else comes from an allow-list.
"""

import ast
import builtins
from collections import ChainMap
from collections.abc import Callable

import numpy as np

from course_pkg.core.errors import CourseError
from course_pkg.grading import cells, signatures
from course_pkg.simt import HazardError, Kernel, SimtError
from course_pkg.simt.front.matching import without_match
from course_pkg.simt.front.source import FunctionSource, Program, split_lines
from course_pkg.simt.front.stubs import MEANINGS
from course_pkg.simt.run.kernel import Launch
from course_pkg.simt.run.launch import run_launch

FILE = "your cell"
DEEPEST = 100  # deepest chain of device functions that call each other


class NoKernel(CourseError):
    """A name is not a kernel that the judge can take over; ``kind`` names it in messages on kernels that use it."""

    kind = "function_without_def"


class TooDeep(NoKernel):
    """A chain of functions that call each other is longer than the interpreter follows."""

    kind = "function_behind_too_many"


class JudgedKernel(Kernel):
    """A learner's kernel: every launch checks for hazards, also in tests that do not profile, and prints nothing."""

    prints = False

    @classmethod
    def of(
        cls, node: ast.FunctionDef, source: str, names, *, device: bool, declared: tuple = ()
    ) -> "JudgedKernel":
        """Make a kernel from the syntax tree of a function; line numbers are those in the cell."""
        first = cells.first_line(node)
        lines = split_lines(cells.without_magics(source))[first - 1 : node.end_lineno]
        program = Program(without_match(node), FunctionSource(node.name, FILE, first, lines), names)

        def function(*arguments):
            raise SimtError(f"{node.name} is a kernel: launch it with {node.name}[blocks, threads](…).")

        function.__name__ = function.__qualname__ = node.name
        return cls(function, device=device, program=program, signatures=declared)

    def __getitem__(self, configuration) -> "JudgedLaunch":
        launch = super().__getitem__(configuration)
        return JudgedLaunch(self, launch.grid, launch.block, 0, launch.dynamic_shared)

    def forall(self, ntasks: int, tpb: int = 0, stream=0, sharedmem: int = 0) -> "JudgedLaunch":
        """Return a one-dimensional launch with at least ``ntasks`` threads."""
        launch = super().forall(ntasks, tpb, stream, sharedmem)
        return JudgedLaunch(self, launch.grid, launch.block, 0, launch.dynamic_shared)


class JudgedLaunch(Launch):
    """A launch that raises an error if it has a hazard."""

    def __call__(self, *arguments):
        """Run the kernel.

        Raises
        ------
        HazardError
            With the first hazard, of any kind.
        """
        found = run_launch(self, arguments, check=True).log.found
        if found:
            raise HazardError(found[0])


class Unknown:
    """An object that a kernel cannot use; the interpreter's message contains the name of its class, the kind."""


def unknown(kind: str):
    """Return an object that the interpreter refuses, with a message that contains this kind."""
    return type(kind if kind.isidentifier() else "object", (Unknown,), {})()


class Names:
    """The objects that the names in a learner's kernels mean.

    Parameters
    ----------
    look : callable
        Asks the sandbox what names mean; see :mod:`~course_pkg.grading.inside`.
    function : callable
        Returns a stand-in for a function of the host.
    """

    def __init__(self, look: Callable, function: Callable):
        self._look, self._function = look, function
        self.known: dict = {}  # names from the exercise's own cells, and names that answers import
        self.given: dict[tuple[str, str], Kernel] = {}
        self._texts: dict[str, tuple[str, ast.Module]] = {}
        self._made: dict[tuple, JudgedKernel] = {}

    def remember(self, cell: str, source: str, tree: ast.Module) -> None:
        """Keep the text of an answer cell."""
        self._texts[cell] = source, tree

    def about(self, name: str) -> dict:
        """Return what the sandbox says about a name; empty if it says nothing."""
        found = self._look([name]).get(name)
        return found if isinstance(found, dict) else {}

    def kernel(self, about: dict, depth: int = 0) -> Kernel:
        """Return the kernel that the sandbox describes.

        Raises
        ------
        NoKernel
            If the judge cannot take the kernel over; the message says what to write instead.
        """
        place = about.get("cell"), about.get("line"), about.get("name")
        if place[:1] + place[2:] in self.given:
            return self.given[place[:1] + place[2:]]
        source, tree = self._texts.get(place[0], ("", None))
        node = cells.definition(tree, *place[1:]) if tree and type(place[1]) is int else None
        if node is None and place[2] == "<lambda>":
            raise NoKernel("is made of a lambda that shares its line with another: write it with def")
        if node is None:
            raise NoKernel(
                "is made of a text that does not stand in an answer cell: write it there, with def"
            )
        if depth > DEEPEST:
            raise TooDeep(f"stands behind {DEEPEST} functions that call each other")
        device, free, declared = about.get("device") is True, about.get("free"), signatures.told(about)
        # the same text makes a different kernel if its closure has other values, or if it is declared for other types
        place = *place, declared
        if place not in self._made or free:
            return self.plain(
                source, node, device=device, free=free, place=place, depth=depth, declared=declared
            )
        return self._made[place]

    def plain(
        self, source, node, *, device: bool, free=None, place=None, depth: int = 0, declared: tuple = ()
    ) -> JudgedKernel:
        """Return a kernel from the syntax tree of a function, with the present meaning of its names."""
        own: dict = {}
        names = ChainMap(own, self.known)
        made = JudgedKernel.of(node, source, names, device=device, declared=declared)
        if place and not free:
            self._made[place] = made  # before its names are resolved, because it may call itself
        told = {**self._look(sorted(_free_names(node))), **(free if isinstance(free, dict) else {})}
        for name, about in told.items():
            if isinstance(about, dict):
                own[name] = self.thing(name, about, depth + 1)
        return made

    def thing(self, name: str, about: dict, depth: int):
        """Return the judge's own object for a name; only a number may come from the learner."""
        kind, value = str(about.get("is")), about.get("value")
        if kind == "number" and cells.is_constant(value):
            return value
        if kind == "tuple" and isinstance(about.get("parts"), list):
            return tuple(self.thing(name, part, depth) for part in about["parts"])
        if kind == "array" and isinstance(value, np.ndarray):
            return value
        if kind == "function":
            return self._function(name)
        if kind == "kernel":
            try:
                return self.kernel(about, depth)
            except NoKernel as error:
                return unknown(error.kind)
        found = _own(kind, str(about.get("of")), str(about.get("name")))
        return unknown(str(about.get("kind", kind))) if found is None else found


def _own(kind: str, home: str, name: str):
    """Return the judge's own module, type, function or CUDA name; None if there is none of that name."""
    if kind == "module":
        return cells.MODULES.get(name)
    if kind == "cuda" and name in cells.PAIRS:
        return cells.PAIRS[name]
    if kind == "cuda" and name in MEANINGS:
        found = cells.member("numba.cuda", name.partition(".")[0])
        return getattr(found, name.partition(".")[2]) if "." in name else found
    if kind != "member":
        return None
    if home == "builtins":
        return getattr(builtins, name, None) if name in ("bool", "int", "float", "complex", "range") else None
    return cells.member("numba.types" if home.startswith("numba.") else home, name)


def _free_names(node: ast.FunctionDef) -> set[str]:
    """Return the names that a function reads but does not bind."""
    bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return cells.loaded(node) - bound - {argument.arg for argument in node.args.args}
