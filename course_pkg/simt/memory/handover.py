"""Hand-overs: what a thread knows of others because it saw what an atomic of theirs left behind.

A fence makes what a thread did so far ready to be published; its next atomic that changes an integer publishes it with
the value that it leaves there. An atomic that finds this value *may* tell its thread so. It does tell when the thread
then goes another way than it would have gone before the publication: that is what a ticket, a lock or a flag is for.
Who goes the same way in both cases has learnt nothing. A barrier spreads what one thread knows to those who pass it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.memory.fences import OWN, Fences
from course_pkg.simt.memory.order import BLOCK_SHIFT, FIELD_OF_ONES, SITES, WARP_SHIFT, Order, thread_of
from course_pkg.simt.memory.warp_order import LANES

WORLDS = 7  # what an atomic might have found: at four earlier times, and without one of three publications
LAST = 3  # the world before the last publication
BITS = ("or_", "and_", "xor")
ANYBODY = -1  # no thread's number: an atomic of any thread


@dataclass(eq=False)
class Publication:
    """A thread's atomic, after a fence.

    Attributes
    ----------
    thread : int
    before : number
        What the element held before.
    flipped : int
        The bits that it changed, if its operation is one of bits: others came to the element on their own.
    clocks : tuple of dict
        What is known to who sees it.
    known : int
        So many of the element's publications were known to the thread.
    after_all : bool
        Whether all earlier ones were known to it, or its own.
    """

    thread: int
    before: Any
    flipped: int
    clocks: tuple
    known: int
    after_all: bool


@dataclass(eq=False)
class Element:
    """An integer that atomics have changed since the first fence of the launch."""

    name: tuple
    published: list[Publication] = field(default_factory=list)
    joined: tuple[int, dict] = (0, {})

    def clock(self, until: int) -> dict:
        """Return what the first so many publications tell together."""
        done, clock = self.joined
        if done > until:
            done, clock = 0, {}
        if done < until:
            clock = dict(clock)
            for publication in self.published[done:until]:
                for other in publication.clocks:
                    _join(clock, other)
            self.joined = until, clock
        return clock


@dataclass(eq=False)
class Sight:
    """What an atomic may tell its thread: of an element's publications those until it, ``after`` with its own.

    The first ``known`` were known to the thread before.
    """

    element: Element
    known: int
    until: int
    after: int

    def clock(self) -> dict:
        """Return what it tells, when it tells all."""
        return {**self.element.clock(self.until), ("element", *self.element.name): self.after}


class Handovers:
    """Who published what in a launch, and who knows of it.

    Attributes
    ----------
    active : bool
        Whether anybody has passed a fence yet: without one, nothing is ever handed over.
    """

    def __init__(self, threads_per_block: int):
        self.order = Order(threads_per_block)
        self.active = False
        self._elements: dict[tuple, Element] = {}
        self._pending: list[dict] = []  # for each atomic statement that ran: what its threads may learn
        self._knowledge: dict[tuple, dict] = {}

    def _known_to(self, thread: int) -> list[dict]:
        block, warp = thread // self.order.threads_per_block, self.order.warp_of(thread)
        keys = ("thread", thread), ("warp", warp), ("block", block)
        return [self._knowledge[k] for k in keys if k in self._knowledge]

    def atomics(
        self, name: str, region, units, threads, before, after, otherwise, fences: Fences, rows, lanes
    ) -> int:
        """Note atomics in the order in which they are done; return the number of this event, for :meth:`learn`.

        Parameters
        ----------
        name : str
            Of the operation.
        region : Region
        units, threads, before, after, rows, lanes : ndarray
            Element, thread, value found and left, and the thread's place in the wave.
        otherwise : ndarray, shape (WORLDS, lanes)
            Filled with what the element held before the first publication that its thread does not know of, before the
            second, before one in the middle, and before the last of another thread; then with what it would hold
            without the first, the second, and that in the middle. Left as it is where there is no publication.
        """
        pending: dict = {}
        self._pending.append(pending)
        each = zip(units.tolist(), threads.tolist(), rows.tolist(), lanes.tolist(), strict=True)
        for i, (unit, thread, row, lane) in enumerate(each):
            element = self._elements.setdefault((region, unit), Element((region, unit)))
            published = element.published
            until = len(published)
            clocks = self._known_to(thread)
            known = max((c.get(("element", *element.name), 0) for c in clocks), default=0)
            if until > known:
                some = [published[at] for at in (known, min(known + 1, until - 1), (known + until) // 2)]
                times = *some, _last_of_another(published, until, thread)
                without = (before[i] ^ p.flipped if p.flipped else p.before for p in some)
                otherwise[:, i] = *(p.before for p in times), *without
            if before[i] != after[i]:
                after_all = all(p.thread == thread for p in published[known:])
                clocks = fences.clock(thread, row, lane, self.order), *clocks
                flipped = before[i] ^ after[i] if name in BITS else 0
                published.append(Publication(thread, before[i], flipped, clocks, known, after_all))
            pending[thread] = Sight(element, known, until, len(published))
        return len(self._pending) - 1

    def learn(self, threads, decided, by, events) -> None:
        """Note that threads went another way because of what atomics found.

        Parameters
        ----------
        threads : ndarray of int64
        decided : ndarray of bool, shape (WORLDS, threads)
            Whether they would have gone another way at each of the earlier times.
        by : ndarray of int64
            The thread whose atomic it was; ``ANYBODY``: their own, or those of their block.
        events : iterable of int
            The atomics that the decision rests on.
        """
        per_block = self.order.threads_per_block
        some = decided.any(axis=0)
        threads, decided, by = threads[some], decided[:, some], by[some]
        for event in events if some.any() else ():
            pending = self._pending[event]
            of_block: dict = {}
            for thread, seen in pending.items():
                of_block.setdefault(thread // per_block, []).append(seen)
            each = zip(threads.tolist(), by.tolist(), decided.T.tolist(), strict=True)
            for thread, source, worlds in each:
                if source != ANYBODY:
                    told = [pending[source]] if source in pending else ()
                else:
                    told = [pending[thread]] if thread in pending else of_block.get(thread // per_block, ())
                for sight in told:
                    self._tell(thread, source, sight, worlds)

    def _tell(self, thread, source, sight, worlds) -> None:
        """Let a thread know what its way proves: all publications, or those that all others wait for.

        If each of the earlier times would have led another way, all publications were needed. If only the last one was
        needed, or only the first one, then it is *this* one in every order of the threads only if they had no choice:
        the thread of the last one knew all others, or those of all others knew the first one.
        """
        published, until, known = sight.element.published, sight.until, sight.known
        if until <= known:
            return
        first, last = (
            published[known],
            _last_of_another(published, until, thread if source == ANYBODY else source),
        )
        if all(worlds):
            clocks = (sight.clock(),)
        elif worlds[LAST] and last.after_all:
            clocks = *last.clocks, {("element", *sight.element.name): sight.after}
        elif worlds[0] and all(
            p.known > known or p.thread == first.thread for p in published[known + 1 : until]
        ):
            clocks = first.clocks
        else:
            return
        for clock in clocks:
            known = self._knowledge.get(("thread", thread))
            if known is None:
                self._knowledge["thread", thread] = clock
            elif known is not clock:
                self._knowledge["thread", thread] = known = dict(known)
                _join(known, clock)

    def spread(self, blocks, of_warp=False) -> None:
        """Let the threads of blocks, or of warps, know what one of them knows: they pass a barrier."""
        if not self._knowledge:
            return
        groups = set(blocks.tolist())
        level = "warp" if of_warp else "block"
        for kind, number in [k for k in self._knowledge if k[0] != level]:
            if kind == "thread":
                block, warp = number // self.order.threads_per_block, self.order.warp_of(number)
                group = warp if of_warp else block
            elif of_warp:
                continue
            else:
                group = number // self.order.warps
            if group in groups:
                clock = self._knowledge.pop((kind, number))
                known = dict(self._knowledge.get((level, group), ()))
                _join(known, clock)
                self._knowledge[level, group] = known

    def spread_among(self, threads: list) -> None:
        """Let threads of one warp know what one of them knows: they pass a barrier that names them alone."""
        clocks = [
            self._knowledge[k] for k in (("thread", thread) for thread in threads) if k in self._knowledge
        ]
        if clocks and len(threads) > 1:
            together: dict = {}
            for clock in clocks:
                _join(together, clock)
            self._knowledge.update({("thread", thread): together for thread in threads})

    def known(self, entry, stamp, mine, clash):
        """Tell which lanes know of an earlier access, of those that clash with it."""
        found = np.zeros(len(clash), bool)
        if self._knowledge:
            answers: dict = {}
            for i in np.flatnonzero(clash).tolist():
                question = int(entry[i]) // SITES, int(stamp[i]), int(mine[i]) // SITES
                if question not in answers:
                    answers[question] = self._knows(*question)
                found[i] = answers[question]
        return found

    def _knows(self, thread: int, stamp: int, me: int) -> bool:
        per_block = self.order.threads_per_block
        block, fences = thread // per_block, stamp & FIELD_OF_ONES
        for clock in self._known_to(me):
            met = clock.get(("met", block))
            if (
                self._in_clock(clock, "", thread, stamp)
                or clock.get(("block", block), 0) > stamp >> BLOCK_SHIFT
                or (met is not None and met[thread % per_block] > fences)
                or (block == me // per_block and self._in_clock(clock, OWN, thread, stamp))
            ):
                return True
        return False

    def _in_clock(self, clock: dict, whom: str, thread: int, stamp: int) -> bool:
        """Tell whether a clock holds a thread's access, as its own or as one of its warp."""
        warp, tick = self.order.warp_of(thread), stamp >> WARP_SHIFT
        lanes = clock.get((f"{whom}lanes", warp))
        return (
            clock.get((f"{whom}thread", thread), 0) > stamp & FIELD_OF_ONES
            or clock.get((f"{whom}warp", warp), 0) > tick
            or (lanes is not None and lanes[thread % self.order.threads_per_block % LANES] > tick)
        )

    def saw_the_last(self, region, units, mine, clash):
        """Tell which lanes know of all atomics that changed an element so far."""
        found = np.zeros(len(clash), bool)
        for i in np.flatnonzero(clash).tolist():
            name = region, int(units[i])
            element = self._elements.get(name)
            clocks = self._known_to(int(thread_of(mine[i]))) if element else ()
            found[i] = any(c.get(("element", *name), -1) >= len(element.published) for c in clocks)
        return found


def _last_of_another(published: list, until: int, thread: int) -> Publication:
    """Return the last of the first publications that is another thread's; the last of all where there is none."""
    at = until - 1
    while at and published[at].thread == thread:
        at -= 1
    return published[at if published[at].thread != thread else until - 1]


def _join(clock: dict, other: dict) -> None:
    """Let a clock know what another one knows."""
    for key, value in other.items():
        mine = clock.get(key)
        if isinstance(value, np.ndarray) and mine is not None:
            value = np.maximum(mine, value)
        elif mine is not None and mine > value:
            value = mine
        clock[key] = value
