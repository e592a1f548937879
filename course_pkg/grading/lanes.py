"""Find out from a kernel's text which of its stores differ from thread to thread, and which loops contain a line."""

import ast
from dataclasses import dataclass

_OWN = {"threadIdx", "grid", "laneid"}  # in CUDA, these have a different value in each thread


@dataclass(frozen=True)
class Store:
    """An assignment to an element.

    Attributes
    ----------
    index : str
        The text of the index in the kernel.
    own_index, own_value : bool
        Whether the index may differ from thread to thread of a block, and whether the value may.
    loop : ast.For or None
        The loop over a ``range`` whose variable occurs in the index, if there is one.
    own_start : bool
        Whether the loop's first number may differ from thread to thread.
    """

    index: str
    own_index: bool
    own_value: bool
    loop: ast.For | None
    own_start: bool


def stores(tree: ast.FunctionDef, array: str, lines) -> list[Store]:
    """Return the assignments to elements of an array on the given lines; ``+=`` and the like are left out."""
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


def summed_by(tree: ast.FunctionDef, array: str, lines, sums) -> str | None:
    """Return which of the functions ``sums`` gave the number that one of the lines stores; None if none of them did.

    Examples
    --------
    >>> kernel = ast.parse("def kernel(a, out):\\n    s = warp_sum(a[0])\\n    out[0] = s").body[0]
    >>> summed_by(kernel, "out", (3,), ("block_total", "warp_sum"))
    'warp_sum'
    """
    values = bound(tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and node.lineno in lines
            and array in map(_array_of, _flat(node.targets))
        ):
            names = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            made = [node.value, *(value for name, value in values if name in names)]
            calls = {ast.unparse(n.func) for m in made for n in ast.walk(m) if isinstance(n, ast.Call)}
            return next((name for name in sums if name in calls), None)
    return None


def same_loop(tree: ast.FunctionDef, line: int) -> ast.For | None:
    """Return the loop in which every thread of a block makes the same update of the same elements on a line.

    Parameters
    ----------
    tree : ast.FunctionDef
    line : int
        A line that assigns to an element.

    Examples
    --------
    >>> text = "def kernel(a, s):\\n    for k in range({}, a.size):\\n        a[k] += s"
    >>> same_loop(ast.parse(text.format(0)).body[0], 3).lineno
    2
    >>> same_loop(ast.parse(text.format("cuda.grid(1)")).body[0], 3)
    """
    own, outer = _own_names(tree), around(tree, line)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign)) and node.lineno == line:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            asked = [n.iter if isinstance(n, ast.For) else n.test for n in outer]
            if isinstance(target, ast.Subscript) and not any(
                _differs(e, own) for e in (*asked, node.value, target)
            ):
                return _loop_of(target.slice, outer)
    return None


def number_of_thread(tree: ast.FunctionDef) -> str | None:
    """Return the name of the variable that holds the thread's number, as in ``t = cuda.threadIdx.x``; else None.

    Examples
    --------
    >>> number_of_thread(ast.parse("def kernel(a):\\n    i = cuda.grid(1)").body[0])
    'i'
    """
    numbers = ("cuda.threadIdx.x", "cuda.grid(1)")
    return next((name for name, value in bound(tree) if ast.unparse(value) in numbers), None)


def leaves_before_a_barrier(tree: ast.FunctionDef) -> int | None:
    """Return the line of a ``return`` by which some threads of a block leave before a barrier; None if there is none.

    Examples
    --------
    >>> text = "def kernel(a):\\n    if cuda.grid(1) >= a.size:\\n        return\\n    cuda.syncthreads()"
    >>> leaves_before_a_barrier(ast.parse(text).body[0])
    3
    """
    barriers = [
        n.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and ast.unparse(n.func) == "cuda.syncthreads"
    ]
    own = _own_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            outer = around(tree, node.lineno)
            loops = [n for n in outer if isinstance(n, (ast.For, ast.While))]
            later = (
                max([n.end_lineno for n in loops], default=0),
                min([n.lineno for n in loops], default=node.lineno),
            )
            some = any(isinstance(n, ast.If) and _differs(n.test, own) for n in outer)
            if some and any(line > node.lineno or later[1] <= line <= later[0] for line in barriers):
                return node.lineno
    return None


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
    own: set[str] = set()
    while more := {name for name, value in bound(tree) if _differs(value, own)} - own:
        own |= more
    return own


def bound(tree: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """Return the names that a kernel assigns to, each with an expression whose value it gets."""
    return [pair for node in ast.walk(tree) for pair in _bound(node)]


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
    return [(part.id, value) for part in _flat(targets) if isinstance(part, ast.Name)]


def _flat(targets: list[ast.expr]) -> list[ast.expr]:
    return [part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]


def _array_of(target: ast.expr) -> str:
    return ast.unparse(target.value) if isinstance(target, ast.Subscript) else ""


def _differs(expression: ast.expr, own: set[str]) -> bool:
    return any(
        (isinstance(n, ast.Name) and n.id in own) or (isinstance(n, ast.Attribute) and n.attr in _OWN)
        for n in ast.walk(expression)
    )
