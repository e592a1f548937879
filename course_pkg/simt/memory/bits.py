"""Bits: each bit of an integer may be a lock or a flag of its own.

A thread that sets one bit of a word by an atomic, and looks at this bit alone, learns nothing about the other bits. So
each bit that an atomic sets, clears or flips by itself has a history of its own: the atomics that have changed it,
whatever they were. A thread has learnt of them if it would have taken another branch with the other value of this bit.
"""

import numpy as np

from course_pkg.simt.memory.order import Order
from course_pkg.simt.memory.publications import Element, Publication, Sight

BITS = ("or_", "and_", "xor")


class Bits:
    """The histories of single bits, in a kernel with fences.

    Parameters
    ----------
    order : Order
    known_to : callable
        Returns the clocks of what a thread knows.
    """

    def __init__(self, order: Order, known_to):
        self._order, self._known_to = order, known_to
        self._parts: dict[tuple, dict[int, Element]] = {}

    def atomics(
        self, name: str, elements: dict, region, units, threads, stamps, before, after, operands, clock_of
    ):
        """Note atomics in the order in which they are done, before their elements note them.

        Parameters
        ----------
        name : str
            Name of the operation.
        elements : dict
            The elements with their publications so far, by region and unit.
        region : Region
        units, threads, stamps, before, after, operands : ndarray
        clock_of : callable
            Returns the clock that an atomic of the lane publishes; it takes the lane's position in these arrays.

        Returns
        -------
        sights : dict of int to Sight
            What each thread may learn about its bit.
        worlds : ndarray
            What each atomic would have found with the other value of its bit.
        """
        own = {"or_": operands, "xor": operands, "and_": ~operands}.get(name, np.zeros_like(operands))
        own = np.where((own & (own - own.dtype.type(1))) == 0, own, 0).astype(own.dtype)
        sights: dict[int, Sight] = {}
        if not own.any() and not self._parts:
            return sights, before
        ones = (1 << 8 * own.dtype.itemsize) - 1
        each = (one.tolist() for one in (units, threads, stamps, own, before, after))
        for lane, (unit, thread, stamp, bit, old, new) in enumerate(zip(*each, strict=True)):
            parts = self._parts_of(elements, region, unit, old, ones, bool(bit))
            if parts is None:
                continue
            mine, flipped = self._part(parts, region, unit, bit & ones), (old ^ new) & ones
            clocks = self._known_to(thread)
            until, known = len(mine.published), mine.known_to(self._order, thread, stamp, clocks)
            clocks = (clock_of(lane), *clocks) if flipped else ()
            self._publish(parts, region, unit, flipped, old & ones, (thread, stamp), clocks)
            if bit:
                found, left = old & bit & ones, new & bit & ones
                sight = Sight(mine, known, until, len(mine.published), found, left)
                sight.otherwise = [found ^ bit & ones]
                sights[thread] = sight
        return sights, before ^ own

    def _parts_of(self, elements, region, unit: int, now: int, ones: int, begins: bool):
        """Return the bits of an element; the first operation on a single bit begins their histories."""
        parts = self._parts.get((region, unit))
        if parts is None and begins:
            parts = self._parts[region, unit] = {}
            element = elements.get((region, unit))
            published = element.published if element else []
            values = [*(int(p.before) for p in published), now]
            for one, old, new in zip(published, values, values[1:], strict=False):
                flips, who = (old ^ new) & ones, (one.thread, one.stamp)
                self._publish(parts, region, unit, flips, old & ones, who, one.clocks)
        return parts

    def _part(self, parts, region, unit: int, bit: int) -> Element:
        return parts.setdefault(bit, Element((region, unit, bit)))

    def _publish(self, parts, region, unit: int, flipped: int, old: int, who: tuple, clocks: tuple) -> None:
        """Append a publication to the history of each bit that an atomic has flipped."""
        while flipped:
            bit = flipped & -flipped
            flipped ^= bit
            part = self._part(parts, region, unit, bit)
            known = part.known_to(self._order, *who, clocks)
            part.publish(Publication(*who, old & bit, 0, clocks, known, part.only_of(who[0], known)))
