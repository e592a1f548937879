"""Loads and stores in the ledger: which of them a compiler keeps, and which neighbouring accesses it merges."""

from dataclasses import replace
from functools import reduce

import numpy as np
from numba.core import types

from course_pkg.core.access import BANK_BYTES, WARP
from course_pkg.simt.counting.demands import Demands
from course_pkg.simt.counting.neighbours import MERGED_SIZES, Neighbours, differ_by_constants, never_alike
from course_pkg.simt.counting.selecting import joined, selected
from course_pkg.simt.counting.zeros import Zeros
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.run.lanes import Mask

NOTED = 64  # most elements of global memory that lanes may have in registers
ROW = WARP * BANK_BYTES  # bytes of one row of all banks
TOGETHER = ("add", "sub", "max", "min", "and_", "or_", "xor")  # atomics that one lane does for its whole warp


class Accesses(Demands):
    """Counts the loads and stores that a compiler keeps; its parameters are those of :class:`.Demands`."""

    def __init__(self, counters, numbering, versions):
        super().__init__(counters, numbering, versions)
        self._held: dict[int, tuple] = {}  # stores since the last load: lanes, and how to count them
        self._halves: dict[int, tuple] = {}  # elements that were loaded in pairs: value and lanes
        self._kept: dict = {}  # places in shared and local memory that were loaded or stored
        self._elements: dict = {}  # places in global memory that were loaded or stored
        self._since: dict[tuple, int] = {}  # the state of memory since which an element is the same
        self._sides: dict[tuple, list] = {}  # loads of a branch's sides that wait for those of the other sides
        self._near = Neighbours(numbering, self._count_access)
        self._zeros = Zeros(counters)

    def load(self, place, value):
        half, lanes = self._halves.get(value.key, (None, None))
        if half is not None and not place.inside.minus(lanes):
            return half

        sides = self._sides_of(place)

        def count(lanes):
            if (
                place.astray or place.parts
            ):  # the index of some lanes that use the value may lie outside of the array
                lanes = lanes.narrow(place.inside.full)
            if place.array.space == "global" and not place.parts:
                entering = self._before_the_loop(value.key, lanes)
                if (
                    entering is not lanes
                ):  # the additional lanes have an address, too, but it may lie outside of the array
                    at = place.offset
                    lanes = lanes.union(entering.narrow((at >= 0) & (at < place.array.flat.size)))
                elif place.inside is not None:
                    lanes = lanes.narrow(place.inside.full)
            if sides and lanes and not place.parts:
                self._one_side(sides, place, value.key, lanes)
                return
            new = self.first_time(value.key, lanes) if lanes else lanes
            if new:
                self._access(place, "load", new)

        if value.key not in self._available[-1]:
            self._count_held()
        self._keep(place)
        self._note(place)
        self._read(place)
        space = place.array.space
        self.originate(value, count, (), place.inside, space, at_once=space != "global")
        return value

    def _before_the_loop(self, key: int, lanes):
        """Return the lanes that do a load: all that enter the loop, if each trip certainly does the same load."""
        if self._trip is None or not lanes:
            return lanes
        trip, branches, entering, begun, version = self._trip
        alike = self._numbering.birth[key] < begun and self._branches == branches
        alike = alike and self._versions.get("global") == version
        return entering.union(lanes) if entering is not None and alike and trip.within(lanes) else lanes

    def _sides_of(self, place):
        """Return the group of loads of which this load is one, in this run of its branch; None if it is alone."""
        found = selected(place.program).get(place.node) if place.program is not None else None
        return None if found is None else (*found, self._opened.get(found[0], 0))

    def _one_side(self, sides: tuple, place, key: int, lanes) -> None:
        """Count a load together with those of the other sides; nobody keeps the element, which the other lanes lack."""
        known = self.known_to(key)
        new = lanes if known is None else lanes.minus(known)
        if not new:
            return
        waiting = self._sides.setdefault(sides, [])
        waiting.append((place, new))
        if len(waiting) == sides[2]:
            self._count_sides(sides)

    def _count_sides(self, sides: tuple) -> None:
        for place, lanes in joined(self._sides.pop(sides)):
            self._access(place, "load", lanes)

    def opens(self, branch: tuple) -> None:
        for sides in [one for one in self._sides if one[0] == branch]:
            self._count_sides(sides)
        self._opened[branch] = self._opened.get(branch, 0) + 1

    def finish(self) -> None:
        super().finish()
        for sides in list(self._sides):
            self._count_sides(sides)
        self.flush()

    def load_pair(self, places, values, once: int, lanes) -> None:
        if once not in self._available[-1]:
            self._count_held()
        for value in values:

            def count(lanes, value=value):
                new = self.first_time(once, lanes)
                self.first_time(value.key, lanes)
                if new:
                    self._access(places[0], "load", new, width=2)

            self._read(places[0])
            self.originate(value, count, (), lanes, places[0].array.space, at_once=True)
            self._halves[value.key] = value, lanes

    def local_array(self, array, where, lanes, alive) -> None:
        self._zeros.begin(array, where, lanes, alive)

    def _read(self, place) -> None:
        for part in place.parts or (place,):
            if part.array.space == "local":
                self._zeros.load(part.array)

    def _keep(self, place) -> None:
        """Note an element of shared or local memory that lanes have in a register."""
        if place.array.space in ("shared", "local") and not place.parts:
            self._kept[place.key] = place

    def store(self, place) -> None:
        self._keep(place)
        if place.array.space == "local" and not place.parts:
            self._zeros.store(place)
        self._hold(place.key, (place.key,), place.inside, lambda lanes: self._access(place, "store", lanes))

    def store_pair(self, places, key: int, lanes) -> None:
        vain = key, *(place.key for place in places)
        self._hold(key, vain, lanes, lambda new: self._access(places[0], "store", new, width=2))

    def _hold(self, key: int, vain, lanes, count) -> None:
        """Hold a store back, to count it later; drop a store held before if this one overwrites all its lanes."""
        for name in vain:
            if name in self._held and lanes.union(self._held[name][0]) is lanes:
                del self._held[name]
        if key in self._held:
            self._count_held()
        self._held[key] = lanes, count

    def flush(self) -> None:
        self._count_held()
        self._near.flush()

    def _count_held(self) -> None:
        held, self._held = self._held, {}
        for lanes, count in held.values():
            count(lanes)

    def untouched(self, place, version: int):
        own = place.array.space
        alone = own in ("shared", "local") and not place.parts
        for key, other in list(self._kept.items()) if alone else ():
            if other.array.space != own or key == place.key:
                continue
            lanes = self.known_to(self._numbering.of(("load", version), key))
            if lanes is None:
                del self._kept[key]
            elif (
                other.array.region is not place.array.region
                if own == "local"
                else never_alike(self._numbering, place, other)
            ):
                yield key, lanes

    def since(self, key: int, version: int) -> int:
        return self._since.get((key, version), version)

    def stored(self, place, version: int) -> None:
        if place.array.space != "global":
            return
        now = self._versions["global"]
        for key, other in list(self._elements.items()):
            if differ_by_constants(place, other):
                self._since[key, now] = self.since(key, version)
            else:
                del self._elements[key]
        self._note(place)

    def joined(self, ends) -> None:
        ends = [(lanes, version) for lanes, version in ends if lanes]
        now = self._versions["global"]
        for key in self._elements if ends else ():
            states = [self.since(key, version) for _, version in ends]
            if len(set(states)) == 1:
                self._since[key, now] = states[0]
                continue
            known = [self.known_to(self._numbering.of(("load", state), key)) for state in states]
            if all(
                one is not None and lanes.within(one) for one, (lanes, _) in zip(known, ends, strict=True)
            ):
                self.holds(
                    self._numbering.of(("load", now), key), reduce(Mask.union, (lanes for lanes, _ in ends))
                )

    def _note(self, place) -> None:
        """Note an element of global memory that lanes may have in a register; if there are too many, drop the first."""
        written = any(part.array.region.written for part in place.parts or (place,))
        if place.array.space == "global" and written:
            self._elements[place.key] = place
            if len(self._elements) > NOTED:
                del self._elements[next(iter(self._elements))]

    def several(self, space: str, kind: str, function: str, line: int) -> None:
        self.counters.mixed.add((space, kind, SourceLine(function, line)))

    def atomic(self, place, name: str, behind=None) -> None:
        narrow = place.array.type in (types.int32, types.uint32)
        together = name in TOGETHER and narrow and _one_a_block(place)
        self.counters.access(
            place.array, "atomic", place.where, place.offset, place.inside, together, behind=behind
        )

    def _access(self, place, kind: str, lanes, width=1) -> None:
        """Count an access; one to a complex number outside of shared memory counts as two, one for each part."""
        if place.parts:
            self._of_choice(place, kind, lanes)
            return
        array = place.array
        if array.space == "shared" and array.dtype.itemsize in MERGED_SIZES and array.dtype.kind != "c":
            self._near.add(place, kind, lanes)
            return
        self._of_array(place, kind, lanes, width)

    def _of_choice(self, place, kind: str, lanes) -> None:
        """Count one access to arrays that differ between threads: a warp makes one request to each memory."""
        behind: dict = {}  # the lanes that are done, by memory
        ways = [(part, lanes.narrow(part.lanes.full)) for part in place.parts]
        ways = [(part, own) for part, own in ways if own]
        tiles = [one for one in ways if one[0].array.space == "shared" and one[0].array.dtype.kind != "c"]
        for part, own in ways:
            space, banks = part.array.space, None
            if len(tiles) > 1 and (part, own) in tiles:
                banks = _side_by_side(tiles) if part is tiles[-1][0] else ()
            self._of_array(part, kind, own, 1, behind.get(space), banks)
            behind[space] = own.union(behind[space]) if space in behind else own
        arrays = [part.array for part in place.parts]
        spaces = {array.space for array in arrays}
        if len(spaces) > 1 or "local" in spaces or len({a.region.number for a in arrays}) < len(arrays):
            self.counters.mixed |= {(space, kind, place.where) for space in spaces if len(arrays) > 1}

    def _of_array(self, place, kind: str, lanes, width: int, behind=None, banks=None) -> None:
        array = place.array
        if array.packed and array.space == "global":
            self._bytewise(place, kind, lanes, width, behind)
            return
        if array.dtype.kind != "c":
            self.counters.access(
                array, kind, place.where, place.offset, lanes, width=width, behind=behind, banks=banks
            )
            return
        part = np.dtype(f"f{array.dtype.itemsize // 2}")
        halves = replace(array, dtype=part, flat=array.flat.view(part), extent=2 * array.extent)
        if (
            array.space == "shared" and array.byte0 % array.dtype.itemsize == 0
        ):  # its address is known to be a multiple
            self.counters.access(halves, kind, place.where, 2 * place.offset, lanes, width=2, behind=behind)
            return
        for which in (0, 1):
            at = 2 * place.offset + which
            self.counters.access(halves, kind, place.where, at, lanes, behind=behind)

    def _bytewise(self, place, kind: str, lanes, width: int, behind) -> None:
        """Count an access to a field whose address no compiler knows to be a multiple of its size."""
        array, size = place.array, place.array.dtype.itemsize
        part = np.dtype(np.uint8)
        each = replace(array, dtype=part, flat=array.flat.view(part), extent=size * array.extent)
        for which in range(size * width):
            at = size * place.offset + which
            self.counters.access(each, kind, place.where, at, lanes, behind=behind)

    def _count_access(self, place, kind: str, lanes, width: int) -> None:
        self.counters.access(place.array, kind, place.where, place.offset, lanes, width=width)


def _side_by_side(tiles: list) -> tuple:
    """Return where the elements of several tiles lie, as if these were one array, and the lanes that touch one.

    Each tile begins in the first bank, as in a kernel whose tiles fill whole rows of banks.
    """
    base, at, lanes = 0, 0, tiles[0][1].minus(tiles[0][1])
    for part, own in tiles:
        at = np.where(own.full, base + part.offset, at)
        lanes = lanes.union(own)
        base += -(-part.array.extent * part.array.dtype.itemsize // ROW) * ROW // part.array.dtype.itemsize
    return at, lanes


def _one_a_block(place) -> bool:
    """Return whether it is certain that all threads of a block update the same element."""
    return np.ndim(place.offset) == 0 or place.offset.shape[-3:] == (1, 1, 1)
