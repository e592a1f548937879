"""Who comes first where threads compete at an atomic: a launch runs again in other orders of the threads.

In lock step, threads that run an atomic together do so in the order of their numbers. So a ticket is the number of the
thread that draws it, and the first thread wins. If the kernel uses what atomics find, the ticket may choose an element
or a branch, and only another order shows that threads then race. Any order of the threads that run one statement is
possible on a GPU, because nothing can have put them in order; so a race that is found in any order is one.

Whether a thread must come first cannot be seen in an order in which it does not. So in one launch, which reports
nothing, all threads that run an atomic together find what the first of them would find. If two threads race in it, each
of them comes first in a launch of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from course_pkg.simt.memory.order import Order
from course_pkg.simt.run.late import MANY_THREADS, Late, groups_of

MOST_APART = 4  # roles of a launch in which threads that compete run one after another


@dataclass(eq=False)
class Lots:
    """The order in which threads that run an atomic together come to it.

    Attributes
    ----------
    ranks : callable
        Maps the threads' numbers in the launch to numbers by which they are sorted.
    all_first : bool
        Whether each of them finds what the first one finds. Nothing that such a launch shows is certain.

    Examples
    --------
    >>> at, threads = np.array([3, 3, 0]), np.array([7, 8, 9])
    >>> Lots(lambda threads: -threads).order(at, threads).tolist()  # first element 0, then element 3
    [2, 1, 0]
    """

    ranks: Callable
    all_first: bool = False

    def order(self, at: np.ndarray, threads: np.ndarray) -> np.ndarray:
        """Return the order in which threads update the elements ``at``: sorted by element."""
        return np.lexsort((self.ranks(threads), at))


def drawn() -> Lots:
    """Return an order that is drawn anew for each atomic; it is the same in each run of a launch."""
    draw = np.random.default_rng(5)
    return Lots(lambda threads: draw.permutation(len(threads)))


def reverse() -> Lots:
    """Return the order of falling numbers."""
    return Lots(np.negative)


def first(thread: int) -> Lots:
    """Return the order in which one thread comes before all others."""
    return Lots(lambda threads: np.where(threads == thread, -1, threads))


def order_of(lots: Lots | None, at: np.ndarray, threads: np.ndarray) -> np.ndarray:
    """Return the order in which threads update elements; without lots, by their numbers."""
    return np.argsort(at, kind="stable") if lots is None else lots.order(at, threads)


def orders(order: Order, threads: int, racing: list) -> Iterator[tuple[Lots, Late | None]]:
    """Yield in which orders a launch runs again whose threads compete, and who is late in it.

    First, each atomic draws an order. Then, unless threads are many, up to four groups of them run the kernel one after
    another, as far as they can, the last ones first. The third launch looks for threads that should come first.

    Parameters
    ----------
    order : memory.order.Order
    threads : int
        Threads of a wave.
    racing : list of int
        Whoever runs the launches adds the threads that race in the third one; then each of the first two comes first.

    Examples
    --------
    >>> each = orders(Order(64), 64, [])
    >>> [(lots.all_first, late and [len(group) for group in late.groups]) for lots, late in each]
    [(False, None), (False, [32, 32]), (True, None)]
    """
    yield drawn(), None
    groups = [] if threads > MANY_THREADS else groups_of(range(threads), order, MOST_APART)
    if len(groups) > 1:
        most = min(MOST_APART, len(groups))
        ends = [at * len(groups) // most for at in range(most + 1)]
        joined = [tuple(sum(map(tuple, groups[a:b]), ())) for a, b in pairwise(ends)]
        yield reverse(), Late(tuple(joined[::-1]))
    yield Lots(lambda threads: threads, all_first=True), None
    for thread in [*dict.fromkeys(racing)][:2]:
        yield first(thread), None
