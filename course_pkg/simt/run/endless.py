"""Endless loops: stop a ``while`` as soon as it is certain, or almost certain, that it never ends.

Some values decide whether a loop goes on: the values that its condition reads, the values that lead to a ``break`` or a
``return``, and the values from which these are computed. If a trip changes none of them, and no lane leaves, then every
further trip is the same, and the loop never ends. If a trip changes them, the loop may still end. It then gets a budget
of statements. The budget is renewed whenever a deciding comparison comes closer to its turning point. An example is
``i < n`` in a loop that increases ``i``.
"""

import ast
from functools import cache, cached_property

import numpy as np

from course_pkg.simt.errors import Endless
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import SCALARS
from course_pkg.simt.memory.regions import Array, regions_of
from course_pkg.simt.run.budget import endless
from course_pkg.simt.run.deadlock import for_ever, line_of
from course_pkg.simt.run.hints import LOADS
from course_pkg.simt.run.locating import owner
from course_pkg.simt.run.roles import Role, Waits, others_first
from course_pkg.simt.run.sequences import Iterator
from course_pkg.simt.run.spinning import atomics
from course_pkg.simt.run.state import Frame
from course_pkg.simt.run.turns import may_wait_here, program_called
from course_pkg.simt.run.values import Value

FEW = 4  # as WATCHED, for a loop that may wait for other threads
WATCHED = 64  # at least one trip in this many is watched
UNWATCHED = 2_000  # maximum work between two watched trips, in statements of a small launch
TOLERATED = 100_000  # maximum work without progress, in statements: a few seconds
FEWEST = 256  # minimum number of trips without progress before a loop is stopped
CHECKED = 6  # looking for races makes a statement this many times slower
THREADS = 1 << 12  # a statement takes about twice as long for this many threads as for a few
ARITHMETIC = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply}
COMPARED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.NotEq)
LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
# functions whose results depend only on their arguments, on memory, and on the lanes that call them
KNOWN = (
    *("range", "len", "min", "max", "abs", "int", "float", "bool", "sqrt", "fabs", "exp", "log"),
    *("add", "sub", "exch", "cas", "compare_and_swap", "and_", "or_", "xor", "inc", "dec"),
    *("syncthreads", "syncwarp", "threadfence", "threadfence_block", "grid", "gridsize"),
    *("threadfence_system", "nanosleep", "syncthreads_count", "syncthreads_and", "syncthreads_or"),
    *("activemask", "lanemask_lt", "popc", "clz", "ffs", "brev", "selp", *LOADS, *SCALARS),
    *("ballot_sync", "any_sync", "all_sync", "shfl_sync", "shfl_down_sync", "shfl_up_sync", "shfl_xor_sync"),
)


class Watch:
    """Watches one ``while`` loop while it runs.

    Parameters
    ----------
    run : Run
    frame : Frame
    node : ast.While
    """

    def __init__(self, run, frame, node: ast.While):
        self._run, self._frame, self._node = run, frame, node
        self._before: dict | None = None
        self._changed: set = set()
        self._restart(None)
        if isinstance(node.test, ast.Constant) and node.test.value and not leaves(node):
            raise self._stopped("nothing in it leaves it")

    def _restart(self, lanes) -> None:
        self._lanes, self._trips, self._distances = lanes, 0, None
        self._since = self._looked = self._run.patience

    def begin(self, lanes) -> None:
        """Note that lanes begin a trip of the loop.

        Raises
        ------
        Endless
            If the loop never ends.
        """
        waited = False
        if self._lanes is None or lanes.threads != self._lanes.threads:
            self._restart(lanes)
            if self._run.half is not None:
                self._run.half.leaves(self)
        elif self._before is not None and self._unchanged():
            waited = self._waits("a trip changes nothing that decides about the next one", True)
        self.end()
        self._trips += 1
        often = FEW if self._may_wait else WATCHED
        if waited or self._trips % often == 0 or self._work(self._looked) > UNWATCHED:
            self._look()

    def _work(self, since: int) -> float:
        times = CHECKED if self._run.races is not None else 1
        return times * (since - self._run.patience) * (1 + self._run.wave.threads / THREADS)

    def _look(self) -> None:
        """Record the deciding values, to compare them after this trip; stop a loop that comes no closer to its end."""
        self._looked = self._run.patience
        self._before, self._changed = self._values(), set()
        self._run.watching.append(self._changed)
        now = [_distance(self._run, self._frame, test, self._lanes) for test in tests(self._node)]
        if self._distances is None or any(map(_closer, self._distances, now)):
            self._since, self._trips = self._looked, 0
        elif self._work(self._since) > self._tolerated and self._trips > FEWEST:
            self._waits("its trips bring it no closer to its end", False)
        elif self._may_wait and isinstance(self._run.half, Role):
            self._run.half.lets_others_on()
        self._distances = now

    @cached_property
    def _tolerated(self) -> float:
        return TOLERATED / 4 if self._may_wait else TOLERATED

    @cached_property
    def _may_wait(self) -> bool:
        """Whether the loop may wait for what threads do that have not come to it."""
        return may_wait_here(self._run, self._frame, self._node)

    def _waits(self, why: str, unchanged: bool) -> bool:
        """Let threads outside the loop go on; return true if some have.

        Raises
        ------
        Apart, Endless
            If no other part of the wave can go on: then the launch begins again in more parts, or is stopped.
        """
        run, half = self._run, self._run.half
        where = Waits(self._place, self._lanes, atomics(self._node))
        if half is not None and (unchanged or isinstance(half, Role)) and half.waits(self, where):
            return True
        if self._may_wait and run.launch.may_begin_again:
            others_first(run, where)
        if not unchanged and self._work(self._since) < TOLERATED:
            return False
        if unchanged and self._may_wait and isinstance(half, Role | None):
            raise for_ever(run, half.crew.stuck() if half else [where])
        raise self._stopped(why)

    @property
    def _place(self) -> SourceLine:
        return SourceLine(self._frame.program.name, self._node.lineno)

    def leave(self) -> None:
        """Note that all lanes have left the loop."""
        self.end()
        if self._run.half is not None:
            self._run.half.leaves(self)

    def end(self) -> None:
        """Note that the watched trip has ended."""
        self._run.watching = [changed for changed in self._run.watching if changed is not self._changed]
        self._before = None

    def _values(self) -> dict:
        variables = self._frame.variables
        held = {n: variables[n].value for n in deciding(self._node) if n in variables}
        return {n: value.at if isinstance(value, Iterator) else value for n, value in held.items()}

    @cached_property
    def _known(self) -> bool:
        """Whether a trip can change nothing but variables and memory, so that an unchanged one repeats itself."""
        plain = not any(isinstance(part, ast.NamedExpr) for part in ast.walk(self._node))
        return plain and _all_known(self._run, self._frame, self._node, set())

    def _unchanged(self) -> bool:
        now = self._values()
        if not self._known or now.keys() != self._before.keys():
            return False
        if self._changed & {region for value in now.values() for region in regions_of(value)}:
            return False
        return all(_same(self._before[name], value) for name, value in now.items())

    def _stopped(self, why: str) -> Endless:
        return endless(self._run, f", as that of the `while` in {line_of(self._run, self._place)}: {why}")


def leaves(node) -> bool:
    """Return whether a loop's body contains a way out of the loop, such as ``break`` or ``return``."""
    return any(_ways_out(statement, inner=False) for statement in node.body)


def _ways_out(node, inner: bool) -> bool:
    if isinstance(node, (ast.Return, ast.Raise)) or (isinstance(node, ast.Break) and not inner):
        return True
    inner = inner or isinstance(node, (ast.For, ast.While))
    return any(_ways_out(child, inner) for child in ast.iter_child_nodes(node))


@cache
def deciding(node: ast.While) -> frozenset:
    """Return the names whose values decide whether a loop goes on."""
    assignments = list(_assignments(node.body, ()))
    names = _names([node.test, *(test for way in _headers(node.body, ()) for test in way)])
    while True:
        needed = [part for targets, parts in assignments if targets & names for part in parts]
        more = names | _names(needed)
        if more == names:
            break
        names = more
    return frozenset(names)


def _all_known(run, frame, node, seen: set) -> bool:
    """Return whether all functions that a piece of source calls are known, or device functions that call such alone."""
    for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2] in KNOWN:
            continue
        program = program_called(run, frame, call)
        if program is None:
            return False
        if program not in seen:
            seen.add(program)
            if not _all_known(run, Frame(program, run.wave.nobody), program.tree, seen):
                return False
    return True


@cache
def tests(node: ast.While) -> tuple:
    """Return the comparisons of two numbers that decide whether a loop goes on."""
    read = [node.test, *(test for way in _headers(node.body, ()) for test in way)]
    found = (p for one in read for p in ast.walk(one) if isinstance(p, ast.Compare))
    of_two = [c for c in found if len(c.ops) == 1 and isinstance(c.ops[0], COMPARED)]
    if isinstance(node.test, (ast.Name, ast.Subscript)):  # `while k` is `while k != 0`
        of_two.append(ast.Compare(node.test, [ast.NotEq()], [ast.Constant(0)]))
    return tuple(of_two)


def _headers(body, around):
    """Yield, for each way out of a loop, the conditions that lead to it."""
    for statement in body:
        if isinstance(statement, LEAVES):
            yield around
        for test, inner in _branches(statement):
            yield from _headers(inner, (*around, test))


def _assignments(body, around):
    """Yield the names that each statement assigns, and the expressions that determine the assigned values."""
    for statement in body:
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            stored = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            yield stored, (statement, *around)
        if isinstance(statement, ast.For):
            yield _names([statement.target]), (statement.iter, *around)
        for test, inner in _branches(statement):
            yield from _assignments(inner, (*around, test))


def _branches(statement):
    if isinstance(statement, (ast.If, ast.While, ast.For)):
        test = statement.iter if isinstance(statement, ast.For) else statement.test
        return [(test, statement.body), (test, statement.orelse)]
    return []


def _names(nodes) -> set:
    return {p.id for node in nodes for p in ast.walk(node) if isinstance(p, ast.Name)}


def _same(before, now) -> bool:
    if isinstance(before, Value) and isinstance(now, Value):
        return before is now or np.array_equal(before.data, now.data, equal_nan=True)
    if isinstance(before, tuple) and isinstance(now, tuple):
        return len(before) == len(now) and all(map(_same, before, now))
    return before is now


def _distance(run, frame, test, lanes):
    """Return the distance of a comparison from its turning point in each active lane, as a list of arrays.

    If both sides are known, the list contains the difference of the sides. If only one side is known, it contains the
    value of this side and its negative, because either may measure the distance. If neither is known, return None.
    """
    left, right = (_number(run, frame, side) for side in (test.left, test.comparators[0]))
    if left is None and right is None:
        return None
    if left is not None and right is not None:
        ways = [np.abs(np.subtract(left, right, dtype=float))]
    else:
        one = np.asarray(right if left is None else left, float)
        ways = [one, -one]
    return [np.broadcast_to(way, lanes.wave.shape)[lanes.full] for way in ways]


def _closer(before, now) -> bool:
    """Return whether a comparison has come closer to its turning point in every lane."""
    if before is None or now is None:
        return False
    return any(bool((b < a).all()) for a, b in zip(before, now, strict=False) if a.shape == b.shape)


def _number(run, frame, node):
    """Return the value of a simple expression in each lane; None if it has more than names, elements and arithmetic."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name) and node.id in frame.variables:
        value = frame.variables[node.id].value
        return value.data if isinstance(value, Value) and value.data.dtype.kind in "iuf" else None
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = _number(run, frame, node.left), _number(run, frame, node.right)
        return None if left is None or right is None else ARITHMETIC[type(node.op)](left, right)
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in frame.variables
    ):
        return _element(run, frame, node, frame.variables[node.value.id].value)
    return None


def _element(run, frame, node, array):
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    indices = [_number(run, frame, part) for part in parts]
    whole = isinstance(array, Array) and len(indices) == array.ndim and array.dtype.kind in "iuf"
    if not whole or any(np.asarray(i).dtype.kind not in "iu" for i in indices):  # None is not an integer
        return None
    at = sum(i * by for i, by in zip(indices, array.strides, strict=True)) + array.offset + owner(run, array)
    return array.flat.take(at, mode="clip")
