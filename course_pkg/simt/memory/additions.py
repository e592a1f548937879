"""Additions: what each thread has added to an integer, and which of these additions another one might precede."""

from collections import Counter
from dataclasses import dataclass, field

from course_pkg.simt.memory.publications import Publication
from course_pkg.simt.memory.swaps import Balances

NEW = 4  # later branches may test this many of a thread's last additions


@dataclass(eq=False)
class Trail:
    """The additions of a thread that an atomic might have come before: all behind the last one that would notice it.

    Attributes
    ----------
    length : int
        How many additions have been looked at.
    noticed : int
        The last one of them that would notice the atomic.
    first, last : dict of int to int
        For each sum that the thread has had since then, how many additions came before, at first and at last.
    """

    length: int = 0
    noticed: int = -1
    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def follow(self, added: list, until: int, notices) -> "Trail":
        """Look at a thread's additions up to a number of them."""
        for at in range(self.length, until):
            number, change, after = added[at]
            if notices(number):
                self.first, self.last, self.noticed = {}, {}, at
            else:
                self.first.setdefault(after - change, at)
                self.last[after - change] = at
        self.length = max(self.length, until)
        return self

    def copy(self) -> "Trail":
        return Trail(self.length, self.noticed, dict(self.first), dict(self.last))


@dataclass(eq=False)
class Level:
    """What threads have added to an element.

    Attributes
    ----------
    added : dict of int to list of tuple
        For each thread, its additions: number of the publication, what was added, and the thread's sum after it.
    base : int
        What the element held before all additions.
    sums : dict of int to frozenset of int
        For each thread, all sums that it has ever had, and 0.
    kinds : Counter
        How many threads have each of these sets.
    trails : dict of (int, int) to Trail
        For each thread, and for each number that another thread adds.
    sizes : set of int
        The sizes of all additions, and of those that stand in the kernel's text.
    signs : set of bool
        True if an addition has raised the element, False if one has lowered it.
    mixed : bool
        Whether anything else than additions has changed the element.
    last : dict of int to int
        The number of each thread's last publication.
    put : tuple of int
        The number of the last exchange, and of the publication of its thread before it.
    balances : Balances
    """

    bits: int
    signed: bool = True
    added: dict[int, list] = field(default_factory=dict)
    base: int = 0
    sums: dict[int, frozenset] = field(default_factory=dict)
    kinds: Counter = field(default_factory=Counter)
    trails: dict[tuple, Trail] = field(default_factory=dict)
    sizes: set[int] = field(default_factory=set)
    signs: set[bool] = field(default_factory=set)
    mixed: bool = False
    last: dict[int, int] = field(default_factory=dict)
    put: tuple[int, int] = (-2, -2)
    balances: Balances = field(default_factory=Balances)

    def note(self, number: int, thread: int, change: int) -> None:
        """Note the addition that has a number among the element's publications."""
        added = self.added.setdefault(thread, [])
        after = (added[-1][2] if added else 0) + change
        added.append((number, change, after))
        old = self.sums.get(thread)
        if old is None or after not in old:
            self.sums[thread] = frozenset((0, after)) if old is None else old | {after}
            self.kinds[self.sums[thread]] += 1
            self.kinds[old] -= old is not None
        self.sizes.add(abs(change))
        self.signs.add(change > 0)

    def notices(self, one: Publication, change: int) -> bool:
        """Tell whether a thread would have taken another branch if so much more had been added before."""
        number = int(one.before) + change
        number = signed(number, self.bits) if self.signed else number % (1 << self.bits)
        return one.noticed.get(number, False)

    def without(self, *threads: int) -> Counter:
        """Return the kinds of the other threads."""
        return +(self.kinds - Counter(self.sums[thread] for thread in threads))

    def offsets(self, count: int) -> list[int]:
        """Return some numbers by which the sum might differ: the smallest and the largest addition first."""
        sizes = sorted({min(self.sizes), max(self.sizes)})
        near = [sign * size for size in sizes for sign in (1, -1)]
        return (near + [n * sizes[0] for n in (2, -2, 3, -3, 5)])[:count]


def signed(number: int, bits: int) -> int:
    """Return a difference of two numbers that may have wrapped around."""
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
