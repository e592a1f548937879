"""How certain a count is: the hardware's number is equal to it, at most, at least, or about as large.

The interpreter's model of the compiler (:mod:`.compiler`) has rules that were found in machine code, and the counters
of the hardware agree with it. This module finds the forms of source for which there is no such rule. Each of them was
met in a kernel whose counts differ; the sentence says what the compiler does there.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

ACCESSES = ("requests", "sectors", "wavefronts")
FEW_BYTES = 32  # a local array of so many bytes may stay in registers although a variable indexes it
NEVER = ("syncthreads", "syncwarp", "_sync", "atomic")  # a loop that contains one of these is not unrolled
EXPANDED = "what makes up a function such as exp is not counted"


@dataclass(frozen=True)
class Doubtful:
    """A count that may differ from the hardware's.

    Attributes
    ----------
    quantity : str
        Such as ``"global_load.requests"`` or ``"flops.float64.fma"``.
    word : str
        ``"at most"``, ``"at least"`` or ``"about"``: how the hardware's number compares with the profile's.
    function : str
    line : int
    reason : str
        What the compiler does there.

    Examples
    --------
    >>> str(Doubtful("global_load.requests", "at most", "k", 7, "the compiler keeps elements in registers"))
    'global_load.requests is at most what is shown: k, line 7: the compiler keeps elements in registers.'
    """

    quantity: str
    word: str
    function: str
    line: int
    reason: str

    def __str__(self):
        return (
            f"{self.quantity} is {self.word} what is shown: {self.function}, line {self.line}: {self.reason}."
        )


def doubtful(programs, counters, in_registers) -> dict[str, Doubtful]:
    """Return the counts of a launch that are not certain, by their names.

    Parameters
    ----------
    programs : iterable of Program
        The kernel and the device functions that ran.
    counters : Counters
    in_registers : collection of int
        Regions of the local arrays that are not counted.
    """
    found: dict[str, Doubtful] = {}
    sites = [s for s in counters.sites.values() if s.region not in in_registers and s.kind != "atomic"]

    def add(quantity, word, function, line, reason):
        first = found.setdefault(quantity, Doubtful(quantity, word, function, line, reason))
        if word != first.word:  # one reason makes it too large, and another one too small
            found[quantity] = replace(first, word="about")

    for program in programs:
        for node, kinds, spaces, word, reason in _forms(program):
            for site in sites:
                inside = node.lineno <= site.where.line <= node.end_lineno
                if (
                    site.where.function == program.name
                    and inside
                    and site.kind in kinds
                    and site.space in spaces
                ):
                    for field in ACCESSES:
                        if getattr(site, field):
                            add(f"{site.space}_{site.kind}.{field}", word, program.name, node.lineno, reason)
    for site in sites:
        if (
            site.space == "local"
            and site.touched is not None
            and site.touched.size * site.itemsize <= FEW_BYTES
        ):
            for field in ACCESSES[:2]:
                quantity = f"local_{site.kind}.{field}"
                add(quantity, "at most", *site.where, "the compiler may keep so small an array in registers")
    for program in programs:
        for node, name in _carries(program):
            reason = f"the last trip need not compute {name}, which nobody uses after the loop"
            for where, made in counters.flops.items():
                if where.function == program.name and node.lineno <= where.line <= node.end_lineno:
                    for precision, kind in made.counts:
                        add(f"flops.{precision}.{kind}", "at most", program.name, node.lineno, reason)
    for where, made in counters.flops.items():
        for (precision, kind), threads in made.counts.items():
            if kind == "special" and threads > made.counts.get((precision, "known"), 0):
                for one in ("add", "mul", "fma"):
                    add(f"flops.{precision}.{one}", "at least", *where, EXPANDED)
                for field in ACCESSES[:2]:  # a table of coefficients, which lies in global memory
                    add(f"global_load.{field}", "at least", *where, EXPANDED)
    return found


LOADS, STORES, BOTH = ("load",), ("store",), ("load", "store")
GLOBAL, SHARED, MEMORIES = ("global",), ("shared",), ("global", "shared", "local")


def _forms(program) -> Iterator[tuple]:
    """Yield ``(node, kinds, spaces, word, reason)`` for each form of source whose accesses are not certain."""
    tree = program.tree
    for node in ast.walk(tree):
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
        if isinstance(node, (ast.If, ast.IfExp)) and _sides_end_alike(node):
            yield (
                node,
                LOADS,
                GLOBAL,
                "at most",
                "the compiler may select an address, and load once for both sides",
            )
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp) and node is tree.body[-1]:
            yield (
                node,
                STORES,
                MEMORIES,
                "about",
                "Python may write the end of the kernel into both ways of the choice",
            )
        if isinstance(node, ast.FunctionDef) and _neighbours(node):
            yield (
                node,
                BOTH,
                SHARED,
                "at most",
                "the compiler may load or store elements 2 i and 2 i + 1 together",
            )
    returns = [n for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    if len(returns) > 1 and all(_loads(n.value) for n in returns):
        yield (
            tree,
            LOADS,
            GLOBAL,
            "at most",
            "the compiler may select an address, and load once for all returns",
        )


def never_unrolled(node) -> bool:
    """Tell whether a loop is certainly not unrolled: it has another loop, an early way out, or a barrier in it."""
    for part in (p for statement in node.body for p in ast.walk(statement)):
        if isinstance(part, (ast.Break, ast.Return, ast.For, ast.While)):
            return True
        if isinstance(part, ast.Call) and any(word in ast.unparse(part.func) for word in NEVER):
            return True
    return False


def _goes_early(node) -> bool:
    parts = [p for statement in node.body for p in ast.walk(statement)]
    return any(isinstance(p, (ast.Break, ast.Return)) for p in parts)


def _written_out(program, node: ast.For) -> bool:
    """Tell whether a loop has a fixed number of trips, and its variable is the last index of an access."""
    if not _is_fixed(program, node) or not isinstance(node.target, ast.Name):
        return False
    subscripts = (p for statement in node.body for p in ast.walk(statement) if isinstance(p, ast.Subscript))
    last = (p.slice.elts[-1] if isinstance(p.slice, ast.Tuple) else p.slice for p in subscripts)
    return any(isinstance(n, ast.Name) and n.id == node.target.id for index in last for n in ast.walk(index))


def _is_fixed(program, node: ast.For) -> bool:
    """Tell whether the ends of a ``range`` are known to the compiler: numbers, and names from outside the function."""
    ends = node.iter.args if isinstance(node.iter, ast.Call) else []
    names = {n.id for end in ends for n in ast.walk(end) if isinstance(n, ast.Name)}
    return bool(ends) and not names & program.assigned


def _neighbours(tree: ast.FunctionDef) -> bool:
    """Tell whether a function touches two elements whose indices are an even multiple, and that plus 1."""
    found: set = set()
    for node in (n for n in ast.walk(tree) if isinstance(n, ast.Subscript)):
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
    """Yield each loop of unknown length with a variable that only the next trip of the loop uses."""
    tree = program.tree
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and node.body and not _is_fixed(program, node):
            last = node.body[-1]
            targets = last.targets if isinstance(last, ast.Assign) else []
            for target in (t for t in targets if isinstance(t, ast.Name)):
                uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == target.id]
                reads = [n.lineno for n in uses if isinstance(n.ctx, ast.Load)]
                if reads and all(node.lineno <= line <= node.end_lineno for line in reads):
                    yield node, target.id


def _loads(node) -> bool:
    return any(isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Load) for p in ast.walk(node))
