"""Stores of integers in doubt that a later swap may still prove.

A thread that puts an element on a stack without locks stores the stack's head in the new element, before it knows
whether the head is still the same. It knows this as soon as its compare-and-swap of the head wins. If the swap fails,
the thread stores what it finds then in the same place, and tries again. So a plain store of an integer in doubt is a
race only if neither happens until the kernel ends: no swap proves the integer, and the thread does not overwrite it.
"""

from collections.abc import Iterator

from course_pkg.simt.memory.lent import Lent


class Unproven:
    """The stores of integers that no branch and no swap has proved.

    Attributes
    ----------
    lent : Lent
        Which of them are in shared memory, for others to test.
    """

    def __init__(self):
        self.lent = Lent()
        self._stores: dict[
            tuple, dict
        ] = {}  # {(region, unit, thread): {doubt: the race, None if there is none yet}}
        self._of: dict[tuple, set] = {}  # {(doubt, thread): where the thread stored what it found}

    @property
    def kept(self) -> bool:
        """Whether there are such stores."""
        return bool(self._stores)

    def keep(self, event: int, region, unit: int, thread: int, race: tuple | None) -> None:
        """Keep a store of a value in the doubt ``event``; ``race`` is None as long as nobody has changed the value."""
        where = region, unit, thread
        self._stores.setdefault(where, {})[event] = race
        self._of.setdefault((event, thread), set()).add(where)

    def overwrite(self, region, units, threads) -> None:
        """Forget what threads stored in units that they now overwrite."""
        for unit, thread in zip(units.tolist(), threads.tolist(), strict=True) if self._stores else ():
            self._stores.pop((region, unit, thread), None)

    def waits(self, event: int, thread: int) -> bool:
        """Tell whether the kernel still holds a store of what a thread found."""
        stores = {
            where for where in self._of.get((event, thread), ()) if event in self._stores.get(where, ())
        }
        if not stores:
            self._of.pop((event, thread), None)
        return bool(stores)

    def change(self, event: int, thread: int, race: tuple) -> None:
        """Note that the element in which a thread found a value was changed, in no order with the thread."""
        for where in self._of.get((event, thread), ()):
            if event in self._stores.get(where, ()):
                self._stores[where][event] = race

    def prove(self, event: int, thread: int) -> None:
        """Note that a thread's swap has won, and that it could not have won with another value."""
        for where in self._of.pop((event, thread), ()):
            self._stores.get(where, {}).pop(event, None)

    def races(self) -> Iterator[tuple]:
        """Yield the first race of each atomic statement; then forget them."""
        told = set()
        for (region, _, thread), store in self._stores.items():
            for event, race in store.items():
                if race is None or self.lent.does_no_harm(event, region, thread):
                    continue
                if race[0] not in told:
                    told.add(race[0])
                    yield race
        self._stores, self._of = {}, {}
