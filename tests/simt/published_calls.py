"""Kernels of the kinds that people publish: helper functions of every sort, and what warps and grids do together."""

import numba
import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda

TABLE = np.array([0.5, 0.25, 0.125, 0.0625])
MASKS = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], np.int32)


@numba.njit
def clamped(x, low=0.0, high=1.0):
    return min(max(x, low), high)


@cuda.jit
def logistic(x, r=3.5):
    return r * x * (1.0 - x)


@cuda.jit("float64(float64, int32)", device=True)
def power(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result


@cuda.jit(device=True)
def horner(x, *coefficients):
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


@cuda.jit(device=True)
def swapped(a, i, j):
    a[i], a[j] = a[j], a[i]


@cuda.jit(device=True)
def bounds(x):
    return x - 1, x + 1


@cuda.jit(device=True, inline=True)
def in_the_way(centre, x, radius):
    return abs(centre - x) < radius


def clamp_all(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = clamped(x[i] / 10)


def logistic_steps(x, out, steps):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for _ in range(steps):
            v = logistic(v)
        out[i] = v + logistic(v, r=2.0)


def powers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = power(x[i], 3)


def polynomial(x, out):
    i = cuda.grid(1)
    if i < x.size:
        c = (2.0, -3.0, 1.0)
        out[i] = horner(x[i], *c)


def reverse_in_place(x):
    i = cuda.grid(1)
    if i < x.size // 2:
        swapped(x, i, x.size - 1 - i)


def by_a_default(x, out, scale=2.0):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = scale * x[i]


def bounds_of_all(x, out):
    i = cuda.grid(1)
    if i < x.size:
        low, high = bounds(x[i])
        out[i] = low * high


def helper_inside(x, out):
    i = cuda.grid(1)
    base = x[0]

    def above(v):
        return v - base

    if i < x.size:
        out[i] = above(x[i]) * above(2.0)


def helper_in_a_line(x, out):
    square = lambda v: v * v  # noqa: E731
    i = cuda.grid(1)
    if i < x.size:
        out[i] = square(x[i]) + square(2)


def table_of_the_module(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = TABLE[i % 4] * x[i]


def edges(a, out):
    i, j = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        for di in range(3):
            for dj in range(3):
                out[i, j] += MASKS[di, dj] * a[i + di - 1, j + dj - 1]


def obstacles(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 1 if in_the_way(x[i], 0.0, radius=5.0) else 0


def none_found(x, out):
    i = cuda.grid(1)
    found = None
    if i < x.size:
        for v in x:
            if v > 5:
                found = v
                break
        if found is not None:
            out[i] = found


def small_set(x, out):
    i = cuda.grid(1)
    if i < x.size and int(x[i]) in (1, 3, 5, 7):
        out[i] = 1


def pairs_alike(x, out):
    i = cuda.grid(1)
    if i + 1 < x.size:
        out[i] = (x[i] > 0, x[i] < 5) == (x[i + 1] > 0, x[i + 1] < 5)


def lanes_of_one_key(keys, out):
    i = cuda.grid(1)
    out[i] = cuda.popc(cuda.match_any_sync(0xFFFFFFFF, keys[i]))


def lanes_all_alike(keys, out):
    i = cuda.grid(1)
    _, same = cuda.match_all_sync(0xFFFFFFFF, keys[i])
    if same:
        out[i] = 1


def two_phases(x, out):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    x[i] = 2 * x[i]
    grid.sync()
    out[i] = x[x.size - 1 - i]


def gently_waiting(flags, out):
    i = cuda.grid(1)
    cuda.nanosleep(100)
    out[i] = flags[i]


def sum_of_a_warp(x, out):
    total = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(-1, total, step)
    if cuda.laneid == 0:
        out[cuda.blockIdx.x] = total


X = numbers(24)


def steps_of(x):
    for _ in range(3):
        x = 3.5 * x * (1 - x)
    return x + 2.0 * x * (1 - x)


def sobel(a):
    out = np.zeros(a.shape)
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = (MASKS * a[i - 1 : i + 2, j - 1 : j + 2]).sum()
    return out


def alike(x):
    kinds = np.stack([x > 0, x < 5])
    return np.r_[(kinds[:, 1:] == kinds[:, :-1]).all(axis=0), False]


PUBLISHED = [
    Idiom(clamp_all, 1, 32, lambda: {"x": X, "out": np.zeros(24)}, lambda a: {"out": np.clip(X / 10, 0, 1)}),
    Idiom(logistic_steps, 1, 32, lambda: {"x": X / 25, "out": np.zeros(24), "steps": 3},
          lambda a: {"out": steps_of(X / 25)}),
    Idiom(powers, 1, 32, lambda: {"x": X, "out": np.zeros(24)}, lambda a: {"out": X**3}),
    Idiom(polynomial, 1, 32, lambda: {"x": X, "out": np.zeros(24)}, lambda a: {"out": 2 * X * X - 3 * X + 1}),
    Idiom(reverse_in_place, 1, 32, lambda: {"x": X.copy()}, lambda a: {"x": X[::-1]},
          (("x.size - 1 - i)", "x.size // 2 - 1 - i)"),)),
    Idiom(by_a_default, 1, 32, lambda: {"x": X, "out": np.zeros(24)}, lambda a: {"out": 2 * X}),
    Idiom(bounds_of_all, 1, 32, lambda: {"x": X, "out": np.zeros(24)}, lambda a: {"out": X * X - 1}),
    Idiom(helper_inside, 1, 32, lambda: {"x": X, "out": np.zeros(24)},
          lambda a: {"out": (X - X[0]) * (2.0 - X[0])}),
    Idiom(helper_in_a_line, 1, 32, lambda: {"x": X, "out": np.zeros(24)}, lambda a: {"out": X * X + 4}),
    Idiom(table_of_the_module, 1, 32, lambda: {"x": X, "out": np.zeros(24)},
          lambda a: {"out": X * np.tile(TABLE, 6)}),
    Idiom(edges, (1, 1), (8, 8), lambda: {"a": numbers(6, 7), "out": np.zeros((6, 7))},
          lambda a: {"out": sobel(numbers(6, 7))}),
    Idiom(obstacles, 1, 32, lambda: {"x": X, "out": zeros(24)}, lambda a: {"out": abs(X) < 5}),
    Idiom(none_found, 1, 32, lambda: {"x": X, "out": np.zeros(24)},
          lambda a: {"out": np.full(24, X[X > 5][0])}),
    Idiom(small_set, 1, 32, lambda: {"x": X, "out": zeros(24)}, lambda a: {"out": np.isin(X, (1, 3, 5, 7))}),
    Idiom(pairs_alike, 1, 32, lambda: {"x": X, "out": zeros(24)}, lambda a: {"out": alike(X)}),
    Idiom(lanes_of_one_key, 1, 32, lambda: {"keys": np.arange(32, dtype=np.int32) % 5, "out": zeros(32)},
          lambda a: {"out": np.bincount(np.arange(32) % 5)[np.arange(32) % 5]}),
    Idiom(lanes_all_alike, 2, 32, lambda: {"keys": np.r_[np.zeros(32), np.arange(32)], "out": zeros(64)},
          lambda a: {"out": np.r_[np.ones(32), np.zeros(32)]}),
    Idiom(two_phases, 2, 12, lambda: {"x": X.copy(), "out": np.zeros(24)},
          lambda a: {"out": 2 * X[::-1]}, (("    grid.sync()\n", ""),)),
    Idiom(gently_waiting, 1, 24, lambda: {"flags": X, "out": np.zeros(24)}, lambda a: {"out": X}),
    Idiom(sum_of_a_warp, 2, 32, lambda: {"x": numbers(64), "out": np.zeros(2)},
          lambda a: {"out": numbers(64).reshape(2, 32).sum(axis=1)}),
]  # fmt: skip
