"""Threads that give way to each other: each exchanges the number that tells whose turn it is, and waits for another.

In Peterson's lock, each of two threads raises a flag, exchanges the turn, and then waits while the other one's flag is
up and the turn is as it has left it. Nothing orders the two exchanges, and each may come first; but whoever comes last
knows, behind its next fence, what the other one had fenced before its exchange. What holds if they come in the other
order, another launch shows, in which the first one is late (:mod:`course_pkg.simt.run.late`).

Numbers that threads exchange in no order are a race otherwise, because the last one stays. So it is one here unless
one of these threads looks at the number later, in some order of the threads, and hand-overs put other accesses of
theirs in order.
"""

from dataclasses import dataclass, field


class Yielding:
    """The exchanges of a launch in which threads may give way to each other."""

    def __init__(self):
        self._pairs: list[tuple] = []  # (element, threads, hazard)
        self._put: dict[tuple, tuple] = {}  # {element: (thread, number, clocks) of the last exchange}
        self._looked: set[tuple] = set()  # (element, thread)
        self._ordered: set[frozenset] = set()  # threads
        self._due: dict[
            int, tuple
        ] = {}  # {thread: (its fences at its exchange, what it knows behind the next one)}

    def note(self, element: tuple, threads: frozenset, hazard) -> None:
        """Note two threads that exchange different numbers in no order; ``hazard``: what to report of that."""
        self._pairs.append((element, threads, hazard))

    def __bool__(self):
        return bool(self._pairs)

    def looked(self, reads: list) -> None:
        """Note pairs of an element and a thread whose branch depends on what it has found there."""
        self._looked.update(reads)

    def ordered(self, pairs) -> None:
        """Note pairs of threads whose accesses are in order by hand-overs."""
        self._ordered.update(map(frozenset, pairs))

    def put(self, element, thread: int, fences: int, number, clocks: tuple) -> None:
        """Note an exchange whose result nobody uses; ``clocks``: what its thread has fenced and knows."""
        whose, last, known = self._put.get(element.name, (thread, number, ()))
        if whose != thread and last != number:
            self._due[thread] = fences, (*known, {("element", *element.name): len(element.published)})
        self._put[element.name] = thread, number, clocks

    def known(self, thread: int, fences: int) -> tuple:
        """Return clocks of what a thread knows since the fence behind its exchange, if it has come to that fence."""
        if thread in self._due and fences > self._due[thread][0]:
            return self._due.pop(thread)[1]
        return ()

    def settle(self, known: dict) -> None:
        """Add to what is known of this launch in other orders: who has looked at a number, and who is in order.

        ``known`` has a :class:`Pair` for each array, index and pair of threads.
        """
        for element, threads, hazard in self._pairs:
            pair = known.setdefault((hazard.array, hazard.index, threads), Pair(hazard, threads))
            pair.looked |= {thread for thread in threads if (element, thread) in self._looked}
            pair.in_order |= threads in self._ordered


@dataclass
class Pair:
    """Two threads that exchange different numbers in no order, in all launches so far."""

    hazard: object
    threads: frozenset
    looked: set = field(default_factory=set)
    in_order: bool = False

    @property
    def races(self) -> bool:
        """Whether they do not give way to each other."""
        return not (self.in_order and self.looked)
