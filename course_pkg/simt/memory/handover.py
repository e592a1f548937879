"""Hand-overs: what a thread knows of others because it saw what an atomic of theirs left behind.

A fence makes what a thread did so far ready to be published; its next atomic that changes an integer publishes it with
the value that it leaves there. An atomic that finds this value *may* tell its thread so. It does tell when the thread
then goes another way than it would have gone before the publication: that is what a ticket, a lock or a flag is for.
Who goes the same way in both cases has learnt nothing. A barrier spreads what one thread knows to those who pass it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.memory.order import BLOCK_SHIFT, FIELD_OF_ONES, SITES, WARP_SHIFT, Order, thread_of
from course_pkg.simt.memory.warp_order import LANES


WORLDS = 4  # earlier times at which an atomic might have been done
ANYBODY = -1  # no thread's number: an atomic of any thread


@dataclass(eq=False)
class Publication:
    """A thread's atomic, after a fence.

    Attributes
    ----------
    thread : int
    before : number
        What the element held before.
    clocks : tuple of dict
        What is known to who sees it.
    known : int
        So many of the element's publications were known to the thread.
    after_all : bool
        Whether all earlier ones were known to it, or its own.
    """

    thread: int
    before: Any
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


class Fences:
    """What the threads of a wave have fenced, shape (blocks, threads_per_block).

    Attributes
    ----------
    count : ndarray of int64
        Fences that each thread has passed.
    ready, ready_block : ndarray of int64
        Accesses with fewer fences before them are ready to be published to the device, and to the block.
    stamp : ndarray of int64
        When the last fence for the device was.
    met : ndarray of int64
        ``ready`` at the block's last barrier.
    lanes : ndarray of int64, shape (blocks, threads_per_block, 32), or None
        Up to when each thread was in order with its warp's lanes at that fence, once these have clocks of their own.
    """

    def __init__(self, wave):
        shape = wave.blocks, wave.threads_per_block
        self.count, self.ready, self.ready_block, self.stamp, self.met = np.zeros((5, *shape), np.int64)
        self.lanes = None

    def fence(self, lanes, stamps, for_device: bool, seen=None) -> None:
        """Let lanes pass a fence; bool, shape (blocks, threads_per_block)."""
        self.count[lanes] += 1
        self.ready_block[lanes] = self.count[lanes]
        if for_device:
            self.ready[lanes] = self.count[lanes]
            if seen is not None:
                if self.lanes is None:
                    self.lanes = np.repeat(self.stamp[:, :, None] >> WARP_SHIFT, LANES, axis=2)
                self.lanes[lanes] = seen[lanes]
            self.stamp[lanes] = stamps[lanes]

    def barrier(self, blocks) -> None:
        """Let blocks pass a barrier."""
        self.met[blocks] = self.ready[blocks]

    def clock(self, thread: int, row: int, lane: int, order: Order) -> dict:
        """Return what an atomic of a thread publishes by itself."""
        clock = {}
        if self.ready_block[row, lane]:
            clock["block's thread", thread] = int(self.ready_block[row, lane])
        if self.ready[row, lane]:
            stamp = int(self.stamp[row, lane])
            clock["thread", thread] = int(self.ready[row, lane])
            if self.lanes is None:
                clock["warp", order.warp_of(thread)] = stamp >> WARP_SHIFT
            else:
                clock["lanes", order.warp_of(thread)] = self.lanes[row, lane].copy()
            clock["block", thread // order.threads_per_block] = stamp >> BLOCK_SHIFT
        if self.met[row].any():
            clock["met", thread // order.threads_per_block] = self.met[row].copy()
        return clock


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

    def atomics(self, region, units, threads, before, after, fences: Fences, rows, lanes):
        """Note atomics in the order in which they are done; return what each would have found otherwise.

        Parameters
        ----------
        region : Region
        units, threads, before, after, rows, lanes : ndarray
            Element, thread, value found and left, and the thread's place in the wave.

        Returns
        -------
        ndarray, shape (WORLDS, lanes)
            What the element held before the first publication that its thread does not know of, before the second,
            before one in the middle, and before the last of another thread.
        int
            Number of this event, for :meth:`learn`.
        """
        otherwise = np.repeat(before[None], WORLDS, axis=0)
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
                times = known, min(known + 1, until - 1), (known + until) // 2
                last = _last_of_another(published, until, thread)
                otherwise[:, i] = *(published[at].before for at in times), last.before
            if before[i] != after[i]:
                after_all = all(p.thread == thread for p in published[known:])
                clocks = fences.clock(thread, row, lane, self.order), *clocks
                published.append(Publication(thread, before[i], clocks, known, after_all))
            pending[thread] = Sight(element, known, until, len(published))
        return otherwise, len(self._pending) - 1

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
        first, last = published[known], _last_of_another(published, until, thread if source == ANYBODY else source)
        if all(worlds):
            clocks = (sight.clock(),)
        elif worlds[-1] and last.after_all:
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
        warp, tick = self.order.warp_of(thread), stamp >> WARP_SHIFT
        for clock in self._known_to(me):
            met, lanes = clock.get(("met", block)), clock.get(("lanes", warp))
            if (
                clock.get(("thread", thread), 0) > fences
                or clock.get(("warp", warp), 0) > tick
                or (lanes is not None and lanes[thread % per_block % LANES] > tick)
                or clock.get(("block", block), 0) > stamp >> BLOCK_SHIFT
                or (met is not None and met[thread % per_block] > fences)
                or (block == me // per_block and clock.get(("block's thread", thread), 0) > fences)
            ):
                return True
        return False

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
        if key[0] in ("met", "lanes") and mine is not None:
            value = np.maximum(mine, value)
        elif mine is not None and mine > value:
            value = mine
        clock[key] = value
