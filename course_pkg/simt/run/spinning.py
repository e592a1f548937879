"""Source of loops in which threads spin: which loops only wait, for what, and which statements release them."""

import ast
from functools import cache

from course_pkg.simt.front.walking import walk

QUIET = (ast.Pass, ast.Continue, ast.Break)
SEES = (
    "atomic.",
    "threadfence",
    "sync",
    "ldcg(",
    "ldcv(",
)  # calls by which a loop may see what other threads do
SLEEPS = ("threadfence", "threadfence_block", "threadfence_system", "nanosleep")


@cache
def prepares(body: tuple) -> int:
    """Return how many statements at the beginning of a body, except its last, may run again before each try.

    They give numbers and slices to names, and compute these from nothing that the body assigns.
    """
    stored = {part.id for one in body for part in walk(one) if _is_name(part, ast.Store)}
    for count, one in enumerate(body[:-1]):
        names = isinstance(one, ast.Assign) and all(isinstance(target, ast.Name) for target in one.targets)
        if not names or not all(_is_plain(part, stored) for part in walk(one.value)):
            return count
    return len(body) - 1


def _is_name(part, context) -> bool:
    return isinstance(part, ast.Name) and isinstance(part.ctx, context)


def _is_plain(part, stored: set) -> bool:
    """Return whether a part of an expression is a constant, an operation, a slice, or a name that is not stored."""
    if isinstance(part, ast.Subscript):
        return isinstance(part.slice, ast.Slice)
    known = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Slice, ast.operator, ast.unaryop, ast.expr_context)
    return isinstance(part, known) or (isinstance(part, ast.Name) and part.id not in stored)


def is_text(node) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def base(node) -> str:
    """Return the name of the array that an expression for an element or a part belongs to."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def atomics(node) -> frozenset:
    """Return the names of the arrays that atomics in a piece of source access."""
    calls = (part for part in walk(node) if isinstance(part, ast.Call) and part.args)
    return frozenset(base(c.args[0]) for c in calls if "atomic" in ast.unparse(c.func)) - {""}


@cache
def spins_on(node: ast.While) -> frozenset:
    """Return the names of the arrays whose atomics a loop waits for; an empty set if the loop does anything else."""
    return frozenset() if node.orelse or not all(map(_only_waits, node.body)) else atomics(node)


def _only_waits(node) -> bool:
    """Return whether a statement stores only by atomics, and otherwise only assigns variables."""
    if isinstance(node, (ast.If, ast.While)):
        return all(map(_only_waits, (*node.body, *node.orelse)))
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(isinstance(one, ast.Name) for one in targets) and _calls_only(node, ("atomic",))
    return isinstance(node, QUIET) or is_text(node) or _calls_only(node, ("atomic", *SLEEPS))


def _calls_only(node, names: tuple) -> bool:
    """Return whether a statement calls only these functions or members of these modules."""
    known = isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign))
    calls = (part.func for part in walk(node) if isinstance(part, ast.Call))
    return known and all(set(names) & set(ast.unparse(function).split(".")) for function in calls)


@cache
def gives_back(node, names: frozenset) -> bool:
    """Return whether a statement stores to one of these arrays, or passes one to a function such as an atomic."""
    for part in walk(node):
        if isinstance(part, ast.Call) and any(base(one) in names for one in part.args):
            return True
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and base(part) in names:
            return True
    return False


def sees_others(trees) -> bool:
    """Return whether source has a call by which a loop may see what other threads do.

    Without one, a compiler loads what no trip of the loop changes once, before the loop.
    """
    return any(map(_sees_others, trees))


@cache
def _sees_others(tree) -> bool:
    text = ast.unparse(tree)
    return any(word in text for word in SEES)


def may_wait(trees) -> bool:
    """Return whether a kernel and its device functions have a loop that may wait for what other threads do."""
    trees = list(trees)
    return any(isinstance(p, ast.While) for tree in trees for p in walk(tree)) and sees_others(trees)
