"""Idioms of a warp: barriers of all or some of its lanes."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def exchange_in_half_a_warp(a, out):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    if t < 16:
        cuda.syncwarp(0xFFFF)
        out[t] = tile[t ^ 1]
    else:
        out[t] = tile[t]


def each_half_by_its_own_mask(a, out):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    half = 0xFFFF if t < 16 else 0xFFFF0000
    tile[t] = a[t]
    cuda.syncwarp(half)  # filled
    out[t] = tile[t ^ 5]


def sum_of_tiles_of_eight(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    mask = 0xFF << (t % 32 // 8 * 8)
    tile[t] = a[t]
    by = 4
    while by > 0:
        cuda.syncwarp(mask)  # there
        value = tile[t] + tile[t ^ by]
        cuda.syncwarp(mask)  # read
        tile[t] = value
        by //= 2
    out[t] = tile[t]


def passed_on_by_a_chain(a, out):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    if t == 0:
        tile[0] = a[0]
    if t < 2:
        cuda.syncwarp(0b011)
    if t == 1 or t == 2:
        cuda.syncwarp(0b110)  # lane 1 has met lane 0
    if t == 2:
        out[0] = tile[0]


def lanes_in_parts_then_whole(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    if t % 32 < 8:
        cuda.syncwarp(0xFF)
        tile[t] = tile[t] + 1.0
    cuda.syncwarp()  # the whole warp
    out[t] = tile[t ^ 24]


def read_by_all_then_written_by_one(a, out):
    first = cuda.shared.array(1, np.float64)
    t = cuda.threadIdx.x
    if t == 0:
        first[0] = a[0]
    cuda.syncwarp()
    if t < 4:
        out[t] = first[0]
        cuda.syncwarp(0xF)  # these four have read
    elif t < 8:
        out[t] = 2.0
    if t == 3:
        first[0] = a[3]
        out[8] = first[0]


def published_by_some_lanes(a, part, flag, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if b == 0:
        if t < 4:
            part[t] = a[t]
            cuda.syncwarp(0xF)  # the four have written
            if t == 0:
                cuda.threadfence()
                cuda.atomic.exch(flag, 0, 1)
    else:
        if t < 8:
            if t == 0:
                while cuda.atomic.add(flag, 0, 0) == 0:
                    pass
            cuda.syncwarp(0xFF)  # lane 0 has seen the flag
            if t < 4:
                out[t] = part[3 - t]


IDIOMS = [
    Idiom(
        exchange_in_half_a_warp,
        1,
        32,
        lambda: {"a": numbers(32), "out": numbers(32)},
        lambda a: {"out": np.r_[a["a"][np.arange(16) ^ 1], a["a"][16:]]},
        (
            ("        cuda.syncwarp(0xFFFF)\n", ""),
            ("tile[t ^ 1]", "tile[t ^ 16]"),
            ("        out[t] = tile[t]\n", "        out[t] = tile[t ^ 1]\n"),
            ("        out[t] = tile[t]\n", "        out[t] = tile[t - 16]\n"),
        ),
    ),
    Idiom(
        each_half_by_its_own_mask,
        1,
        32,
        lambda: {"a": numbers(32), "out": numbers(32)},
        lambda a: {"out": a["a"][np.arange(32) ^ 5]},
        (("    cuda.syncwarp(half)  # filled\n", ""), ("tile[t ^ 5]", "tile[t ^ 17]")),
    ),
    Idiom(
        sum_of_tiles_of_eight,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": a["a"].reshape(8, 8).sum(1).repeat(8)},
        (
            ("        cuda.syncwarp(mask)  # there\n", ""),
            ("        cuda.syncwarp(mask)  # read\n", ""),
            ("by = 4", "by = 8"),
        ),
    ),
    Idiom(
        passed_on_by_a_chain,
        1,
        32,
        lambda: {"a": numbers(32), "out": numbers(1)},
        lambda a: {"out": a["a"][:1]},
        (
            ("        cuda.syncwarp(0b110)  # lane 1 has met lane 0\n", "        pass\n"),
            ("    if t < 2:\n        cuda.syncwarp(0b011)\n", ""),
            ("if t < 2:", "if t == 0 or t == 5:\n        cuda.syncwarp(0b100001)\n    if t == 1:\n"
             "        cuda.syncwarp(0b010)\n    if t == 40:"),
        ),
    ),
    Idiom(
        lanes_in_parts_then_whole,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": (a["a"] + (np.arange(64) % 32 < 8))[np.arange(64) ^ 24]},
        (
            ("    cuda.syncwarp()  # the whole warp\n", ""),
            ("tile[t] = tile[t] + 1.0", "tile[t] = tile[t + 8] + 1.0"),
            ("tile[t] = tile[t] + 1.0", "tile[t + 8] = tile[t] + 1.0"),
        ),
    ),
    Idiom(
        read_by_all_then_written_by_one,
        1,
        32,
        lambda: {"a": numbers(32), "out": np.zeros(9)},
        lambda a: {"out": np.r_[[a["a"][0]] * 4, [2.0] * 4, a["a"][3]]},
        (
            ("        cuda.syncwarp(0xF)  # these four have read\n", ""),
            ("out[t] = 2.0", "out[t] = first[0]"),
            ("    cuda.syncwarp()\n", ""),
        ),
    ),
    Idiom(
        published_by_some_lanes,
        2,
        32,
        lambda: {"a": numbers(32), "part": numbers(4), "flag": zeros(1), "out": numbers(4)},
        lambda a: {"out": a["a"][:4][::-1]},
        (
            ("            cuda.syncwarp(0xF)  # the four have written\n", ""),
            ("            cuda.syncwarp(0xFF)  # lane 0 has seen the flag\n", ""),
            ("                cuda.threadfence()\n", ""),
            ("            cuda.syncwarp(0xF)  # the four have written\n",
             "            if t < 2:\n                cuda.syncwarp(0b11)\n"),
        ),
    ),
]  # fmt: skip
