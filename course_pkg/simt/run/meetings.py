"""Meetings: the barriers that the blocks of a launch have passed in lock step."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(eq=False)
class Meetings:
    """The barriers that each block of a launch has passed in lock step.

    If some blocks pass a barrier that others leave out, only those that pass it are put in order there. So blocks that
    did not pass the same barriers form groups, and each group runs by itself when the warps run in another order.

    A barrier is *informed* if the threads of a block have used what an atomic found since the barrier before. Only
    there can they have learnt something new about the order in which they run.

    Attributes
    ----------
    fetches : bool
        Whether the kernel uses what atomics find, or exchanges numbers: then the finder alone may miss a race.
    by_data : bool
        Whether elements of arrays decide which barriers threads come to (:mod:`course_pkg.simt.front.chance`).
    roles : dict
        For the first block of a wave, the lanes of each role (:mod:`.roles`), if its threads run in roles.
    """

    fetches: bool = False
    by_data: bool = False
    roles: dict = field(default_factory=dict)
    _waves: list = field(default_factory=list)
    _of_block: dict = field(default_factory=dict)
    _groups: dict = field(default_factory=dict)  # {group: its informed barriers, counted from 1}
    _most: int = 0

    def begin_again(self) -> None:
        """Forget the waves: the launch runs once more in lock step."""
        self._waves.clear()

    def end_of_wave(self, wave, clock) -> None:
        """Keep which blocks of a wave have passed each barrier, and which were informed (``Clock``)."""
        self._waves.append((wave.block_numbers, clock.passed, clock.informed))

    def _divide(self) -> None:
        """Note for each block which barriers it has passed, and of which wave they are."""
        while self._waves:
            numbers, *tables = self._waves.pop()
            passed, informed = (_per_block(one, len(numbers)) for one in tables)
            names = [(int(numbers[0]), row.tobytes()) for row in passed]
            self._of_block.update(zip(numbers.tolist(), names, strict=True))
            for name in dict.fromkeys(names):
                blocks = np.array([other == name for other in names])
                count = passed[names.index(name)].cumsum()
                self._groups[name] = np.unique(count[informed[blocks].any(axis=0)]).tolist()
                self._most = max(self._most, *count[-1:].tolist(), 0)

    def most_groups(self) -> int:
        """Return the number of groups, in all waves."""
        self._divide()
        return max(1, len(self._groups))

    @property
    def barriers(self) -> int:
        """The largest number of barriers that a block has passed."""
        self._divide()
        return self._most

    @property
    def informed(self) -> int:
        """The largest number of informed barriers that a group has passed."""
        self._divide()
        return max(map(len, self._groups.values()), default=0)

    @property
    def pattern(self) -> tuple:
        """Which barriers each group has passed: equal if the blocks met at the same ones."""
        self._divide()
        return tuple(sorted(self._groups))

    def groups(self, wave) -> list:
        """Return the groups of a wave's blocks, in the order of their first blocks.

        Returns
        -------
        list of tuple
            ``(informed, blocks)``: the group's informed barriers, counted from 1, and an array with one bool per block.
        """
        self._divide()
        each = [self._of_block[number] for number in wave.block_numbers.tolist()]
        return [
            (self._groups[one], np.array([other == one for other in each])) for one in dict.fromkeys(each)
        ]


def _per_block(barriers: list, blocks: int):
    """Return one row per block and one column per barrier; an entry of a list is one bool for all blocks or each."""
    return np.array([np.broadcast_to(one, blocks) for one in barriers], bool).reshape(-1, blocks).T
