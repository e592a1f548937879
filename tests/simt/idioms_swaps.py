"""Correct idioms with compare-and-swaps: sums, stacks, sets, locks, and barriers that a block makes of atomics."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def sum_by_swaps(a, total):
    i = cuda.grid(1)
    old = cuda.atomic.add(total, 0, 0)
    while True:
        seen = cuda.atomic.cas(total, 0, old, old + a[i])
        if seen == old:
            break
        old = seen


def sum_of_floats_by_swaps(a, total):
    i = cuda.grid(1)
    bits, number = total.view(np.int64), cuda.local.array(1, np.float64)
    mine = number.view(np.int64)
    old = cuda.atomic.or_(bits, 0, 0)
    while True:
        mine[0] = old
        number[0] += a[i]
        seen = cuda.atomic.cas(bits, 0, old, mine[0])
        if seen == old:
            break
        old = seen


def places_by_swaps(a, out, count):
    """Append the numbers above zero; each place is taken by a swap."""
    i = cuda.grid(1)
    if a[i] > 0:
        place = cuda.atomic.add(count, 0, 0)
        while True:
            seen = cuda.atomic.cas(count, 0, place, place + 1)
            if seen == place:
                break
            place = seen
        out[place] = 1.0


def push_and_pop(head, following, popped):
    """All push their number on a stack without locks; after the barrier, each pops one."""
    i = cuda.grid(1)
    old = cuda.atomic.add(head, 0, 0)
    while True:
        following[i] = old
        cuda.threadfence()
        seen = cuda.atomic.cas(head, 0, old, i)
        if seen == old:
            break
        old = seen
    cuda.syncthreads()  # all are there
    old = cuda.atomic.add(head, 0, 0)
    while True:
        seen = cuda.atomic.cas(head, 0, old, following[old])
        if seen == old:
            break
        old = seen
    popped[old] = 1.0


def sets_that_join(other, parent, root):
    """Union-find: the root with the larger number gets the other one as its parent."""
    i = cuda.grid(1)
    x, y = i, other[i]
    while x != y:
        above = cuda.atomic.cas(parent, x, -1, -1)
        while above != x:
            x = above
            above = cuda.atomic.cas(parent, x, -1, -1)
        above = cuda.atomic.cas(parent, y, -1, -1)
        while above != y:
            y = above
            above = cuda.atomic.cas(parent, y, -1, -1)
        if x == y or cuda.atomic.cas(parent, max(x, y), max(x, y), min(x, y)) == max(x, y):
            break
    cuda.syncthreads()  # all have joined
    x = i
    while parent[x] != x:
        x = parent[x]
    root[i] = x


def lock_with_the_owners_number(a, lock, out):
    i = cuda.grid(1)
    while cuda.atomic.cas(lock, 0, 0, i + 1) != 0:
        pass
    out[0] += a[i]
    cuda.threadfence()
    cuda.atomic.cas(lock, 0, i + 1, 0)


def in_turns_by_swaps(a, turn, out):
    i = cuda.grid(1)
    for _ in range(2):
        while cuda.atomic.cas(turn, 0, i, i) != i:
            pass
        out[0] = 2.0 * out[0] + a[i]
        cuda.threadfence()
        cuda.atomic.exch(turn, 0, (i + 1) % 4)


def barrier_that_turns_its_sense(a, arrived, flag, out):
    """Two barriers without syncthreads: the flag is 1 after the first one, and 0 again after the second one."""
    t = cuda.threadIdx.x
    tile = cuda.shared.array((2, 64), np.float64)
    value = a[t]
    for phase in range(2):
        tile[phase, t] = value
        cuda.threadfence_block()
        if cuda.atomic.add(arrived, phase, 1) == 63:
            cuda.threadfence_block()
            cuda.atomic.exch(flag, 0, 1 - phase)
        while cuda.atomic.cas(flag, 0, 5, 5) != 1 - phase:
            pass
        value = tile[phase, (t + 32) % 64] + 1.0
    out[t] = value


def letters_through_a_box(a, full, out):
    t = cuda.threadIdx.x
    box = cuda.shared.array(1, np.float64)
    for n in range(4):
        if t == 0:
            while cuda.atomic.add(full, 0, 0) != 0:
                pass
            box[0] = a[n]
            cuda.threadfence_block()
            cuda.atomic.exch(full, 0, 1)
        if t == 32:
            while cuda.atomic.add(full, 0, 0) != 1:
                pass
            out[n] = box[0]
            cuda.threadfence_block()
            cuda.atomic.exch(full, 0, 0)


def _joined(a):
    root = np.arange(64)
    for x, y in enumerate(a["other"]):
        root[(root == root[x]) | (root == root[y])] = min(root[x], root[y])
    return {"root": root}


def _in_turns(a):
    total = 0.0
    for x in np.tile(a["a"], 2):
        total = 2.0 * total + x
    return {"out": np.array([total])}


IDIOMS = [
    Idiom(
        sum_by_swaps,
        2,
        32,
        lambda: {"a": np.arange(64), "total": np.zeros(1, np.int64)},
        lambda a: {"total": a["a"].sum(keepdims=True)},
        (
            ("seen = cuda.atomic.cas(total, 0, old, old + a[i])", "total[0] = old + a[i]\n        seen = old"),
            ("old = cuda.atomic.add(total, 0, 0)", "old = total[0]"),
        ),
    ),
    Idiom(
        sum_of_floats_by_swaps,
        2,
        32,
        lambda: {"a": numbers(64), "total": np.zeros(1)},
        lambda a: {"total": a["a"].sum(keepdims=True)},
        (
            ("seen = cuda.atomic.cas(bits, 0, old, mine[0])", "total[0] = number[0]\n        seen = old"),
            ("old = cuda.atomic.or_(bits, 0, 0)", "old = bits[0]"),
        ),
    ),
    Idiom(
        places_by_swaps,
        2,
        32,
        lambda: {"a": numbers(64), "out": np.zeros(64), "count": np.zeros(1, np.int64)},
        lambda a: {"out": (np.arange(64) < (a["a"] > 0).sum()).astype(float)},
        (("            if seen == place:\n                break\n", "            break\n"),),
    ),
    Idiom(
        push_and_pop,
        1,
        64,
        lambda: {"head": np.array([-1]), "following": np.zeros(64, np.int64), "popped": np.zeros(64)},
        lambda a: {"head": np.array([-1]), "popped": np.ones(64)},
        (
            ("cas(head, 0, old, i)\n        if seen == old:\n", "cas(head, 0, old, i)\n        if seen < 64:\n"),
            ("    cuda.syncthreads()  # all are there\n", ""),
        ),
    ),
    Idiom(
        sets_that_join,
        1,
        64,
        lambda: {"other": (np.arange(64) * 7 + 3) % 16, "parent": np.arange(64), "root": np.zeros(64, np.int64)},
        _joined,
        (
            ("    cuda.syncthreads()  # all have joined\n", ""),
            ("while x != y:\n        above = cuda.atomic.cas(parent, x, -1, -1)",
             "while x != y:\n        above = parent[x]"),
        ),
    ),
    Idiom(
        lock_with_the_owners_number,
        4,
        8,
        lambda: {"a": numbers(32), "lock": zeros(1), "out": np.zeros(1)},
        lambda a: {"out": a["a"].sum(keepdims=True)},
        (
            ("    cuda.threadfence()\n", ""),
            ("cas(lock, 0, 0, i + 1) != 0", "cas(lock, 0, 0, i + 1) == 99"),
            ("cas(lock, 0, 0, i + 1) != 0", "cas(lock, 0, 0, 0) != 0"),
        ),
    ),
    Idiom(
        in_turns_by_swaps,
        1,
        4,
        lambda: {"a": numbers(4), "turn": zeros(1), "out": np.zeros(1)},
        _in_turns,
        (("        cuda.threadfence()\n", ""), ("cas(turn, 0, i, i) != i", "cas(turn, 0, i, i) > i")),
    ),
    Idiom(
        barrier_that_turns_its_sense,
        1,
        64,
        lambda: {"a": numbers(64), "arrived": zeros(2), "flag": zeros(1), "out": np.zeros(64)},
        lambda a: {"out": a["a"] + 2.0},
        (
            ("        cuda.threadfence_block()\n        if", "        if"),
            ("cas(flag, 0, 5, 5) != 1 - phase", "cas(flag, 0, 5, 5) > 1"),
            ("add(arrived, phase, 1) == 63", "add(arrived, phase, 1) == 62"),
        ),
    ),
    Idiom(
        letters_through_a_box,
        1,
        64,
        lambda: {"a": numbers(4), "full": zeros(1), "out": np.zeros(4)},
        lambda a: {"out": a["a"]},
        (
            ("            out[n] = box[0]\n            cuda.threadfence_block()\n", "            out[n] = box[0]\n"),
            ("            box[0] = a[n]\n            cuda.threadfence_block()\n", "            box[0] = a[n]\n"),
            ("            while cuda.atomic.add(full, 0, 0) != 0:\n                pass\n", ""),
        ),
    ),
]  # fmt: skip
