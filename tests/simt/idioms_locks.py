"""Idioms that spin: a thread waits in a loop for a lock, and threads behind the loop give the lock back."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


@cuda.jit(device=True)
def take(mutex):
    """Spin until it is free."""
    while cuda.atomic.compare_and_swap(mutex, 0, 1) != 0:
        pass
    cuda.threadfence()


@cuda.jit(device=True)
def give_back(mutex):
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


def spin_lock(a, lock, out):
    i = cuda.grid(1)
    if i < a.size:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        out[0] += a[i]
        cuda.threadfence()  # before it lets go
        cuda.atomic.exch(lock, 0, 0)
        out[1 + i] = 2.0 * a[i]


def a_lock_for_each_bin(a, locks, sums, counts):
    i = cuda.grid(1)
    k = i % sums.size
    old = 1
    while old != 0:
        old = cuda.atomic.cas(locks, k, 0, 1)
    sums[k] += a[i]
    counts[k] += 1
    cuda.threadfence()
    cuda.atomic.exch(locks, k, 0)


def lock_of_a_block(a, mutex, out):
    """One thread takes the lock for its block, another one adds, and all wait for them at barriers."""
    part = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    if t == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
    cuda.syncthreads()  # the block has the lock
    if t == 5:
        for k in range(32):
            out[0] += part[k]
    cuda.syncthreads()  # it has added
    if t == 0:
        cuda.threadfence()  # for the next block
        cuda.atomic.exch(mutex, 0, 0)


def lock_of_a_warp(a, mutex, out):
    """One lane takes the lock for its warp; each lane has a fence of its own before the lock is given back."""
    t = cuda.threadIdx.x
    if t == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
    cuda.syncwarp()  # the warp has the lock
    out[t] += a[cuda.grid(1)]
    cuda.threadfence()
    cuda.syncwarp()  # every lane has added
    if t == 0:
        cuda.atomic.exch(mutex, 0, 0)


def locks_by_functions(a, mutex, out):
    for k in range(2):
        take(mutex)
        out[k] += a[cuda.grid(1)]
        give_back(mutex)


def two_locks(a, first, second, out):
    i = cuda.grid(1)
    while cuda.atomic.exch(first, 0, 1) != 0:
        pass
    while cuda.atomic.exch(second, i % 2, 1) != 0:
        pass
    out[0] += a[i]
    cuda.threadfence()  # of the inner one
    cuda.atomic.exch(second, i % 2, 0)
    out[1] += a[i]
    cuda.threadfence()  # of the outer one
    cuda.atomic.exch(first, 0, 0)


def tickets_that_spin(a, ticket, out):
    mine = cuda.atomic.add(ticket, 0, 1)
    while cuda.atomic.add(ticket, 1, 0) != mine:
        pass
    out[0] = 2.0 * out[0] + a[mine]
    cuda.threadfence()
    cuda.atomic.add(ticket, 1, 1)


def looks_before_it_swaps(a, locks, out):
    """Another name of the lock, a loop in the loop, and a way out of it; the lock is set back behind a barrier."""
    mine = locks[1:]
    while True:
        while cuda.atomic.add(mine, 0, 0) != 0:
            pass
        if cuda.atomic.cas(mine, 0, 0, 1) == 0:
            break
    out[0] += a[cuda.grid(1)]
    cuda.threadfence_block()
    cuda.atomic.exch(locks, 1, 0)
    cuda.syncthreads()  # all have added
    if cuda.threadIdx.x == 3:
        out[1] = out[0]
        cuda.atomic.exch(locks, 1, 7)


def consumer_before_its_producer(a, flag, out):
    box = cuda.shared.array(32, np.float64)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t >= 32:
        while cuda.atomic.add(flag, b, 0) == 0:
            pass
        out[t - 32 + 32 * b] = box[63 - t]
    else:
        box[t] = a[t + 32 * b]
        cuda.syncwarp()  # all have written
        if t == 0:
            cuda.threadfence_block()
            cuda.atomic.exch(flag, b, 1)


def consumer_first(a, flag, out):
    box = cuda.shared.array(32, np.float64)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t >= 32:
        while cuda.atomic.add(flag, b, 0) == 0:
            pass
        out[t - 32 + 32 * b] = box[63 - t]
    if t < 32:
        box[t] = a[t + 32 * b]
        cuda.syncwarp()  # all have written
        if t == 0:
            cuda.threadfence_block()
            cuda.atomic.exch(flag, b, 1)


def _in_bins(a, bins):
    return a.reshape(-1, bins).sum(axis=0)


def _served(a):
    out = a["out"][0]
    for x in a["a"]:
        out = 2.0 * out + x
    return {"out": np.array([out])}


def _turned(a):
    return {"out": a["a"].reshape(-1, 32)[:, ::-1].ravel()}


CONSUMER = (
    ("        cuda.syncwarp()  # all have written\n", ""),
    ("            cuda.threadfence_block()\n", ""),
    ("== 0:\n            pass", "> 3:\n            pass"),
)
IDIOMS = [
    Idiom(
        spin_lock,
        2,
        12,
        lambda: {"a": numbers(20), "lock": zeros(1), "out": np.zeros(21)},
        lambda a: {"out": np.array([a["a"].sum(), *2.0 * a["a"]]), "lock": zeros(1)},
        (
            ("        cuda.threadfence()  # before it lets go\n", ""),
            ("!= 0:", "> 1:"),
            ("        out[0] += a[i]\n        cuda.threadfence()  # before it lets go\n"
             "        cuda.atomic.exch(lock, 0, 0)\n",
             "        cuda.threadfence()\n        cuda.atomic.exch(lock, 0, 0)\n        out[0] += a[i]\n"),
            ("        out[0] += a[i]\n", "        out[0] += a[i]\n        cuda.syncthreads()\n", "divergent_barrier"),
        ),
    ),
    Idiom(
        a_lock_for_each_bin,
        2,
        16,
        lambda: {"a": numbers(32), "locks": zeros(4), "sums": np.zeros(4), "counts": zeros(4)},
        lambda a: {"sums": _in_bins(a["a"], 4), "counts": np.full(4, 8, np.int32), "locks": zeros(4)},
        (("    cuda.threadfence()\n", ""), ("cas(locks, k, 0, 1)", "cas(locks, i % 8 // 2, 0, 1)")),
    ),
    Idiom(
        lock_of_a_block,
        4,
        32,
        lambda: {"a": numbers(128), "mutex": zeros(1), "out": np.zeros(1)},
        lambda a: {"out": np.array([a["a"].sum()]), "mutex": zeros(1)},
        (
            ("        cuda.threadfence()  # for the next block\n", ""),
            ("    cuda.syncthreads()  # the block has the lock\n", ""),
            ("    cuda.syncthreads()  # it has added\n", ""),
        ),
    ),
    Idiom(
        lock_of_a_warp,
        4,
        32,
        lambda: {"a": numbers(128), "mutex": zeros(1), "out": np.zeros(32)},
        lambda a: {"out": a["a"].reshape(4, 32).sum(axis=0), "mutex": zeros(1)},
        (
            ("    cuda.threadfence()\n", ""),
            ("    cuda.threadfence()\n", "    if t < 16:\n        cuda.threadfence()\n"),
            ("    cuda.syncwarp()  # every lane has added\n", ""),
            ("    cuda.syncwarp()  # the warp has the lock\n", ""),
        ),
    ),
    Idiom(
        locks_by_functions,
        2,
        8,
        lambda: {"a": numbers(16), "mutex": zeros(1), "out": np.zeros(2)},
        lambda a: {"out": np.full(2, a["a"].sum()), "mutex": zeros(1)},
        (("        give_back(mutex)\n", "        cuda.atomic.exch(mutex, 0, 0)\n"),),
    ),
    Idiom(
        two_locks,
        1,
        16,
        lambda: {"a": numbers(16), "first": zeros(1), "second": zeros(2), "out": np.zeros(2)},
        lambda a: {"out": np.full(2, a["a"].sum()), "first": zeros(1), "second": zeros(2)},
        (("    cuda.threadfence()  # of the outer one\n", ""),),
    ),
    Idiom(
        tickets_that_spin,
        2,
        8,
        lambda: {"a": numbers(16), "ticket": zeros(2), "out": numbers(1)},
        _served,
        (("    cuda.threadfence()\n", ""), ("!= mine:", "> mine:")),
    ),
    Idiom(
        looks_before_it_swaps,
        1,
        12,
        lambda: {"a": numbers(12), "locks": zeros(2), "out": np.zeros(2)},
        lambda a: {"out": np.full(2, a["a"].sum()), "locks": np.array([0, 7], np.int32)},
        (("    cuda.threadfence_block()\n", ""),),
    ),
    *(
        Idiom(
            kernel,
            2,
            64,
            lambda: {"a": numbers(64), "flag": zeros(2), "out": numbers(64)},
            _turned,
            CONSUMER,
        )
        for kernel in (consumer_before_its_producer, consumer_first)
    ),
]  # fmt: skip
