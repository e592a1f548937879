"""Integers that atomics read while others change them, in no order: flags if they decide something, else races.

An atomic may look at a lock, a flag or a counter while others change it: what it finds decides where its thread goes.
An atomic that fetches a number which another thread is just putting there, as from a tile before the barrier, has no
such excuse. So a doubt remains with what it found until that has changed a thread's way; who stores it with the doubt,
or takes it as an index, races.
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
        Of the atomic.
    entries : dict of int to int
        By thread, the entry of who changed the element.
    """

    place: Any
    entries: dict


class Doubts:
    """The doubts of a launch, under numbers below 0: those of events that hand over are not."""

    def __init__(self):
        self._known: list[Doubt] = []

    def add(self, place, threads, entries) -> int:
        """Keep a doubt of threads; return its number."""
        self._known.append(Doubt(place, dict(zip(threads.tolist(), entries.tolist(), strict=True))))
        return -len(self._known)

    def dispel(self, event: int, threads) -> None:
        """Forget the doubts of threads whose way what they found has changed."""
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
