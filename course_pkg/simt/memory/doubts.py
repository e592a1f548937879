"""Doubts: an atomic read an integer that other threads change at the same time. Is that a flag, or is it a race?

An atomic may read a lock, a flag or a counter while other threads change it: the value that it finds decides which
branch its thread takes. But it is a race if an atomic reads data that another thread stores at that time, for example
in a tile before the barrier. At the atomic itself the two cases look alike. So the value is in doubt until it has
decided a branch. If a thread stores a value in doubt, or uses it as an index, that is a race.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(eq=False)
class Doubt:
    """What one atomic statement found in doubt.

    Attributes
    ----------
    place : Place
        The access of the atomic.
    entries : dict of int to int
        For each thread in doubt, the entry of the thread that changed the element.
    """

    place: Any
    entries: dict


class Doubts:
    """The doubts of a launch. Their numbers are negative; those of hand-overs are not."""

    def __init__(self):
        self._known: list[Doubt] = []

    def add(self, place, threads, entries) -> int:
        """Keep a doubt of some threads; return its number."""
        self._known.append(Doubt(place, dict(zip(threads.tolist(), entries.tolist(), strict=True))))
        return -len(self._known)

    def dispel(self, event: int, threads) -> None:
        """Forget the doubt of threads that have taken another branch because of the value."""
        entries = self._known[-event - 1].entries
        for thread in np.unique(threads).tolist():
            entries.pop(thread, None)

    def of(self, event: int, threads):
        """Return ``(place, thread, entry)`` of the first of the threads that is still in doubt, or None."""
        doubt = self._known[-event - 1]
        for thread in threads.tolist() if doubt.entries else ():
            if thread in doubt.entries:
                return doubt.place, thread, doubt.entries[thread]
        return None
