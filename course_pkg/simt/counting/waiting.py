"""Find the statements of a loop whose value only a branch of the same trip uses: a compiler moves them into the branch.

It does so if no code that all lanes of the trip run uses the value: neither another statement of the same block, nor
the first part of a condition. After an ``if`` that leaves the trip, only the remaining lanes compute the value. A value
is not moved if one of its operands is also needed outside of the branch, unless the operand is the same in each trip. A
choice between two values is not moved either.
"""

import ast
from functools import lru_cache

from course_pkg.simt.front.walking import walk

LEAVING = (ast.Break, ast.Continue, ast.Return)


@lru_cache(1024)  # the same for each launch of a kernel
def waiting(program) -> frozenset:
    """Return the assignments in a kernel's loops whose values are possibly used by one branch only."""
    found: set = set()
    for loop in (n for n in walk(program.tree) if isinstance(n, (ast.For, ast.While))):
        moving = _moving(loop)
        for node in walk(loop):
            for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
                if isinstance(body, list):
                    _search(program, body, moving, found)
    return frozenset(found)


def _search(program, body: list, moving: set, found: set) -> None:
    needed: set = set()  # names and elements used by later statements that all lanes run
    for statement in reversed(body):
        if isinstance(statement, ast.Assign):
            names = {name for target in statement.targets for name in names_in(target)}
            plain = all(isinstance(target, (ast.Name, ast.Tuple)) for target in statement.targets)
            plain = plain and not any(isinstance(p, (ast.IfExp, ast.BoolOp)) for p in walk(statement.value))
            held = {one for one in operands(statement.value) & needed if _names(one) & moving}
            if plain and names <= program.passing and not names & needed and not held:
                found.add(statement)
            else:
                found.discard(statement)
                needed |= operands(statement)
        elif isinstance(statement, ast.If):
            if any(side and isinstance(side[-1], LEAVING) for side in (statement.body, statement.orelse)):
                needed = set()
            test = statement.test
            needed |= operands(test.values[0] if isinstance(test, ast.BoolOp) else test)
        else:
            needed |= operands(statement)


def operands(part) -> frozenset:
    """Return the names and the elements that a piece of source uses, without the names in their indices."""
    if isinstance(part, ast.Subscript):
        return frozenset((ast.unparse(part),))
    if isinstance(part, ast.Name):
        return frozenset((part.id,))
    return frozenset().union(*map(operands, ast.iter_child_nodes(part)))


def _names(operand: str) -> set:
    return names_in(ast.parse(operand, mode="eval"))


def _moving(loop) -> set:
    """Return the names whose values may change from one trip of a loop to the next."""
    inside = [part for statement in loop.body for part in walk(statement)]
    stored = [n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    moving = set(stored) | (names_in(loop.target) if isinstance(loop, ast.For) else set())
    if any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for n in inside):
        return moving
    for one in inside:  # in the order of the source, so that the operands come first
        if isinstance(one, ast.Assign) and not names_in(one.value) & moving:
            moving -= {t.id for t in one.targets if isinstance(t, ast.Name) and stored.count(t.id) == 1}
    return moving


@lru_cache(1024)
def has_branches(program) -> bool:
    """Return whether a function has branches; if so, its computations are not moved to where the result is used."""
    return any(isinstance(part, (ast.If, ast.IfExp)) for part in walk(program.tree))


def names_in(node) -> set:
    """Return the names in a piece of source."""
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}
