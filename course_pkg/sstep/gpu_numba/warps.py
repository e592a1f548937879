"""The Gram matrix of a pass of few vectors: a warp for each tile of sums, and vectors that are asked for in time.

Kernels:
    gram_warps_kernel   tiles of up to 7 × 7 sums in registers; points pass through shared memory, two buffers in turn

A GPU's memory answers after some hundred nanoseconds. So a thread asks for its numbers of one step, then of the next,
and only then puts the first into shared memory: all the time, numbers of two steps are on their way. A larger tile
makes more products of each number from shared memory, but needs more registers; so larger matrices go to ``tiles``.
Offsets are unsigned numbers of 32 bits; in shared memory they have 64, in which the compiler may add constants.
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
    """How s fresh vectors, r, and, unless it is the first pass, s old vectors are divided among warps.

    Examples
    --------
    >>> Tiling(8, False).edge, Tiling(8, False).tiles, Tiling(1, True).share
    (6, 6, 6)
    """

    s: int
    first: bool

    @property
    def count(self) -> int:
        """Rows of the matrix: the vectors of Z, and r."""
        return (1 if self.first else 2) * self.s + 1

    @property
    def side(self) -> int:
        """Tiles along a row of the matrix."""
        return -(-self.count // EDGE)

    @property
    def edge(self) -> int:
        """Rows of a tile: as few as so many tiles need."""
        return -(-self.count // self.side)

    @property
    def tiles(self) -> int:
        """Tiles of the upper triangle."""
        return self.side * (self.side + 1) // 2

    @property
    def share(self) -> int:
        """Warps that share a tile in a block, each with 32 points of its own."""
        return max(1, WARPS // self.tiles)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return WARP * self.tiles * self.share

    @property
    def points(self) -> int:
        """Points of each vector that a block takes in a step."""
        return WARP * self.share

    @property
    def sums(self) -> int:
        """Numbers that each warp of points leaves: those of all tiles."""
        return self.tiles * self.edge**2


@cuda.jit(device=True)
def sum_of(stage, row, lane):
    """Return the sum of a row of 32 numbers, where each lane has a row and begins at a bank of its own."""
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
    half = side * edge  # columns of Z in a buffer; as many of A Z follow
    buffer, staged = 2 * half * points, 4 * half * points
    brought = -(-2 * s // tiles)  # columns of each block that a warp brings
    brought_old = 1 if first else brought

    @cuda.jit(max_registers=REGISTERS)
    def gram_warps(old, fresh, r, partial):
        """A step: put 32 points of each vector into a buffer, wait, ask for the step after the next, and multiply.

        While warps still multiply from one buffer, others may fill the other: one barrier for each step is enough.
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
        """Load point i of the columns that this warp brings, each ``tiles``-th one of both blocks, and of r."""
        j = min(i, np.uint32(n - 1))
        for q in range(
            brought
        ):  # beyond the last column comes the last once more: so no branch divides the loads
            c = min(np.uint32(np.uint32(q * tiles) + tile), np.uint32(2 * s - 1))
            fresh_ones[q] = fresh[np.uint32(c * n + j)]
            if not first:
                old_ones[q] = old[np.uint32(c * n + j)]
        r_one[0] = r[j]

    @cuda.jit(device=True)
    def put(stage, start, old_ones, fresh_ones, r_one, tile, p, inside):
        """Copy what was asked for to where its column belongs: in Z or in A Z; r stands behind both.

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
        """Add the products of a point to the sums of a tile."""
        here, there = cuda.local.array(edge, np.float64), cuda.local.array(edge, np.float64)
        for a in range(edge):
            here[a] = stage[left + np.uint64(start + a * points)]
            there[a] = stage[above + np.uint64(start + a * points)]
        for a in range(edge):
            for b in range(edge):
                sums[a, b] += here[a] * there[b]

    return gram_warps
