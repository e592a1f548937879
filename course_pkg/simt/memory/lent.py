"""Integers in doubt that a thread puts into shared memory, so that others test them.

One thread of a block reads a flag, stores it in shared memory, and all threads of the block test it after a barrier.
Shared memory ends with its block. So such a store does no harm by itself, in contrast to one in global memory. It is a
race only if a thread that has loaded the number uses it before a branch of this thread has tested it.
"""

import numpy as np

from course_pkg.simt.memory.handover import ANYBODY


class Lent:
    """What was lent, and how it was used. A number is named by its doubt and by the thread that found it, its owner."""

    def __init__(self):
        self._lent: set[tuple] = set()  # (doubt, owner)
        self._misused: set[tuple] = set()  # (doubt, owner)
        self._tested: set[tuple] = set()  # (doubt, owner, thread)
        self._events: set[int] = set()
        self._in: dict = {}  # {region: (bytes of an element, the numbers lent there)}

    def __contains__(self, event: int) -> bool:
        return int(event) in self._events

    def lend(self, event: int, owners, known, region, itemsize: int) -> None:
        """Note that threads store numbers in shared memory; ``known``: whether one knows whose number it is."""
        event = int(event)
        self._events.add(event)
        self.look(region, itemsize)
        names = self._in.setdefault(region, (itemsize, set()))[1]
        for owner, sure in zip(owners.tolist(), known.tolist(), strict=True):
            names.add((event, owner))
            if not sure:
                self._misused.add((event, owner))
        self._lent |= names

    def look(self, region, itemsize: int) -> None:
        """Note that threads access elements of ``itemsize`` bytes, 0 for atomics: numbers of another size are lost."""
        known, names = self._in.get(region, (itemsize, ()))
        if known != itemsize:
            self._misused.update(names)

    def of(self, event: int, owners) -> np.ndarray:
        """Tell which of the threads have lent what they found."""
        return np.array([(int(event), owner) in self._lent for owner in owners.tolist()], bool)

    def test(self, event: int, owners, threads) -> None:
        """Note that branches of threads have tested what the owners have lent."""
        self._tested.update(
            (int(event), *pair) for pair in zip(owners.tolist(), threads.tolist(), strict=True)
        )

    def tested(self, event: int, owners, threads) -> np.ndarray:
        """Tell which threads have tested what the owners have lent."""
        pairs = zip(owners.tolist(), threads.tolist(), strict=True)
        return np.array([(int(event), *pair) in self._tested for pair in pairs], bool)

    def misuse(self, event: int, owners) -> None:
        """Note that threads use what the owners have lent, and have not tested it. Some owners may not be known."""
        event = int(event)
        owners = np.unique(owners).tolist()
        if ANYBODY in owners:
            self._misused.update(name for name in self._lent if name[0] == event)
        self._misused.update((event, owner) for owner in owners)

    def does_no_harm(self, event: int, region, owner: int) -> bool:
        """Tell whether a number in doubt was stored in shared memory only to be tested."""
        name = event, owner
        return region.owner == "block" and name in self._lent and name not in self._misused
