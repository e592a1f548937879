"""Running sums: a scan in one tile, and one block that walks over chunks with a carry."""

import numpy as np
from mutants.algorithm import Algorithm, Mutant, reals
from numba import float64

from course_pkg import cuda

BLOCK = 64


def scan(x, out):
    tile = cuda.shared.array(BLOCK, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()  # the tile is loaded
    step = 1
    while step < BLOCK:
        left = tile[t - step] if t >= step else 0.0
        cuda.syncthreads()  # every thread has read
        tile[t] += left
        cuda.syncthreads()  # every thread has written
        step *= 2
    if i < x.size:
        out[i] = tile[t]


def running_sum(x, out):
    tile = cuda.shared.array(BLOCK, float64)
    carry = cuda.shared.array(1, float64)
    t = cuda.threadIdx.x
    if t == 0:
        carry[0] = 0.0
    for start in range(0, x.size, BLOCK):
        tile[t] = x[start + t] if start + t < x.size else 0.0
        cuda.syncthreads()  # tile and carry are there
        total = carry[0]
        for k in range(t + 1):
            total += tile[k]
        if start + t < x.size:
            out[start + t] = total
        cuda.syncthreads()  # tile and carry are used
        if t == BLOCK - 1:
            carry[0] = total


def _blocks_of(x):
    return [x[s : s + BLOCK].cumsum() for s in range(0, x.size, BLOCK)]


_READ = "left = tile[t - step] if t >= step else 0.0"

SCAN = Algorithm(
    scan,
    (3,),
    (BLOCK,),
    lambda: {"x": reals(150), "out": reals(150)},
    lambda a: {"out": np.concatenate(_blocks_of(a["x"]))},
    (
        Mutant(
            "no barrier after the load",
            "race",
            _READ,
            "tile",
            ("cuda.syncthreads()  # the tile is loaded", "pass"),
            other="tile[t] = x[i] if i < x.size else 0.0",
        ),
        Mutant(
            "no barrier between read and write",
            "race",
            "tile[t] += left",
            "tile",
            ("cuda.syncthreads()  # every thread has read", "pass"),
            other=_READ,
        ),
        Mutant(
            "no barrier between write and read",
            "race",
            _READ,
            "tile",
            ("cuda.syncthreads()  # every thread has written", "pass"),
            other="tile[t] += left",
        ),
        Mutant(
            "read and written in one statement",
            "race",
            "tile[t] += tile[t - step] if t >= step else 0.0",
            "tile",
            ("tile[t] += left", "tile[t] += tile[t - step] if t >= step else 0.0"),
        ),
        Mutant(
            "the left neighbour wraps",
            "negative_index",
            "left = tile[t - step]",
            "tile",
            (_READ, "left = tile[t - step]"),
        ),
        Mutant(
            "only threads with a left neighbour meet at the barrier",
            "divergent_barrier",
            "if t >= step: cuda.syncthreads()",
            None,
            ("cuda.syncthreads()  # every thread has read", "if t >= step: cuda.syncthreads()"),
        ),
        Mutant(
            "store not guarded",
            "out_of_bounds",
            "out[i] = tile[t]",
            "out",
            ("if i < x.size:", "if i <= x.size:"),
        ),
    ),
)

_ADD = "total += tile[k]"
_USED = "cuda.syncthreads()  # tile and carry are used"

RUNNING_SUM = Algorithm(
    running_sum,
    (1,),
    (BLOCK,),
    lambda: {"x": reals(150), "out": reals(150)},
    lambda a: {"out": a["x"].cumsum()},
    (
        Mutant(
            "no barrier after the load",
            "race",
            _ADD,
            "tile",
            ("cuda.syncthreads()  # tile and carry are there", "pass"),
            other="tile[t] = x[start + t] if start + t < x.size else 0.0",
        ),
        Mutant(
            "tile reused without a barrier",
            "race",
            "tile[t] = x[start + t] if start + t < x.size else 0.0",
            "tile",
            (_USED, "pass"),
            other=_ADD,
        ),
        Mutant(
            "carry written while others read it",
            "race",
            "carry[0] = total",
            "carry",
            (_USED, "pass"),
            other="total = carry[0]",
        ),
        Mutant(
            "carry not set to zero", "uninitialised", "total = carry[0]", "carry", ("carry[0] = 0.0", "pass")
        ),
        Mutant(
            "one element too many",
            "out_of_bounds",
            _ADD,
            "tile",
            ("for k in range(t + 1):", "for k in range(t + 2):"),
        ),
        Mutant(
            "barrier only for threads that store",
            "divergent_barrier",
            "cuda.syncthreads()",
            None,
            (_USED, "    cuda.syncthreads()"),
        ),
        Mutant(
            "every thread writes the carry",
            "race",
            "carry[0] = total",
            "carry",
            ("if t == BLOCK - 1:", "if t <= BLOCK - 1:"),
        ),
        Mutant(
            "two blocks do the work of one",
            "race",
            "out[start + t] = total",
            "out",
            blocks=(2,),
        ),
    ),
)

ALGORITHMS = (SCAN, RUNNING_SUM)
