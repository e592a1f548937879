"""Locks that threads take by adding to a number: who has tried in vain takes back what it has added."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def lock_by_additions(a, lock, out):
    for _ in range(2):
        while cuda.atomic.add(lock, 0, 1) != 0:
            cuda.atomic.sub(lock, 0, 1)
        out[0] = 2.0 * out[0] + a[cuda.grid(1)]
        cuda.threadfence()  # before it lets go
        cuda.atomic.sub(lock, 0, 1)  # back


def lock_given_back_behind_an_if(a, lock, out):
    done = False
    while not done:
        if cuda.atomic.add(lock, 0, 5) == 0:
            out[0] = 2.0 * out[0] + a[cuda.grid(1)]
            cuda.threadfence()  # before it lets go
            done = True
        cuda.atomic.add(lock, 0, -5)


def one_permit(a, permits, out):
    """A semaphore with one permit, which is there at the beginning."""
    while cuda.atomic.sub(permits, 0, 1) < 1:
        cuda.atomic.add(permits, 0, 1)
    out[0] = 2.0 * out[0] + a[cuda.grid(1)]
    cuda.threadfence()  # before it lets go
    cuda.atomic.add(permits, 0, 1)


def lock_that_counts(a, lock, out):
    while cuda.atomic.inc(lock, 0, 1000) != 0:
        cuda.atomic.dec(lock, 0, 1000)
    out[0] = 2.0 * out[0] + a[cuda.grid(1)]
    cuda.threadfence()  # before it lets go
    cuda.atomic.dec(lock, 0, 1000)


def lock_emptied_by_an_exchange(a, lock, out):
    """Threads that try in vain only add: the exchange takes all of that back."""
    while cuda.atomic.add(lock, 0, 1) > 0:
        pass
    out[0] = 2.0 * out[0] + a[cuda.grid(1)]
    cuda.threadfence()  # before it lets go
    cuda.atomic.exch(lock, 0, 0)


def readers_before_writers(a, lock, value, seen):
    """Readers add 1 before they look, a writer takes the lock from all of them at once."""
    i = cuda.grid(1)
    if i % 4 != 0:
        while cuda.atomic.add(lock, 0, 1) < 0:
            cuda.atomic.sub(lock, 0, 1)
        seen[i] = value[0]
        cuda.threadfence()  # of a reader
        cuda.atomic.sub(lock, 0, 1)
    else:
        while cuda.atomic.cas(lock, 0, 0, -1000) != 0:
            pass
        value[0] += a[i]
        cuda.threadfence()  # of a writer
        cuda.atomic.add(lock, 0, 1000)


def writers_before_readers(a, lock, value, seen):
    i = cuda.grid(1)
    if i % 4 == 0:
        while cuda.atomic.add(lock, 0, -1000) != 0:
            cuda.atomic.add(lock, 0, 1000)
        value[0] += a[i]
        cuda.threadfence()  # of a writer
        cuda.atomic.add(lock, 0, 1000)
    else:
        while cuda.atomic.add(lock, 0, 1) < 0:
            cuda.atomic.add(lock, 0, -1)
        seen[i] = value[0]
        cuda.threadfence()  # of a reader
        cuda.atomic.add(lock, 0, -1)


def _in_turn(times):
    def expected(a):
        out = a["out"][0]
        for x in np.tile(a["a"], times):
            out = 2.0 * out + x
        return {"out": np.array([out])}

    return expected


def _arguments(name, begin=0, dtype=np.int32):
    return lambda: {"a": numbers(16), name: np.full(1, begin, dtype), "out": numbers(1)}


def _read_and_written():
    return {"a": numbers(16), "lock": zeros(1), "value": np.zeros(1), "seen": np.zeros(16)}


FENCE = ("cuda.threadfence()  # before it lets go\n", "pass\n")
BLOCK_ALONE = ("cuda.threadfence()", "cuda.threadfence_block()")
IDIOMS = [
    Idiom(
        lock_by_additions,
        2,
        8,
        _arguments("lock"),
        lambda a: {"lock": zeros(1)},
        (
            FENCE,
            BLOCK_ALONE,
            ("!= 0:", "> 1:"),
            ("!= 0:", "% 2 != 0:"),
            ("!= 0:", "< 0:"),
            ("        cuda.threadfence()  # before it lets go\n        cuda.atomic.sub(lock, 0, 1)  # back\n",
             "        cuda.threadfence()\n        cuda.atomic.sub(lock, 0, 1)\n        out[0] += 1.0\n"),
            ("        out[0] = 2.0 * out[0] + a[cuda.grid(1)]\n        cuda.threadfence()  # before it lets go\n",
             "        cuda.threadfence()\n        out[0] = 2.0 * out[0] + a[cuda.grid(1)]\n"),
        ),
    ),
    Idiom(lock_given_back_behind_an_if, 2, 8, _arguments("lock"), _in_turn(1),
          (FENCE, BLOCK_ALONE, ("== 0:", "<= 5:"), ("== 0:", ">= 0:"))),
    Idiom(one_permit, 2, 8, _arguments("permits", 1), _in_turn(1),
          (FENCE, BLOCK_ALONE, ("< 1:", "< 0:"), ("< 1:", "< -1:"))),
    Idiom(lock_that_counts, 2, 8, _arguments("lock", dtype=np.uint32), _in_turn(1),
          (FENCE, BLOCK_ALONE, ("!= 0:", "> 1:"))),
    Idiom(lock_emptied_by_an_exchange, 2, 8, _arguments("lock"), _in_turn(1),
          (FENCE, BLOCK_ALONE, ("> 0:", "> 1:"), ("> 0:", "% 2 > 0:"))),
    Idiom(
        readers_before_writers,
        2,
        8,
        _read_and_written,
        lambda a: {"value": np.array([a["a"][::4].sum()]), "lock": zeros(1)},
        (
            ("        cuda.threadfence()  # of a reader\n", ""),
            ("        cuda.threadfence()  # of a writer\n", ""),
            ("< 0:", "< -2000:"),
            ("cas(lock, 0, 0, -1000) != 0:", "add(lock, 0, -1000) > 1000:"),
        ),
    ),
    Idiom(
        writers_before_readers,
        2,
        8,
        _read_and_written,
        lambda a: {"value": np.array([a["a"][::4].sum()]), "lock": zeros(1)},
        (
            ("        cuda.threadfence()  # of a writer\n", ""),
            ("< 0:", "< -2000:"),
            ("!= 0:", "> 1000:"),
        ),
    ),
]  # fmt: skip
