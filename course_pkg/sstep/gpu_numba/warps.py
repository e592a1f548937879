"""The Gram matrix of a pass of few vectors: a warp for each tile of sums, and vectors that are asked for in time.

Kernels:
    gram_warps_kernel   tiles of up to 7 × 7 sums in registers; points pass through shared memory, two buffers in turn

A GPU's memory answers after some hundred nanoseconds. So a thread asks for its numbers of one step, then of the next,
and only then puts the first into shared memory: all the time, numbers of two steps are on their way. A larger tile makes
more products of each number from shared memory, but needs more registers; so larger matrices go to ``tiles``.
Offsets are unsigned numbers of 32 bits.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.device.sums import warp_sum
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


@cache
def gram_warps_kernel(s, first):
    """Return the kernel for s fresh vectors and, unless it is the ``first`` pass, s old ones."""
    plan = Tiling(s, first)
    edge, side, tiles, share, points = plan.edge, plan.side, plan.tiles, plan.share, plan.points
    threads, before, behind_z = plan.threads, 0 if first else s, plan.count - 1
    half = side * edge  # columns of Z in a buffer; as many of A Z follow
    buffer, staged = 2 * half * points, 4 * half * points
    of_fresh = -(-(2 * s + (1 if first else 0)) // tiles)  # columns that each warp brings, r among them
    of_old = 1 if first else -(-(2 * s + 1) // tiles)

    @cuda.jit(max_registers=REGISTERS)
    def gram_warps(old, fresh, r, partial):
        """A step: put 32 points of each vector into one buffer, wait for all, ask for the step after the next, multiply.

        While warps still multiply from one buffer, others may fill the other: one barrier for each step is enough.
        """
        stage, sums = cuda.shared.array(staged, np.float64), cuda.local.array((edge, edge), np.float64)
        old_1, fresh_1 = cuda.local.array(of_old, np.float64), cuda.local.array(of_fresh, np.float64)
        old_2, fresh_2 = cuda.local.array(of_old, np.float64), cuda.local.array(of_fresh, np.float64)
        n, t = np.uint32(r.size), np.uint32(cuda.threadIdx.x)
        warp, lane = np.uint32(t // np.uint32(WARP)), np.uint32(t % np.uint32(WARP))
        tile, part = np.uint32(warp % np.uint32(tiles)), np.uint32(warp // np.uint32(tiles))
        row, column = tile_place(tile, np.uint32(side))
        p = np.uint32(part * np.uint32(WARP) + lane)
        left = np.uint32(row * np.uint32(edge * points) + p)
        above = np.uint32(np.uint32(half + column * np.uint32(edge)) * np.uint32(points) + p)
        for k in range(t, np.uint32(staged), np.uint32(threads)):
            stage[k] = 0.0
        for a in range(edge):
            for b in range(edge):
                sums[a, b] = 0.0
        step = np.uint32(cuda.gridDim.x * np.uint32(points))
        i = np.uint32(np.uint32(cuda.blockIdx.x * np.uint32(points)) + p)
        ask(old_1, fresh_1, old, fresh, r, n, tile, i)
        ask(old_2, fresh_2, old, fresh, r, n, tile, np.uint32(i + step))
        cuda.syncthreads()
        for base in range(np.uint32(cuda.blockIdx.x * np.uint32(points)), n, np.uint32(2 * step)):
            i = np.uint32(base + p)
            put(stage, 0, old_1, fresh_1, tile, p, i < n)
            cuda.syncthreads()
            ask(old_1, fresh_1, old, fresh, r, n, tile, np.uint32(i + np.uint32(2 * step)))
            multiply(stage, 0, left, above, sums)
            i = np.uint32(i + step)
            put(stage, buffer, old_2, fresh_2, tile, p, i < n)
            cuda.syncthreads()
            ask(old_2, fresh_2, old, fresh, r, n, tile, np.uint32(i + np.uint32(2 * step)))
            multiply(stage, buffer, left, above, sums)
        part, parts = np.uint32(cuda.blockIdx.x * np.uint32(share) + part), np.uint32(cuda.gridDim.x * share)
        for a in range(edge):
            for b in range(edge):
                total = warp_sum(sums[a, b])
                if lane == 0:
                    e = np.uint32(np.uint32(tile * np.uint32(edge) + a) * np.uint32(edge) + b)
                    partial[np.uint32(e * parts + part)] = total

    @cuda.jit(device=True)
    def ask(old_ones, fresh_ones, old, fresh, r, n, tile, i):
        """Load point i of the columns that this warp brings: each ``tiles``-th one, and r as the one behind them."""
        j = min(i, np.uint32(n - 1))
        for q in range(of_fresh):
            c = np.uint32(np.uint32(q * tiles) + tile)
            if first and c >= 2 * s:
                fresh_ones[q] = r[j]
            else:
                fresh_ones[q] = fresh[np.uint32(min(c, np.uint32(2 * s - 1)) * n + j)]
        if not first:
            for q in range(of_old):
                c = np.uint32(np.uint32(q * tiles) + tile)
                if c < 2 * s:
                    old_ones[q] = old[np.uint32(c * n + j)]
                else:
                    old_ones[q] = r[j]

    @cuda.jit(device=True)
    def put(stage, start, old_ones, fresh_ones, tile, p, inside):
        """Copy what was asked for into a buffer; points beyond the end are zero."""
        for q in range(of_fresh):
            value, c = fresh_ones[q] if inside else 0.0, np.uint32(np.uint32(q * tiles) + tile)
            put_one(stage, start, value, c, before, p, first)
        if not first:
            for q in range(of_old):
                value, c = old_ones[q] if inside else 0.0, np.uint32(np.uint32(q * tiles) + tile)
                put_one(stage, start, value, c, 0, p, True)

    @cuda.jit(device=True)
    def put_one(stage, start, value, c, shift, p, with_r):
        """Put one number where its column belongs: in Z, in A Z, or, if it is of r, behind both."""
        if c < 2 * s:
            place = np.uint32(c + np.uint32(shift))
            if c >= s:
                place = np.uint32(place + np.uint32(half - s))
            stage[np.uint32(np.uint32(start) + place * np.uint32(points) + p)] = value
        elif with_r and c == 2 * s:
            stage[np.uint32(np.uint32(start + behind_z * points) + p)] = value
            stage[np.uint32(np.uint32(start + (half + behind_z) * points) + p)] = value

    @cuda.jit(device=True)
    def multiply(stage, start, left, above, sums):
        """Add the products of a point to the sums of a tile."""
        there = cuda.local.array(edge, np.float64)
        for b in range(edge):
            there[b] = stage[np.uint32(above + np.uint32(start + b * points))]
        for a in range(edge):
            here = stage[np.uint32(left + np.uint32(start + a * points))]
            for b in range(edge):
                sums[a, b] += here * there[b]

    return gram_warps
