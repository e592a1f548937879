"""The ledger of a run: it counts only those operations of the threads that a compiler would keep.

A run reports each load, each operation and each use of a value. The ledger decides which of them become machine code: a
value that is never used is not computed, a loaded element is not loaded again, and a value that only one branch uses is
computed in that branch. The ledger passes the rest on to the :class:`~course_pkg.simt.counting.sites.Counters`.
"""

from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numba.core import types

from course_pkg.simt.counting.compiler import hoist, predicated, speculated
from course_pkg.simt.counting.expanded import count_function
from course_pkg.simt.counting.neighbours import MERGED_SIZES, Neighbours, never_alike
from course_pkg.simt.counting.no_ledger import NoLedger
from course_pkg.simt.counting.operations import SLOW_DIVISION, count_operation, use
from course_pkg.simt.run.values import Origin, Product

TOGETHER = ("add", "sub", "max", "min", "and_", "or_", "xor")  # one lane updates for its whole warp


class Ledger(NoLedger):
    """Keeps each entry until it is clear whether a compiler would keep that operation, and where.

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
        self._available: list[dict] = [{}]
        self._depth_of_loops = self._branches = 0
        self._open: list[Origin] = []
        self._speculating: Any = None
        self._around: tuple | None = None  # of a predicated branch: the lanes and the basic block before it
        self._held: tuple | None = None
        self._halves: dict[int, tuple] = {}  # elements that were loaded in pairs: value and lanes
        self._products: dict[int, tuple] = {}  # the multiplication, and the lanes that make it
        self._trip: tuple | None = None  # of the innermost loop: lanes, branches around, and its entrance
        self._loaded: dict = {}  # places in shared memory that were loaded
        self._near = Neighbours(numbering, self._count_access)

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
        self._trip = (lanes, branches, *(entrance or (None, 0, None))) if lanes is not None else None
        begun = len(self._numbering.birth)
        active: dict = {}
        self._available.append(active)
        yield
        self._depth_of_loops, self._trip = self._depth_of_loops - 1, outer
        self._available.pop()
        birth = self._numbering.birth
        for key, entry in active.items():
            moves = lanes is not None and entry[1] == branches and lanes.within(entry[0])
            if birth[key] < begun and (moves or entry[0].data is None):
                self._available[-1].setdefault(key, entry)

    @contextmanager
    def branch(self, run, frame, node, mask):
        self.instruction(mask)
        outer, around, self.hoisted = self._speculating, self._around, set()
        if node.orelse:
            hoist(run, frame, node, mask)
        if outer is None and speculated(self, frame, node):
            self._speculating = mask
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

    def originate(self, value, count, operands, mask, space: str = "") -> None:
        """Attach to a value the function that counts it; inside a loop, count it at once."""
        mask = self._speculating or mask
        if self._depth_of_loops:
            count(mask)
            for operand in operands:
                self._demand(operand, mask, self.straight)
            return
        value.origin = Origin(count, operands, mask, self.straight, self._versions.get(space), space)

    def made_of(self, value, operands, mask) -> None:
        self.originate(value, _nothing, operands, mask)

    def use(self, value) -> None:
        use(value)

    def demand(self, value, mask) -> None:
        use(value)
        self._demand(value, mask, self.straight)

    def _demand(self, value, mask, block) -> None:
        open_values = [(value, *(self._around or (mask, block)))]
        while open_values:
            value, mask, block = open_values.pop()
            origin = value.origin
            if origin is None or origin.done:
                continue
            elsewhere = origin.wanted_in not in (-1, block)
            if block == origin.block or elsewhere or not self._may_move(origin):
                open_values += self._settle(origin, origin.mask, origin.block)
            else:
                if origin.wanted_in == -1:
                    self._open.append(origin)
                origin.wanted_in = block
                origin.wanted_by = mask if origin.wanted_by is None else origin.wanted_by.union(mask)

    def _may_move(self, origin) -> bool:
        """Return whether a computation can be moved into the branch that is being run."""
        return not self._depth_of_loops and self._versions.get(origin.space) == origin.version

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

    # what has been computed or loaded before

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

    def holds(self, key: int, lanes) -> None:
        self._available[-1][key] = [lanes, self._branches]

    # arithmetic

    def instruction(self, mask) -> None:
        self.counters.issue(mask)

    def integer(self, mask) -> None:
        self.counters.integer_ops += mask.threads
        self.counters.issue(mask)

    def operation(self, kind, value, a, b, where, mask) -> None:
        if not value.constant:
            count_operation(self, kind, value, a, b, where, mask)

    def flop(self, value, kind, precision: str, where, operands, mask, times=1, slow=None) -> None:
        def count(lanes):
            new = self.first_time(value.key, lanes)
            if new:
                for one in (kind,) if isinstance(kind, str) else kind:
                    self.counters.operation(precision, one, where, times * new.threads)
                for one, more in SLOW_DIVISION.items() if slow is not None else ():
                    self.counters.operation(precision, one, where, more * new.narrow(slow).threads)
                self.counters.issue(new)

        self.originate(value, count, operands, mask)

    def sum(self, value, products: list, precision: str, where, operands, mask) -> None:
        """Count an addition; which of the products of its basic block it fuses is known at the end of the launch."""

        def count(lanes):
            new = self.first_time(value.key, lanes)
            if new:
                self.counters.operation(precision, "add", where, new.threads)
                self.counters.issue(new)
                if products:
                    self.counters.sums.append((products, precision, where, new.threads))

        self.originate(value, count, operands, mask)

    def function(self, name: str, precision: str, value, argument, where, mask) -> None:
        count_function(self, name, precision, value, argument, where, mask)

    def product(self, value, instead: str, mask) -> Product:
        """Note that a value is made by a multiplication, which a later addition may fuse into a multiply-add."""
        known, lanes = self._products.get(value.key, (None, None))
        if known is None or not mask.within(lanes):  # the other side of a branch makes its own
            known = Product(self.straight, instead)
            self._products[value.key] = known, mask
        value.product = known
        return known

    def multiply(self, value, precision: str, where, operands, mask, instead="mul") -> None:
        """Count a multiplication, which a later addition may fuse into a multiply-add.

        If no addition fuses it, it counts as an operation of the kind ``instead``.
        """
        product = self.product(value, instead, mask)

        def count(lanes):
            new = self.first_time(value.key, lanes)
            if new:
                self.counters.operation(precision, instead, where, new.threads)
                self.counters.issue(new)
                self.counters.products.append((product, precision, where, new.threads))

        self.originate(value, count, operands, mask)

    # memory

    def load(self, place, value, unwritten=None):
        half, lanes = self._halves.get(value.key, (None, None))
        if half is not None and not place.inside.minus(lanes):
            return half

        def count(lanes):
            if place.astray:  # those that use the value may be more than those whose index lies in the array
                lanes = lanes.narrow(place.inside.full)
            if unwritten is not None:
                unwritten.used_by(lanes)
            if place.array.space == "global":
                entering = self._before_the_loop(value.key, lanes)
                if (
                    entering is not lanes
                ):  # the others have an address, too, which may lie outside of the array
                    at = place.offset
                    lanes = lanes.union(entering.narrow((at >= 0) & (at < place.array.flat.size)))
                elif place.inside is not None:
                    lanes = lanes.narrow(place.inside.full)
            new = self.first_time(value.key, lanes) if lanes else lanes
            if new:
                self._access(place, "load", new)

        if value.key not in self._available[-1]:
            self._count_held()
        if place.array.space == "shared":
            self._loaded[place.key] = place
        self.originate(value, count, (), place.inside, place.array.space)
        return value

    def _before_the_loop(self, key: int, lanes):
        """Return the lanes that make a load: all that enter the loop, if each trip certainly makes it alike."""
        if self._trip is None or not lanes:
            return lanes
        trip, branches, entering, begun, version = self._trip
        alike = self._numbering.birth[key] < begun and self._branches == branches
        alike = alike and self._versions.get("global") == version
        return entering.union(lanes) if entering is not None and alike and trip.within(lanes) else lanes

    def load_pair(self, places, values, once: int, lanes) -> None:
        if once not in self._available[-1]:
            self._count_held()
        for value in values:

            def count(lanes, value=value):
                new = self.first_time(once, lanes)
                self.first_time(value.key, lanes)
                if new:
                    self._access(places[0], "load", new, width=2)

            self.originate(value, count, (), lanes, places[0].array.space)
            self._halves[value.key] = value, lanes

    def store(self, place) -> None:
        self._hold(place.key, (place.key,), place.inside, lambda lanes: self._access(place, "store", lanes))

    def store_pair(self, places, key: int, lanes) -> None:
        vain = key, *(place.key for place in places)
        self._hold(key, vain, lanes, lambda new: self._access(places[0], "store", new, width=2))

    def _hold(self, key: int, vain, lanes, count) -> None:
        """Hold a store back, to count it later; drop the store held before if this one overwrites all its lanes."""
        held = self._held
        if held is not None and held[0] in vain and lanes.union(held[1]) is lanes:
            self._held = None
        self._count_held()
        self._held = key, lanes, count

    def flush(self) -> None:
        self._count_held()
        self._near.flush()

    def _count_held(self) -> None:
        if self._held is not None:
            _, lanes, count = self._held
            self._held = None
            count(lanes)

    def untouched(self, place, version: int):
        if place.array.space != "shared":
            return  # arrays in global memory may overlap
        for key, other in list(self._loaded.items()):
            lanes = self.known_to(self._numbering.of(("load", version), key))
            if lanes is None:
                del self._loaded[key]
            elif never_alike(self._numbering, place, other):
                yield key, lanes

    def known_to(self, key: int):
        return next((layer[key][0] for layer in reversed(self._available) if key in layer), None)

    def atomic(self, place, name: str) -> None:
        narrow = place.array.type in (types.int32, types.uint32)
        together = name in TOGETHER and narrow and _one_a_block(place)
        self.counters.access(place.array, "atomic", place.where, place.offset, place.inside, together)

    def barrier(self, blocks: int, mask) -> None:
        self.counters.barriers += blocks
        self.counters.issue(mask)

    def _access(self, place, kind: str, lanes, width=1) -> None:
        """Count an access; an access to a complex number counts as two, one for each part."""
        array = place.array
        if array.space == "shared" and array.dtype.itemsize in MERGED_SIZES and array.dtype.kind != "c":
            self._near.add(place, kind, lanes)
            return
        if array.dtype.kind != "c":
            self.counters.access(array, kind, place.where, place.offset, lanes, width=width)
            return
        part = np.dtype(f"f{array.dtype.itemsize // 2}")
        halves = replace(array, dtype=part, flat=array.flat.view(part), extent=2 * array.extent)
        for which in (0, 1):
            self.counters.access(halves, kind, place.where, 2 * place.offset + which, lanes)

    def _count_access(self, place, kind: str, lanes, width: int) -> None:
        self.counters.access(place.array, kind, place.where, place.offset, lanes, width=width)


def _nothing(lanes) -> None:
    """Count nothing: for values that cost no more than their operands."""


def _one_a_block(place) -> bool:
    """Return whether it is certain that all threads of a block update the same element."""
    return np.ndim(place.offset) == 0 or place.offset.shape[-3:] == (1, 1, 1)
