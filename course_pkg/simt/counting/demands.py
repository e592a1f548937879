"""Which lanes compute a value, and where: the ledger follows values from where they are made to where they are used.

A value that is never used is not computed, and a value that only one branch uses is computed in that branch.
"""

from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

from course_pkg.simt.counting.branches import hoist, predicated, speculated
from course_pkg.simt.counting.no_ledger import NoLedger
from course_pkg.simt.counting.operations import use
from course_pkg.simt.counting.selecting import name_of
from course_pkg.simt.counting.waiting import names_in
from course_pkg.simt.run.values import Origin

# in basic blocks: in a loop, a computation moves only into the next branch, or into a branch at the beginning of that
NEAR = 3


class Demands(NoLedger):
    """Keeps each value's origin until it is clear whether a compiler would keep its computation, and where.

    Parameters
    ----------
    counters : Counters
        The counters of the launch.
    numbering : Numbering
        The value numbers of the run.
    versions : dict of str to int
        A number for the state of each memory; the run changes the dict in place.
    """

    counts = True

    def __init__(self, counters, numbering, versions):
        self.counters, self._numbering, self._versions = counters, numbering, versions
        self.straight = 0
        self.hoisted: set = set()
        self._opened: dict[tuple, int] = {}  # how often each branch has begun
        self._available: list[dict] = [{}]
        self._loops: list[tuple] = []  # lanes that enter, first value number, branches around
        self._depth_of_loops = self._branches = 0
        self._trip_begins = 0  # the basic block where the trip begins
        self._peeled: set[int] = set()  # what the first test of a `while` has computed or loaded
        self._open: list[Origin] = []
        self._made: WeakValueDictionary = WeakValueDictionary()  # the newest origin of each value number
        self._put_off: list[Origin] | None = None  # computations of this trip that a branch may do later
        self._putting_off = False
        self._speculating: Any = None
        self._around: tuple | None = None  # the lanes and the basic block before a predicated branch
        self._trip: tuple | None = None  # in the innermost loop: lanes, branches around it, its entrance

    # where the run is

    def new_block(self) -> None:
        self.straight += 1
        self.flush()

    @contextmanager
    def one_pass(self, keep_all: bool, lanes=None, entrance=None):
        if keep_all:
            yield
            return
        self._depth_of_loops += 1
        branches, outer = self._branches, self._trip
        began, self._trip_begins = self._trip_begins, self.straight
        entering, before, version = entrance or (None, 0, None)
        self._trip = (lanes, branches, entering, before, version) if lanes is not None else None
        self._loops.append((entering, before, branches))
        begun = len(self._numbering.birth)
        active: dict = {}
        self._available.append(active)
        outside, self._put_off = self._put_off, []
        yield
        self._settle_all(self._put_off)
        self._put_off = outside
        self._depth_of_loops, self._trip, self._trip_begins = self._depth_of_loops - 1, outer, began
        self._available.pop()
        self._loops.pop()
        birth = self._numbering.birth
        for key, entry in active.items():
            moves = lanes is not None and entry[1] == branches and lanes.within(entry[0])
            if (birth[key] < begun and (moves or entry[0].data is None)) or key in self._peeled:
                self._available[-1].setdefault(key, entry)

    def first_test(self) -> None:
        self._peeled.update(self._available[-1])

    @contextmanager
    def branch(self, run, frame, node, mask):
        self.instruction(mask)
        self.opens(name_of(node))
        outer, around, self.hoisted = self._speculating, self._around, set()
        if node.orelse:
            hoist(run, frame, node, mask)
        if outer is None and speculated(self, frame, node):
            self._speculating = mask
            for name in names_in(node) if self._depth_of_loops else ():
                for value in values_of(frame, name):
                    self._demand(value, mask, self.straight)
        if around is None and predicated(frame, node):
            self._around = mask, self.straight
        self.new_block()
        self._branches += 1
        yield
        self._branches -= 1
        self.new_block()
        self._speculating, self._around = outer, around

    def finish(self) -> None:
        while self._open:
            origin = self._open.pop()
            if not origin.done:
                for operand in self._settle(origin, origin.wanted_by, origin.wanted_in):
                    self._demand(*operand)
        self.flush()

    # who does the work, and where

    def originate(self, value, count, operands, mask, space: str = "", at_once=False) -> None:
        """Attach to a value the function that counts it; inside a loop, count it at once unless a branch may do so."""
        mask = self._speculating or mask
        if self._depth_of_loops and (at_once or not self._putting_off):
            count(mask)
            for operand in operands:
                self._demand(operand, mask, self.straight)
            return
        known = self._made.get(value.key) if count is not _nothing else None
        if (
            known is not None
            and not known.done
            and known.made_in is self._put_off
            and mask.within(known.mask)
        ):
            value.origin = known  # a branch uses what all lanes have computed, and computes nothing anew
            return
        version = self._versions.get(space)
        value.origin = Origin(count, operands, mask, self.straight, version, space, self._put_off)
        if count is not _nothing:
            self._made[value.key] = value.origin
        if self._put_off is not None:
            self._put_off.append(value.origin)

    @contextmanager
    def putting_off(self, may: bool):
        before, self._putting_off = self._putting_off, may
        yield
        self._putting_off = before

    def made_of(self, value, operands, mask) -> None:
        self.originate(value, _nothing, operands, mask)

    def use(self, value) -> None:
        use(value)

    def demand(self, value, mask, moved=False) -> None:
        use(value)
        for read in () if moved else value.unwritten:
            read.used_by(mask)
        self._demand(value, mask, self.straight)

    def _demand(self, value, mask, block) -> None:
        open_values = [(value, *(self._around or (mask, block)))]
        while open_values:
            value, mask, block = open_values.pop()
            origin = value.origin
            if origin is None or origin.done:
                continue
            elsewhere = origin.wanted_in not in (-1, block)
            elsewhere = elsewhere or (self._depth_of_loops and block > origin.block + NEAR)
            if block == origin.block or elsewhere or not self._may_move(origin):
                open_values += self._settle(origin, origin.mask, origin.block)
            else:
                if origin.wanted_in == -1:
                    self._open.append(origin)
                origin.wanted_in = block
                origin.wanted_by = mask if origin.wanted_by is None else origin.wanted_by.union(mask)

    def _may_move(self, origin) -> bool:
        """Return whether a computation can be moved into the branch that is being run."""
        return origin.made_in is self._put_off and self._versions.get(origin.space) == origin.version

    def _settle_all(self, made) -> None:
        """Count the computations that a trip has put off, each in the one branch that uses it.

        If no lane reached that branch, the computation is not counted. A load was not put off if memory may have
        changed after it, because the branch could then have loaded another number.
        """
        for origin in reversed(made):
            if origin.done:
                continue
            if origin.wanted_in != -1:
                self._branches += 1
                for operand in self._settle(origin, origin.wanted_by, origin.wanted_in):
                    self._demand(*operand)
                self._branches -= 1
            elif origin.space and self._versions.get(origin.space) != origin.version:
                self._settle(origin, origin.mask, origin.block)

    @staticmethod
    def _settle(origin, mask, block) -> list:
        """Count a computation for these lanes; return its operands."""
        origin.done = True
        origin.count(mask)
        return [(operand, mask, block) for operand in origin.operands]

    def settle(self, value) -> None:
        use(value)
        if value.origin is not None and not value.origin.done:
            for operand in self._settle(value.origin, value.origin.mask, value.origin.block):
                self._demand(*operand)

    # the methods below remember which values have been computed or loaded before

    def first_time(self, key: int, mask):
        """Return the lanes that compute ``key`` for the first time."""
        for layer in reversed(self._available):
            entry = layer.get(key)
            if entry is not None:
                new = mask.minus(entry[0])
                if new:
                    entry[0] = entry[0].union(mask)
                return new
        self._available[-1][key] = [mask, self._branches]
        return mask

    def computes(self, key: int, operands, mask):
        """Return the lanes that compute ``key`` for the first time.

        If no trip of a loop changes the value, it is computed before the loop, by all lanes that enter the loop.
        """
        layers, birth = self._available, self._numbering.birth[key]
        if self._loops and not any(key in layer for layer in layers):
            held = (d for d, layer in enumerate(layers) for one in operands if one.key in layer)
            deepest = max(held, default=0)
            for depth, (entering, before, branches) in enumerate(self._loops):
                if depth >= deepest and entering is not None and birth < before:
                    lanes = entering.union(mask)
                    layers[depth][key] = [lanes, branches]
                    return lanes
        return self.first_time(key, mask)

    def holds(self, key: int, lanes) -> None:
        self._available[-1][key] = [lanes, self._branches]

    def known_to(self, key: int):
        return next((layer[key][0] for layer in reversed(self._available) if key in layer), None)


def _nothing(lanes) -> None:
    """Count nothing: for values that cost no more than their operands."""


def values_of(frame, name: str) -> tuple:
    """Return a tuple with the number that a variable holds; empty if it holds no number."""
    variable = frame.variables.get(name)
    return (variable.value,) if variable is not None and hasattr(variable.value, "origin") else ()
