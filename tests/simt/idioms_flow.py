"""Correct kernels whose threads diverge and reconverge in unusual ways."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def kept_in_local_memory(a, out):
    tile = cuda.shared.array(64, np.float64)
    mine = cuda.local.array(4, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()  # filled
    for k in range(4):
        mine[k] = tile[(t + k) % 64]
    cuda.syncthreads()  # read
    tile[t] = mine[0] + mine[1] + mine[2] + mine[3]
    out[t] = tile[t]


def search_with_else(a, out):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    for k in range(32):
        if tile[k] > a[t]:
            out[t] = tile[k]
            break
    else:
        out[t] = 0.0
    k = t
    while k < 32:
        if tile[k] < 0.0:
            break
        k += 1
    else:
        out[t] += 100.0


def early_return_before_a_barrier(a, out, n):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    if t >= n:
        return
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[n - 1 - t]


def barrier_in_a_loop_for_all(a, out, n):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for k in range(0, n, 64):
        tile[t] = a[k + t] if k + t < n else 0.0
        cuda.syncthreads()  # filled
        total += tile[(t + 1) % 64]
        cuda.syncthreads()  # read
    out[t] = total


def chunks_that_touch(a, out):
    i = cuda.grid(1)
    width = out.size // cuda.gridsize(1)
    for k in range(i * width, (i + 1) * width):
        out[k] = a[k] + a[(k + 1) % a.size]


def atomics_then_barrier(key, count, out):
    tile = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    cuda.atomic.exch(tile, t, 3 * key[t])
    cuda.syncthreads()
    out[t] = cuda.atomic.add(tile, 31 - t, 0)


def largest_then_sum(a, total):
    t = cuda.threadIdx.x
    if t == 0:
        cuda.atomic.max(total, 0, 1.0)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(total, 0, a[0])
    else:
        cuda.atomic.add(total, 0, a[t])


def last_element_by_one_thread(a, out):
    i = cuda.grid(1)
    if i == 0:
        out[-1] = a[-1]
    if i < out.size - 1:
        out[i] = a[i]


def ticket_through_minimum(a, part, count, out):
    last = cuda.shared.array(2, np.int64)
    t = cuda.threadIdx.x
    part[cuda.grid(1)] = a[cuda.grid(1)]
    cuda.threadfence()
    cuda.syncthreads()  # the block has written
    if t == 0:
        ticket = cuda.atomic.add(count, 0, 1)
        last[1] = abs(min(max(ticket, 0), 100) - (cuda.gridDim.x - 1))
    cuda.syncthreads()  # the ticket is there
    if last[1] == 0:
        total = 0.0
        for b in range(cuda.gridDim.x):
            total += part[b * cuda.blockDim.x + t]
        out[t] = total


def ticket_through_global_memory(a, part, count, mine, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    part[cuda.grid(1)] = a[cuda.grid(1)]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        mine[b] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if mine[b] == cuda.gridDim.x - 1:
        total = 0.0
        for k in range(cuda.gridDim.x):
            total += part[k * cuda.blockDim.x + t]
        out[t] = total


def _found(a):
    above = np.array([next((y for y in a if y > x), 0.0) for x in a])
    return above + 100.0 * np.array([not (a[t:] < 0).any() for t in range(32)])


def _next(a):
    return a + np.roll(a, -1)


IDIOMS = [
    Idiom(
        kept_in_local_memory,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": sum(np.roll(a["a"], -k) for k in range(4))},
        (("    cuda.syncthreads()  # filled\n", ""), ("    cuda.syncthreads()  # read\n", "")),
    ),
    Idiom(
        search_with_else,
        1,
        32,
        lambda: {"a": numbers(32), "out": numbers(32)},
        lambda a: {"out": _found(a["a"])},
        (("    cuda.syncthreads()\n", ""), ("        out[t] = 0.0\n", "        out[0] = 0.0\n        out[t] = 0.0\n")),
    ),
    Idiom(
        early_return_before_a_barrier,
        1,
        64,
        lambda: {"a": numbers(64), "out": np.zeros(64), "n": 50},
        lambda a: {"out": np.r_[a["a"][:50][::-1], np.zeros(14)]},
        (
            ("    cuda.syncthreads()\n", ""),
            ("tile[t] = a[t]", "tile[t // 2] = a[t]"),
        ),
    ),
    Idiom(
        barrier_in_a_loop_for_all,
        1,
        64,
        lambda: {"a": numbers(150), "out": numbers(64), "n": 150},
        lambda a: {"out": np.roll(np.r_[a["a"], np.zeros(42)].reshape(3, 64).sum(0), -1)},
        (
            ("        cuda.syncthreads()  # filled\n", ""),
            ("        cuda.syncthreads()  # read\n", ""),
            ("range(0, n, 64)", "range(0, n - t, 64)", "divergent_barrier"),
        ),
    ),
    Idiom(
        chunks_that_touch,
        2,
        32,
        lambda: {"a": numbers(256), "out": numbers(256)},
        lambda a: {"out": _next(a["a"])},
        (("(i + 1) * width)", "min((i + 1) * width + 1, out.size))"),),
    ),
    Idiom(
        atomics_then_barrier,
        1,
        32,
        lambda: {"key": np.arange(32, dtype=np.int32), "count": zeros(1), "out": zeros(32)},
        lambda a: {"out": 3 * a["key"][::-1]},
        (("    cuda.syncthreads()\n", ""), ("    cuda.syncthreads()\n", "    cuda.threadfence_block()\n")),
    ),
    Idiom(
        largest_then_sum,
        1,
        64,
        lambda: {"a": numbers(64), "total": np.zeros(1)},
        lambda a: {"total": np.array([1.0 + a["a"].sum()])},
        (("    cuda.syncthreads()\n    if t == 0:\n", ""), ("    cuda.syncthreads()\n", "")),
    ),
    Idiom(
        last_element_by_one_thread,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": a["a"]},
        (("    if i == 0:\n", "    if i < 2:\n"), ("i < out.size - 1", "i < out.size")),
    ),
    Idiom(
        ticket_through_minimum,
        4,
        32,
        lambda: {"a": numbers(128), "part": numbers(128), "count": zeros(1), "out": numbers(32)},
        lambda a: {"out": a["a"].reshape(4, 32).sum(0)},
        (
            ("    cuda.threadfence()\n", ""),
            ("min(max(ticket, 0), 100)", "max(max(ticket, 0), 3)"),
            ("    cuda.syncthreads()  # the block has written\n", ""),
        ),
    ),
    Idiom(
        ticket_through_global_memory,
        4,
        32,
        lambda: {"a": numbers(128), "part": numbers(128), "count": zeros(1), "mine": zeros(4), "out": numbers(32)},
        lambda a: {"out": a["a"].reshape(4, 32).sum(0)},
        (("    cuda.threadfence()\n", ""), ("mine[b] == cuda.gridDim.x - 1", "mine[b] >= 0")),
    ),
]  # fmt: skip
