"""Threads that give way to each other: each exchanges the number that tells whose turn it is, and waits for another.

In Peterson's lock, each of two threads raises a flag, exchanges the turn, and then waits while the other one's flag is
up and the turn is as it has left it. Nothing orders the two exchanges, and each may come first; but whoever comes last
knows, behind its next fence, what the other one had fenced before its exchange. What holds if they come in the other
order, another launch shows, in which the first one is late (:mod:`course_pkg.simt.run.late`).

Numbers that threads exchange in no order are a race otherwise, because the last one stays. So it is one here unless
these threads look at the number later, and hand-overs put other accesses of theirs in order.
"""


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

    def races(self, accepted: set) -> list:
        """Return what to report of threads that do not give way to each other.

        ``accepted``: the lines in which all threads do so in the first launch. They need not do so in other
        orders of the threads. If it is empty, this is the first one, which fills it.
        """
        open_ = [
            hazard
            for element, threads, hazard in self._pairs
            if _line(hazard) not in accepted
            and not (
                threads in self._ordered and all((element, thread) in self._looked for thread in threads)
            )
        ]
        raced = {_line(hazard) for hazard in open_}
        accepted |= {_line(hazard) for *_, hazard in self._pairs} - raced
        return open_


def _line(hazard) -> tuple:
    return hazard.function, hazard.line
