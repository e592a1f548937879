"""What a thread publishes by an atomic, and what another thread knows once it has learnt of it."""

from dataclasses import dataclass, field
from typing import Any

from course_pkg.simt.memory.clocks import join, knows
from course_pkg.simt.memory.order import BLOCK_SHIFT, Order

# the values that an atomic might have found: four values at earlier times, and three values without one publication
WORLDS = 7


@dataclass(eq=False)
class Publication:
    """An atomic that changed an element and so published what its thread had fenced.

    Attributes
    ----------
    thread, stamp : int
        The thread, and the time of its atomic (:mod:`.order`).
    before : number
        The value of the element before the atomic. If the element held nothing before, the value after the atomic.
    flipped : int
        The bits that the atomic changed, if it is a bitwise operation; 0 otherwise.
    clocks : tuple of dict
        What a thread knows once it has learnt of this publication.
    known : int
        How many of the element's earlier publications the thread knew.
    after_all : bool
        Whether the thread knew all earlier publications of the element, its own included.
    added : int
        What it has added to the element; 0 if it is not an addition.
    swaps : bool
        Whether it is a compare-and-swap, which publishes nothing if it finds another number.
    needed : int
        If it is one: how many of the element's earlier publications must have come before it.
    noticed : dict
        Numbers that the atomic might have found instead, and for each of them whether the thread would then have taken
        another branch.
    """

    thread: int
    stamp: int
    before: Any
    flipped: int
    clocks: tuple
    known: int
    after_all: bool
    added: int = 0
    swaps: bool = False
    needed: int = 0
    noticed: dict = field(default_factory=dict)

    def comes_behind(self, number: int) -> bool:
        """Tell whether the publication came behind another one, given by its number, in every order."""
        return max(self.known, self.needed) > number

    def notices(self, number) -> bool:
        """Tell whether the thread would have taken another branch if its atomic had found this number."""
        known = self.noticed.get(number)
        return bool(self.noticed) and all(self.noticed.values()) if known is None else known


@dataclass(eq=False)
class Element:
    """An integer that atomics have changed, in a kernel with fences.

    Attributes
    ----------
    name : tuple
    published : list of Publication
    run : int
        All publications from this number on are by the thread that published last.
    joined : tuple
        ``(n, clock)``: the joined clocks of the first ``n`` publications.
    passed : dict
        For each block, ``(b, n)``: after ``b`` of its barriers, its threads know the first ``n`` publications by these.
    """

    name: tuple
    published: list[Publication] = field(default_factory=list)
    run: int = 0
    joined: tuple[int, dict] = (0, {})
    passed: dict[int, tuple[int, int]] = field(default_factory=dict)

    def publish(self, publication: Publication) -> None:
        """Append a publication."""
        if self.published and self.published[-1].thread != publication.thread:
            self.run = len(self.published)
        self.published.append(publication)

    def known_to(self, order: Order, thread: int, stamp: int, clocks) -> int:
        """Return how many publications came before a thread's atomic in every order: it knows them, or by barriers."""
        known = max((clock.get(("element", *self.name), 0) for clock in clocks), default=0)
        known = max(known, self._by_barriers(thread // order.threads_per_block, stamp >> BLOCK_SHIFT, order))
        while known < len(self.published):
            one = self.published[known]
            known_of = order.precedes(one.thread, one.stamp, thread, stamp)
            if not known_of and not knows(order, one.thread, one.stamp, thread, clocks):
                break
            known += 1
        return known

    def _by_barriers(self, block: int, barriers: int, order: Order) -> int:
        """Return how many publications the threads of a block know by its barriers alone, once so many have passed.

        All threads of the block share the answer: each looking for itself would take the square of their number.
        """
        before, known = self.passed.get(block, (0, 0))
        if barriers > before:
            while known < len(self.published):
                one = self.published[known]
                if one.thread // order.threads_per_block != block or one.stamp >> BLOCK_SHIFT >= barriers:
                    break
                known += 1
            self.passed[block] = barriers, known
        return known if barriers >= before else 0

    def only_of(self, thread: int, known: int) -> bool:
        """Tell whether all publications from number ``known`` on are by ``thread``."""
        return known >= len(self.published) or (self.run <= known and self.published[-1].thread == thread)

    def surely_before(self, sight: "Sight", thread: int) -> int:
        """Return how many publications came before a thread's atomic in every order in which it finds what it found.

        The element may have held the same number before an earlier publication. Then the atomic may have come before
        that publication. It cannot have come there if it changed the element, and the thread of that publication would
        have noticed this change: so it is with a lock, which one thread takes after the other.
        """
        sure = sight.until
        for at in range(sight.until - 1, sight.known - 1, -1):
            one = self.published[at]
            if one.thread == thread:  # a thread's own atomics are in order
                break
            if one.before == sight.found and (sight.left == sight.found or not one.notices(sight.left)):
                sure = at
        return sure

    def irreplaceable(self, sight: "Sight", sure: int) -> int:
        """Return how many publications, ``sure`` at most, came before a thread's atomic whatever others add, and when.

        An addition that came later in this run might have come earlier in place of an equal one, unless its thread
        knew of that. Then the atomic would have found the same number: the second of three threads does not know
        which of the others was the first.
        """
        later: dict[int, list] = {}
        for one in self.published[sight.after :]:
            later.setdefault(one.added, []).append(one)
        later.pop(0, None)
        for at in range(sight.known, sure) if later else ():
            mine = self.published[at]
            if any(one.known <= at and one.thread != mine.thread for one in later.get(mine.added, ())):
                return at
        return sure

    def clock(self, until: int) -> dict:
        """Return the joined clocks of the first ``until`` publications."""
        done, clock = self.joined
        if done > until:
            done, clock = 0, {}
        if done < until:
            clock = dict(clock)
            for publication in self.published[done:until]:
                for other in publication.clocks:
                    join(clock, other)
            self.joined = until, clock
        return clock


@dataclass(eq=False)
class Sight:
    """What a thread may learn from one of its atomics: publications number ``known`` to ``until - 1`` of the element.

    Attributes
    ----------
    element : Element
    known : int
        Number of publications that the thread knew before.
    until : int
        Number of publications before the atomic.
    after : int
        Number of publications after the atomic, which may have published something itself.
    found, left : number
        What the atomic found, and what it left.
    otherwise : list
        Numbers that the atomic might have found instead, one for each world.
    """

    element: Element
    known: int
    until: int
    after: int
    found: Any
    left: Any
    otherwise: list = field(default_factory=list)

    def clock(self, sure: int) -> dict:
        """Return what the thread knows if it has learnt of the first ``sure`` publications."""
        after = self.after if sure == self.until else sure
        return {**self.element.clock(sure), ("element", *self.element.name): after}

    def needs(self, sure: int) -> None:
        """Note that the first ``sure`` publications must have come before the atomic, if it is a swap."""
        mine = self.element.published[self.until] if self.after > self.until else None
        if mine is not None and mine.swaps:
            mine.needed = max(mine.needed, sure)

    def decides(self, worlds: list) -> None:
        """Note in which worlds the thread would have taken another branch."""
        if self.after > self.until:
            noticed = self.element.published[self.until].noticed
            for number, other in zip(self.otherwise, worlds, strict=False):
                if number != self.found:
                    noticed[number] = noticed.get(number, False) or other


def last_of_another(published: list, until: int, thread: int) -> Publication:
    """Return the last publication by another thread among the first ``until``; if there is none, simply the last."""
    at = until - 1
    while at and published[at].thread == thread:
        at -= 1
    return published[at if published[at].thread != thread else until - 1]
