"""Idioms of a warp: barriers of some of its lanes, shuffles, votes."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda

FULL = 0xFFFFFFFF


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


def minimum_by_shuffles(a, out):
    t = cuda.threadIdx.x
    value = a[cuda.grid(1)]
    for by in (16, 8, 4, 2, 1):
        value = min(value, cuda.shfl_xor_sync(FULL, value, by))
    if t % 32 == 0:
        out[cuda.grid(1) // 32] = value


def scan_of_a_block_by_shuffles(a, out):
    last = cuda.shared.array(4, np.float64)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    value = a[t]
    by = 1
    while by < 32:
        below = cuda.shfl_up_sync(FULL, value, by)
        if lane >= by:
            value += below
        by *= 2
    if lane == 31:
        last[warp] = value
    cuda.syncthreads()  # the warps' sums
    for w in range(warp):
        value += last[w]
    out[t] = value


def compaction_by_ballot(a, kept, count):
    where = cuda.shared.array(2, np.int32)
    t = cuda.threadIdx.x
    keep = a[cuda.grid(1)] > 0
    votes = cuda.ballot_sync(FULL, keep)
    if t % 32 == 0:
        where[t // 32] = cuda.atomic.add(count, 0, cuda.popc(votes))
    cuda.syncwarp()  # lane 0 has the place
    if keep:
        kept[where[t // 32] + cuda.popc(votes & cuda.lanemask_lt())] = a[cuda.grid(1)]


def product_with_a_matrix_by_warps(indptr, indices, data, x, y):
    part = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    lane, row = t % 32, cuda.grid(1) // 32
    total = 0.0
    for k in range(indptr[row] + lane, indptr[row + 1], 32):
        total += data[k] * x[indices[k]]
    part[t] = total
    by = 16
    while by > 0:
        cuda.syncwarp()  # added
        if lane < by:
            part[t] += part[t + by]
        by //= 2
    if lane == 0:
        y[row] = part[t]


def sums_of_segments(key, a, out):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    lane = t % 32
    value = a[i]
    by = 1
    while by < 32:
        above = cuda.shfl_down_sync(FULL, value, by)
        other = cuda.shfl_down_sync(FULL, key[i], by)
        if lane + by < 32 and other == key[i]:
            value += above
        by *= 2
    before = cuda.shfl_up_sync(FULL, key[i], 1)
    if lane == 0 or before != key[i]:
        cuda.atomic.add(out, key[i], value)


def _expected_segments(a):
    out = a["out"].copy()
    np.add.at(out, a["key"], a["a"])
    return out


def _matrix(rows, width):
    """Return a CSR matrix whose rows have 0 to ``width`` - 1 elements."""
    lengths = np.arange(rows) * 13 % width
    indptr = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    indices = (np.arange(indptr[-1]) * 5 % width).astype(np.int32)
    return {"indptr": indptr, "indices": indices, "data": numbers(indptr[-1])}


def _product(a):
    parts = a["data"] * a["x"][a["indices"]]
    return np.array([parts[s:e].sum() for s, e in zip(a["indptr"][:-1], a["indptr"][1:], strict=True)])


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
    Idiom(
        minimum_by_shuffles,
        2,
        64,
        lambda: {"a": numbers(128), "out": numbers(4)},
        lambda a: {"out": a["a"].reshape(4, 32).min(1)},
        (("if t % 32 == 0:", "if t % 32 < 2:"),),
    ),
    Idiom(
        scan_of_a_block_by_shuffles,
        1,
        128,
        lambda: {"a": numbers(128), "out": numbers(128)},
        lambda a: {"out": a["a"].cumsum()},
        (("    cuda.syncthreads()  # the warps' sums\n", "    cuda.syncwarp()\n"), ("if lane == 31:", "if lane > 29:")),
    ),
    Idiom(
        compaction_by_ballot,
        2,
        64,
        lambda: {"a": numbers(128), "kept": np.zeros(128), "count": zeros(1)},
        lambda a: {"count": np.array([(a["a"] > 0).sum()], np.int32)},
        (
            ("    cuda.syncwarp()  # lane 0 has the place\n", ""),
            ("cuda.popc(votes & cuda.lanemask_lt())", "cuda.popc(votes & cuda.lanemask_lt()) // 2"),
            ("cuda.atomic.add(count, 0, cuda.popc(votes))", "cuda.atomic.add(count, 0, 1)"),
        ),
    ),
    Idiom(
        product_with_a_matrix_by_warps,
        4,
        64,
        lambda: _matrix(8, 90) | {"x": numbers(90), "y": numbers(8)},
        lambda a: {"y": _product(a)},
        (("        cuda.syncwarp()  # added\n", ""), ("cuda.grid(1) // 32", "cuda.grid(1) // 64")),
    ),
    Idiom(
        sums_of_segments,
        2,
        64,
        lambda: {"key": (np.arange(128) // 11).astype(np.int32), "a": numbers(128), "out": np.zeros(12)},
        lambda a: {"out": _expected_segments(a)},
        (("cuda.atomic.add(out, key[i], value)", "out[key[i]] += value"),),
    ),
]  # fmt: skip
