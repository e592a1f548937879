"""Correct kernels like published ones, each with a change that makes it racy.

Each kernel is given as text. An idiom names one piece of this text and its replacement, after which threads race.
"""

import idioms_bits
import idioms_chains
import idioms_flow
import idioms_handover as handover
import idioms_locks
import idioms_lookback
import idioms_names
import idioms_published
import idioms_queues
import idioms_roles
import idioms_shared as shared
import idioms_shuffles
import idioms_sorting
import idioms_sums
import idioms_swaps
import idioms_waiting
import idioms_warp
import numpy as np
from idiom import Idiom, numbers, zeros

BARRIER = "cuda.syncthreads()"
IDIOMS = [
    Idiom(
        handover.sum_by_last_block,
        4,
        64,
        lambda: {"a": numbers(256), "partial": numbers(4), "ticket": zeros(1, dtype=np.uint32),
                 "out": numbers(1)},
        lambda a: {"out": np.array([a["a"].sum()]), "ticket": zeros(1, dtype=np.uint32)},
        (
            ("        cuda.threadfence()\n", ""),
            ("cuda.threadfence()", "cuda.threadfence_block()"),
            ("last[0] = cuda.atomic.inc(ticket, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1",
             "cuda.atomic.inc(ticket, 0, cuda.gridDim.x - 1)\n"
             "        last[0] = cuda.blockIdx.x == cuda.gridDim.x - 1"),
            ("== cuda.gridDim.x - 1", ">= 0"),
            ("    cuda.syncthreads()  # all know whether they are last\n", ""),
        ),
    ),
    Idiom(
        handover.sum_by_last_block_reset,
        5,
        32,
        lambda: {"a": numbers(160), "partial": numbers(160), "count": zeros(1), "out": numbers(32)},
        lambda a: {"out": a["a"].reshape(5, 32).sum(0), "count": zeros(1)},
        (
            ("    cuda.threadfence()\n", ""),
            ("cuda.syncthreads_or(mine)", "cuda.blockIdx.x == 4"),
            ("    cuda.syncthreads()  # the block's part is there\n", ""),
        ),
    ),
    Idiom(
        handover.chained_scan,
        4,
        32,
        lambda: {"a": numbers(128), "flag": zeros(5), "total": numbers(5), "out": numbers(128)},
        lambda a: {"out": a["a"].cumsum()},
        (
            ("            cuda.threadfence()  # before the flag\n", ""),
            ("while cuda.atomic.add(flag, b, 0) == 0:", "while cuda.atomic.add(flag, b, 0) < 0:"),
            ("            while cuda.atomic.add(flag, b, 0) == 0:\n                pass\n", ""),
        ),
    ),
    Idiom(
        handover.add_under_a_lock,
        3,
        1,
        lambda: {"a": numbers(3), "lock": zeros(1), "out": numbers(1)},
        lambda a: {"out": a["out"] + a["a"].sum()},
        (
            ("            cuda.threadfence()  # what it wrote, before it lets go\n", ""),
            ("if cuda.atomic.cas(lock, 0, 0, 1) == 0:", "if cuda.atomic.exch(lock, 0, 1) >= 0:"),
            ("if cuda.atomic.cas(lock, 0, 0, 1) == 0:", "if True:"),
        ),
    ),
    Idiom(
        handover.grid_barrier,
        4,
        32,
        lambda: {"a": numbers(128), "half": numbers(128), "arrived": zeros(1), "out": numbers(128)},
        lambda a: {"out": 2 * a["a"][::-1]},
        (
            ("        cuda.threadfence()\n", ""),
            ("while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:", "while cuda.atomic.add(arrived, 0, 0) < 0:"),
            ("    cuda.syncthreads()  # the whole block has written\n", ""),
            ("    cuda.syncthreads()  # thread 0 has seen all blocks\n", ""),
        ),
    ),
    Idiom(
        handover.ordered_by_a_flag,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": a["a"][np.arange(64) ^ 32]},
        (
            ("    cuda.threadfence_block()\n", ""),
            ("while cuda.atomic.add(ready, t ^ 32, 0) == 0:\n        pass", "pass"),
        ),
    ),
    Idiom(
        shared.tree_sum,
        2,
        64,
        lambda: {"a": numbers(128), "out": numbers(2)},
        lambda a: {"out": a["a"].reshape(2, 64).sum(1)},
        (
            ("        cuda.syncthreads()  # this level is done\n", ""),
            ("    cuda.syncthreads()  # the tile is full\n", ""),
            ("    cuda.syncthreads()  # the tile is full\n", "    cuda.threadfence_block()\n"),
            ("    cuda.syncthreads()  # the tile is full\n", "    cuda.syncwarp()\n"),
        ),
    ),
    Idiom(
        shared.sum_of_warps_by_shuffles,
        2,
        128,
        lambda: {"a": numbers(256), "out": numbers(2)},
        lambda a: {"out": a["a"].reshape(2, 128).sum(1)},
        ((f"    {BARRIER}\n", ""),),
    ),
    Idiom(
        shared.sum_of_a_warp_by_syncwarp,
        1,
        32,
        lambda: {"a": numbers(32), "out": numbers(1)},
        lambda a: {"out": np.array([a["a"].sum()])},
        (("        cuda.syncwarp()  # added\n", ""), ("        cuda.syncwarp()  # read\n", "")),
    ),
    Idiom(
        shared.ping_pong,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": _smoothed(a["a"], 4)},
        (("        cuda.syncthreads()\n", ""), ("row[one - now, t] =", "row[now, t] =")),
    ),
    Idiom(
        shared.private_histogram,
        3,
        64,
        lambda: {"keys": (numbers(600) + 11).astype(np.int32) % 16, "count": zeros(16)},
        lambda a: {"count": np.bincount(a["keys"], minlength=16).astype(np.int32)},
        (
            ("    cuda.syncthreads()  # emptied\n", ""),
            ("    cuda.syncthreads()  # counted\n", ""),
            ("cuda.atomic.add(mine, keys[i], 1)", "mine[keys[i]] += 1"),
            ("cuda.atomic.add(count, t, mine[t])", "count[t] += mine[t]"),
        ),
    ),
    Idiom(
        shared.strided_axpy,
        2,
        32,
        lambda: {"x": numbers(300), "y": numbers(300)},
        lambda a: {"y": 2 * a["x"] + a["y"]},
        (("y[i] = 2.0 * x[i] + y[i]", "y[i // 2] = 2.0 * x[i] + y[i]"),),
    ),
    Idiom(
        shared.transpose_in_place,
        (3, 3),
        (8, 8),
        lambda: {"a": numbers(24, 24)},
        lambda a: {"a": a["a"].T},
        (
            ("    cuda.syncthreads()\n", ""),
            ("    if by > bx:\n        return\n", ""),
            ("a[bx * 8 + ty, by * 8 + tx] = upper[tx, ty]", "a[by * 8 + ty, by * 8 + tx] = upper[tx, ty]"),
        ),
    ),
    Idiom(
        shared.matmul_by_tiles,
        (2, 2),
        (8, 8),
        lambda: {"a": numbers(16, 16), "b": numbers(16, 16) % 5, "c": numbers(16, 16)},
        lambda a: {"c": a["a"] @ a["b"]},
        (
            ("        cuda.syncthreads()  # both tiles are full\n", ""),
            ("        cuda.syncthreads()  # both tiles are used\n", ""),
            ("        cuda.syncthreads()  # both tiles are used\n", "        cuda.threadfence()\n"),
        ),
    ),
    Idiom(
        shared.reverse_in_place,
        2,
        32,
        lambda: {"a": numbers(101)},
        lambda a: {"a": a["a"][::-1]},
        (("if i < a.size // 2:", "if i < a.size:"),),
    ),
    Idiom(
        shared.scan_by_doubling,
        2,
        64,
        lambda: {"a": numbers(128), "out": numbers(128)},
        lambda a: {"out": a["a"].reshape(2, 64).cumsum(1).ravel()},
        (("        cuda.syncthreads()\n", ""), ("row[1 - now, t] =", "row[now, t] =")),
    ),
    Idiom(
        shared.scan_by_sweeps,
        2,
        32,
        lambda: {"a": numbers(128), "out": numbers(128)},
        lambda a: {"out": (a["a"].reshape(2, 64).cumsum(1) - a["a"].reshape(2, 64)).ravel()},
        (
            ("        cuda.syncthreads()  # up\n", ""),
            ("    cuda.syncthreads()  # the total is out\n", "    pass\n"),
            ("        cuda.syncthreads()  # down\n", ""),
        ),
    ),
    Idiom(
        shared.march_with_two_tiles,
        1,
        32,
        lambda: {"u": numbers(6, 34), "out": np.zeros((6, 34))},
        lambda a: {"out": _row_sums(a["u"])},
        (("        cuda.syncthreads()\n", ""), ("k % 2", "0")),
    ),
    Idiom(
        shared.compaction,
        2,
        64,
        lambda: {"a": numbers(128), "kept": np.zeros(128), "count": zeros(1)},
        lambda a: {"count": np.array([(a["a"] > 0).sum()], np.int32)},
        (("k = cuda.atomic.add(count, 0, 1)", "k = count[0]\n        count[0] = k + 1"),
         ("k = cuda.atomic.add(count, 0, 1)", "k = cuda.atomic.add(count, 0, 1) // 2"),),
    ),
    Idiom(
        shared.argmax_by_atomics,
        2,
        64,
        lambda: {"a": numbers(128), "best": np.full(2, -100.0), "where": np.full(2, 1000, np.int32)},
        lambda a: {"best": np.full(2, 11.0), "where": _first_best(a["a"])},
        (("    cuda.syncthreads()\n", ""),
         ("cuda.atomic.max(best, b, a[i])", "if a[i] > best[b]:\n        best[b] = a[i]"),),
    ),
    Idiom(
        shared.bitonic_sort,
        1,
        64,
        lambda: {"a": numbers(64)},
        lambda a: {"a": np.sort(a["a"])},
        (("            cuda.syncthreads()\n", ""), ("if other > t:", "if True:"),),
    ),
    Idiom(
        shared.broadcast,
        2,
        64,
        lambda: {"a": numbers(128), "out": numbers(128)},
        lambda a: {"out": (a["a"].reshape(2, 64) / 2 - a["a"].reshape(2, 64)[:, :1]).ravel()},
        (("    cuda.syncthreads()\n", ""), ("    if t == 0:\n        first", "    if t < 2:\n        first"),),
    ),
    Idiom(
        shared.smooth_in_place,
        1,
        64,
        lambda: {"a": numbers(66)},
        lambda a: {"a": np.r_[a["a"][0], _smoothed_inside(a["a"]), a["a"][-1]]},
        (("    cuda.syncthreads()  # read before written\n", ""),),
    ),
    *idioms_bits.IDIOMS,
    *idioms_flow.IDIOMS,
    *idioms_published.IDIOMS,
    *idioms_queues.IDIOMS,
    *idioms_roles.IDIOMS,
    *idioms_swaps.IDIOMS,
    *idioms_names.IDIOMS,
    *idioms_sorting.IDIOMS,
    *idioms_chains.IDIOMS,
    *idioms_sums.IDIOMS,
    *idioms_waiting.IDIOMS,
    *idioms_locks.IDIOMS,
    *idioms_lookback.IDIOMS,
    *idioms_warp.IDIOMS,
    *idioms_shuffles.IDIOMS,
]  # fmt: skip


def _smoothed_inside(a):
    return a[:-2] + a[1:-1] + a[2:]


def _smoothed(a, times):
    for _ in range(times):
        a = np.roll(a, 1) + np.roll(a, -1)
    return a


def _row_sums(u):
    out = np.zeros_like(u)
    out[:, 1:-1] = u[:, :-2] + u[:, 2:]
    return out


def _first_best(a):
    rows = a.reshape(2, 64)
    return (rows.argmax(1) + np.array([0, 64])).astype(np.int32)
