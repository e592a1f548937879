"""Find out from a kernel's text which of its stores differ from thread to thread, and which loops contain a line."""

import ast
from dataclasses import dataclass

_OWN = {"threadIdx", "grid", "laneid"}  # CUDA gives these another value in each thread


@dataclass(frozen=True)
class Store:
    """An assignment to an element.

    Attributes
    ----------
    index : str
        The index as it stands in the kernel.
    own_index, own_value : bool
        Whether the index, and the value, may differ from thread to thread of a block.
    loop : ast.For or None
        The loop over a ``range`` whose variable is in the index.
    own_start : bool
        Whether the loop's first number may differ from thread to thread.
    """

    index: str
    own_index: bool
    own_value: bool
    loop: ast.For | None
    own_start: bool


def stores(tree: ast.FunctionDef, array: str, lines) -> list[Store]:
    """Return the assignments to elements of an array on the given lines, without those by ``+=`` and the like."""
    own = _own_names(tree)
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or node.lineno not in lines:
            continue
        for target in node.targets:
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) == array:
                loop = _loop_of(target.slice, around(tree, node.lineno))
                start = loop.iter.args[0] if loop and len(loop.iter.args) > 1 else None
                found.append(
                    Store(
                        ast.unparse(target.slice),
                        _differs(target.slice, own),
                        _differs(node.value, own),
                        loop,
                        start is not None and _differs(start, own),
                    )
                )
    return found


def around(tree: ast.FunctionDef, line: int) -> list[ast.AST]:
    """Return the branches and loops that contain a line, from the outermost to the innermost."""
    kinds = (ast.If, ast.For, ast.While)
    inside = [n for n in ast.walk(tree) if isinstance(n, kinds) and n.body[0].lineno <= line <= n.end_lineno]
    return sorted(inside, key=lambda n: n.lineno)


def _loop_of(index: ast.expr, outer: list[ast.AST]) -> ast.For | None:
    names = {n.id for n in ast.walk(index) if isinstance(n, ast.Name)}
    for loop in reversed(outer):
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and loop.target.id in names:
            is_range = isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range"
            return loop if is_range and loop.iter.args else None
    return None


def _own_names(tree: ast.FunctionDef) -> set[str]:
    """Return the local names whose values may differ from thread to thread of a block."""
    bound = [pair for node in ast.walk(tree) for pair in _bound(node)]
    own: set[str] = set()
    while more := {name for name, value in bound if _differs(value, own)} - own:
        own |= more
    return own


def _bound(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """Return the names that a statement assigns to, each with the expression whose value it gets."""
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AugAssign):
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For):
        targets, value = [node.target], node.iter
    else:
        return []
    flat = [part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return [(part.id, value) for part in flat if isinstance(part, ast.Name)]


def _differs(expression: ast.expr, own: set[str]) -> bool:
    return any(
        (isinstance(n, ast.Name) and n.id in own) or (isinstance(n, ast.Attribute) and n.attr in _OWN)
        for n in ast.walk(expression)
    )
