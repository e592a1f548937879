"""Leaving a kernel: a lane has nothing left to do if it takes the empty side of a kernel's last ``if``.

A kernel may put all its work inside ``if i < n:``, or begin with ``if i >= n: return``. Both forms do the same. At a
barrier in the work, the lanes beyond ``n`` have already left in the second form. In the first form, they are about to
leave, and this module treats them as leaving.
"""

import ast
from contextlib import contextmanager
from weakref import WeakKeyDictionary


@contextmanager
def leaving(run, frame, node: ast.If, lanes, side: list):
    """Treat lanes whose side of a branch does nothing as leaving the kernel while other lanes run the other side.

    Parameters
    ----------
    run : Run
    frame : Frame
    node : ast.If
    lanes : Mask
        The lanes that take ``side``, and that may have nothing left to do.
    side : list of ast.stmt
        The statements that ``lanes`` run.
    """
    before = run.leaving
    if lanes and frame.is_kernel and all(map(_is_idle, side)) and node in last_branches(frame.program.tree):
        run.leaving = before.union(lanes)
    try:
        yield
    finally:
        run.leaving = before


def last_branches(function: ast.FunctionDef) -> frozenset:
    """Return the ``if`` statements after which a function does nothing, whichever side a thread takes."""
    if function not in _FOUND:
        _FOUND[function] = _search(function)
    return _FOUND[function]


_FOUND: WeakKeyDictionary = WeakKeyDictionary()  # weak: a notebook redefines a kernel each time a cell runs


def _search(function: ast.FunctionDef) -> frozenset:
    found, bodies = set(), [function.body]
    while bodies:
        busy = [statement for statement in bodies.pop() if not _is_idle(statement)]
        if busy and isinstance(busy[-1], ast.If):
            found.add(busy[-1])
            bodies += [busy[-1].body, busy[-1].orelse]
    return frozenset(found)


def _is_idle(statement) -> bool:
    """Return whether a statement has no effect at the end of a kernel."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Return) and statement.value is None)
