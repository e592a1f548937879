"""Levels: integers that threads raise and lower again by additions, such as a lock that is taken by adding 1.

Additions commute: what a thread finds is the sum of what all threads have added before, in whatever order. Suppose
that a thread would take another branch if one addition were missing. Then it has learnt of this addition. It may still
know nothing of many other additions, because threads that fail to take the lock add 1 and subtract it again at any
time.

For each other thread, the interpreter asks which of its additions the atomic might have come before. Without them the
element would have held another number, which also depends on what other threads might have added by then. The
atomic came later if its branch would have been another one with each of these numbers. If the missing additions of a
thread cancel out, the number shows nothing. But one of them would then have found what this atomic adds; if its thread
would have noticed that, whatever third threads have added by then, the atomic came later, too.

An exchange may give such a lock back, too: it ends all additions. Then the atomic must show that it came behind this
exchange, and not between it and the addition by which the thread of the exchange took the lock.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from course_pkg.simt.memory.additions import NEW, Level, Trail, signed
from course_pkg.simt.memory.publications import WORLDS, Sight
from course_pkg.simt.memory.swaps import SWAPS

WRAPS = ("inc", "dec")
NEAR = (1, -1, 2, -2, 3, -3, 4)
MOST_SUMS = 4096


@dataclass(eq=False)
class Stand(Sight):
    """What a thread may learn from its addition to a level.

    Attributes
    ----------
    level : Level
    change : int
        What the thread has added.
    """

    level: Level = field(default_factory=lambda: Level(64))
    change: int = 0

    def learnt(self, worlds: list, thread: int, clocks: list[dict]) -> list[dict]:
        """Return clocks of what a thread learns if it would have taken another branch in some of the worlds."""
        raise NotImplementedError


@dataclass(eq=False)
class BehindExchange(Stand):
    """An addition to what another thread has just put there; ``took``: the publication of that thread before."""

    took: int = 0

    def learnt(self, worlds: list, thread: int, clocks: list[dict]) -> list[dict]:
        """Do what :meth:`.Stand.learnt` says; the worlds are numbers that the element held before the exchange."""
        took, gave = self.element.published[self.took], self.element.published[self.until - 1]
        sure = all(worlds) and gave.thread != thread and self.level.notices(took, self.change)
        return list(gave.clocks) if sure else []


@dataclass(eq=False)
class AmongAdditions(Stand):
    """An addition among others; ``offsets``: by how much each world's number differs from the one that was found."""

    offsets: list = field(default_factory=list)

    def learnt(self, worlds: list, thread: int, clocks: list[dict]) -> list[dict]:
        """Return clocks of what a thread learns if it would have taken another branch in some of the worlds.

        Parameters
        ----------
        worlds : list of bool
        thread : int
            The thread whose atomic it was.
        clocks : list of dict
            What the thread knows.
        """
        decided = dict(zip(self.offsets, worlds, strict=True))
        if len(self.level.signs) < 2 or not any(worlds):
            return []
        others = [other for other in self.level.added if other != thread]
        known = {
            other: max((clock.get(self._name(other), 0) for clock in clocks), default=0) for other in others
        }
        missing = {other: self._missing(other, known[other])[0] for other in others}
        sums = _all_sums(
            Counter(
                frozenset((0, *(offset for _, offset in places), *self._later(other)))
                for other, places in missing.items()
            )
        )
        if sums is None:
            return []
        found = []
        newest = sorted(missing, key=lambda other: -self.level.added[other][-1][0])
        for other in newest:  # the last owner of a lock knows what the others before it did
            learnt = max((clock.get(self._name(other), 0) for clock in found), default=0)
            if max(known[other], learnt) >= self._count(other):
                continue
            places = missing[other]
            unproved = (at for at, more in places if not all(_decides(decided, more + s) for s in sums))
            sure = min(unproved, default=self._count(other))
            if sure > known[other] and self._surely_noticed(thread, other, known[other]):
                number = self.level.added[other][sure - 1][0]
                found += [*self.element.published[number].clocks, {self._name(other): sure}]
        return found

    def _name(self, other: int) -> tuple:
        return ("added by", *self.element.name, other)

    def _count(self, other: int) -> int:
        """Return how many of a thread's additions came before this one."""
        added = self.level.added[other]
        count = len(added)
        while count and added[count - 1][0] >= self.until:
            count -= 1
        return count

    def _surely_noticed(self, thread: int, other: int, known: int) -> bool:
        """Tell whether a thread would have noticed this addition, whatever third threads have added by then."""
        at = self._missing(other, known)[1]
        if at < known:  # no proof rests on that
            return True
        number, change, after = self.level.added[other][at]
        one, mine = self.element.published[number], self.level.added[thread]
        more = next(after for number, _, after in reversed(mine) if number == self.until)
        sums, start = _all_sums(self.level.without(thread, other)), self.level.base + after - change + more
        noticed = {
            signed(int(found) - int(one.before), self.level.bits): v for found, v in one.noticed.items()
        }
        return sums is not None and all(
            _decides(noticed, signed(start + s - int(one.before), self.level.bits)) for s in sums
        )

    def _later(self, other: int) -> list[int]:
        """Return by how much the sum would differ behind additions of a thread that came later in this run."""
        added, count = self.level.added[other], self._count(other)
        total = added[count - 1][2] if count else 0
        return [after - total for _, _, after in added[count:]]

    def _missing(self, other: int, known: int) -> tuple[list, int]:
        """Return which additions of a thread this atomic might have come behind, and the last one that would notice it.

        Of the former, a list of how many they are and by how much the sum differs.
        """
        added, count = self.level.added[other], self._count(other)
        trail = self.level.trails.setdefault((other, self.change), Trail())
        if trail.length > count:
            trail = Trail()

        def notices(number):
            return self.level.notices(self.element.published[number], self.change)

        trail.follow(added, count - NEW, notices)
        trail = trail.copy().follow(added, count, notices)
        total = added[count - 1][2] if count else 0
        places = [(max(trail.first[s], known), s - total) for s, at in trail.last.items() if at >= known]
        return places, trail.noticed


@dataclass(eq=False)
class BehindSwaps(Stand):
    """A swap of a number that threads also add to; ``offsets`` as below."""

    offsets: list = field(default_factory=list)

    def learnt(self, worlds: list, thread: int, clocks: list[dict]) -> list[dict]:
        """Do what :meth:`.Stand.learnt` says."""
        return self.level.balances.learnt(self, thread, clocks) if all(worlds) else []


@dataclass(eq=False)
class SwapAmongAdditions(AmongAdditions):
    """A swap of a number that is changed by additions and swaps alone."""

    def learnt(self, worlds: list, thread: int, clocks: list[dict]) -> list[dict]:
        """Do what :meth:`.Stand.learnt` says, by the sums and by the numbers between the atomics."""
        found = super().learnt(worlds, thread, clocks)
        return found + (self.level.balances.learnt(self, thread, clocks) if all(worlds) else [])


class Levels:
    """The levels of a launch, in a kernel with fences.

    Parameters
    ----------
    sizes : frozenset of int
        The sizes of the numbers that the kernel's text adds by atomics.
    """

    def __init__(self, sizes: frozenset):
        self._sizes = sizes
        self._levels: dict[tuple, Level] = {}

    def atomics(
        self, name: str, looks: bool, sights: dict, threads, before, after
    ) -> tuple[dict, np.ndarray]:
        """Note atomics that have been noted by their elements.

        Parameters
        ----------
        name : str
            Name of the operation.
        looks : bool
            Whether the kernel uses what the atomics find.
        sights : dict of int to Sight
            What each thread may learn of its element.
        threads, before, after : ndarray

        Returns
        -------
        stands : dict of int to Stand
            What each thread may learn.
        worlds : ndarray, shape (WORLDS, lanes)
            Other numbers that each atomic might have found.
        """
        worlds, stands, bits = np.repeat(before[None], WORLDS, axis=0), {}, 8 * before.dtype.itemsize
        for lane in np.flatnonzero(before != after).tolist():
            thread, change = int(threads[lane]), signed(int(after[lane]) - int(before[lane]), bits)
            sight = sights[thread]
            level = self._level(sight.element.name, before.dtype)
            published = sight.element.published[sight.until]
            level.balances.note(name, looks, thread, published, int(after[lane]))
            adds = name == "add" or (name in WRAPS and abs(change) == 1)
            level.mixed |= not (adds or (name == "cas" and looks))
            if not level.mixed:
                level.base = level.base if level.added else int(before[lane])
                level.note(sight.until, thread, change)
            if looks and (adds or not level.mixed or level.balances.mixed):
                way = _way(name, sight, level, before[lane])
                if way is not None:
                    kind, worlds[:, lane], more = way
                    mine = sight.element, sight.known, sight.until, sight.after, before[lane], after[lane]
                    stands[thread] = kind(*mine, worlds[:, lane].tolist(), level, change, more)
            if name == "exch" and not looks and thread in level.last:
                level.put = sight.until, level.last[thread]
            level.last[thread] = sight.until
        return stands, worlds

    def _level(self, name: tuple, dtype: np.dtype) -> Level:
        if name not in self._levels:
            self._levels[name] = Level(8 * dtype.itemsize, dtype.kind == "i", sizes=set(self._sizes))
        return self._levels[name]


def _way(name: str, sight: Sight, level: Level, found):
    """Return what an atomic may tell: a class, other numbers that it might have found, and the class's last field."""
    swaps = name in SWAPS and level.balances.mixed
    if not level.mixed:
        offsets, kind = level.offsets(WORLDS), SwapAmongAdditions if swaps else AmongAdditions
        return kind, found + np.array(offsets).astype(found.dtype), offsets
    if swaps:
        return BehindSwaps, found + np.array(NEAR).astype(found.dtype), list(NEAR)
    if level.put[0] != sight.until - 1:
        return None
    between = sight.element.published[level.put[1] + 1 : sight.until]
    numbers = sorted({one.before for one in between})
    some = [numbers[round(n * (len(numbers) - 1) / (WORLDS - 1))] for n in range(WORLDS)]
    return BehindExchange, some, level.put[1]


def _decides(decided: dict[int, bool], offset: int) -> bool:
    """Tell whether a branch would have been another one with a sum that differs so much: as with the nearest one."""
    near = [one for one in decided if one * offset > 0]
    least = min((abs(one - offset) for one in near), default=0)
    return bool(near) and all(decided[one] for one in near if abs(one - offset) == least)


def _all_sums(sets: Counter) -> set[int] | None:
    """Return all sums of one number of each set; None if they are too many. ``sets`` counts equal sets."""
    sums = {0}
    for one, count in sets.items():
        several = _sums_of(one, count)
        if several is None or len(several) * len(sums) > MOST_SUMS:
            return None
        sums = {a + b for a in sums for b in several}
    return sums


@lru_cache(maxsize=1024)
def _sums_of(numbers: frozenset, count: int) -> frozenset | None:
    """Return all sums of ``count`` numbers, each of which is one of the given ones; None if they are too many."""
    if count < 2:
        return numbers if count else frozenset((0,))
    half = _sums_of(numbers, count // 2)
    rest = _sums_of(numbers, count - count // 2)
    if half is None or rest is None:
        return None
    sums = frozenset(a + b for a in half for b in rest)
    return None if len(sums) > MOST_SUMS else sums
