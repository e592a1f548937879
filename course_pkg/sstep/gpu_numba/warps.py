"""The Gram matrix of a pass of few vectors: a warp for each tile of sums, and loads that are started two steps ahead.

Kernels:
    gram_warps_kernel   tiles of up to 7 × 7 sums in registers; points pass through two buffers in shared memory

A load from a GPU's memory takes hundreds of nanoseconds. So a thread starts the loads of one step, then those of the
next, and only then puts the numbers of the first into shared memory: loads of two steps are always in flight. A larger
tile uses each number from shared memory for more products, but needs more registers; so ``tiles`` takes larger
matrices. Offsets are unsigned numbers of 32 bits, but of 64 in shared memory, so that the compiler may add constants.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.sstep.gpu_numba.sums import tile_place
from course_pkg.sstep.tuning import EDGE, REGISTERS, WARPS


@dataclass(frozen=True)
class Tiling:
    """How the vectors of a pass are divided among warps: s fresh ones, r, and s old ones except in the first pass.

    Examples
    --------
    >>> Tiling(8, False).edge, Tiling(8, False).tiles, Tiling(1, True).share
    (6, 6, 6)
    """

    s: int
    first: bool

    @property
    def count(self) -> int:
        """Number of rows of the Gram matrix: the vectors of Z, and r."""
        return (1 if self.first else 2) * self.s + 1

    @property
    def side(self) -> int:
        """Number of tiles along a row of the matrix."""
        return -(-self.count // EDGE)

    @property
    def edge(self) -> int:
        """Number of rows of a tile: the fewest with which ``side`` tiles cover the matrix."""
        return -(-self.count // self.side)

    @property
    def tiles(self) -> int:
        """Number of tiles of the upper triangle."""
        return self.side * (self.side + 1) // 2

    @property
    def share(self) -> int:
        """Number of warps of a block that share a tile, each with 32 points of its own."""
        return max(1, WARPS // self.tiles)

    @property
    def threads(self) -> int:
        """Number of threads of a block."""
        return WARP * self.tiles * self.share

    @property
    def points(self) -> int:
        """Number of points of each vector that a block takes in a step."""
        return WARP * self.share

    @property
    def sums(self) -> int:
        """Number of sums in all tiles together; there is one set of them for each share of the points."""
        return self.tiles * self.edge**2


@cuda.jit(device=True)
def sum_of(stage, row, lane):
    """Return the sum of a row of 32 numbers. Each lane sums its own row, and starts in a bank of its own."""
    total = 0.0
    for k in range(WARP):
        total += stage[np.uint32(np.uint32(row * WARP) + np.uint32(k + lane) % np.uint32(WARP))]
    return total


@cache
def gram_warps_kernel(s, first):
    """Return the kernel for s fresh vectors and, unless it is the ``first`` pass, s old ones."""
    plan = Tiling(s, first)
    edge, side, tiles, share, points = plan.edge, plan.side, plan.tiles, plan.share, plan.points
    threads, before, behind_z = plan.threads, 0 if first else s, plan.count - 1
    half = side * edge  # number of columns of Z in a buffer; as many columns of A Z follow
    buffer, staged = 2 * half * points, 4 * half * points
    brought = -(-2 * s // tiles)  # number of columns of each block that a warp loads
    brought_old = 1 if first else brought

    @cuda.jit(max_registers=REGISTERS)
    def gram_warps(old, fresh, r, partial):
        """A step: put 32 points of each vector into a buffer, wait, load for the step after the next, and multiply.

        While some warps still multiply from one buffer, others may fill the other: one barrier per step is enough.
        """
        stage, sums = cuda.shared.array(staged, np.float64), cuda.local.array((edge, edge), np.float64)
        old_1, old_2 = cuda.local.array(brought_old, np.float64), cuda.local.array(brought_old, np.float64)
        fresh_1, fresh_2 = cuda.local.array(brought, np.float64), cuda.local.array(brought, np.float64)
        r_1, r_2 = cuda.local.array(1, np.float64), cuda.local.array(1, np.float64)
        n, t = np.uint32(r.size), np.uint32(cuda.threadIdx.x)
        warp, lane = np.uint32(t // np.uint32(WARP)), np.uint32(t % np.uint32(WARP))
        tile, part = np.uint32(warp % np.uint32(tiles)), np.uint32(warp // np.uint32(tiles))
        row, column = tile_place(tile, np.uint32(side))
        p = np.uint32(part * np.uint32(WARP) + lane)
        left = np.uint64(np.uint32(row * np.uint32(edge * points) + p))
        above = np.uint64(np.uint32(np.uint32(half + column * np.uint32(edge)) * np.uint32(points) + p))
        for k in range(t, np.uint32(staged), np.uint32(threads)):
            stage[k] = 0.0
        for a in range(edge):
            for b in range(edge):
                sums[a, b] = 0.0
        step = np.uint32(cuda.gridDim.x * np.uint32(points))
        i = np.uint32(np.uint32(cuda.blockIdx.x * np.uint32(points)) + p)
        ask(old_1, fresh_1, r_1, old, fresh, r, n, tile, i)
        ask(old_2, fresh_2, r_2, old, fresh, r, n, tile, np.uint32(i + step))
        cuda.syncthreads()
        for base in range(np.uint32(cuda.blockIdx.x * np.uint32(points)), n, np.uint32(2 * step)):
            i = np.uint32(base + p)
            put(stage, 0, old_1, fresh_1, r_1, tile, p, i < n)
            cuda.syncthreads()
            ask(old_1, fresh_1, r_1, old, fresh, r, n, tile, np.uint32(i + np.uint32(2 * step)))
            multiply(stage, 0, left, above, sums)
            i = np.uint32(i + step)
            put(stage, buffer, old_2, fresh_2, r_2, tile, p, i < n)
            cuda.syncthreads()
            ask(old_2, fresh_2, r_2, old, fresh, r, n, tile, np.uint32(i + np.uint32(2 * step)))
            multiply(stage, buffer, left, above, sums)
        cuda.syncthreads()
        part, parts = np.uint32(cuda.blockIdx.x * np.uint32(share) + part), np.uint32(cuda.gridDim.x * share)
        for a in range(edge):
            for b in range(edge):
                stage[np.uint32(np.uint32(np.uint32(warp * edge) + b) * np.uint32(WARP) + lane)] = sums[a, b]
            cuda.syncwarp()
            if lane < edge:
                e = np.uint32(np.uint32(tile * np.uint32(edge) + a) * np.uint32(edge) + lane)
                partial[np.uint32(e * parts + part)] = sum_of(
                    stage, np.uint32(np.uint32(warp * edge) + lane), lane
                )
            cuda.syncwarp()

    @cuda.jit(device=True)
    def ask(old_ones, fresh_ones, r_one, old, fresh, r, n, tile, i):
        """Load point i of this warp's columns, which are every ``tiles``-th column of both blocks, and of r."""
        j = min(i, np.uint32(n - 1))
        # beyond the last column, load the last one again: no branch between the loads
        for q in range(brought):
            c = min(np.uint32(np.uint32(q * tiles) + tile), np.uint32(2 * s - 1))
            fresh_ones[q] = fresh[np.uint32(c * n + j)]
            if not first:
                old_ones[q] = old[np.uint32(c * n + j)]
        r_one[0] = r[j]

    @cuda.jit(device=True)
    def put(stage, start, old_ones, fresh_ones, r_one, tile, p, inside):
        """Copy the loaded numbers to their columns of Z or A Z in a buffer; r is the column after each of the two.

        Points beyond the end are zero.
        """
        for q in range(brought):
            c = np.uint32(np.uint32(q * tiles) + tile)
            if c < 2 * s:
                place = np.uint32(c + np.uint32(half - s)) if c >= s else c
                at = np.uint64(np.uint32(place * np.uint32(points) + p))
                stage[at + np.uint64(start + before * points)] = fresh_ones[q] if inside else 0.0
                if not first:
                    stage[at + np.uint64(start)] = old_ones[q] if inside else 0.0
        if tile == 0:
            stage[np.uint32(np.uint32(start + behind_z * points) + p)] = r_one[0] if inside else 0.0
            stage[np.uint32(np.uint32(start + (half + behind_z) * points) + p)] = r_one[0] if inside else 0.0

    @cuda.jit(device=True)
    def multiply(stage, start, left, above, sums):
        """Add the products of one point's numbers to the sums of a tile."""
        here, there = cuda.local.array(edge, np.float64), cuda.local.array(edge, np.float64)
        for a in range(edge):
            here[a] = stage[left + np.uint64(start + a * points)]
            there[a] = stage[above + np.uint64(start + a * points)]
        for a in range(edge):
            for b in range(edge):
                sums[a, b] += here[a] * there[b]

    return gram_warps
