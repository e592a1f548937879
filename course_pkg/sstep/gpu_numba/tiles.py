"""The Gram matrix of a pass of many vectors: several threads share each small tile of sums, in registers.

Kernels:
    gram_kernel   tiles of 4 × 4 sums in registers; the vectors pass through shared memory once

Offsets are unsigned numbers of 32 bits.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.device.sums import warp_sum
from course_pkg.sstep.gpu_numba.sums import tile_place, tiles_of
from course_pkg.sstep.tuning import STAGED, STAGES, THREADS, TILE


def points_of(count: int) -> int:
    """Return how many points of ``count`` vectors and ``count`` products a block stages in 48 KB of shared memory.

    Examples
    --------
    >>> points_of(3), points_of(65)
    (256, 32)
    """
    return next(points for most, points in STAGES if count <= most)


def groups_of(tiles: int, points: int) -> int:
    """Return how many threads share a tile: no more than there are points, and whole warps if at least 32 share it.

    Examples
    --------
    >>> groups_of(1, 256), groups_of(3, 256), groups_of(21, 64)
    (256, 64, 12)
    """
    groups = min(THREADS // tiles, points)
    return groups - groups % WARP if groups >= WARP else groups


@cuda.jit(device=True)
def element(old, fresh, r, n, s, before, half, column, i):
    """Return point i of a column of Z (half 0) or A Z (half 1). Columns: ``before`` old vectors, fresh ones, r."""
    if column < before:
        return old[np.uint32(np.uint32(half * s + column) * n + i)]
    if column < np.uint32(before + s):
        return fresh[np.uint32(np.uint32(half * s + column - before) * n + i)]
    return r[i]


@cache
def gram_kernel(s, first):
    """Return the kernel for s fresh vectors and, unless it is the ``first`` pass, s old ones."""
    before = 0 if first else s
    count = before + s + 1
    side, tiles = -(-count // TILE), tiles_of(count)
    points = points_of(count)
    pitch, groups = points + 2, groups_of(tiles, points)
    by_warps = groups >= WARP
    right, staged, loads = side * TILE * pitch, 2 * side * TILE * pitch, (2 * count - 1) * points

    @cuda.jit
    def gram(old, fresh, r, partial):
        """A block stages the same points of all vectors; ``groups`` threads share a tile, each with its own points.

        The columns of a tile are ``pitch`` numbers apart, so neighbouring tiles use different banks. r is the column
        after Z and after A Z; the columns after r that fill the last tile are zero.
        """
        stage, values = cuda.shared.array(staged, np.float64), cuda.local.array(STAGED, np.float64)
        sums = cuda.local.array((TILE, TILE), np.float64)
        here, there = cuda.local.array(TILE, np.float64), cuda.local.array(TILE, np.float64)
        n, t = np.uint32(r.size), np.uint32(cuda.threadIdx.x)
        group, tile = np.uint32(t % np.uint32(groups)), np.uint32(t // np.uint32(groups))
        row, column = tile_place(min(tile, np.uint32(tiles - 1)), np.uint32(side))
        for a in range(TILE):
            for b in range(TILE):
                sums[a, b] = 0.0
        for k in range(t, np.uint32(staged), np.uint32(THREADS)):
            stage[k] = 0.0
        for base in range(np.uint32(cuda.blockIdx.x * points), n, np.uint32(cuda.gridDim.x * points)):
            cuda.syncthreads()
            fill_stage(stage, values, old, fresh, r, n, base, t)
            cuda.syncthreads()
            if tile < tiles:
                left = np.uint64(np.uint32(row * TILE) * pitch)
                above = np.uint64(right + np.uint32(column * TILE) * pitch)
                for p in range(np.uint64(group), np.uint64(points), np.uint64(groups)):
                    for a in range(TILE):
                        here[a] = stage[left + p + np.uint64(a * pitch)]
                        there[a] = stage[above + p + np.uint64(a * pitch)]
                    for a in range(TILE):
                        for b in range(TILE):
                            sums[a, b] += here[a] * there[b]
        leave_tiles(stage, sums, partial, t, tile, group)

    @cuda.jit(device=True)
    def fill_stage(stage, values, old, fresh, r, n, base, t):
        """Copy ``points`` points of each vector, beginning at ``base``, to shared memory; zero beyond the end."""
        for begin in range(t, np.uint32(loads), np.uint32(STAGED * THREADS)):
            for u in range(STAGED):
                k = np.uint32(begin + np.uint32(u * THREADS))
                place, i = np.uint32(k // np.uint32(points)), np.uint32(base + k % np.uint32(points))
                half = np.uint32(1) if place >= count else np.uint32(0)
                values[u] = 0.0
                if k < loads and i < n:
                    values[u] = element(
                        old,
                        fresh,
                        r,
                        n,
                        np.uint32(s),
                        np.uint32(before),
                        half,
                        np.uint32(place - half * count),
                        i,
                    )
            for u in range(STAGED):
                k = np.uint32(begin + np.uint32(u * THREADS))
                if k < loads:
                    place, p = np.uint32(k // np.uint32(points)), np.uint32(k % np.uint32(points))
                    if place < count:
                        stage[np.uint32(place * pitch + p)] = values[u]
                    else:
                        stage[np.uint32(right + np.uint32(place - count) * pitch + p)] = values[u]
                    if place == count - 1:
                        stage[np.uint32(right + place * pitch + p)] = values[u]

    @cuda.jit(device=True)
    def leave_tiles(stage, sums, partial, t, tile, group):
        """Add up the sums of each tile's threads, one element of all tiles at a time, and write the block's parts."""
        for a in range(TILE):
            for b in range(TILE):
                cuda.syncthreads()
                stage[t] = warp_sum(sums[a, b]) if by_warps else sums[a, b]
                cuda.syncthreads()
                if tile < tiles and group == 0:
                    total = 0.0
                    for g in range(0, groups, WARP if by_warps else 1):
                        total += stage[np.uint32(t + np.uint32(g))]
                    e = np.uint32(np.uint32(tile * TILE + a) * TILE + b)
                    partial[np.uint32(e * np.uint32(cuda.gridDim.x) + np.uint32(cuda.blockIdx.x))] = total

    return gram
