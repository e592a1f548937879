"""What kernels of ``course lab`` do when a cell fails: they show the learner's lines and one sentence."""

import ast
import os
import sys
from pathlib import Path

import nbformat

from course_pkg.core.errors import in_the_course, learners_lines

MOST_LETTERS = 70  # most letters of the line that names a cell


def prepare(shell) -> None:
    """Let an IPython shell explain errors of the course, and names whose defining cell was not run.

    Parameters
    ----------
    shell : InteractiveShell
    """
    shell.set_custom_exc((Exception,), _show)


def _show(shell, kind, error, trace, tb_offset=None):
    """Show an error; this has the signature that IPython asks for."""
    said = _in_short(error, shell)
    if said is None:
        shell.showtraceback((kind, error, trace), tb_offset=1, running_compiled_code=True)
        return
    sys.last_exc, sys.last_type, sys.last_value, sys.last_traceback = error, kind, error, trace  # for %tb
    shell._showtraceback(kind, error, said)


def _in_short(error, shell) -> list[str] | None:
    """Return the lines that are shown in place of a traceback; None if the traceback itself is best."""
    if hasattr(error, "_render_traceback_"):
        return None  # it knows what to show
    if type(error) is NameError and (maker := _maker(error.name, shell)):
        return [*learners_lines(error), f"NameError: {maker}"]
    passed, arose = in_the_course(error)
    if passed:
        more = ["%tb shows where in the course this arose."] if arose else []
        return [*learners_lines(error), f"{type(error).__name__}: {error}", *more]
    return None


def _maker(name: str | None, shell) -> str:
    """Return a sentence that names the cell that would define a name; an empty string if there is none."""
    path = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    try:
        cells = nbformat.read(path, as_version=4).cells if Path(path).suffix == ".ipynb" else []
    except (OSError, ValueError, AttributeError, nbformat.ValidationError):
        return ""  # the notebook was never saved, or the file is not a notebook
    for cell in cells:
        if cell.cell_type == "code" and name in defined(shell.transform_cell(cell.source)):
            first = next(line.strip() for line in cell.source.splitlines() if line.strip())
            first = first if len(first) <= MOST_LETTERS else first[: MOST_LETTERS - 2].rstrip() + " …"
            return (
                f"{name} is made by the cell that begins “{first}”, which has not run to its end: run it first, "
                "or all cells above this one by Run, Run All Above Selected Cell."
            )
    return ""


def defined(source: str) -> set[str]:
    """Return the names that a cell defines.

    Examples
    --------
    >>> sorted(defined("import numpy as np; from x import a; b = [c for c in a]"))
    ['a', 'b', 'np']
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    names = set()
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)  # names inside it are local
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            todo += ast.iter_child_nodes(node)
    return names


def start() -> None:
    """Prepare the IPython shell in which this runs; without IPython, as in a terminal, do nothing."""
    from IPython import get_ipython

    if get_ipython() is not None:
        prepare(get_ipython())
