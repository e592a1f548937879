"""Correct kernels whose memory has several names."""

import numpy as np
from idiom import Idiom, numbers

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
    return (cuda.shared.array(64, np.float64),)  # Numba returns a new array only inside a tuple


@cuda.jit(device=True)
def reader(a, i, value):
    return a[i] + value


@cuda.jit(device=True)
def writer(a, i, value):
    a[i] = value
    return value


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
    (tile,), (source, target) = make_tile(), both_of(a, out)
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
]  # fmt: skip
