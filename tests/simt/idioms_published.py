"""Kernels as they stand in textbooks and samples: grids, sorting, sums."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda

WEIGHTS = np.array([1.0, 2.0, 3.0, 2.0, 1.0])


def sum_with_an_unrolled_last_warp(a, out):
    """After M. Harris, Optimizing Parallel Reduction in CUDA: two loads a thread, then barriers of one warp."""
    part = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256 + t
    part[t] = a[first] + a[first + 128]
    cuda.syncthreads()  # filled
    if t < 64:
        part[t] += part[t + 64]
    cuda.syncthreads()  # 64 are left
    if t < 32:
        part[t] += part[t + 32]
        cuda.syncwarp()  # 32 are left
        for by in (16, 8, 4, 2, 1):
            if t < by:
                part[t] += part[t + by]
            cuda.syncwarp()  # added
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


def transpose_with_padding(a, out):
    tile = cuda.shared.array((16, 17), np.float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = 16 * cuda.blockIdx.x + tx, 16 * cuda.blockIdx.y + ty
    for k in range(0, 16, 4):
        tile[ty + k, tx] = a[y + k, x]
    cuda.syncthreads()
    x, y = 16 * cuda.blockIdx.y + tx, 16 * cuda.blockIdx.x + ty
    for k in range(0, 16, 4):
        out[y + k, x] = tile[tx, ty + k]


def histogram_of_warps(keys, count):
    mine = cuda.shared.array((2, 16), np.int32)
    t = cuda.threadIdx.x
    if t % 32 < 16:
        mine[t // 32, t % 32] = 0
    cuda.syncwarp()  # the warp's own is empty
    for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, (t // 32, keys[i]), 1)
    cuda.syncthreads()  # counted
    if t < 16:
        cuda.atomic.add(count, t, mine[0, t] + mine[1, t])


def convolution_with_halo(a, out):
    weight = cuda.const.array_like(WEIGHTS)
    tile = cuda.shared.array(68, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 2] = a[i]
    if t < 2:
        tile[t] = a[i - 2] if i >= 2 else 0.0
        tile[t + 66] = a[i + 64] if i + 64 < a.size else 0.0
    cuda.syncthreads()
    total = 0.0
    for k in range(5):
        total += weight[k] * tile[t + k]
    out[i] = total


def bodies_by_tiles(x, mass, force):
    tile = cuda.shared.array((32, 2), np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    total = 0.0
    for first in range(0, x.size, 32):
        tile[t, 0] = x[first + t]
        tile[t, 1] = mass[first + t]
        cuda.syncthreads()  # the tile is full
        for k in range(32):
            total += tile[k, 1] * (tile[k, 0] - x[i])
        cuda.syncthreads()  # the tile is used
    force[i] = total


def life(now, then):
    tile = cuda.shared.array((10, 10), np.int32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    ny, nx = now.shape
    for k in range(ty, 10, 8):
        for j in range(tx, 10, 8):
            tile[k, j] = now[(8 * cuda.blockIdx.y + k + ny - 1) % ny, (8 * cuda.blockIdx.x + j + nx - 1) % nx]
    cuda.syncthreads()
    near = 0
    for k in range(3):
        for j in range(3):
            near += tile[ty + k, tx + j]
    near -= tile[ty + 1, tx + 1]
    then[y, x] = 1 if near == 3 or (near == 2 and tile[ty + 1, tx + 1] == 1) else 0


def jacobi(u, b, new):
    x, y = cuda.grid(2)
    if 0 < x < u.shape[1] - 1 and 0 < y < u.shape[0] - 1:
        new[y, x] = 0.25 * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] + b[y, x])


def red_points_of_gauss_seidel(u, b):
    x, y = cuda.grid(2)
    if 0 < x < u.shape[1] - 1 and 0 < y < u.shape[0] - 1 and (x + y) % 2 == 0:
        u[y, x] = 0.25 * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] + b[y, x])


def stencil_in_time_with_two_buffers(a, out, steps):
    line = cuda.shared.array((2, 66), np.float64)
    t = cuda.threadIdx.x
    line[0, t + 1] = a[t]
    if t < 2:
        line[0, 65 * t] = 0.0
        line[1, 65 * t] = 0.0
    now = 0
    for _ in range(steps):
        cuda.syncthreads()
        line[1 - now, t + 1] = line[now, t] + line[now, t + 2]
        now = 1 - now
    out[t] = line[now, t + 1]


def odd_even_sort(a):
    row = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    row[t], row[t + 32] = a[t], a[t + 32]
    for phase in range(64):
        cuda.syncthreads()  # the phase before is done
        left = 2 * t + phase % 2
        if left + 1 < 64 and row[left] > row[left + 1]:
            row[left], row[left + 1] = row[left + 1], row[left]
    cuda.syncthreads()
    a[t], a[t + 32] = row[t], row[t + 32]


def sort_by_rank(a, out):
    row = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    row[t] = a[t]
    cuda.syncthreads()
    rank = 0
    for k in range(64):
        if row[k] < row[t] or (row[k] == row[t] and k < t):
            rank += 1
    out[rank] = row[t]


def radix_sort(a, out):
    """After G. E. Blelloch, Prefix Sums and Their Applications: split by one bit after the other."""
    key = cuda.shared.array(64, np.int32)
    scan = cuda.shared.array((2, 64), np.int32)
    t = cuda.threadIdx.x
    key[t] = a[t]
    for bit in range(5):
        mine = key[t]
        zero = 1 - (mine >> bit & 1)
        now, by = 0, 1
        scan[0, t] = zero
        while by < 64:
            cuda.syncthreads()  # this level is there
            scan[1 - now, t] = scan[now, t] + (scan[now, t - by] if t >= by else 0)
            now = 1 - now
            by *= 2
        cuda.syncthreads()  # the sums are there
        before = scan[now, t] - zero
        key[before if zero else scan[now, 63] + t - before] = mine
        cuda.syncthreads()  # the sums are used
    out[t] = key[t]


def exclusive_scan_of_brent_and_kung(a, out):
    row = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    row[t], row[t + 32] = a[t], a[t + 32]
    by = 1
    while by < 64:
        cuda.syncthreads()  # up
        at = (t + 1) * 2 * by - 1
        if at < 64:
            row[at] += row[at - by]
        by *= 2
    by = 16
    while by > 0:
        cuda.syncthreads()  # down
        at = (t + 1) * 2 * by - 1
        if at + by < 64:
            row[at + by] += row[at]
        by //= 2
    cuda.syncthreads()
    out[t] = row[t - 1] if t > 0 else 0.0
    out[t + 32] = row[t + 31]


def butterflies(re, im, cos, sin):
    """Stages of a fast Fourier transform in place; the input is in the order of reversed bits."""
    x = cuda.shared.array((2, 64), np.float64)
    t = cuda.threadIdx.x
    for k in range(t, 64, 32):
        x[0, k], x[1, k] = re[k], im[k]
    half = 1
    while half < 64:
        cuda.syncthreads()  # the stage before is done
        at = t // half * 2 * half + t % half
        w = t % half * (32 // half)
        r = cos[w] * x[0, at + half] - sin[w] * x[1, at + half]
        s = cos[w] * x[1, at + half] + sin[w] * x[0, at + half]
        x[0, at + half], x[1, at + half] = x[0, at] - r, x[1, at] - s
        x[0, at], x[1, at] = x[0, at] + r, x[1, at] + s
        half *= 2
    cuda.syncthreads()
    for k in range(t, 64, 32):
        re[k], im[k] = x[0, k], x[1, k]


def tridiagonal_systems(lower, main, upper, b, x):
    """Each thread solves a system by Thomas' algorithm, with its coefficients in local memory."""
    c = cuda.local.array(8, np.float64)
    d = cuda.local.array(8, np.float64)
    s = cuda.grid(1)
    c[0], d[0] = upper / main, b[0, s] / main
    for k in range(1, 8):
        below = main - lower * c[k - 1]
        c[k], d[k] = upper / below, (b[k, s] - lower * d[k - 1]) / below
    x[7, s] = d[7]
    for k in range(6, -1, -1):
        x[k, s] = d[k] - c[k] * x[k + 1, s]


def marching_with_a_queue(u, out):
    x, y = cuda.grid(2)
    nz, ny, nx = u.shape
    if 0 < x < nx - 1 and 0 < y < ny - 1:
        below, here = u[0, y, x], u[1, y, x]
        for z in range(1, nz - 1):
            above = u[z + 1, y, x]
            out[z, y, x] = below + above + u[z, y, x - 1] + u[z, y, x + 1] - 4.0 * here
            below, here = here, above


def matrix_times_vector(a, x, y):
    tile = cuda.shared.array(32, np.float64)
    t, row = cuda.threadIdx.x, cuda.grid(1)
    total = 0.0
    for first in range(0, x.size, 32):
        tile[t] = x[first + t] if first + t < x.size else 0.0
        cuda.syncthreads()  # filled
        for k in range(min(32, x.size - first)):
            total += a[row, first + k] * tile[k]
        cuda.syncthreads()  # used
    y[row] = total


def _life(a):
    now = a["now"]
    near = sum(np.roll(now, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - now
    return {"then": ((near == 3) | ((near == 2) & (now == 1))).astype(np.int32)}


def _relaxed(u, b):
    new = u.copy()
    new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + b[1:-1, 1:-1])
    return new


def _red(a):
    y, x = np.indices(a["u"].shape)
    return {"u": np.where((x + y) % 2 == 0, _relaxed(a["u"], a["b"]), a["u"])}


def _in_time(a):
    u = a["a"]
    for _ in range(5):
        u = np.r_[u[1:], 0.0] + np.r_[0.0, u[:-1]]
    return {"out": u}


def _transform():
    angle = -2 * np.pi * np.arange(32) / 64
    return {"re": numbers(64), "im": np.zeros(64), "cos": np.cos(angle), "sin": np.sin(angle)}


def _transformed(a):
    """Stage by stage, as the kernel does it: its rounding is the same then."""
    re, im = a["re"].copy(), a["im"].copy()
    half = 1
    while half < 64:
        t = np.arange(32)
        at, w = t // half * 2 * half + t % half, t % half * (32 // half)
        r = a["cos"][w] * re[at + half] - a["sin"][w] * im[at + half]
        s = a["cos"][w] * im[at + half] + a["sin"][w] * re[at + half]
        re[at], re[at + half], im[at], im[at + half] = re[at] + r, re[at] - r, im[at] + s, im[at] - s
        half *= 2
    return {"re": re, "im": im}


def _solved(a):
    """The back substitution of identity-like systems is exact: the matrix is the identity."""
    return {"x": a["b"]}


def _marched(a):
    u, out = a["u"], a["out"].copy()
    inner = u[1:-1, 1:-1, 1:-1]
    out[1:-1, 1:-1, 1:-1] = (
        u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 4.0 * inner
    )
    return {"out": out}


IDIOMS = [
    Idiom(
        sum_with_an_unrolled_last_warp,
        2,
        128,
        lambda: {"a": numbers(512), "out": numbers(2)},
        lambda a: {"out": a["a"].reshape(2, 256).sum(1)},
        (
            ("    cuda.syncthreads()  # filled\n", ""),
            ("    cuda.syncthreads()  # 64 are left\n", ""),
            ("        cuda.syncwarp()  # 32 are left\n", ""),
            ("            cuda.syncwarp()  # added\n", ""),
            ("if t < 32:", "if t < 64:"),
        ),
    ),
    Idiom(
        transpose_with_padding,
        (3, 2),
        (16, 4),
        lambda: {"a": numbers(32, 48), "out": numbers(48, 32)},
        lambda a: {"out": a["a"].T},
        (("    cuda.syncthreads()\n", ""), ("tile[ty + k, tx] =", "tile[ty + k, tx // 2] =")),
    ),
    Idiom(
        histogram_of_warps,
        2,
        64,
        lambda: {"keys": (numbers(500) + 11).astype(np.int32) % 16, "count": zeros(16)},
        lambda a: {"count": np.bincount(a["keys"], minlength=16).astype(np.int32)},
        (
            ("    cuda.syncwarp()  # the warp's own is empty\n", ""),
            ("    cuda.syncthreads()  # counted\n", "    cuda.syncwarp()\n"),
            ("(t // 32, keys[i])", "(t % 2, keys[i])"),
        ),
    ),
    Idiom(
        convolution_with_halo,
        3,
        64,
        lambda: {"a": numbers(192), "out": numbers(192)},
        lambda a: {"out": np.convolve(a["a"], WEIGHTS, "same")},
        (("    cuda.syncthreads()\n", ""), ("tile[t + 66] =", "tile[t + 65] =")),
    ),
    Idiom(
        bodies_by_tiles,
        2,
        32,
        lambda: {"x": numbers(64), "mass": numbers(64), "force": numbers(64)},
        lambda a: {"force": (a["mass"] * (a["x"] - a["x"][:, None])).sum(1)},
        (
            ("        cuda.syncthreads()  # the tile is full\n", ""),
            ("        cuda.syncthreads()  # the tile is used\n", ""),
        ),
    ),
    Idiom(
        life,
        (2, 3),
        (8, 8),
        lambda: {"now": (numbers(24, 16) > 3).astype(np.int32), "then": zeros(24, 16)},
        _life,
        (("    cuda.syncthreads()\n", ""), ("range(tx, 10, 8)", "range(tx, 10, 4)")),
    ),
    Idiom(
        jacobi,
        (2, 2),
        (16, 16),
        lambda: {"u": numbers(30, 27), "b": numbers(30, 27), "new": numbers(30, 27)},
        lambda a: {"new": _relaxed(a["u"], a["b"])},
        (("new[y, x] =", "u[y, x] ="),),
    ),
    Idiom(
        red_points_of_gauss_seidel,
        (2, 2),
        (16, 16),
        lambda: {"u": numbers(30, 27), "b": numbers(30, 27)},
        _red,
        ((" and (x + y) % 2 == 0", ""), ("(x + y) % 2 == 0", "x % 2 == 0")),
    ),
    Idiom(
        stencil_in_time_with_two_buffers,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64), "steps": 5},
        _in_time,
        (("        cuda.syncthreads()\n", ""), ("line[1 - now, t + 1] =", "line[now, t + 1] =")),
    ),
    Idiom(
        odd_even_sort,
        1,
        32,
        lambda: {"a": numbers(64)},
        lambda a: {"a": np.sort(a["a"])},
        (
            ("        cuda.syncthreads()  # the phase before is done\n", ""),
            ("left = 2 * t + phase % 2", "left = t + phase % 2"),
        ),
    ),
    Idiom(
        sort_by_rank,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": np.sort(a["a"])},
        (("    cuda.syncthreads()\n", ""), (" or (row[k] == row[t] and k < t)", "")),
    ),
    Idiom(
        radix_sort,
        1,
        64,
        lambda: {"a": (np.arange(64) * 37 % 32).astype(np.int32), "out": zeros(64)},
        lambda a: {"out": np.sort(a["a"])},
        (
            ("            cuda.syncthreads()  # this level is there\n", ""),
            ("        cuda.syncthreads()  # the sums are used\n", ""),
            ("        cuda.syncthreads()  # the sums are there\n", ""),
        ),
    ),
    Idiom(
        exclusive_scan_of_brent_and_kung,
        1,
        32,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": a["a"].cumsum() - a["a"]},
        (("        cuda.syncthreads()  # up\n", ""), ("        cuda.syncthreads()  # down\n", "")),
    ),
    Idiom(
        butterflies,
        1,
        32,
        _transform,
        _transformed,
        (
            ("        cuda.syncthreads()  # the stage before is done\n", ""),
            ("        cuda.syncthreads()  # the stage before is done\n", "        cuda.threadfence_block()\n"),
            ("t // half * 2 * half + t % half", "t // half * half + t % half"),
        ),
    ),
    Idiom(
        tridiagonal_systems,
        1,
        32,
        lambda: {"lower": 0.0, "main": 1.0, "upper": 0.0, "b": numbers(8, 32), "x": numbers(8, 32)},
        _solved,
        (("x[7, s] = d[7]", "x[7, s // 2] = d[7]"), ("c[k] * x[k + 1, s]", "c[k] * x[k + 1, s ^ 1]")),
    ),
    Idiom(
        marching_with_a_queue,
        (2, 2),
        (8, 8),
        lambda: {"u": numbers(6, 13, 14), "out": numbers(6, 13, 14)},
        _marched,
        (("out[z, y, x] =", "u[z, y, x] ="), ("out[z, y, x] =", "out[z, y, x // 2] =")),
    ),
    Idiom(
        matrix_times_vector,
        2,
        32,
        lambda: {"a": numbers(64, 50), "x": numbers(50), "y": numbers(64)},
        lambda a: {"y": a["a"] @ a["x"]},
        (("        cuda.syncthreads()  # filled\n", ""), ("        cuda.syncthreads()  # used\n", "")),
    ),
]  # fmt: skip
