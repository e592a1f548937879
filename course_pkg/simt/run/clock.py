"""The clock of a wave, which counts the barriers and fences that each thread has passed."""

import numpy as np

from course_pkg.simt.memory.fences import Fences
from course_pkg.simt.memory.order import BLOCK_SHIFT, WARP_SHIFT
from course_pkg.simt.memory.warp_order import WarpOrder


class Clock:
    """Counts barriers and fences. Threads that pass a barrier together share what they know about other threads.

    Parameters
    ----------
    wave : Wave
    races : Races or None

    Attributes
    ----------
    fences : Fences or None
        The fences that threads have passed; None until a thread passes one.
    alike : bool
        Whether all blocks have always passed the same barriers, each with whole warps, and no thread has passed a
        fence.
    passed : list
        For each barrier of blocks, or of the grid, an array of the blocks that have passed it; True if all have.
    informed : list
        For each of these barriers, an array of the blocks whose threads have used what an atomic found since the
        barrier before; False if no block's have.
    """

    def __init__(self, wave, races):
        self._wave, self._races = wave, races
        self._blocks = np.zeros(wave.blocks, np.int64)
        self._warps = np.zeros((wave.blocks, wave.warps_per_block), np.int64)
        self._stamps = None
        self._of_lanes: WarpOrder | None = None
        self.fences: Fences | None = None
        self.alike = True
        self.passed: list = []
        self.informed: list = []
        self._fetched = np.zeros(wave.blocks, bool)
        if races is not None:
            races.order.of_lanes = None

    @property
    def barriers(self) -> int:
        """Number of barriers of blocks, or of the grid, that some block has passed."""
        return len(self.passed)

    def stamps(self) -> np.ndarray:
        """Return the present time of each thread, as a stamp of :mod:`course_pkg.simt.memory.order`.

        Returns
        -------
        ndarray of int64, shape (blocks, threads_per_block)
        """
        if self._stamps is None:
            if self._of_lanes is None:
                ticks = np.repeat(self._warps, 32, axis=1)[:, : self._wave.threads_per_block]
            else:
                ticks = self._of_lanes.per_lane(self._of_lanes.ticks).astype(np.int64)
            self._stamps = (self._blocks[:, None] << BLOCK_SHIFT) | (ticks << WARP_SHIFT)
            if self.fences is not None:
                self._stamps = self._stamps | self.fences.count
        return self._stamps

    def fetched(self, lanes) -> None:
        """Note that lanes of a :class:`~.lanes.Mask` use what an atomic finds, or exchange numbers."""
        if not self._fetched.all():
            self._fetched |= self._wave.spread(lanes.full).any(axis=1)

    def pass_barrier(self, blocks: np.ndarray) -> None:
        """Note that blocks have passed a barrier; ``blocks`` holds one bool per block."""
        self._blocks[blocks] += 1
        every = bool(blocks.all())
        self.passed.append(True if every else blocks)
        some = self._fetched & blocks
        self.informed.append(some if some.any() else False)
        self._fetched = self._fetched & ~blocks
        self.alike &= every
        self._stamps = None
        if self.fences is not None:
            self.fences.barrier(blocks)
            self._races.handovers.spread(self._wave.block_numbers[blocks])

    def pass_warp_barrier(self, together: np.ndarray | None, warps: np.ndarray) -> None:
        """Note that warps have passed a warp barrier, such as ``syncwarp``.

        Parameters
        ----------
        together : ndarray of bool, shape (warps, 32, 32), or None
            For each lane, the lanes that it waits for, including itself; None if every lane waits for its whole warp.
        warps : ndarray of bool, shape (warps,)
            Which warps have a lane that passes the barrier.
        """
        if self._races is None:
            return
        self._stamps, whole = None, together is None
        if whole and self._of_lanes is None:
            self._warps.reshape(-1)[warps] += 1
            self.alike &= bool((self._warps == self._warps[0]).all())
        else:
            self.alike = False
            if whole:
                together = np.broadcast_to(warps[:, None, None], (len(warps), 32, 32))
            self._part_lanes().pass_barrier(together)
        if self.fences is not None:
            if whole:
                lanes = np.repeat(warps.reshape(self._warps.shape), 32, axis=1)
                self.fences.warp_barrier(lanes[:, : self._wave.threads_per_block])
            self._spread(together, warps)

    def _part_lanes(self) -> WarpOrder:
        """Return the clocks of individual lanes. The first call creates them, with the time of each lane's warp."""
        if self._of_lanes is None:
            self._races.require_in_parts()
            wave = self._wave
            self._of_lanes = WarpOrder(wave.block_numbers, wave.threads_per_block, self._warps)
            self._races.order.of_lanes = self._of_lanes
        return self._of_lanes

    def _spread(self, together, warps) -> None:
        """Let lanes that pass a barrier together share what each of them knows."""
        handovers, wave = self._races.handovers, self._wave
        rows = np.flatnonzero(warps)
        blocks, warp = np.divmod(rows, wave.warps_per_block)
        if together is None:
            handovers.spread(wave.block_numbers[blocks] * wave.warps_per_block + warp, of_warp=True)
            return
        first = wave.block_numbers[blocks] * wave.threads_per_block + 32 * warp
        for row, number in zip(rows, first.tolist(), strict=True):
            for lanes in np.unique(together[row], axis=0):
                handovers.spread_among((number + np.flatnonzero(lanes)).tolist())

    def pass_fence(self, lanes: np.ndarray, *, for_device: bool) -> None:
        """Note that threads have passed a fence; ``lanes`` is an array of bool, shape (blocks, threads_per_block)."""
        if self._races is not None:
            self._races.require_in_parts()
            self.alike = False
            self.fences = self.fences or Fences(self._wave)
            self.fences.fence(lanes, self.stamps(), for_device, self._seen())
            self._stamps = None

    def _seen(self):
        """Return up to which time each thread is in order with each lane of its warp; None while lanes have no clocks.

        Returns
        -------
        ndarray of int64, shape (blocks, threads_per_block, 32), or None
        """
        if self._of_lanes is None:
            return None
        seen = self._of_lanes.per_lane(self._of_lanes.seen).astype(np.int64)
        return self._blocks[:, None, None] << BLOCK_SHIFT - WARP_SHIFT | seen
