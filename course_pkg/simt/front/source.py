"""Turn a Python function into a syntax tree, with line numbers and the names that it can see."""

import ast
import builtins
import inspect
import linecache
import math
import re
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.front.rewriting import rewritten
from course_pkg.simt.front.stubs import MEANINGS
from course_pkg.simt.front.walking import walk

_BEGINS = re.compile(r"\s*(@|def\s|async\s+def\s)|.*(?<!\w)lambda[:\s]")  # the first line of a function


class SourceLine(NamedTuple):
    """A line of a function. Counts are assigned to lines.

    Examples
    --------
    >>> SourceLine("copy_kernel", 28).line
    28
    """

    function: str
    line: int


@dataclass(frozen=True)
class FunctionSource:
    """The text of a kernel or a device function.

    Attributes
    ----------
    name : str
    file : str
    first_line : int
        Number of the first entry of ``lines`` in its file, or in its notebook cell.
    lines : list of str

    Examples
    --------
    >>> FunctionSource("f", "f.py", 10, ["def f(a):", "    a[0] = 1"]).text(11)
    'a[0] = 1'
    """

    name: str
    file: str
    first_line: int
    lines: list[str]

    def text(self, line: int) -> str:
        """Return the text of a line without its indentation; empty if the line is outside the function."""
        at = line - self.first_line
        return self.lines[at].strip() if 0 <= at < len(self.lines) else ""


@dataclass(eq=False)
class Program:
    """A function's syntax tree, with the names that it can see.

    Attributes
    ----------
    tree : ast.FunctionDef
        Its line numbers are those of the file.
    source : FunctionSource
    names : dict
        The global names, and the variables of enclosing functions.
    """

    tree: ast.FunctionDef
    source: FunctionSource
    names: dict = field(repr=False)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.tree.name

    @cached_property
    def parameters(self) -> list[str]:
        """Names of the parameters, except the parameter that takes all further arguments, such as ``*rest``."""
        a = self.tree.args
        if a.kwarg or a.kwonlyargs:
            raise Unsupported.at(
                self.name,
                self.tree.lineno,
                "Numba compiles no keyword-only arguments and no **arguments "
                "for a GPU: use plain positional ones.",
            )
        return [argument.arg for argument in (*a.posonlyargs, *a.args)]

    @property
    def star(self) -> str | None:
        """Name of the parameter that takes all further arguments, as in ``def f(x, *rest)``; None if there is none."""
        return self.tree.args.vararg.arg if self.tree.args.vararg else None

    @cached_property
    def defaults(self) -> dict:
        """The default of each optional parameter, as an expression."""
        given = self.tree.args.defaults
        return dict(zip(self.parameters[len(self.parameters) - len(given) :], given, strict=True))

    @cached_property
    def assigned(self) -> frozenset:
        """Names that the function assigns: its local variables, even if the module has the same names."""
        return frozenset({*self.parameters, *([self.star] if self.star else []), *self.stored})

    @cached_property
    def stored(self) -> frozenset:
        """Names to which statements of the function assign something, without those of a function around it."""
        return frozenset(_stored(self.tree)) - self.nonlocals

    @cached_property
    def nonlocals(self) -> frozenset:
        """Names of a function around this one that it may assign, by ``nonlocal``."""
        own = (part for part in _own_parts(self.tree) if isinstance(part, ast.Nonlocal))
        return frozenset(name for part in own for name in part.names)

    @cached_property
    def passing(self) -> frozenset:
        """Names that are used only in the block of statements that assigns them: see :func:`_passing`."""
        return _passing(self.tree)

    def lookup(self, name: str, line: int):
        """Return the Python object of a name that is defined outside the function.

        Raises
        ------
        SimtError
            If there is no such name.
        """
        if name in self.names:
            return self.names[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise SimtError.at(self.name, line, f"the name {name!r} is not defined{_in_a_module(name)}.")


def _in_a_module(name: str) -> str:
    """Return a hint to write ``cuda.`` or ``math.`` before a name, if the module has such a name for kernels."""
    if hasattr(math, name):
        return f": write math.{name}"
    return f": write cuda.{name}" if name in {whole.partition(".")[0] for whole in MEANINGS} else ""


def _own_parts(function):
    """Yield the nodes of a function, without those inside its nested functions."""
    open_nodes = list(function.body)
    while open_nodes:
        node = open_nodes.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            open_nodes += ast.iter_child_nodes(node)


def _stored(function) -> set:
    """Return the names that a function assigns, without those that its nested functions assign."""
    parts = list(_own_parts(function))
    names = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return names | {part.name for part in parts if isinstance(part, ast.FunctionDef)}


def _passing(function) -> frozenset:
    """Return the names that are assigned once and read only afterwards, in the same block or in a block inside it."""
    times: Counter = Counter()  # how often each name is assigned
    seen: set = set()  # names that are read elsewhere

    def names_in(part, known):
        later = any(isinstance(node, (ast.FunctionDef, ast.Lambda)) for node in walk(part))
        for node in (n for n in walk(part) if isinstance(n, ast.Name)):
            if isinstance(node.ctx, ast.Store):
                times[node.id] += 1
            elif later or node.id not in known:
                seen.add(node.id)

    def visit(body, known):
        known = set(known)
        for statement in body:
            if isinstance(statement, (ast.If, ast.For, ast.While)):
                for part in ast.iter_child_nodes(statement):
                    if isinstance(part, ast.expr):
                        names_in(part, known)
                visit(statement.body, known)
                visit(statement.orelse, known)
            else:
                names_in(statement, known)
            if isinstance(statement, ast.Assign):
                parts = (part for target in statement.targets for part in walk(target))
                known |= {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}

    visit(function.body, ())
    return frozenset(name for name in times if times[name] == 1) - seen


def program_of(function) -> Program:
    """Read a Python function.

    Raises
    ------
    SimtError
        If its source is not available.
    """
    try:
        # read the code that runs, not the function that functools.wraps may have named
        code = getattr(function, "__code__", function)
        lines, first = _lines_of(code)
    except (OSError, TypeError):
        raise SimtError(
            f"The source of {getattr(function, '__name__', function)!r} is not available, but the interpreter needs "
            "it: define it in a file or a notebook cell, or use simt.Kernel.from_source(text, name, names)."
        ) from None
    names = dict(function.__globals__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names.update({name: cell.cell_contents for name, cell in cells if _filled(cell)})
    return _parse("".join(lines), first, function.__code__.co_filename, function.__name__, names)


def _lines_of(code) -> tuple[list[str], int]:
    """Return the lines of a function's source and the number of the first, as ``inspect.getsourcelines`` does.

    For a function in a notebook cell, ``inspect`` searches every module of the process, which takes milliseconds. So
    ``inspect`` is used only if Python has no lines of the file, or if the first line does not begin a function.
    """
    file = getattr(code, "co_filename", None)
    linecache.checkcache(file)
    lines = linecache.getlines(file) if file else []
    at = code.co_firstlineno - 1 if lines else 0
    if at < len(lines) and _BEGINS.match(lines[at]):
        return inspect.getblock(lines[at:]), at + 1
    return inspect.getsourcelines(code)


def kept_program(function) -> Program:
    """Return the program of a Python function. It is parsed only once, because a kernel's types refer to its nodes."""
    if not hasattr(function, "_simt_program"):
        function._simt_program = program_of(function)
    return function._simt_program


def program_from_text(text: str, name: str, names: dict, file: str = "<source>") -> Program:
    """Return the program of the function ``name``, which a piece of source defines."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise SimtError(f"{file}, line {error.lineno}: {error.msg}.") from None
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            lines = split_lines(text)[first - 1 : node.end_lineno]
            return Program(rewritten(node), FunctionSource(name, file, first, lines), names)
    raise SimtError(f"There is no function {name} in the source: define it at the left margin.")


def _parse(text, first, file, name, names) -> Program:
    try:
        module = ast.parse(textwrap.dedent(text))
    except SyntaxError:
        module = None
    tree = module.body[0] if module and module.body else None
    if name == "<lambda>" and module is not None:
        tree = _of_lambda(module)
    if not isinstance(tree, ast.FunctionDef):
        raise SimtError(f"{name} is not a plain function: define it with def, and pass this to cuda.jit.")
    tree = rewritten(tree)
    ast.increment_lineno(tree, first - 1)
    lines = split_lines(text)
    return Program(tree, FunctionSource(name, file, first, lines), names)


def _of_lambda(module) -> ast.FunctionDef | None:
    """Return the only lambda of a piece of source, as a function that returns its value; None if there are several."""
    found = [node for node in walk(module) if isinstance(node, ast.Lambda)]
    return function_of(found[0]) if len(found) == 1 else None


def function_of(node: ast.Lambda) -> ast.FunctionDef:
    """Return a lambda as a function that returns its value."""
    body = [ast.copy_location(ast.Return(node.body), node)]
    function = ast.FunctionDef("lambda", node.args, body, [], None, type_params=[])
    return ast.fix_missing_locations(ast.copy_location(function, node))


def split_lines(text: str) -> list[str]:
    """Split a text into lines as Python's parser does; ``str.splitlines`` would also split at other characters."""
    lines = re.split(r"\r\n|\r|\n", text)
    return lines[:-1] if lines and not lines[-1] else lines


def _filled(cell) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (an empty cell raises)
    except ValueError:
        return False
    return True
