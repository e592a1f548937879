"""Late threads: a launch in which threads hand over their work runs again, and some of them come as late as they may.

The race finder learns from one order of the threads that one of them waits for another one. In another order a third
one might have let it go on: a flag, for example, that several threads raise. So where only what an atomic told has put
two accesses in order, the thread of the earlier access is *late* in another run: it goes on only when all others have
ended or wait. If somebody else lets them go on, both accesses come in the other order, and the finder sees the race.

Late threads are roles (:mod:`.roles`) that go on in a sequence. They are late from the beginning, in two sequences, or
from some place on. If the access is an atomic, that place is its statement; otherwise it is the next fence or barrier,
because only behind it the thread can publish the access. So a thread may be late that has taken a lock; and until then,
no atomic tells other threads that it will be late.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from course_pkg.simt.memory.order import Order
from course_pkg.simt.run.lanes import Wave

MOST_LATE = 15  # late roles of a launch
MOST_PARTS = 3
MANY_THREADS = 1 << 12


@dataclass(frozen=True)
class Late:
    """Who is late in a launch, and from when on.

    Attributes
    ----------
    groups : tuple of tuple of int
        The numbers of the late threads in the launch; each group is a role, and they go on in this sequence.
    stops : tuple of frozenset, or None
        For each group, the accesses, as ``(function, line, whether it is an atomic)``, at the first of which, or behind
        it, the group begins to be late; until then it is the first to go on. None if all groups are late from the
        beginning.
    waiting : tuple of tuple of int
        The numbers of threads that will wait for the late ones. Each group is a role from the beginning: otherwise the
        launch would begin again whenever some of them need no longer wait.
    """

    groups: tuple
    stops: tuple | None = None
    waiting: tuple = ()

    def roles(self, wave: Wave, present: list | None) -> tuple[list[np.ndarray], list]:
        """Return the lanes of each role of a wave in their sequence, and the statements before which it becomes late.

        ``present`` are the roles of the wave so far.
        """
        first = int(wave.block_numbers[0]) * wave.threads_per_block
        everyone = np.arange(wave.threads).reshape(wave.shape) + first
        late, waiting = ([np.isin(everyone, one) for one in groups] for groups in (self.groups, self.waiting))
        rest = ~np.logical_or.reduce((*late, *waiting))
        stops = self.stops or (frozenset(),) * len(late)
        each = [*zip(late, stops, strict=True)]
        at = len(each) if self.stops else 0
        each[at:at] = [(lanes, frozenset()) for lanes in (rest, *waiting)]
        present = present or [np.ones(wave.shape, bool)]
        parts = [(role & lanes, stop) for lanes, stop in each for role in present]
        parts = [(lanes, stop) for lanes, stop in parts if lanes.any()]
        return [lanes for lanes, _ in parts], [stop for _, stop in parts]


def sequences(accesses: dict, learners: set, order: Order, threads: int, others: dict) -> Iterator[Late]:
    """Yield who is late in each further run.

    Threads whose accesses without atomics are others have other parts, such as readers and writers. If there are such
    parts, then at first the first and the last thread of a part are late from these accesses on, of one part after the
    other: so they have taken a lock of readers, and others come. If all have the same part, and an atomic comes before
    it, as where threads give way to each other, the first thread of all is late from there on, and the last one in
    another run, whether others had to know of it or not.

    Then all threads are late from some place on. Then all are late from the beginning, in one sequence and in its
    reverse. The groups are single threads if they are few, else the late threads of each warp, or of each block. If
    these are still too many, those that stand so many places apart share a group in one sequence, and neighbours in the
    other one: so two of them seldom share a group in both. The last ones then come first in both, because in lock step
    they came last.

    At the end, the first and the last thread are late from statements on of which another thread had to know only in
    such a run, as those of the writer that all readers come before in the first run.

    Parameters
    ----------
    accesses : dict
        For each thread that is to be late, by its number in the launch, the places of its accesses that another thread
        had to know.
    learners : set of int
        The threads that knew them. Those that are not late themselves have roles of their own if they are few.
    order : memory.order.Order
    threads : int
        Threads of a wave: the more these are, the fewer groups are late, because each takes as long as all threads.
    others : dict
        Like ``accesses``, of the runs that were yielded before: whoever runs them fills it.

    Examples
    --------
    >>> at, order = {("kernel", 3, False)}, Order(64)
    >>> [one.groups for one in sequences({5: at, 1: at}, {3}, order, 64, {9: {("kernel", 5, True)}})]
    [((1,), (5,)), ((1,), (5,)), ((5,), (1,)), ((9,),)]
    >>> held, late, back = sequences(dict.fromkeys(range(64), at), {3}, order, 64, {})
    >>> late.groups == ((*range(32),), (*range(32, 64),))
    True
    """
    most = max(2, MOST_LATE // (1 + threads // MANY_THREADS))
    late, apart = groups_of(accesses, order, most), groups_of(learners - accesses.keys(), order, 2 * most)
    waiting = () if len(apart) > 2 * most else tuple(map(tuple, apart))
    parts = _parts(accesses)
    if len(parts) < 2 and _begin_by_atomics(accesses):
        plain = frozenset(one for at in accesses.values() for one in at if not one[2])
        everyone = accesses.keys() | learners
        parts = [{min(everyone): plain}, {max(everyone): plain}]
    yield from map(_held, parts[:MOST_PARTS] if len(parts) > 1 else ())
    most = min(most, len(late))
    far = _joined(late[at::most] for at in range(most))
    yield Late(far, tuple(frozenset().union(*(accesses[thread] for thread in group)) for group in far))
    yield Late(far if len(late) == most else far[::-1], waiting=waiting)
    if most > 1:
        ends = [at * len(late) // most for at in range(most + 1)]
        yield Late(_joined(late[a:b] for a, b in pairwise(ends))[::-1], waiting=waiting)
    tried = set().union(*accesses.values())
    new = {thread: at for thread, at in others.items() if not at <= tried}
    if new:
        yield _held(new)


def groups_of(threads, order: Order, most: int) -> list:
    """Return groups of threads: single ones if these are at most so many, else those of each warp, or of each block."""
    for key in (lambda thread: thread, order.warp_of, lambda thread: thread // order.threads_per_block):
        groups: dict = {}
        for thread in sorted(threads):
            groups.setdefault(key(thread), []).append(thread)
        if len(groups) <= most:
            break
    return [*groups.values()]


def _joined(groups) -> tuple:
    return tuple(tuple(chain.from_iterable(some)) for some in groups)


def _parts(accesses: dict) -> list[dict]:
    """Return the accesses without atomics, of threads with the same ones together."""
    parts: dict = {}
    for thread, at in sorted(accesses.items()):
        plain = frozenset(one for one in at if not one[2])
        if plain:
            parts.setdefault(plain, {})[thread] = plain
    return [*parts.values()]


def _begin_by_atomics(accesses: dict) -> bool:
    """Return whether the first of some thread's accesses is an atomic, by their lines, and others are none."""
    each = (sorted((line, atomic) for _, line, atomic in at) for at in accesses.values())
    return any(at[0][1] and not all(atomic for _, atomic in at) for at in each)


def _held(accesses: dict) -> Late:
    held = sorted({min(accesses), max(accesses)})
    return Late(tuple((thread,) for thread in held), tuple(frozenset(accesses[thread]) for thread in held))
