"""Correct idioms with locks that are bits of one word, with counted places, and with sets that additions of 0 read."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def locks_in_one_word(a, word, out):
    i = cuda.grid(1)
    k = i % 4
    while cuda.atomic.or_(word, 0, 1 << k) & (1 << k) != 0:
        pass
    out[k] += a[i]
    cuda.threadfence()
    cuda.atomic.and_(word, 0, ~(1 << k))


def locks_in_one_word_flipped(a, word, out):
    i = cuda.grid(1)
    bit, done = 1 << (i % 4), False
    while not done:
        if cuda.atomic.or_(word, 0, bit) & bit == 0:
            out[i % 4] += a[i]
            cuda.threadfence()
            cuda.atomic.xor(word, 0, bit)
            done = True


def place_taken_by_a_swap(a, count, out):
    """A counting semaphore of one place."""
    i = cuda.grid(1)
    got = 0
    while got == 0:
        free = cuda.atomic.add(count, 0, 0)
        if free > 0 and cuda.atomic.cas(count, 0, free, free - 1) == free:
            got = 1
    out[0] += a[i]
    cuda.threadfence()
    cuda.atomic.add(count, 0, 1)


def items_that_are_counted(a, full, box, out):
    """One thread puts items into a box and counts them; another block takes each as soon as it is counted."""
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 0:
        for n in range(4):
            box[n] = a[n]
            cuda.threadfence()
            cuda.atomic.add(full, 0, 1)
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 1:
        for n in range(4):
            while cuda.atomic.add(full, 0, 0) <= n:
                pass
            out[n] = box[n]


def sets_that_join_by_additions(other, parent, root):
    """Union-find: roots are found by additions of 0, and hooked by a swap."""
    i = cuda.grid(1)
    x, y = i, other[i]
    while True:
        above = cuda.atomic.add(parent, x, 0)
        while above != x:
            x = above
            above = cuda.atomic.add(parent, x, 0)
        above = cuda.atomic.add(parent, y, 0)
        while above != y:
            y = above
            above = cuda.atomic.add(parent, y, 0)
        if x == y or cuda.atomic.cas(parent, max(x, y), max(x, y), min(x, y)) == max(x, y):
            break
    cuda.syncthreads()  # all have joined
    x = i
    while parent[x] != x:
        x = parent[x]
    root[i] = x


def _joined(a):
    root = np.arange(64)
    for x, y in enumerate(a["other"]):
        root[(root == root[x]) | (root == root[y])] = min(root[x], root[y])
    return {"root": root}


def _in_four(a):
    return {"out": a["a"].reshape(-1, 4).sum(axis=0), "word": zeros(1)}


IDIOMS = [
    Idiom(
        locks_in_one_word,
        2,
        16,
        lambda: {"a": numbers(32), "word": zeros(1), "out": np.zeros(4)},
        _in_four,
        (
            ("    cuda.threadfence()\n", ""),
            ("    out[k] += a[i]\n    cuda.threadfence()\n    cuda.atomic.and_(word, 0, ~(1 << k))",
             "    cuda.threadfence()\n    cuda.atomic.and_(word, 0, ~(1 << k))\n    out[k] += a[i]"),
            ("& (1 << k) != 0", "& (1 << k) > 99"),
            ("out[k] += a[i]", "out[k // 2] += a[i]"),
            ("cuda.atomic.or_(word, 0, 1 << k)", "cuda.atomic.or_(word, 0, 1 << (i % 8))"),
            ("~(1 << k)", "0"),
        ),
    ),
    Idiom(
        locks_in_one_word_flipped,
        2,
        16,
        lambda: {"a": numbers(32), "word": zeros(1), "out": np.zeros(4)},
        _in_four,
        (
            ("            cuda.threadfence()\n", ""),
            ("out[i % 4] += a[i]", "out[i % 4 // 2] += a[i]"),
            ("& bit == 0", "& bit < 99"),
        ),
    ),
    Idiom(
        place_taken_by_a_swap,
        2,
        8,
        lambda: {"a": numbers(16), "count": zeros(1) + np.int32(1), "out": np.zeros(1)},
        lambda a: {"out": a["a"].sum(keepdims=True)},
        (
            ("    cuda.threadfence()\n", ""),
            ("free > 0", "free > -1"),
            ("    out[0] += a[i]\n    cuda.threadfence()\n    cuda.atomic.add(count, 0, 1)\n",
             "    cuda.threadfence()\n    cuda.atomic.add(count, 0, 1)\n    out[0] += a[i]\n"),
        ),
    ),
    Idiom(
        items_that_are_counted,
        2,
        32,
        lambda: {"a": numbers(4), "full": zeros(1), "box": np.zeros(4), "out": np.zeros(4)},
        lambda a: {"out": a["a"]},
        (("            cuda.threadfence()\n", ""), ("<= n", "< n")),
    ),
    Idiom(
        sets_that_join_by_additions,
        1,
        64,
        lambda: {"other": (np.arange(64) * 7 + 3) % 16, "parent": np.arange(64), "root": np.zeros(64, np.int64)},
        _joined,
        (
            ("    cuda.syncthreads()  # all have joined\n", ""),
            ("    while True:\n        above = cuda.atomic.add(parent, x, 0)",
             "    while True:\n        above = parent[x]"),
        ),
    ),
]  # fmt: skip
