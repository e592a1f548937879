"""Stairs: an integer that threads change step by step, such as the number of items that one has put into a queue.

Another thread waits until the integer has come to some step, and may find that it has gone on. The changes of one
thread come in its own order, and so do those of several threads each of which knows of the changes before its own. So
if the waiting thread would have taken another branch at each step up to some one, it has learnt of the changes that led
beyond these steps, though not of the later ones. Its own additions came before it looked, whatever others had added.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from course_pkg.simt.memory.publications import WORLDS, Publication, Sight

FEWEST, MOST = 3, 64  # steps; for fewer ones, the worlds of any atomic suffice


@dataclass(eq=False)
class Stairs(Sight):
    """What a thread may learn of the steps of others; the worlds are what its atomic would have found there.

    Attributes
    ----------
    steps : list of int
        The numbers of the publications that are steps.
    """

    steps: list = field(default_factory=list)

    def learnt(self, worlds: list) -> list[dict]:
        """Return clocks of what a thread learns if it would have taken another branch in some of the worlds."""
        rows = _rows(len(self.steps))
        proved = next((at for at, row in enumerate(rows) if not worlds[row]), len(rows))
        sure = self.until if all(worlds) or proved == len(self.steps) else self.steps[proved]
        return [self.clock(self.element.irreplaceable(self, sure))] if proved else []


def of_polls(sights: dict, threads, found, changed) -> tuple[dict, np.ndarray]:
    """Return what threads may learn whose atomics change nothing.

    Parameters
    ----------
    sights : dict of int to Sight
        What each thread may learn of its element.
    threads, found, changed : ndarray
        The threads, what they have found, and whether they have changed it.

    Returns
    -------
    stairs : dict of int to Stairs
    worlds : ndarray, shape (WORLDS, lanes)
        Other numbers that each atomic might have found.
    """
    stairs: dict = {}
    worlds = np.repeat(found[None], WORLDS, axis=0)
    for lane in np.flatnonzero(~changed).tolist():
        thread = int(threads[lane])
        one = sights[thread]
        if one.until - one.known < FEWEST:
            continue
        several = one.element.published[one.known : one.until]
        others = _others(several, one, thread)
        if others:
            steps = [one.known + at for at in others]
            stairs[thread] = Stairs(
                one.element, one.known, one.until, one.after, one.found, one.left, steps=steps
            )
            values = np.array(_values(several, others)).astype(found.dtype)
            worlds[:, lane] = values[-1]
            rows = _rows(len(values))
            worlds[rows, lane] = values[: len(rows)]
    return stairs, worlds


def _others(several: list[Publication], sight: Sight, thread: int) -> list[int]:
    """Return which publications are steps of others; none if these might come in another order."""
    if sight.element.run <= sight.known:
        return [] if several[0].thread == thread else [*range(len(several))]
    if len(several) > MOST:
        return []
    others = [at for at, one in enumerate(several) if one.thread != thread]
    if len(others) < len(several) and not all(one.added for one in several):
        return []
    for before, at in pairwise(others):
        one = several[at]
        if one.thread != several[before].thread and one.known <= sight.known + before:
            return []
    return others


def _values(several: list[Publication], others: list[int]) -> list[int]:
    """Return what the thread would have found before each step of others."""
    if len(others) == len(several):
        return [int(one.before) for one in several]
    steps = [several[at].added for at in others]
    start = int(several[0].before) + sum(one.added for one in several) - sum(steps)
    return [start + sum(steps[:at]) for at in range(len(steps))]


def _rows(steps: int) -> list[int]:
    """Return in which row of the worlds each of the first steps is; row 3 is the last step, as for any atomic."""
    return [0, 1, 2, *range(4, WORLDS)][:steps]
