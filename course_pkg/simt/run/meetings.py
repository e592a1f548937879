"""Meetings: where the threads of a launch came to barriers in lock step, for each group of blocks that met alike."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Group:
    """Blocks that came to the same barriers.

    Attributes
    ----------
    meeting : frozenset of tuple
        ``(statement, barriers)``: the statements in which their threads came to a barrier, and how many barriers they
        had passed before.
    barriers : int
        How many barriers they passed.
    """

    meeting: frozenset = frozenset()
    barriers: int = 0


@dataclass(eq=False)
class Meetings:
    """Where the threads of a launch came to barriers in lock step.

    If some blocks pass a barrier that others leave out, only those that pass it are put in order there. So blocks that
    did not pass the same barriers form groups, and each group runs by itself when the warps run in another order.

    Attributes
    ----------
    events : set of tuple
        For the present wave, ``(statement, barriers before it, barriers after it)``; barriers of any block count.
    fetches : bool
        Whether the kernel uses what atomics find, or exchanges numbers: then the finder alone may miss a race.
    by_data : bool
        Whether elements of arrays decide which barriers threads come to (:mod:`course_pkg.simt.front.chance`).
    """

    events: set = field(default_factory=set)
    fetches: bool = False
    by_data: bool = False
    _waves: list = field(default_factory=list)
    _of_block: dict = field(default_factory=dict)

    def note(self, node, before: int, after: int) -> None:
        """Note that some block of the present wave has passed barriers within a statement."""
        self.events.add((node, before, after))

    def end_of_wave(self, wave, passed: list) -> None:
        """Keep what was noted of a wave, and which of its blocks have passed each barrier (``Clock.passed``)."""
        self._waves.append((wave.block_numbers, passed, self.events))
        self.events = set()

    def most(self) -> int:
        """Return an upper limit of the number of groups in a wave."""
        self._divide_all()
        return max(1, len(set(self._of_block.values())))

    @property
    def barriers(self) -> int:
        """The largest number of barriers that a block has passed."""
        self._divide_all()
        return max((one.barriers for one in self._of_block.values()), default=0)

    def _divide_all(self) -> None:
        while self._waves:
            self._divide(*self._waves.pop())

    def _divide(self, numbers, passed, events) -> None:
        """Divide the blocks of a wave into groups."""
        some = [one for one in passed if one is not True]
        table = np.array(some, bool).reshape(len(some), len(numbers)).T
        alike = {row.tobytes(): None for row in table}
        for row in alike:
            own = iter(np.frombuffer(row, bool).tolist())
            alike[row] = _group([one is True or next(own) for one in passed], events)
        each = (alike[row.tobytes()] for row in table)
        self._of_block.update(zip(numbers.tolist(), each, strict=True))

    def groups(self, wave) -> list:
        """Return the groups of a wave's blocks, each with its blocks, in the order of their first blocks.

        Returns
        -------
        list of tuple
            ``(group, blocks)``, where ``blocks`` is an array with one bool per block.
        """
        self._divide_all()
        each = [self._of_block[number] for number in wave.block_numbers.tolist()]
        return [(one, np.array([other is one for other in each])) for one in dict.fromkeys(each)]


def _group(passed: list, events: set) -> Group:
    """Return the group of blocks that have passed the marked ones of their wave's barriers."""
    count = np.concatenate(([0], np.cumsum(passed))).astype(int).tolist()
    meeting = {(node, count[before]) for node, before, after in events if count[after] > count[before]}
    return Group(frozenset(meeting), count[-1])
