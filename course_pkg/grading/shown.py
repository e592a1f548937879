"""Leave out what an exercise's own cells only show: a profile that is printed takes time, and no mark depends on it."""

import ast
import re
from dataclasses import dataclass

from course_pkg.grading.cells import loaded, parse
from course_pkg.simt.front.source import split_lines

_SHOWS = re.compile(
    r"print|print_\w+|simt\.profile"
)  # what is called only to look at what it prints or returns
_WORD = re.compile(r"\w+")


def without_shown(cells: list, answers: dict) -> list:
    """Return a solution's cells, and leave out the statements of the given ones that only show something.

    These are calls of ``print``, ``print_…`` or ``simt.profile`` whose value is dropped, loops of such calls, and
    assignments to names that neither the rest of the exercise nor an answer mentions. Line numbers do not change.

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
    'n = 3\\n\\n\\nrun(n)'
    """
    given = {k: _parts(cell["source"]) for k, cell in enumerate(cells) if _is_given(cell)}
    mentioned = set()
    for k, cell in enumerate(cells):
        about = cell["metadata"].get("nbgrader", {})
        if about.get("solution") and about["grade_id"] in answers:
            mentioned.update(*map(_WORD.findall, answers[about["grade_id"]].sources))
        elif cell["cell_type"] == "code" and k not in given:
            mentioned |= loaded(parse(cell["source"]))
    parts = [part for k in given for part in given[k] if not part.shows]
    mentioned |= {name for part in parts if not part.binds for name in part.reads}
    for part in reversed(parts):
        part.shows |= bool(part.binds) and not part.binds & mentioned
        if not part.shows:
            mentioned |= part.reads
    return [
        {**cell, "source": _kept(cell["source"], given[k])} if k in given else cell
        for k, cell in enumerate(cells)
    ]


@dataclass
class _Part:
    """A statement outside functions and blocks: its lines, what it reads and binds, whether it only shows."""

    lines: range
    reads: set[str]
    shows: bool
    binds: set[str]


def _is_given(cell) -> bool:
    about = cell["metadata"].get("nbgrader", {})
    return cell["cell_type"] == "code" and not about.get("solution") and not about.get("grade")


def _parts(source: str) -> list[_Part]:
    """Split a cell into its statements; those that share a line are one part, which is never left out."""
    parts = []
    for node in parse(source).body:
        first = node.lineno if not getattr(node, "decorator_list", ()) else node.decorator_list[0].lineno
        place = range(first - 1, node.end_lineno)
        if parts and place[0] < parts[-1].lines.stop:
            before = parts.pop()
            place = range(before.lines.start, place.stop)
            parts.append(_Part(place, before.reads | loaded(node), False, set()))
        else:
            parts.append(_Part(place, loaded(node), _is_shown(node), _bound(node)))
    return parts


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
    return bool(_SHOWS.fullmatch(ast.unparse(call.func)))


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that an assignment binds, if it does nothing else."""
    if not isinstance(node, ast.Assign) or any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node)):
        return set()
    targets = [part for t in node.targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return {t.id for t in targets} if all(isinstance(t, ast.Name) for t in targets) else set()
