"""Forms of source whose counts are uncertain, because the compiler does more there than the interpreter's model of it.

Each form was found in a kernel whose counts differ from the hardware's. Its reason says what the compiler does there.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache

from course_pkg.simt.counting.selecting import selected
from course_pkg.simt.counting.waiting import waiting
from course_pkg.simt.front.walking import walk

LOADS, STORES, BOTH = ("load",), ("store",), ("load", "store")
GLOBAL, SHARED, MEMORIES = ("global",), ("shared",), ("global", "shared", "local")

NEVER = ("syncthreads", "syncwarp", "_sync")  # a loop that contains one of these is not unrolled


@lru_cache(256)  # the same for each launch of a kernel
def forms(program) -> tuple:
    """Return ``(node, kinds, spaces, word, reason)`` for each form of source whose accesses are not certain."""
    return tuple(_forms(program))


@lru_cache(256)
def forms_of_arithmetic(program) -> tuple:
    """Return ``(node, word, reason)`` for each form of source whose arithmetic is not certain."""
    return tuple(_forms_of_arithmetic(program))


@lru_cache(256)
def carries(program) -> tuple:
    """Return ``(loop, name)`` for each loop of unknown length with a variable that only the next trip uses."""
    return tuple(_carries(program))


def _forms(program) -> Iterator[tuple]:
    tree, decided = program.tree, selected(program)
    for node in walk(tree):
        if isinstance(node, ast.While) and not never_unrolled(node):
            yield (
                node,
                BOTH,
                MEMORIES,
                "about",
                "the compiler may unroll this `while`, and keep elements in registers",
            )
        if isinstance(node, (ast.For, ast.While)) and _goes_early(node):
            yield (
                node,
                LOADS,
                MEMORIES,
                "at most",
                "the compiler keeps elements that an early way out makes needless",
            )
        if isinstance(node, ast.For) and _written_out(program, node):
            yield (
                node,
                BOTH,
                SHARED,
                "at most",
                "the compiler may load neighbours together, or keep them in registers",
            )
        if (
            isinstance(node, (ast.If, ast.IfExp))
            and _sides_end_alike(node)
            and decided.keys().isdisjoint(walk(node))
        ):
            yield (
                node,
                LOADS,
                GLOBAL,
                "at most",
                "the compiler may select an address, and load once for both sides",
            )
        if isinstance(node, ast.If) and node.orelse and _has_alternatives(node.test):
            reason = (
                "threads that fulfil different parts of the condition may run the branch one after the other"
            )
            yield node, BOTH, MEMORIES, "at least", reason
        if isinstance(node, ast.If) and node.orelse and _loads_late(node.test):
            reason = "behind `else`, the compiler may load again what a later part of the condition loads"
            yield node, LOADS, GLOBAL, "at least", reason
        if isinstance(node, ast.IfExp) and _chooses_kept(program, node):
            reason = "where this element is not chosen, the compiler may leave out the loads that made it"
            yield tree, LOADS, GLOBAL, "at most", reason
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp) and node is tree.body[-1]:
            reason = "Python may write the end of the kernel into both ways of the choice"
            yield node, STORES, MEMORIES, "about", reason
        if isinstance(node, ast.FunctionDef) and _neighbours(node):
            yield (
                node,
                BOTH,
                SHARED,
                "at most",
                "the compiler may load or store elements 2 i and 2 i + 1 together",
            )
    for node in (n for n in walk(tree) if isinstance(n, (ast.For, ast.While)) and _stores(n)):
        if any(_loads(one) for one in walk(node) if one in waiting(program)):
            reason = (
                "the compiler may load in some of the trips only what a branch uses, although the loop stores"
            )
            yield node, LOADS, GLOBAL, "at most", reason
    for node in (n for n in walk(tree) if isinstance(n, (ast.For, ast.While))):
        if _change_places(node):
            reason = "arrays change places here: the compiler may keep elements of trips that it writes out together"
            yield node, BOTH, GLOBAL, "about", reason
        if _touches_one_element(node):
            reason = "the compiler may keep the only element of the loop in a register, and store it behind the loop"
            yield node, BOTH, GLOBAL, "at most", reason
    for node in _kept_on_both_ways(tree):
        yield (
            tree,
            LOADS,
            GLOBAL,
            "at most",
            f"the compiler keeps an element that the branch in line {node.lineno} stores, and the lines before it",
        )
    returns = [n for n in walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    if len(returns) > 1 and all(_loads(n.value) and n.value not in decided for n in returns):
        yield (
            tree,
            LOADS,
            GLOBAL,
            "at most",
            "the compiler may select an address, and load once for all returns",
        )


def _forms_of_arithmetic(program) -> Iterator[tuple]:
    last = program.tree.body[-1]
    while isinstance(last, ast.If) and not _ends_in_doubt(program, last):
        last = (last.orelse or last.body)[-1]
    if isinstance(last, ast.If):
        yield (
            last,
            "about",
            "the compiler may compute what these lanes need before or behind this last branch",
        )
    for product in _products_of_both_sides(program):
        yield (
            product,
            "about",
            "a product of both sides comes behind the branch, where an addition may fuse it",
        )
    for node in (n for n in walk(program.tree) if isinstance(n, ast.While)):
        for inner in (n for n in walk(node) if isinstance(n, ast.If) and _renames(n)):
            yield inner, "at most", "the compiler may compute the last step of a sum for these lanes alone"
    for node in walk(program.tree):
        test = node.test if isinstance(node, ast.While) else None
        if isinstance(test, ast.BoolOp) and any(_computes(part) for part in test.values[1:]):
            reason = "the last step of what only a later part of this condition uses may be left out in the last trip"
            yield test, "about", reason
        if isinstance(node, ast.Call) and _calls_a_function(program, node) and any(map(_is_abs, node.args)):
            yield node, "about", "an absolute value that goes into a function may be made by an addition"
        sums = node.body if isinstance(node, ast.If) and _only_assigns(node.body) else ()
        if any(isinstance(one, ast.AugAssign) and _calls_a_function(program, one) for one in sums):
            yield node, "about", "the compiler may compute this short branch for all lanes"
        elif _adds_what_it_computes(sums) and not node.orelse:
            reason = "the compiler may compute this short branch for all lanes, up to its last addition"
            yield node, "at least", reason


def _products_of_both_sides(program) -> Iterator[ast.BinOp]:
    """Yield each product one of whose factors is an element that a branch selects."""
    loads = selected(program)
    for node in walk(program.tree):
        factors = (
            {node.left, node.right}
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
            else set()
        )
        if factors & loads.keys():
            yield node


def _change_places(node) -> bool:
    """Tell whether a loop exchanges names, as in ``old, new = new, old``, that it uses as arrays."""
    arrays = {
        p.value.id for p in walk(node) if isinstance(p, ast.Subscript) and isinstance(p.value, ast.Name)
    }
    for one in (p for p in walk(node) if isinstance(p, ast.Assign) and isinstance(p.value, ast.Tuple)):
        given = {p.id for p in one.value.elts if isinstance(p, ast.Name)}
        targets = {p.id for t in one.targets for p in walk(t) if isinstance(p, ast.Name)}
        if given & targets & arrays:
            return True
    return False


def _touches_one_element(node) -> bool:
    """Tell whether all accesses of a loop are to one element, which the loop does not choose, and one is a store."""
    parts = [p for statement in node.body for p in walk(statement)]
    found = [p for p in parts if isinstance(p, ast.Subscript)]
    changing = {p.id for p in walk(node) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    fixed = not any(p.id in changing for one in found for p in walk(one) if isinstance(p, ast.Name))
    stores = any(isinstance(one.ctx, ast.Store) for one in found)
    return stores and fixed and len({ast.unparse(one) for one in found}) == 1


def _adds_what_it_computes(body) -> bool:
    """Tell whether a branch ends with an addition to a name, behind at least two operations of its own."""
    if not body or not isinstance(body[-1], ast.AugAssign) or not isinstance(body[-1].op, (ast.Add, ast.Sub)):
        return False
    return sum(isinstance(p, ast.BinOp) for one in body for p in walk(one)) > 1


def _chooses_kept(program, node: ast.IfExp) -> bool:
    """Tell whether an expression chooses an element of an array that the kernel itself has made, or a name."""
    kept = isinstance(node.body, ast.Subscript) and isinstance(node.orelse, ast.Name)
    return kept and getattr(node.body.value, "id", "") not in {"", *program.parameters}


def _is_abs(node) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "abs"


def _computes(part) -> bool:
    """Tell whether a part of a condition compares a product, a quotient, or a sum that contains an operation."""
    values = [part.left, *part.comparators] if isinstance(part, ast.Compare) else [part]
    made = [v for v in values if isinstance(v, ast.BinOp)]
    return any(isinstance(v.op, (ast.Mult, ast.Div)) or isinstance(v.left, ast.BinOp) for v in made)


def _ends_in_doubt(program, node: ast.If) -> bool:
    """Tell whether a final branch has a remainder in a later test, or only calls a device function."""
    later = node.test.values[1:] if isinstance(node.test, ast.BoolOp) else []
    tests = any(isinstance(p, ast.BinOp) and isinstance(p.op, ast.Mod) for one in later for p in walk(one))
    calls = isinstance(node.body[0], ast.Expr) and _calls_a_function(program, node.body[0])
    return tests or (len(node.body) == 1 and calls)


def _renames(node: ast.If) -> bool:
    """Tell whether a branch without ``else`` only assigns one name to another."""
    (one, *more) = node.body
    return not more and isinstance(one, ast.Assign) and isinstance(one.value, ast.Name) and not node.orelse


def in_long_loops(program, site) -> bool:
    """Tell whether a local array is touched in a loop of known length that calls device functions."""
    return site.where.function == program.name and any(
        node.lineno <= site.where.line <= node.end_lineno
        for node in walk(program.tree)
        if isinstance(node, ast.For) and any(_calls_a_function(program, one) for one in node.body)
    )


def _kept_on_both_ways(tree) -> Iterator[ast.If]:
    """Yield each branch without ``else`` that stores to an element which an earlier statement has updated."""
    for node in (n for n in walk(tree) if isinstance(n, ast.If) and not n.orelse):
        inside = {ast.dump(t) for one in node.body if isinstance(one, ast.Assign) for t in one.targets}
        for one in walk(tree):
            before = isinstance(one, ast.AugAssign) and one.lineno < node.lineno
            if before and isinstance(one.target, ast.Subscript) and ast.dump(one.target) in inside:
                yield node


def _only_assigns(body: list) -> bool:
    """Tell whether all statements assign results of arithmetic to names."""
    return bool(body) and all(
        isinstance(one, (ast.Assign, ast.AugAssign))
        and not any(isinstance(p, ast.Subscript) for p in walk(one))
        and any(isinstance(p, (ast.BinOp, ast.AugAssign, ast.Call)) for p in walk(one))
        for one in body
    )


def _calls_a_function(program, part) -> bool:
    """Tell whether a statement calls a device function."""
    names = (p.func.id for p in walk(part) if isinstance(p, ast.Call) and isinstance(p.func, ast.Name))
    return any(hasattr(program.names.get(name), "py_func") for name in names)


def never_unrolled(node) -> bool:
    """Tell whether a loop is certainly not unrolled because it contains another loop, an early exit, or a barrier."""
    for part in (p for statement in node.body for p in walk(statement)):
        if isinstance(part, (ast.Break, ast.Return, ast.For, ast.While)):
            return True
        if isinstance(part, ast.Call) and any(word in ast.unparse(part.func) for word in NEVER):
            return True
    return False


def _has_alternatives(test) -> bool:
    """Tell whether a condition is an ``or`` with a later part that is more than a comparison."""
    later = test.values[1:] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else []
    return any(isinstance(part, ast.BoolOp) for part in later)


def _loads_late(test) -> bool:
    """Tell whether a part of a condition behind ``and`` loads an element."""
    return isinstance(test, ast.BoolOp) and any(map(_loads, test.values[1:]))


def _goes_early(node) -> bool:
    parts = [p for statement in node.body for p in walk(statement)]
    return any(isinstance(p, (ast.Break, ast.Return)) for p in parts)


def _written_out(program, node: ast.For) -> bool:
    """Tell whether a loop has a fixed number of trips, and its variable is the last index of an access."""
    if not _is_fixed(program, node) or not isinstance(node.target, ast.Name):
        return False
    subscripts = (p for statement in node.body for p in walk(statement) if isinstance(p, ast.Subscript))
    last = (p.slice.elts[-1] if isinstance(p.slice, ast.Tuple) else p.slice for p in subscripts)
    return any(isinstance(n, ast.Name) and n.id == node.target.id for index in last for n in walk(index))


def _is_fixed(program, node: ast.For) -> bool:
    """Tell whether the ends of a ``range`` are known to the compiler: numbers, and names from outside the function."""
    ends = node.iter.args if isinstance(node.iter, ast.Call) else []
    names = {n.id for end in ends for n in walk(end) if isinstance(n, ast.Name)}
    return bool(ends) and not names & program.assigned


def _neighbours(tree: ast.FunctionDef) -> bool:
    """Tell whether a function touches two elements of an array with indices such as ``2 * i`` and ``2 * i + 1``."""
    found: set = set()
    for node in (n for n in walk(tree) if isinstance(n, ast.Subscript)):
        index, more = node.slice, 0
        if (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.Add)
            and isinstance(index.right, ast.Constant)
        ):
            index, more = index.left, index.right.value
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Mult):
            factors = [p.value for p in (index.left, index.right) if isinstance(p, ast.Constant)]
            if any(isinstance(f, int) and f % 2 == 0 for f in factors):
                found.add((ast.dump(node.value), ast.dump(index), more))
    return any((array, index, 1) in found for array, index, more in found if more == 0)


def _sides_end_alike(node) -> bool:
    """Tell whether both sides of a branch end with the same operation on different elements."""
    sides = [side if isinstance(side, ast.expr) else _last_value(side) for side in (node.body, node.orelse)]
    if None in sides or not all(map(_loads, sides)):
        return False
    one, other = (_outline(side) for side in sides)
    return one == other and ast.dump(sides[0]) != ast.dump(sides[1])


def _last_value(body):
    last = body[-1] if body else None
    return last.value if isinstance(last, (ast.Assign, ast.AugAssign)) else None


def _outline(value) -> tuple:
    """Return the operation of an expression and the kinds of its operands."""
    if isinstance(value, ast.BinOp):
        return type(value.op), _outline(value.left), _outline(value.right)
    return (type(value),)


def _carries(program) -> Iterator[tuple]:
    tree = program.tree
    for node in walk(tree):
        if isinstance(node, ast.For) and node.body and not _is_fixed(program, node):
            last = node.body[-1]
            targets = last.targets if isinstance(last, ast.Assign) else []
            for target in (t for t in targets if isinstance(t, ast.Name)):
                uses = [n for n in walk(tree) if isinstance(n, ast.Name) and n.id == target.id]
                reads = [n.lineno for n in uses if isinstance(n.ctx, ast.Load)]
                if reads and all(node.lineno <= line <= node.end_lineno for line in reads):
                    yield node, target.id


def _stores(node) -> bool:
    return any(isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Store) for p in walk(node))


def _loads(node) -> bool:
    return any(isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Load) for p in walk(node))
