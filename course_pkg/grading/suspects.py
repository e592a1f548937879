"""Find code that may be right, but is the likely mistake if a kernel has failed; used only for failed kernels."""

import ast
import builtins

from course_pkg.grading.habits import name_of
from course_pkg.simt.front.library import REDUCTIONS
from course_pkg.simt.front.source import Program


def likely(program: Program, profile=None, reductions: bool = True) -> str | None:
    """Return a sentence about the likely mistake in a kernel that runs but fails its test, or None.

    Parameters
    ----------
    program : Program
    profile : KernelProfile, optional
        The profile of the launch that failed.
    reductions : bool
        Whether reductions such as ``a.sum()`` count as a mistake; Numba compiles them.
    """
    nodes = list(ast.walk(program.tree))
    if profile is not None and profile.grid[1:] == profile.block[1:] == (1, 1):
        for node in nodes:
            if isinstance(node, ast.Assign) and ast.unparse(node.value) == "cuda.grid(2)":
                pair = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else ()
                second = ast.unparse(pair[1]) if len(pair) == 2 else "its second number"
                return f"The grid of this launch has one dimension, so {second} is always 0 in line {node.lineno}."
    subscripts = [n for n in nodes if isinstance(n, ast.Subscript)]
    if any(isinstance(n.ctx, ast.Store) for n in subscripts) and not any(map(_asks_who, nodes)):
        return (
            "No line asks which thread it is: every thread runs the whole kernel and does the same. "
            "`i = cuda.grid(1)` gives each thread a number of its own."
        )
    for node in nodes:
        if reductions and isinstance(node, ast.Call) and _is_reduction(node, set(program.parameters)):
            return (
                f"`{ast.unparse(node.func)}` works on a whole array, again in each thread that comes to it: each "
                "thread works on its own elements, if need be in a loop."
            )
    tables = {n.value.id for n in subscripts if name_of(n.value) and isinstance(n.slice, ast.Tuple)}
    for node in nodes:
        if isinstance(node, ast.Call) and name_of(node.func) == {"len"} and node.args:
            for name in name_of(node.args[0]) & tables:
                return (
                    f"`len({name})` is the number of rows, {name}.shape[0]; the number of columns is "
                    f"{name}.shape[1]."
                )
    return None


def alias(program: Program) -> str | None:
    """Return a sentence about ``s = box``, which gives an array a second name; None if there is no such line."""
    arrays = set(program.parameters) | {
        ast.unparse(n.targets[0])
        for n in ast.walk(program.tree)
        if isinstance(n, ast.Assign)
        and ast.unparse(n.value).startswith(("cuda.shared.array", "cuda.local.array"))
    }
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assign) and name_of(node.targets[0]) and name_of(node.value) & arrays:
            name, array = node.targets[0].id, node.value.id
            return (
                f"Line {node.lineno}, `{ast.unparse(node)}`: this gives the array {array} a second name, {name}, and "
                f"copies nothing; copy the elements that are needed, as in {name}[k] = {array}[k]."
            )
    return None


def _is_reduction(node: ast.Call, arrays: set[str]) -> bool:
    """Return whether a call is ``a.sum()``, ``np.sum(a)``, ``sum(a)`` or the like."""
    called = node.func
    if name_of(called) & {"sum", "min", "max"} and len(node.args) == 1:
        return bool(name_of(node.args[0]) & arrays)
    if not isinstance(called, ast.Attribute) or called.attr not in REDUCTIONS:
        return False
    given = called.value if not node.args else node.args[0]
    return bool(name_of(given) & arrays)


def _asks_who(node) -> bool:
    """Return whether a part of a kernel, or a function that it calls, may behave differently from thread to thread."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("grid", "threadIdx", "blockIdx", "laneid") or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id)
    )
