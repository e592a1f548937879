"""Idioms with tiles, trees, scans and atomics, in which only barriers put accesses in order."""

import numpy as np

from course_pkg import cuda

FULL = 0xFFFFFFFF


def tree_sum(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    cuda.syncthreads()  # the tile is full
    half = 32
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()  # this level is done
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def sum_of_warps_by_shuffles(a, out):
    sums = cuda.shared.array(4, np.float64)
    t = cuda.threadIdx.x
    value = a[cuda.grid(1)]
    for by in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, by)
    if t % 32 == 0:
        sums[t // 32] = value
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3]


def sum_of_a_warp_by_syncwarp(a, out):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncwarp()
    half = 16
    while half > 0:
        value = tile[t]
        if t < half:
            value += tile[t + half]
        cuda.syncwarp()  # read
        tile[t] = value
        cuda.syncwarp()  # added
        half //= 2
    if t == 0:
        out[0] = tile[0]


def ping_pong(a, out):
    row = cuda.shared.array((2, 64), np.float64)
    t = cuda.threadIdx.x
    one, now = 1, 0
    row[0, t] = a[t]
    for _ in range(4):
        cuda.syncthreads()
        row[one - now, t] = row[now, (t + 1) % 64] + row[now, (t + 63) % 64]
        now = 1 - now
    out[t] = row[now, t]


def private_histogram(keys, count):
    mine = cuda.shared.array(16, np.int32)
    t = cuda.threadIdx.x
    if t < 16:
        mine[t] = 0
    cuda.syncthreads()  # emptied
    for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, keys[i], 1)
    cuda.syncthreads()  # counted
    if t < 16:
        cuda.atomic.add(count, t, mine[t])


def strided_axpy(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = 2.0 * x[i] + y[i]


def transpose_in_place(a):
    upper = cuda.shared.array((8, 9), np.float64)
    lower = cuda.shared.array((8, 9), np.float64)
    tx, ty, bx, by = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x, cuda.blockIdx.y
    if by > bx:
        return
    upper[ty, tx] = a[by * 8 + ty, bx * 8 + tx]
    lower[ty, tx] = a[bx * 8 + ty, by * 8 + tx]
    cuda.syncthreads()
    a[bx * 8 + ty, by * 8 + tx] = upper[tx, ty]
    if bx != by:
        a[by * 8 + ty, bx * 8 + tx] = lower[tx, ty]


def matmul_by_tiles(a, b, c):
    left = cuda.shared.array((8, 8), np.float64)
    right = cuda.shared.array((8, 8), np.float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = 0.0
    for k in range(a.shape[1] // 8):
        left[ty, tx] = a[y, 8 * k + tx]
        right[ty, tx] = b[8 * k + ty, x]
        cuda.syncthreads()  # both tiles are full
        for m in range(8):
            total += left[ty, m] * right[m, tx]
        cuda.syncthreads()  # both tiles are used
    c[y, x] = total


def reverse_in_place(a):
    i = cuda.grid(1)
    if i < a.size // 2:
        j = a.size - 1 - i
        a[i], a[j] = a[j], a[i]


def scan_by_doubling(a, out):
    row = cuda.shared.array((2, 64), np.float64)
    t = cuda.threadIdx.x
    now, by = 0, 1
    row[0, t] = a[cuda.grid(1)]
    while by < 64:
        cuda.syncthreads()
        value = row[now, t]
        if t >= by:
            value += row[now, t - by]
        row[1 - now, t] = value
        now = 1 - now
        by *= 2
    out[cuda.grid(1)] = row[now, t]


def scan_by_sweeps(a, out):
    row = cuda.shared.array(64, np.float64)
    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x
    row[2 * t] = a[first + 2 * t]
    row[2 * t + 1] = a[first + 2 * t + 1]
    by, active = 1, 32
    while active > 0:
        cuda.syncthreads()  # up
        if t < active:
            right = by * (2 * t + 2) - 1
            row[right] += row[right - by]
        by *= 2
        active //= 2
    cuda.syncthreads()  # the total is out
    if t == 31:
        row[63] = 0.0
    active = 1
    while active < 64:
        by //= 2
        cuda.syncthreads()  # down
        if t < active:
            right = by * (2 * t + 2) - 1
            left = row[right - by]
            row[right - by] = row[right]
            row[right] += left
        active *= 2
    cuda.syncthreads()
    out[first + 2 * t] = row[2 * t]
    out[first + 2 * t + 1] = row[2 * t + 1]


def march_with_two_tiles(u, out):
    tile = cuda.shared.array((2, 34), np.float64)
    t = cuda.threadIdx.x
    for k in range(u.shape[0]):
        here = k % 2
        tile[here, t + 1] = u[k, t + 1]
        if t < 2:
            tile[here, 33 * t] = u[k, 33 * t]
        cuda.syncthreads()
        out[k, t + 1] = tile[here, t] + tile[here, t + 2]


def compaction(a, kept, count):
    i = cuda.grid(1)
    if a[i] > 0:
        k = cuda.atomic.add(count, 0, 1)
        kept[k] = a[i]


def argmax_by_atomics(a, best, where):
    i, b = cuda.grid(1), cuda.blockIdx.x
    cuda.atomic.max(best, b, a[i])
    cuda.syncthreads()
    if a[i] == best[b]:
        cuda.atomic.min(where, b, i)


def bitonic_sort(a):
    row = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    row[t] = a[t]
    width = 2
    while width <= 64:
        by = width // 2
        while by > 0:
            cuda.syncthreads()
            other = t ^ by
            if other > t:
                here, there = row[t], row[other]
                if (here > there) == ((t & width) == 0):
                    row[t], row[other] = there, here
            by //= 2
        width *= 2
    cuda.syncthreads()
    a[t] = row[t]


def broadcast(a, out):
    first = cuda.shared.array(1, np.float64)
    t = cuda.threadIdx.x
    if t == 0:
        first[0] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = a[cuda.grid(1)] / 2.0 - first[0]


def smooth_in_place(a):
    t = cuda.threadIdx.x
    value = a[t] + a[t + 1] + a[t + 2]
    cuda.syncthreads()  # read before written
    a[t + 1] = value
