"""What an answer cell says: its text as a syntax tree, and the names that the tree binds. Nothing is executed."""

import ast
import math
import operator
import re
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import numba
import numpy as np
from numba.core import types

from course_pkg.core.errors import CourseError
from course_pkg.simt import api
from course_pkg.simt.front.functions import FUNCTIONS
from course_pkg.simt.front.names import BUILTINS, TYPES
from course_pkg.simt.front.source import split_lines

MOST_SOURCE = 100_000  # characters of an answer
MODULES = {
    "numpy": np,
    "math": math,
    "operator": operator,
    "_operator": operator,  # where Python says that the functions of operator come from
    "numba": numba,
    "numba.types": types,
    "numba.core.types": types,
    "numba.cuda": api,
    "course_pkg.cuda": api,
}
# a command (%time, !ls), one whose result gets a name, or a question (name?, ?name)
_FOR_IPYTHON = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?P<name>\w+[ \t]*=[ \t]*)[%!].*|[%!?].*|[\w.*%]+[ \t]*\?{1,2}[ \t]*\r?)$",
    re.MULTILINE,
)


class Unreadable(CourseError):
    """An answer cell whose text is no Python."""


@dataclass(frozen=True)
class Binding:
    """What a cell binds a name to: ``kernel``, ``device``, ``function`` or ``variable``, and where."""

    kind: str
    node: ast.AST


@dataclass
class Answer:
    """What a submission holds for one answer.

    Attributes
    ----------
    sources : list of str
        JupyterLab copies the id of a cell that is split: the parts follow each other as in the notebook.
    is_text : bool
        Whether there is a cell of that id, and none of code.
    """

    sources: list[str] = field(default_factory=list)
    is_text: bool = False


def answers(submitted) -> dict[str, Answer]:
    """Return what a submission's cells hold, by ``grade_id``."""
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
    """Return which of the exercise's ids several cells of code carry; other ids are a learner's own words."""
    ids = [
        (cell.get("metadata", {}).get("nbgrader") or {}).get("grade_id")
        for cell in submitted
        if cell["cell_type"] == "code"
    ]
    return [name for name, count in Counter(ids).items() if count > 1 and name in known]


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

    A name that such a line sets (``files = !ls``) is set to an empty list. A text that is Python as it stands is left
    alone: a line may begin with ``%`` there, too.
    """
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(source)
        return source
    return _FOR_IPYTHON.sub(_in_place_of, source)


def _in_place_of(line: re.Match) -> str:
    """Return what stands for a line for IPython: an indented one may be the only one of its block."""
    if line["name"]:
        return f"{line['indent']}{line['name']}[]"
    return f"{line['indent']}pass" if line["indent"] else ""


def without_prints(source: str) -> str:
    """Return a cell's text with what it prints at its left margin left empty, so that line numbers stay.

    What is only looked at takes time: a profile, the import of Numba that it needs.
    """
    lines = split_lines(source)
    tree = parse(source)
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        shares = after is not None and after.lineno == node.end_lineno
        if _prints(node) and not shares:
            blank = range(node.lineno - 1, node.end_lineno)
            lines = ["" if k in blank else line for k, line in enumerate(lines)]
    return "\n".join([*lines, ""] if source.endswith(("\n", "\r")) else lines)


def _prints(node: ast.stmt) -> bool:
    """Return whether a statement calls ``print`` on a line that it begins, and binds no name on the way."""
    call = node.value if isinstance(node, ast.Expr) else None
    name = call.func if isinstance(call, ast.Call) else None
    if not isinstance(name, ast.Name) or name.id != "print" or node.col_offset:
        return False
    return not any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))


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


def first_line(node) -> int:
    """Return the line where a function begins, as Python counts: that of its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def definition(tree: ast.Module, line: int, name: str) -> ast.FunctionDef | None:
    """Return the function that begins on a line, however deep it is nested; None where there is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name and first_line(node) == line:
            return node
    return None


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
