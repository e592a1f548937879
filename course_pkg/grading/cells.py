"""Read an answer cell as a syntax tree, and find the names that it binds. Nothing is executed."""

import ast
import cmath
import math
import operator
import re
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace

import numba
import numpy as np
from numba.core import types

from course_pkg.core.errors import CourseError
from course_pkg.simt import api
from course_pkg.simt.front.functions import FUNCTIONS
from course_pkg.simt.front.known import BUILTINS, TYPES
from course_pkg.simt.front.source import function_of
from course_pkg.simt.front.stubs import KernelName

MOST_SOURCE = 100_000  # most characters in an answer
# stand-ins, because on a machine with a GPU these two functions of the course are for the GPU
PAIRS = {
    name: KernelName(name, "Two neighbours by one access.", owner="") for name in ("load_pair", "store_pair")
}
MODULES = {
    "numpy": np,
    "math": math,
    "cmath": cmath,
    "operator": operator,
    "_operator": operator,  # the __module__ of operator's functions
    "numba": numba,
    "numba.types": types,
    "numba.core.types": types,
    "numba.cuda": api,
    "course_pkg.cuda": api,
    "course_pkg.device.pairs": SimpleNamespace(**PAIRS),
}
# IPython's commands (%time, !ls), commands whose result is assigned (files = !ls), and questions (name?, ?name)
_FOR_IPYTHON = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?P<name>\w+[ \t]*=[ \t]*)[%!].*|[%!?].*|[\w.*%]+[ \t]*\?{1,2}[ \t]*\r?)$",
    re.MULTILINE,
)


class Unreadable(CourseError):
    """The text of an answer cell is not valid Python."""


@dataclass(frozen=True)
class Binding:
    """What a cell binds a name to (``kernel``, ``device``, ``function`` or ``variable``), and the statement."""

    kind: str
    node: ast.AST


@dataclass
class Answer:
    """The cells of a submission that belong to one answer.

    Attributes
    ----------
    sources : list of str
        The code cells, in the order of the notebook. There may be several, because JupyterLab copies the id when a
        learner splits a cell.
    is_text : bool
        Whether there are cells with that id, but no code cell.
    """

    sources: list[str] = field(default_factory=list)
    is_text: bool = False


def answers(submitted) -> dict[str, Answer]:
    """Return the answers in a submission's cells, by ``grade_id``."""
    found: dict[str, Answer] = {}
    for cell in submitted:
        name = (cell.get("metadata", {}).get("nbgrader") or {}).get("grade_id")
        if not name:
            continue
        answer = found.setdefault(name, Answer(is_text=True))
        if cell["cell_type"] == "code":
            answer.sources.append(cell["source"])
            answer.is_text = False
    return found


def twice(submitted, known: set[str]) -> list[str]:
    """Return the exercise's ids that occur in more than one code cell; ids that a learner made up do not count."""
    ids = [
        (cell.get("metadata", {}).get("nbgrader") or {}).get("grade_id")
        for cell in submitted
        if cell["cell_type"] == "code"
    ]
    return [name for name, count in Counter(ids).items() if count > 1 and name in known]


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a cell; lines for IPython (``%time``, ``!ls``) are ignored.

    Raises
    ------
    Unreadable
        If the text is not valid Python; the message has the line and Python's own message.
    """
    if len(source) > MOST_SOURCE:
        raise Unreadable(f"the answer cell has more than {MOST_SOURCE:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(without_magics(source))
    except SyntaxError as error:
        raise Unreadable(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"the answer cell cannot be read ({type(error).__name__})") from None


@lru_cache(256)  # each submission has the same cells of the exercise, and each session reads them twice
def without_magics(source: str) -> str:
    """Return a cell's text with its lines for IPython emptied; line numbers do not change.

    A line such as ``files = !ls`` becomes ``files = []``. A text that is valid Python is not changed, since a line of
    Python may begin with ``%``, too.
    """
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(source)
        return source
    return _FOR_IPYTHON.sub(_in_place_of, source)


def _in_place_of(line: re.Match) -> str:
    """Return what replaces a line for IPython: ``pass`` if it is indented, as it may be the only line of its block."""
    if line["name"]:
        return f"{line['indent']}{line['name']}[]"
    return f"{line['indent']}pass" if line["indent"] else ""


def bindings(tree: ast.Module) -> dict[str, Binding]:
    """Return the names that a cell binds outside functions and blocks, each with its last binding."""
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
    """Return ``kernel`` or ``device`` for a function whose only decorator is ``cuda.jit``, else ``function``."""
    if len(node.decorator_list) != 1:
        return "function"
    jit = node.decorator_list[0]
    keywords = jit.keywords if isinstance(jit, ast.Call) else []
    path = ast.unparse(jit.func if isinstance(jit, ast.Call) else jit)
    if path != "cuda.jit" and not path.endswith(".cuda.jit"):
        return "function"
    device = any(k.arg == "device" and getattr(k.value, "value", False) is True for k in keywords)
    return "device" if device else "kernel"


def first_line(node) -> int:
    """Return the first line of a function as Python counts it: the line of its first decorator, if it has one."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def definition(tree: ast.Module, line: int, name: str) -> ast.FunctionDef | None:
    """Return the function with this name that begins on this line; None if there is none, or two lambdas."""
    if name == "<lambda>":
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == line]
        return function_of(found[0]) if len(found) == 1 else None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name and first_line(node) == line:
            return node
    return None


def imported(tree: ast.Module) -> dict:
    """Return the numbers, types, numeric functions and modules that a cell's import lines name; import nothing."""
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
    return found


def member(module: str, name: str):
    """Return a member of a module that kernels may use: a type, a numeric function or a number; else None."""
    whole = f"{module}.{name}"
    if whole in MODULES:
        return MODULES[whole]
    owner = MODULES.get(module)
    if owner is None or name.startswith("_"):
        return None
    if owner is api:
        return api._NAMES.get(name)
    if isinstance(owner, SimpleNamespace):
        return PAIRS.get(name)
    thing = vars(owner).get(name)
    known = id(thing) in TYPES or id(thing) in FUNCTIONS or id(thing) in BUILTINS
    return thing if known or isinstance(thing, float) else None


def loaded(node: ast.AST) -> set[str]:
    """Return the names that a piece of source reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def is_constant(value) -> bool:
    """Return whether a value may be a constant in a kernel: a number, or a tuple of numbers."""
    if isinstance(value, tuple):
        return all(map(is_constant, value))
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))
