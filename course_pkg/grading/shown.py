"""Leave out statements of an exercise that only show something: a printed profile takes time and changes no mark."""

import ast
import re
import symtable
from dataclasses import dataclass, replace
from functools import lru_cache

from course_pkg.grading.cells import loaded, parse, without_magics
from course_pkg.simt.front.source import split_lines

_SHOWS = re.compile(r"print|print_\w+|simt\.profile")  # functions that are called only to show something
_WORD = re.compile(r"\w+")
_LOOKS_UP = re.compile(
    r"\b(globals|locals|vars|dir|eval|exec|getattr|get_ipython|import_module|modules|_getframe|f_globals|__\w+__)\b"
)


def without_shown(cells: list, answers: dict) -> list:
    """Return a solution's cells, without those statements of the exercise's own cells that only show something.

    These are calls of ``print``, ``print_…`` or ``simt.profile`` whose value is dropped, loops of such calls, and
    assignments to names that neither the rest of the exercise nor an answer mentions. A statement that passes a
    variable to a function stays if something else reads this variable: the function may have filled it. Line numbers do
    not change.

    Parameters
    ----------
    cells : list of dict
        Cells of a solution.
    answers : dict of str to Answer
        The answers of a submission.

    Examples
    --------
    >>> cell = {"cell_type": "code", "metadata": {}, "source": "n = 3\\nt = slow(n)\\nprint(t)\\nrun(n)"}
    >>> without_shown([cell], {})[0]["source"]
    'n = 3\\nt = slow(n)\\n\\nrun(n)'
    """
    given = {
        k: [replace(part) for part in _parts(cell["source"])]
        for k, cell in enumerate(cells)
        if _is_given(cell)
    }
    mentioned, asked = set(), set()
    for k, cell in enumerate(cells):
        about = cell["metadata"].get("nbgrader", {})
        if about.get("solution") and about["grade_id"] in answers:
            for source in answers[about["grade_id"]].sources:
                mentioned.update(_WORD.findall(source))
                asked |= _asked(source)
        elif cell["cell_type"] == "code" and k not in given:
            mentioned |= _read(cell["source"])
            asked |= _asked(cell["source"], unbound=True)  # a test binds names before it reads them
    parts = [part for k in given for part in given[k]]
    for part in parts:
        if not part.binds and not part.shows:
            mentioned |= part.reads
            asked |= part.asks
    defined = set().union(*(_defined(cells[k]["source"]) for k in given))
    asked -= defined
    for k, part in reversed(list(enumerate(parts))):
        part.shows |= bool(part.binds) and not part.binds & mentioned
        if part.shows and _behind(part.changes, parts[:k]) & asked:
            part.shows = False
        if not part.shows:
            mentioned |= part.reads
            asked |= part.asks - defined
    return [
        {**cell, "source": _kept(cell["source"], given[k])} if k in given else cell
        for k, cell in enumerate(cells)
    ]


@dataclass
class _Part:
    """A statement outside functions and blocks.

    Attributes
    ----------
    lines : range
    reads, binds : set of str
        Names that it reads anywhere, and those that it binds if it is an assignment.
    shows : bool
        Whether it only shows something.
    asks : frozenset of str
        Global variables that it reads, also within functions.
    changes : set of str
        Variables that may be changed by functions that it calls.
    """

    lines: range
    reads: set[str]
    shows: bool
    binds: set[str]
    asks: frozenset[str]
    changes: set[str]


def _is_given(cell) -> bool:
    about = cell["metadata"].get("nbgrader", {})
    return cell["cell_type"] == "code" and not about.get("solution") and not about.get("grade")


@lru_cache(256)  # the same cells of an exercise for each submission
def _parts(source: str) -> tuple[_Part, ...]:
    """Split a cell into its statements; those that share a line are one part, which is never left out."""
    parts = []
    for node in parse(source).body:
        first = node.lineno if not getattr(node, "decorator_list", ()) else node.decorator_list[0].lineno
        place = range(first - 1, node.end_lineno)
        if parts and place[0] < parts[-1].lines.stop:
            before = parts.pop()
            place = range(before.lines.start, place.stop)
            reads, asks = before.reads | loaded(node), before.asks | _asked(ast.unparse(node))
            parts.append(_Part(place, reads, False, set(), asks, set()))
        else:
            asks = _asked(ast.unparse(node))
            parts.append(_Part(place, loaded(node), _is_shown(node), _bound(node), asks, _changed(node)))
    return tuple(parts)


@lru_cache(256)
def _read(source: str) -> frozenset[str]:
    """Return the names that a cell reads."""
    return frozenset(loaded(parse(source)))


@lru_cache(256)
def _asked(source: str, unbound: bool = False) -> frozenset[str]:
    """Return the global names that a cell reads, also within functions; all its words if it looks names up by text.

    If ``unbound``, leave out the global names that the cell binds.
    """
    if _LOOKS_UP.search(source):
        return frozenset(_WORD.findall(source))
    try:
        top = symtable.symtable(without_magics(source), "<cell>", "exec")
    except Exception:  # the cell will not run either
        return frozenset(_WORD.findall(source))
    scopes, asked = [top], set()
    while scopes:
        scope = scopes.pop()
        names = (one for one in scope.get_symbols() if one.is_referenced())
        asked |= {one.get_name() for one in names if scope is top or one.is_global()}
        scopes += scope.get_children()
    return frozenset(asked) - {one.get_name() for one in top.get_symbols() if unbound and one.is_assigned()}


@lru_cache(256)
def _defined(source: str) -> frozenset[str]:
    """Return the names of a cell's functions, classes and imports, which no function fills."""
    found = set()
    for node in parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return frozenset(found)


def _changed(node: ast.stmt) -> set[str]:
    """Return the names that a statement passes to functions other than ``print``, or whose methods it calls."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and ast.unparse(n.func) != "print"]
    given = [one for call in calls for one in (*call.args, *call.keywords)]
    owners = [
        call.func.value for call in calls if isinstance(call.func, ast.Attribute) and not _is_shown_by(call)
    ]
    return set().union(*map(loaded, [*given, *owners]))


def _behind(names: set[str], parts: list[_Part]) -> set[str]:
    """Return names, and the names from which earlier assignments computed them: they may be the same arrays."""
    names = set(names)
    for part in reversed(parts):
        if part.binds & names:
            names |= part.reads
    return names


def _kept(source: str, parts: list[_Part]) -> str:
    blank = {k for part in parts if part.shows for k in part.lines}
    lines = ["" if k in blank else line for k, line in enumerate(split_lines(source))]
    return "\n".join([*lines, ""] if source.endswith(("\n", "\r")) else lines)


def _is_shown(node: ast.stmt) -> bool:
    """Return whether a statement only shows something, and binds no name by ``:=``."""
    if isinstance(node, ast.For):
        return not node.orelse and all(map(_is_shown, node.body))
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node)):
        return False
    return _is_shown_by(call)


def _is_shown_by(call: ast.Call) -> bool:
    return bool(_SHOWS.fullmatch(ast.unparse(call.func)))


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that an assignment binds, if it does nothing else."""
    if not isinstance(node, ast.Assign) or any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node)):
        return set()
    targets = [part for t in node.targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return {t.id for t in targets} if all(isinstance(t, ast.Name) for t in targets) else set()
