"""Find lines that read an element and write it again, and the atomic operation that lets threads take turns there."""

import ast

from course_pkg.grading import lanes
from course_pkg.simt.front.source import Program


def update(program: Program, line: int, array: str | None, index: tuple) -> str | None:
    """Return which atomic a line needs if it reads an element and writes it again, such as ``"add"``; else None.

    Examples
    --------
    >>> from course_pkg.simt import Kernel
    >>> source = "def kernel(a, box):\\n    box[0] = min(box[0], a[1])"
    >>> update(Kernel.from_source(source, "kernel", {}).program, 2, "box", (0,))
    'min'
    """
    for node in ast.walk(program.tree):
        if getattr(node, "lineno", None) != line:
            continue
        if not isinstance(node, (ast.Assign, ast.AugAssign)):
            continue
        for target, value in _pairs(node):
            if (
                isinstance(target, ast.Subscript)
                and ast.unparse(target.value) == array
                and _may_be(target, index)
            ):
                found = _atomic_for(node, ast.unparse(target), value, program.tree)
                if found:
                    return found
    return None


def both_write(hazard) -> bool:
    """Return whether a hazard is a race of two threads that both write."""
    return hazard.kind == "race" and hazard.verbs == ("writes", "writes")


def in_order(hazard) -> list:
    """Return the two threads of a hazard in the order of their blocks, then of their numbers."""
    return sorted(hazard.threads, key=lambda thread: (thread.block[::-1], thread.thread[::-1]))


def take_turns(program: Program, hazard, atomics: bool = True) -> str | None:
    """Return a sentence on a race of threads that each read an element and write it again; None for other hazards.

    Parameters
    ----------
    program : Program
    hazard : Hazard
    atomics : bool
        Whether the sentence may advise an atomic operation of each thread; some exercises forbid or limit atomics.

    Examples
    --------
    >>> from course_pkg import simt
    >>> kernel = simt.Kernel.from_source("def kernel(count):\\n    count[0] += 1", "kernel", {})
    >>> profile = simt.profile(kernel[1, 32], np.zeros(1))
    >>> take_turns(kernel.program, profile.hazards[0])
    'thread 0 of block 0 and thread 31 of block 0 both change count[0]: each reads it and then writes it, ...'
    """
    if hazard.kind != "race" or hazard.function != program.name or hazard.other_line is None:
        return None
    first, last = sorted((hazard.line, hazard.other_line))
    asked = first != last and any(
        isinstance(node, ast.If) and node.lineno == first and node.body[0].lineno == last
        for node in ast.walk(program.tree)
    )
    lacks = update(program, last, hazard.array, hazard.index)
    if lacks is None or not (asked or (first == last and both_write(hazard))):
        return None
    who, whom = in_order(hazard)
    what = hazard.element
    if loop := lanes.same_loop(program.tree, last):
        return (
            f"{who} and {whom} both change {what}, for every thread goes through the whole loop of line {loop.lineno}; "
            "let each thread take its own part of the loop"
        )
    cure = f"update it with cuda.atomic.{lacks}, so that they take turns"
    if not atomics:
        cure = "let the threads bring their numbers together in shared memory or by shuffles, and one thread store it"
    return (
        f"{who} and {whom} both change {what}: each reads it and then writes it, and the other may come between; "
        f"{cure}"
    )


def _may_be(target: ast.Subscript, index: tuple) -> bool:
    """Return whether a subscript may stand for an element; if it is written as a number, that must be the element's."""
    return not isinstance(target.slice, ast.Constant) or (target.slice.value,) == index


def _pairs(node) -> list[tuple[ast.expr, ast.expr]]:
    """Return pairs of the targets of an assignment and the values that it stores there."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        return list(zip(target.elts, node.value.elts, strict=False))
    return [(target, node.value)]


def _atomic_for(node, place: str, value, tree) -> str | None:
    if isinstance(node, ast.AugAssign):
        return "add" if isinstance(node.op, (ast.Add, ast.Sub)) else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        return "add" if place in (ast.unparse(value.left), ast.unparse(value.right)) else None
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("min", "max"):
        return ast.unparse(value.func) if place in map(ast.unparse, value.args) else None
    new = ast.unparse(value)
    below = {f"{new} {sign} {place}" for sign in ("<", "<=")} | {
        f"{place} {sign} {new}" for sign in (">", ">=")
    }
    above = {f"{new} {sign} {place}" for sign in (">", ">=")} | {
        f"{place} {sign} {new}" for sign in ("<", "<=")
    }
    for branch in ast.walk(tree):
        if isinstance(branch, ast.If) and node in branch.body:
            asked = ast.unparse(branch.test)
            return "min" if asked in below else "max" if asked in above else None
    return None
