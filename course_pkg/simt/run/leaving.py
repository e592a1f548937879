"""Leaving a kernel: lanes that take the empty side of a kernel's last ``if`` have nothing left to do.

``if i < n:`` around all that a kernel does is the same program as ``if i >= n: return`` before it. At a barrier inside,
the lanes beyond ``n`` have left in the second form, and are on their way out in the first.
"""

import ast
from contextlib import contextmanager
from weakref import WeakKeyDictionary


@contextmanager
def leaving(run, frame, node: ast.If, lanes, side: list):
    """Take lanes as leaving the kernel while the others run their side of a branch, if their own side does nothing.

    Parameters
    ----------
    run : Run
    frame : Frame
    node : ast.If
    lanes : Mask
        The lanes that take the other side, ``side``.
    side : list of ast.stmt
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


_FOUND: WeakKeyDictionary = WeakKeyDictionary()  # a notebook defines a kernel anew each time that a cell runs


def _search(function: ast.FunctionDef) -> frozenset:
    found, bodies = set(), [function.body]
    while bodies:
        busy = [statement for statement in bodies.pop() if not _is_idle(statement)]
        if busy and isinstance(busy[-1], ast.If):
            found.add(busy[-1])
            bodies += [busy[-1].body, busy[-1].orelse]
    return frozenset(found)


def _is_idle(statement) -> bool:
    """Tell whether a statement does nothing at the end of a kernel."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Return) and statement.value is None)
