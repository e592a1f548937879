"""Stairs: an integer that threads change step by step, such as the number of items that one has put into a queue.

Another thread waits until the integer has come to some step, and may find that it has gone on. The changes of one
thread come in its own order, and so do those of several threads each of which knows of the changes before its own. So
if the waiting thread would have taken another branch at each step up to some one, it has learnt of the changes that led
beyond these steps, though not of the later ones.

Equal additions are steps in whatever order they come, as at a barrier where threads count on. One of them is proved if
without it, and so without those that know of it, there would have been too few. The thread's own additions came before
it looked, whatever others had added.
"""

from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np

from course_pkg.simt.memory.publications import WORLDS, Publication, Sight

FEWEST, MOST = 3, 64  # steps; for fewer ones, the worlds of any atomic suffice
MOST_TRIED, ROOM = 256, 1 << 16  # steps that are tried, and numbers for all lanes of a wave


@dataclass(eq=False)
class Stairs(Sight):
    """What a thread may learn of the steps of others; the worlds are what its atomic would have found there.

    Attributes
    ----------
    steps : list of int
        The numbers of the publications that are steps.
    thread : int
        The thread itself.
    """

    steps: list = field(default_factory=list)
    thread: int = 0

    def learnt(self, worlds: list) -> list[dict]:
        """Return clocks of what a thread learns if it would have taken another branch in some of the worlds."""
        rows = _rows(len(self.steps), len(worlds))
        tried, sure = sorted(rows), [worlds[rows[step]] for step in sorted(rows)]
        proved = (
            tried[sure.index(False) - 1] + 1 if not all(sure) and sure[0] else len(self.steps) * all(sure)
        )
        published, size = self.element.published, _size(self.element.published[self.known :])
        if not proved:
            return []
        if not size:
            sure = self.until if proved == len(self.steps) else self.steps[proved]
            return [self.clock(self.element.irreplaceable(self, sure))]
        later = [at for at in range(self.after, len(published)) if published[at].thread != self.thread]
        others = [*self.steps, *later]
        needed = [at for at in self.steps if self._without(at, others) < proved]
        missing = set(self.steps).difference(needed)
        clock = {("element", *self.element.name): min(missing, default=self.until)}
        return [clock, *(clock for at in needed for clock in published[at].clocks)]

    def _without(self, step: int, others: list) -> int:
        """Return how many additions of others could have come before the thread looked, without one of them."""
        one, published = self.element.published[step], self.element.published
        behind = (
            at > step and (published[at].thread == one.thread or published[at].known > step) for at in others
        )
        return len(others) - 1 - sum(behind)


def of_polls(sights: dict, threads, found, changed, lanes: int) -> tuple[dict, np.ndarray]:
    """Return what threads may learn whose atomics change nothing.

    Parameters
    ----------
    sights : dict of int to Sight
        What each thread may learn of its element.
    threads, found, changed : ndarray
        The threads, what they have found, and whether they have changed it.
    lanes : int
        Lanes of the wave: the more these are, the fewer steps are tried.

    Returns
    -------
    stairs : dict of int to Stairs
    worlds : ndarray, shape (at least WORLDS, lanes)
        Other numbers that each atomic might have found.
    """
    stairs, values = {}, {}
    for lane in np.flatnonzero(~changed).tolist():
        thread = int(threads[lane])
        one = sights[thread]
        if one.until - one.known < FEWEST:
            continue
        several = one.element.published[one.known : one.until]
        others = _others(several, one, thread)
        if others:
            steps = [one.known + at for at in others]
            mine = one.element, one.known, one.until, one.after, one.found, one.left
            stairs[thread] = Stairs(*mine, steps=steps, thread=thread)
            values[lane] = np.array(_values(several, others)).astype(found.dtype)
    longest = max(map(len, values.values()), default=0)
    size = max(WORLDS, min(longest, MOST_TRIED, ROOM // lanes))
    worlds = np.repeat(found[None], size, axis=0)
    for lane, own in values.items():
        worlds[:, lane] = own[-1]
        for step, row in _rows(len(own), size).items():
            worlds[row, lane] = own[step]
    return stairs, worlds


def _others(several: list[Publication], sight: Sight, thread: int) -> list[int]:
    """Return which publications are steps of others; none if these might come in another order."""
    if sight.element.run <= sight.known:
        return [] if several[0].thread == thread else [*range(len(several))]
    if len(several) > MOST:
        return []
    others = [at for at, one in enumerate(several) if one.thread != thread]
    if _size(several):
        return others
    in_a_row = (
        several[at].thread == several[before].thread or several[at].comes_behind(sight.known + before)
        for before, at in pairwise(others)
    )
    return others if len(others) == len(several) and all(in_a_row) else []


def _size(several: list[Publication]) -> int:
    """Return how much each of several publications adds; 0 if these are not equal additions."""
    sizes = {one.added for one in several}
    return sizes.pop() if len(sizes) == 1 else 0


def _values(several: list[Publication], others: list[int]) -> list[int]:
    """Return what the thread would have found before each step of others."""
    if len(others) == len(several):
        return [int(one.before) for one in several]
    steps = [several[at].added for at in others]
    start = int(several[0].before) + sum(one.added for one in several) - sum(steps)
    return [start + sum(steps[:at]) for at in range(len(steps))]


@cache
def _rows(steps: int, worlds: int) -> dict[int, int]:
    """Return the steps that are tried, and in which world each is.

    These are the first four and the last three, and as many in between as there are worlds. The last one is in world 3,
    as for any atomic.
    """
    ends = [*range(steps)] if steps <= WORLDS else [0, 1, 2, 3, steps - 3, steps - 2, steps - 1]
    rows = dict(zip(ends, (0, 1, 2, 4, 5, 6, 3), strict=False))
    between = [step for step in range(steps) if step not in rows]
    most = min(len(between), worlds - WORLDS)
    return rows | {between[at * len(between) // most]: WORLDS + at for at in range(most)}
