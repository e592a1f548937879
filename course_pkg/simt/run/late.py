"""Late threads: a launch in which threads hand over their work runs again, and some of them come as late as they may.

The race finder learns from one order of the threads that one of them waits for another one. In another order a third
one might have let it go on: a flag, for example, that several threads raise. So where only what an atomic told has put
two accesses in order, the thread of the earlier access is *late* in another run: it goes on only when all others have
ended or wait. If somebody else lets them go on, both accesses come in the other order, and the finder sees the race.

Late threads are roles (:mod:`.roles`) that go on in a sequence. They are late from the beginning, in two sequences, or
from the statement on whose access another thread had to know: so a thread may be late that has taken a lock.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_pkg.simt.memory.order import Order
from course_pkg.simt.run.lanes import Wave

MOST_LATE = 15  # late roles of a launch
MANY_THREADS = 1 << 12


@dataclass(frozen=True)
class Late:
    """Who is late in a launch, and from when on.

    Attributes
    ----------
    groups : tuple of tuple of int
        The numbers of the late threads in the launch; each group is a role, and they go on in this sequence.
    stops : tuple of frozenset, or None
        For each group, the statements, as ``(function, line)``, before the first of which the group begins to be late;
        until then it is the first to go on. None if all groups are late from the beginning.
    """

    groups: tuple
    stops: tuple | None = None

    def roles(self, wave: Wave, present: list | None) -> tuple[list[np.ndarray], list]:
        """Return the lanes of each role of a wave in their sequence, and the statements before which it becomes late.

        ``present`` are the roles of the wave so far.
        """
        first = int(wave.block_numbers[0]) * wave.threads_per_block
        everyone = np.arange(wave.threads).reshape(wave.shape) + first
        late = [np.isin(everyone, group) for group in self.groups]
        rest = ~np.logical_or.reduce(late)
        stops = self.stops or (frozenset(),) * len(late)
        each = [*zip(late, stops, strict=True)]
        each.insert(len(each) if self.stops else 0, (rest, frozenset()))
        present = present or [np.ones(wave.shape, bool)]
        parts = [(role & lanes, stop) for lanes, stop in each for role in present]
        parts = [(lanes, stop) for lanes, stop in parts if lanes.any()]
        return [lanes for lanes, _ in parts], [stop for _, stop in parts]


def sequences(accesses: dict, order: Order, threads: int, others: dict) -> Iterator[Late]:
    """Yield who is late in each further run.

    The groups are single threads if they are few, else the late threads of each warp, or of each block. If these are
    still too many, the first and the last ones are late. From a statement on, only the first and the last thread are
    late; also at statements of which another thread had to know only in such a run, as those of the writer that all
    readers come before in the first run.

    Parameters
    ----------
    accesses : dict
        For each thread that is to be late, by its number in the launch, the places ``(function, line)`` of its accesses
        that another thread had to know.
    order : memory.order.Order
    threads : int
        Threads of a wave: the more these are, the fewer groups are late, because each takes as long as all threads.
    others : dict
        Like ``accesses``, of the runs that were yielded before: whoever runs them fills it.

    Examples
    --------
    >>> at, order = {("kernel", 3)}, Order(64)
    >>> [one.groups for one in sequences({5: at, 1: at}, order, 64, {7: at, 9: {("kernel", 5)}})]
    [((1,), (5,)), ((1,), (5,)), ((5,), (1,)), ((9,),)]
    >>> next(sequences(dict.fromkeys(range(64), at), order, 64, {})).groups == ((*range(32),), (*range(32, 64),))
    True
    """
    most = max(2, MOST_LATE // (1 + threads // MANY_THREADS))
    for key in (lambda thread: thread, order.warp_of, lambda thread: thread // order.threads_per_block):
        groups: dict = {}
        for thread in sorted(accesses):
            groups.setdefault(key(thread), []).append(thread)
        if len(groups) <= most:
            break
    late = tuple(map(tuple, groups.values()))
    if len(late) > most:
        late = *late[: most // 2], *late[-(most - most // 2) :]
    yield Late(late)
    yield _held(accesses)
    if len(late) > 1:
        yield Late(late[::-1])
    tried = set().union(*accesses.values())
    new = {thread: at for thread, at in others.items() if not at <= tried}
    if new:
        yield _held(new)


def _held(accesses: dict) -> Late:
    held = sorted({min(accesses), max(accesses)})
    return Late(tuple((thread,) for thread in held), tuple(frozenset(accesses[thread]) for thread in held))
