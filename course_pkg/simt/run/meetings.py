"""Meetings: the barriers that the blocks of a launch have passed in lock step."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(eq=False)
class Meetings:
    """The barriers that each block of a launch has passed in lock step.

    If some blocks pass a barrier that others leave out, only those that pass it are put in order there. So blocks that
    did not pass the same barriers form groups, and each group runs by itself when the warps run in another order.

    Attributes
    ----------
    fetches : bool
        Whether the kernel uses what atomics find, or exchanges numbers: then the finder alone may miss a race.
    by_data : bool
        Whether elements of arrays decide which barriers threads come to (:mod:`course_pkg.simt.front.chance`).
    """

    fetches: bool = False
    by_data: bool = False
    _waves: list = field(default_factory=list)
    _of_block: dict = field(default_factory=dict)

    def end_of_wave(self, wave, passed: list) -> None:
        """Keep which blocks of a wave have passed each barrier (``Clock.passed``)."""
        self._waves.append((wave.block_numbers, passed))

    def _divide(self) -> None:
        """Note for each block which barriers it has passed, and of which wave they are."""
        while self._waves:
            numbers, passed = self._waves.pop()
            some = [one for one in passed if one is not True]
            table = np.array(some, bool).reshape(len(some), len(numbers)).T
            of_all, wave = len(passed) - len(some), int(numbers[0])
            each = ((wave, row.tobytes(), of_all + int(row.sum())) for row in table)
            self._of_block.update(zip(numbers.tolist(), each, strict=True))

    def most_groups(self) -> int:
        """Return the number of groups, in all waves."""
        self._divide()
        return max(1, len(set(self._of_block.values())))

    @property
    def barriers(self) -> int:
        """The largest number of barriers that a block has passed."""
        self._divide()
        return max((number for _, _, number in self._of_block.values()), default=0)

    def groups(self, wave) -> list:
        """Return the groups of a wave's blocks, in the order of their first blocks.

        Returns
        -------
        list of tuple
            ``(barriers, blocks)``: how many barriers the group has passed, and an array with one bool per block.
        """
        self._divide()
        each = [self._of_block[number] for number in wave.block_numbers.tolist()]
        return [(one[-1], np.array([other == one for other in each])) for one in dict.fromkeys(each)]
