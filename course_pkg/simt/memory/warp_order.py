"""The order of the lanes of one warp, for kernels in which a barrier names only some of the lanes.

While each barrier takes a whole warp, one count per warp is enough (:mod:`course_pkg.simt.memory.order`). A barrier
of some lanes puts only those lanes in order. From then on, each lane has a count of its own and a vector clock of 32
numbers (Fidge 1988; Mattern 1989), which records how far the lane is in order with each other lane.
"""

import numpy as np

LANES = 32


class WarpOrder:
    """The vector clocks of a wave's warps.

    Parameters
    ----------
    block_numbers : ndarray of int64, shape (blocks,)
        Numbers of the wave's blocks in the launch, ascending.
    threads_per_block : int
    passed : ndarray of int64, shape (blocks, warps_per_block)
        Barriers that each warp has passed as a whole.

    Attributes
    ----------
    ticks : ndarray of int32, shape (warps, 32)
        Number of barriers of its warp that each lane has passed.
    seen : ndarray of int32, shape (warps, 32, 32)
        ``seen[w, i, j] == n`` means: everything that lane j did before its barrier n comes before what lane i does now.
    """

    def __init__(self, block_numbers, threads_per_block: int, passed):
        self._block_numbers, self._threads_per_block = block_numbers, threads_per_block
        self._warps = passed.shape[1]
        self.ticks = np.repeat(passed.reshape(-1, 1), LANES, axis=1).astype(np.int32)
        self.seen = np.repeat(self.ticks[:, None, :], LANES, axis=1)

    def pass_barrier(self, together) -> None:
        """Let lanes pass a barrier.

        Parameters
        ----------
        together : ndarray of bool, shape (warps, 32, 32)
            For each lane, the lanes that it waits for, including itself; none if the lane does not reach the barrier.
        """
        rows = np.flatnonzero(together.any(axis=(1, 2)))
        together = together[rows]
        came = together.any(axis=2)
        seen, ticks = self.seen[rows], self.ticks[rows] + came
        joined = seen.copy()
        for lane in range(LANES):
            others = np.where(together[:, :, lane, None], seen[:, lane, None, :], 0)
            joined = np.maximum(joined, others)
        joined = np.where(together, ticks[:, None, :], joined)
        self.ticks[rows], self.seen[rows] = ticks, joined

    def per_lane(self, what) -> np.ndarray:
        """Turn an array of shape (warps, 32, …) into one of shape (blocks, threads_per_block, …)."""
        whole = what.reshape(len(self._block_numbers), self._warps * LANES, *what.shape[2:])
        return whole[:, : self._threads_per_block]

    def later(self, other, tick, me):
        """Tell, for pairs of threads of one warp, whether what ``other`` did at ``tick`` precedes what ``me`` does now.

        Parameters
        ----------
        other, me : ndarray of int64
            Numbers of threads in the launch.
        tick : ndarray of int64
        """
        block, thread = np.divmod(me, self._threads_per_block)
        warp = np.searchsorted(self._block_numbers, block) * self._warps + thread // LANES
        other_lane = other % self._threads_per_block % LANES
        return tick < self.seen[warp, thread % LANES, other_lane]
