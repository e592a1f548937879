"""Correct kernels whose memory has several names, or whose threads part and meet in unusual ways."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda
from course_pkg.device.pairs import load_pair, store_pair


@cuda.jit(device=True)
def both_of(a, b):
    return a, b


@cuda.jit(device=True)
def first_unless(turned, a, b):
    if turned:
        return b
    return a


@cuda.jit(device=True)
def make_tile():
    return cuda.shared.array(64, np.float64)


@cuda.jit(device=True)
def reader(a, i, value):
    return a[i] + value


@cuda.jit(device=True)
def writer(a, i, value):
    a[i] = value
    return value


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


def two_views_of_dynamic_memory(a, key, out):
    value = cuda.shared.array(0, np.float64)
    place = cuda.shared.array(0, np.int32)
    t = cuda.threadIdx.x
    value[t] = a[t]
    place[64 + t] = key[t]  # after 32 numbers of 8 bytes
    cuda.syncthreads()  # both are there
    out[t] = value[place[64 + 31 - t]]


def pairs_under_other_names(a, out):
    vector, load = out, load_pair
    i = cuda.grid(1)
    store_pair(vector, 2 * i, a[i], -a[i])
    x, y = load(out, 2 * i)
    out[2 * i] = x + 2.0 * y


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


def choice_of_arrays(a, b, turned):
    source = b if turned else a
    target = a if turned else b
    i = cuda.grid(1)
    target[i] = source[i] + source[(i + 1) % source.size]


def swapped_in_a_loop(a, b, steps):
    one, other = a, b
    t = cuda.threadIdx.x
    for _ in range(steps):
        other[t] = one[(t + 1) % one.size]
        cuda.syncthreads()
        one, other = other, one


def ring_of_many_arrays(a, b, c, d, e, f, g, h, k, m, n, p, steps):
    t = cuda.threadIdx.x
    for _ in range(steps):
        a, b, c, d, e, f, g, h, k, m, n, p = b, c, d, e, f, g, h, k, m, n, p, a
    x = p[t]
    cuda.syncthreads()
    a[(t + 1) % 32] = x


def tuple_from_a_function(a, out):
    t = cuda.threadIdx.x
    tile, (source, target) = make_tile(), both_of(a, out)
    tile[t] = source[t]
    cuda.syncthreads()
    target[t] = tile[63 - t]


def array_from_a_branch_of_a_function(a, b, turned):
    i = cuda.grid(1)
    target, source = first_unless(turned, b, a), first_unless(turned, a, b)
    target[i] = source[i] + source[(i + 1) % source.size]


def tuple_of_arrays_as_argument(fields, n):
    i = cuda.grid(1)
    if i < n:
        fields[1][i] = 2.0 * fields[0][(i + 1) % n]


def function_for_all_or_none(a, out, how_many):
    i = cuda.grid(1)
    x = writer(out, i, a[i]) if how_many > 2 else reader(out, i, a[i])
    a[i] = x


def last_element_by_one_thread(a, out):
    i = cuda.grid(1)
    if i == 0:
        out[-1] = a[-1]
    if i < out.size - 1:
        out[i] = a[i]


def slices_with_steps(even, odd, whole):
    i = cuda.grid(1)
    even[i] = odd[i] + 1.0
    odd[i] = 2.0 * odd[i]


def overlapping_slices(lower, upper):
    t = cuda.threadIdx.x
    x = upper[t]
    cuda.syncthreads()  # all have read
    lower[t] = x


def rows_of_one_matrix(u):
    t = cuda.threadIdx.x
    for k in range(1, u.shape[0]):
        above, here = u[k - 1], u[k]
        here[t] += above[(t + 1) % u.shape[1]]
        cuda.syncthreads()


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


def init_by_exchange(a, total):
    t = cuda.threadIdx.x
    if t == 0:
        cuda.atomic.exch(total, 0, 1.0)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(total, 0, a[0])
    else:
        cuda.atomic.add(total, 0, a[t])


def _device(n):
    return cuda.to_device(numbers(n))


def _swapped(a):
    whole = numbers(64)
    odd = whole[1::2].copy()
    return {"even": odd + 1.0, "odd": 2.0 * odd}


def _matrix_of_rows(a):
    u = a["u"].copy()
    for k in range(1, len(u)):
        u[k] += np.roll(u[k - 1], -1)
    return u


def _found(a):
    above = np.array([next((y for y in a if y > x), 0.0) for x in a])
    return above + 100.0 * np.array([not (a[t:] < 0).any() for t in range(32)])


def _slices():
    d = _device(64)
    return {"even": d[::2], "odd": d[1::2], "whole": d}


def _overlapping():
    d = _device(65)
    return {"lower": d[:-1], "upper": d[1:]}


def _many():
    return {name: numbers(32) + k for k, name in enumerate("abcdefghkmnp")} | {"steps": 11}


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
        two_views_of_dynamic_memory,
        1,
        32,
        lambda: {"a": numbers(32), "key": (np.arange(32) * 5 % 32).astype(np.int32), "out": numbers(32)},
        lambda a: {"out": a["a"][a["key"][::-1]]},
        (
            ("    cuda.syncthreads()  # both are there\n", ""),
            ("place[64 + t] = key[t]", "place[63 + t] = key[t]"),
            ("place[64 + t] = key[t]", "place[2 * t + 2] = key[t]"),
        ),
        shared_bytes=384,
    ),
    Idiom(
        pairs_under_other_names,
        2,
        32,
        lambda: {"a": numbers(64), "out": numbers(128)},
        lambda a: {"out": np.stack([-a["a"], -a["a"]], 1).ravel()},
        (
            ("load(out, 2 * i)", "load(out, 2 * (i ^ 1))"),
            ("store_pair(vector, 2 * i,", "store_pair(vector, 2 * (i // 2),"),
        ),
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
    Idiom(
        choice_of_arrays,
        2,
        32,
        lambda: {"a": numbers(64), "b": numbers(64), "turned": 1},
        lambda a: {"a": _next(a["b"]), "b": a["b"]},
        (("target = a if turned else b", "target = b if turned else a"),),
    ),
    Idiom(
        swapped_in_a_loop,
        1,
        64,
        lambda: {"a": numbers(64), "b": np.zeros(64), "steps": 4},
        lambda a: {"a": np.roll(a["a"], -4), "b": np.roll(a["a"], -3)},
        (("        cuda.syncthreads()\n", ""), ("        one, other = other, one\n", "        other = one\n")),
    ),
    Idiom(
        ring_of_many_arrays,
        1,
        32,
        _many,
        lambda a: {"p": np.roll(a["n"], 1)},
        (("    cuda.syncthreads()\n", "    a[t] = p[(t + 1) % 32]\n    p[t] = 0.0\n"), ("(t + 1) % 32", "t // 2")),
    ),
    Idiom(
        tuple_from_a_function,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": a["a"][::-1]},
        (("    cuda.syncthreads()\n", ""), ("target[t] = tile[63 - t]", "target[t // 2] = tile[63 - t]")),
    ),
    Idiom(
        array_from_a_branch_of_a_function,
        2,
        32,
        lambda: {"a": numbers(64), "b": numbers(64), "turned": 1},
        lambda a: {"a": _next(a["b"]), "b": a["b"]},
        (("first_unless(turned, b, a)", "first_unless(turned, a, b)"),),
    ),
    Idiom(
        tuple_of_arrays_as_argument,
        2,
        32,
        lambda: {"fields": (numbers(50), numbers(50)), "n": 50},
        lambda a: {"fields": (a["fields"][0], 2.0 * np.roll(a["fields"][0], -1))},
        (("2.0 * fields[0]", "2.0 * fields[1]"),),
    ),
    Idiom(
        function_for_all_or_none,
        1,
        32,
        lambda: {"a": numbers(32), "out": numbers(32), "how_many": 3},
        lambda a: {"out": a["a"]},
        (("writer(out, i, a[i])", "writer(out, i // 2, a[i])"), ("writer(out, i, a[i])", "writer(a, i ^ 1, a[i])")),
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
        slices_with_steps,
        1,
        32,
        _slices,
        _swapped,
        (
            ("odd[i] = 2.0 * odd[i]", "odd[i] = 2.0 * whole[2 * i + 2 if i < 31 else 0]"),
            ("even[i] = odd[i]", "even[i] = odd[i - 1 if i else 0]"),
        ),
    ),
    Idiom(
        overlapping_slices,
        1,
        64,
        _overlapping,
        lambda a: {"lower": numbers(65)[1:]},
        (("    cuda.syncthreads()  # all have read\n", ""),),
    ),
    Idiom(
        rows_of_one_matrix,
        1,
        64,
        lambda: {"u": numbers(5, 64)},
        lambda a: {"u": _matrix_of_rows(a)},
        (("        cuda.syncthreads()\n", ""), ("above, here = u[k - 1], u[k]", "above, here = u[k], u[k]")),
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
        init_by_exchange,
        1,
        64,
        lambda: {"a": numbers(64), "total": np.zeros(1)},
        lambda a: {"total": np.array([1.0 + a["a"].sum()])},
        (("    cuda.syncthreads()\n    if t == 0:\n", ""), ("    cuda.syncthreads()\n", "")),
    ),
]  # fmt: skip
