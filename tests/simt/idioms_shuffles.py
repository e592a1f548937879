"""Idioms of a warp whose lanes exchange numbers: shuffles and votes."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda

FULL = 0xFFFFFFFF


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
