"""When it is for each thread of a wave: the barriers and fences that it has passed."""

import numpy as np

from course_pkg.simt.memory.handover import Fences
from course_pkg.simt.memory.shadow import BLOCK_SHIFT, WARP_SHIFT


class Clock:
    """Counts barriers and fences, and lets those who pass them know what they may know.

    Parameters
    ----------
    wave : Wave
    races : Races or None

    Attributes
    ----------
    fences : Fences or None
        None until somebody passes one.
    """

    def __init__(self, wave, races):
        self._wave, self._races = wave, races
        self._blocks = np.zeros(wave.blocks, np.int64)
        self._warps = np.zeros((wave.blocks, wave.warps_per_block), np.int64)
        self._stamps = None
        self.fences: Fences | None = None

    def stamps(self) -> np.ndarray:
        """When it is for each thread, as :mod:`course_pkg.simt.memory.shadow` writes it.

        Returns
        -------
        ndarray of int64, shape (blocks, threads_per_block)
        """
        if self._stamps is None:
            per_warp = (self._blocks[:, None] << BLOCK_SHIFT) | (self._warps << WARP_SHIFT)
            self._stamps = np.repeat(per_warp, 32, axis=1)[:, : self._wave.threads_per_block]
            if self.fences is not None:
                self._stamps = self._stamps | self.fences.count
        return self._stamps

    def pass_barrier(self, blocks: np.ndarray) -> None:
        """Note that blocks have passed a barrier; one bool a block."""
        self._blocks[blocks] += 1
        self._stamps = None
        if self.fences is not None:
            self.fences.barrier(blocks)
            self._races.handovers.spread(self._wave.block_numbers[blocks])

    def pass_warp_barrier(self, warps: np.ndarray) -> None:
        """Note that warps have passed a barrier of their own; bool, shape (blocks, warps_per_block)."""
        self._warps[warps] += 1
        self._stamps = None
        if self.fences is not None:
            row, warp = np.nonzero(warps)
            numbers = self._wave.block_numbers[row] * self._wave.warps_per_block + warp
            self._races.handovers.spread(numbers, of_warp=True)

    def pass_fence(self, lanes: np.ndarray, *, for_device: bool) -> None:
        """Note that threads have passed a fence; bool, shape (blocks, threads_per_block)."""
        if self._races is not None:
            self.fences = self.fences or Fences(self._wave)
            self._races.handovers.active = True
            self.fences.fence(lanes, self.stamps(), for_device)
            self._stamps = None
