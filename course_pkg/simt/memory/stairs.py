"""Stairs: an integer that threads change step by step, such as the number of items that one has put into a queue.

Another thread waits until the integer has come to some step, and may find that it has gone on. The changes of one
thread come in its own order, and so do those of several threads each of which knows of the changes before its own. So
if the waiting thread would have taken another branch at each step up to some one, it has learnt of the changes that led
beyond these steps, though not of the later ones.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.simt.memory.publications import WORLDS, Sight

FEWEST, MOST = 3, 64  # steps; for fewer ones, the worlds of any atomic suffice


@dataclass(eq=False)
class Stairs(Sight):
    """What a thread may learn of the steps of others; the worlds are what its atomic would have found there."""

    def learnt(self, worlds: list, thread: int, clocks: list[dict]) -> list[dict]:
        """Return clocks of what a thread learns if it would have taken another branch in some of the worlds."""
        steps = [worlds[row] for row in _rows(self.until - self.known)]
        sure = self.known + (steps.index(False) if False in steps else len(steps))
        if all(worlds):
            sure = self.until
        return [self.clock(self.element.irreplaceable(self, sure))] if sure > self.known else []


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
        if one.until - one.known < FEWEST or not _in_a_row(one, thread):
            continue
        steps = one.element.published[one.known : one.until]
        stairs[thread] = Stairs(one.element, one.known, one.until, one.after, one.found, one.left)
        worlds[:, lane] = steps[-1].before
        for row, step in zip(_rows(len(steps)), steps, strict=False):
            worlds[row, lane] = step.before
    return stairs, worlds


def _in_a_row(sight: Sight, thread: int) -> bool:
    """Tell whether the steps come one behind the other in every order, and none of them is the thread's own."""
    published, known, until = sight.element.published, sight.known, sight.until
    if sight.element.run <= known:
        return published[known].thread != thread
    steps = range(known, until)
    return len(steps) <= MOST and all(
        published[at].thread != thread and (at == known or published[at].known >= at) for at in steps
    )


def _rows(steps: int) -> list[int]:
    """Return in which row of the worlds each of the first steps is; row 3 is the last step, as for any atomic."""
    return [0, 1, 2, *range(4, WORLDS)][:steps]
