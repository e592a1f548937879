"""Hand-overs: one thread publishes its work through an atomic, and another thread learns of it by a second atomic.

A fence makes everything that a thread has done so far ready to be published. The thread's next atomic that changes an
integer publishes it. Another thread whose atomic later finds the changed value *may* learn of the publication. It does
learn of it if it then takes another branch than it would have taken before the publication: this is how tickets, locks
and flags work. A thread that would have taken the same branch has learnt nothing. At a barrier, all threads that pass
it learn what one of them knows.
"""

import numpy as np

from course_pkg.simt.memory.bits import BITS, Bits
from course_pkg.simt.memory.clocks import join, knows
from course_pkg.simt.memory.fences import Fences
from course_pkg.simt.memory.levels import Levels, Stand
from course_pkg.simt.memory.order import SITES, Order, thread_of
from course_pkg.simt.memory.publications import (
    Element,
    Publication,
    Sight,
    last_of_another,
)
from course_pkg.simt.memory.stairs import Stairs, of_polls
from course_pkg.simt.memory.swaps import ADDS, SWAPS, seen_of
from course_pkg.simt.memory.yielding import Yielding

LAST = 3  # the number of the world just before the last publication
ANYBODY = -1  # in place of a thread's number: the atomic of any thread


class Handovers:
    """The publications of a launch, and which threads know of them.

    Attributes
    ----------
    active : bool
        Whether the kernel has fences: without a fence nothing is handed over.
    excused : dict
        The threads whose accesses another thread knew by hand-overs alone, before it touched the same element; for each
        of them, the numbers of these accesses' statements.
    learners : set of int
        The threads that knew them.
    """

    def __init__(self, threads_per_block: int, active: bool, added: frozenset = frozenset()):
        self.order = Order(threads_per_block)
        self.active = active
        self._elements: dict[tuple, Element] = {}
        self._pending: list[dict] = []  # for each atomic statement that ran: what its threads may learn
        self._same: dict[int, int] = {}  # of events that concern the atomics of an earlier one: this one
        self._knowledge: dict[tuple, dict] = {}
        self._bits = Bits(self.order, self._known_to)
        self._levels = Levels(added)
        self.yielding = Yielding()
        self.excused: dict[int, set] = {}
        self.learners: set[int] = set()

    def _known_to(self, thread: int) -> list[dict]:
        block, warp = thread // self.order.threads_per_block, self.order.warp_of(thread)
        keys = ("thread", thread), ("warp", warp), ("block", block)
        return [self._knowledge[k] for k in keys if k in self._knowledge]

    def atomics(
        self,
        name: str,
        looks: bool,
        region,
        units,
        threads,
        stamps,
        before,
        after,
        first,
        otherwise,
        others,
        fences: Fences,
        rows,
        lanes,
    ) -> tuple:
        """Note atomics in the order in which they are done; return the number of this event, for :meth:`learn`.

        Parameters
        ----------
        name : str
            Name of the operation.
        looks : bool
            Whether the kernel uses what the atomics find.
        region : Region
        units, threads, stamps, before, after, rows, lanes : ndarray
            Element, thread, its time, value before and after, and the thread's row and column in the wave.
        first : ndarray of bool
            Whether the element held nothing before. A thread could have found any value there, including the one that
            it finds now.
        otherwise : ndarray, shape (WORLDS, lanes)
            Output: values that the atomic might have found. They concern the publications that the thread does not
            know. Four are the element's values before the first of them, before the second, before one in the middle,
            and before the last one by another thread. Three are the values that the element would have without the
            first, without the second, and without the middle one. A lane whose thread knows all publications is left
            unchanged.
        others : ndarray, shape (WORLDS, lanes)
            Numbers other than those that the atomics found.

        Returns
        -------
        event : int
        worlds : ndarray, shape (WORLDS, lanes)
            Like ``otherwise``, but what each lane has found if its thread knows all publications: these came before
            its atomic in every order. If such a lane has changed its element, ``others``: they show whether the thread
            would have noticed an earlier change.
        """
        pending: dict = {}
        self._pending.append(pending)
        found = before
        lanes_in_doubt, worlds = [], []  # stored at once, for speed: many threads may wait for one lock
        changing = []
        each_thread, before, after = threads.tolist(), before.tolist(), after.tolist()
        each = (one.tolist() for one in (units, threads, stamps, rows, lanes))
        for i, (unit, thread, stamp, row, lane) in enumerate(zip(*each, strict=True)):
            element = self._elements.get((region, unit))
            if element is None:
                element = self._elements[region, unit] = Element((region, unit))
            published = element.published
            until = len(published)
            self._join(thread, self.yielding.known(thread, fences.count[row, lane]))
            clocks = self._known_to(thread)
            known = element.known_to(self.order, thread, stamp, clocks)
            if until > known:
                some = [published[at] for at in (known, min(known + 1, until - 1), (known + until) // 2)]
                times = *some, last_of_another(published, until, thread)
                without = (before[i] ^ p.flipped if p.flipped else p.before for p in some)
                lanes_in_doubt.append(i)
                worlds.append((*(p.before for p in times), *without))
            if name == "exch" and not looks:
                own = fences.clock(thread, row, lane, self.order), *clocks
                self.yielding.put(element, thread, int(fences.count[row, lane]), after[i], own)
            if before[i] != after[i]:
                clocks = fences.clock(thread, row, lane, self.order), *clocks
                flipped = before[i] ^ after[i] if name in BITS else 0
                earlier, after_all = after[i] if first[i] else before[i], element.only_of(thread, known)
                added = after[i] - before[i] if name in ADDS else 0
                one = Publication(
                    thread, stamp, earlier, flipped, clocks, known, after_all, added, name in SWAPS
                )
                element.publish(one)
                changing.append(i)
            pending[thread] = Sight(element, known, until, len(published), before[i], after[i])
        if worlds:
            otherwise[:, lanes_in_doubt] = np.array(worlds, otherwise.dtype).T
        worlds = np.repeat(found[None].astype(otherwise.dtype), len(otherwise), axis=0)
        worlds[:, changing] = others[:, changing]
        worlds[:, lanes_in_doubt] = otherwise[:, lanes_in_doubt]
        for i, numbers in zip(changing, worlds[:, changing].T.tolist(), strict=True):
            pending[each_thread[i]].otherwise = numbers
        return len(self._pending) - 1, worlds

    def bits(
        self, name, region, units, threads, stamps, before, after, operands, fences: Fences, rows, lanes
    ):
        """Note what the same atomics do to single bits, before :meth:`atomics` does.

        Returns
        -------
        event : int or None
            None if no lane's atomic is one of a single bit.
        worlds : ndarray
            What each lane would have found with the other value of its bit.
        """

        def clock_of(at):
            return fences.clock(int(threads[at]), int(rows[at]), int(lanes[at]), self.order)

        every = region, units, threads, stamps, before, after, operands
        sights, worlds = self._bits.atomics(name, self._elements, *every, clock_of)
        if not sights:
            return None, worlds
        self._pending.append(sights)
        return len(self._pending) - 1, worlds

    def levels(self, name, looks: bool, event: int, threads, before, after):
        """Note what the atomics of an event add to elements that threads raise and lower; return as :meth:`bits`."""
        sights, worlds = self._levels.atomics(name, looks, self._pending[event], threads, before, after)
        if not sights:
            return None, worlds
        self._pending.append(sights)
        return len(self._pending) - 1, worlds

    def stairs(self, event: int, threads, found, changed, lanes: int):
        """Note of which steps of others the atomics of an event may tell; return as :meth:`bits`, maybe more worlds."""
        sights, worlds = of_polls(self._pending[event], threads, found, changed, lanes)
        if not sights:
            return None, worlds
        self._pending.append(sights)
        self._same[len(self._pending) - 1] = event
        return len(self._pending) - 1, worlds

    def are_one(self, events) -> bool:
        """Tell whether events concern the same atomics."""
        return len({self._same.get(int(event), int(event)) for event in events}) == 1

    def learn(self, threads, decided, by, event: int) -> None:
        """Note that threads took another branch because of what atomics found.

        Parameters
        ----------
        threads : ndarray of int64
        decided : ndarray of bool, shape (WORLDS, threads)
            For each world, whether the thread would have taken another branch in it.
        by : ndarray of int64
            The thread whose atomic it was; ``ANYBODY`` stands for the thread itself, or for all threads of its block.
        event : int
            Number of the atomics that the decision depends on.
        """
        per_block, pending = self.order.threads_per_block, self._pending[int(event)]
        some = decided.any(axis=0)
        of_block: dict = {}
        if some.any() and (by[some] == ANYBODY).any():
            for thread, seen in pending.items():
                of_block.setdefault(thread // per_block, []).append(seen)
        each = zip(threads[some].tolist(), by[some].tolist(), decided[:, some].T.tolist(), strict=True)
        told = []
        for thread, source, worlds in each:
            if source != ANYBODY:
                sights = [pending[source]] if source in pending else ()
            else:
                sights = [pending[thread]] if thread in pending else of_block.get(thread // per_block, ())
            for sight in sights:
                sight.decides(worlds)
                told.append((thread, source, sight, worlds))
        for one in told:
            self._tell(*one)

    def _tell(self, thread, source, sight, worlds) -> None:
        """Let a thread know the publications that its branch proves.

        If the thread would have taken another branch in every world, its branch proves all publications. Otherwise, the
        branch may prove the last publication alone, but only if that publication is the last in every order of the
        threads. This is so if its thread knew all the others. In the same way the branch may prove the first
        publication alone, if the threads of all the others knew it. Nothing is proved of a publication that may have
        come later, because the element had held the same number before (:meth:`.Element.surely_before`).
        """
        published, until, known = sight.element.published, sight.until, sight.known
        if until <= known:
            return
        whose = thread if source == ANYBODY else source
        if isinstance(sight, Stand):
            self._join(thread, sight.learnt(worlds, whose, self._known_to(whose)))
            return
        if isinstance(sight, Stairs):
            self._join(thread, sight.learnt(worlds))
            return
        first, last = published[known], last_of_another(published, until, whose)
        if all(worlds):
            sure = sight.element.irreplaceable(sight, sight.element.surely_before(sight, whose))
            sight.needs(sure)
            clocks = (sight.clock(sure),)
        elif worlds[LAST] and last.after_all and sight.element.surely_before(sight, whose) == until:
            clocks = *last.clocks, {("element", *sight.element.name): sight.after}
        elif worlds[0] and all(
            p.comes_behind(known) or p.thread == first.thread for p in published[known + 1 : until]
        ):
            clocks = *first.clocks, {("element", *sight.element.name): known + 1}
        else:
            return
        self._join(thread, clocks)

    def _join(self, thread: int, clocks) -> None:
        """Let a thread know what clocks contain."""
        for clock in clocks:
            known = self._knowledge.get(("thread", thread))
            if known is None:
                self._knowledge["thread", thread] = clock
            elif known is not clock:
                self._knowledge["thread", thread] = known = dict(known)
                join(known, clock)

    def spread(self, blocks, of_warp=False) -> None:
        """Let the threads of each block, or of each warp, pass a barrier: all then know what any of them knew."""
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
                join(known, clock)
                self._knowledge[level, group] = known

    def spread_among(self, threads: list) -> None:
        """Let some threads of a warp pass a barrier of their own: all of them then know what any of them knew."""
        clocks = [
            self._knowledge[k] for k in (("thread", thread) for thread in threads) if k in self._knowledge
        ]
        if clocks and len(threads) > 1:
            together: dict = {}
            for clock in clocks:
                join(together, clock)
            self._knowledge.update({("thread", thread): together for thread in threads})

    def known(self, entry, stamp, mine, clash):
        """Tell which of the lanes that clash with an earlier access know of this access by a hand-over."""
        found = np.zeros(len(clash), bool)
        if self._knowledge:
            answers, clocks = {}, {}  # the answer to each question, and the clocks of each thread
            lanes = np.flatnonzero(clash)
            asked = thread_of(entry[lanes]), stamp[lanes], thread_of(mine[lanes])
            for i, *question in zip(lanes.tolist(), *(one.tolist() for one in asked), strict=True):
                thread, when, me = question
                if me not in clocks:
                    clocks[me] = self._known_to(me)
                if clocks[me]:  # most threads that wait for a lock know nothing, and are skipped
                    name = thread, when, me
                    if name not in answers:
                        answers[name] = knows(self.order, *name, clocks[me])
                    found[i] = answers[name]
            self.excuse(entry[found], mine[found])
            if self.yielding:
                pairs = thread_of(entry[found]), thread_of(mine[found])
                self.yielding.ordered(zip(*(one.tolist() for one in pairs), strict=True))
        return found

    def excuse(self, entries, mine) -> None:
        """Note that accesses, given by their entries, are in order with later ones by hand-overs alone."""
        for entry in np.unique(entries).tolist():
            self.excused.setdefault(thread_of(entry), set()).add(entry % SITES)
        self.learners.update(thread_of(mine).tolist())

    def saw(self, region, units, entry, stamp, mine, clash):
        """Tell which of the lanes that clash with an earlier atomic know that it came before."""
        found = np.zeros(len(clash), bool)
        for i in np.flatnonzero(clash).tolist():
            name, other = (region, int(units[i])), int(thread_of(entry[i]))
            published = self._elements[name].published if name in self._elements else []
            seen = seen_of(name, other, self._known_to(int(thread_of(mine[i]))))
            found[i] = any(one.thread == other and one.stamp == stamp[i] for one in published[:seen])
        self.excuse(entry[found], mine[found])
        return found

    def saw_the_last(self, region, units, mine, clash):
        """Tell which of the clashing lanes know of all atomics that have changed their element so far."""
        found = np.zeros(len(clash), bool)
        for i in np.flatnonzero(clash).tolist():
            name = region, int(units[i])
            element = self._elements.get(name)
            clocks = self._known_to(int(thread_of(mine[i]))) if element else ()
            found[i] = any(c.get(("element", *name), -1) >= len(element.published) for c in clocks)
        return found
