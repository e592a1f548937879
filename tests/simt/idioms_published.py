"""Kernels from textbooks and sample programs: grids, sorting, sums."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda

WEIGHTS = np.array([1.0, 2.0, 3.0, 2.0, 1.0])


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
        transpose_with_padding,
        (3, 2),
        (16, 4),
        lambda: {"a": numbers(32, 48), "out": numbers(48, 32)},
        lambda a: {"out": a["a"].T},
        (("    cuda.syncthreads()\n", ""), ("tile[ty + k, tx] =", "tile[ty + k, tx // 2] =")),
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
