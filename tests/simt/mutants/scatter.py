"""Indices from data: histogram, permutation, gather, compaction, a maximum."""

import numpy as np
from mutants.algorithm import Algorithm, Mutant, reals
from numba import int32

from course_pkg import cuda

BLOCK = 64
BINS = 40


def histogram(x, counts):
    bins = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < BINS:
        bins[t] = 0
    cuda.syncthreads()  # the bins are empty
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)
    cuda.syncthreads()  # all are counted
    if t < BINS:
        cuda.atomic.add(counts, t, bins[t])


def permute(p, x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[p[i]] = x[i]


def gather(p, x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[p[i]]


def compact(x, out, count):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        slot = cuda.atomic.add(count, 0, 1)
        out[slot] = x[i]


def largest(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])


_ZERO = "bins[t] = 0"
_COUNT = "cuda.atomic.add(bins, x[i], 1)"
_TOTAL = "cuda.atomic.add(counts, t, bins[t])"
_DRAWN = (np.arange(150) ** 2 % BINS).astype(np.int32)

HISTOGRAM = Algorithm(
    histogram,
    (3,),
    (BLOCK,),
    lambda: {"x": _DRAWN.copy(), "counts": np.zeros(BINS, np.int32)},
    lambda a: {"counts": np.bincount(a["x"], minlength=BINS)},
    (
        Mutant("racy += in shared memory", "race", "bins[x[i]] += 1", "bins", (_COUNT, "bins[x[i]] += 1")),
        Mutant(
            "racy += in global memory",
            "race",
            "counts[t] += bins[t]",
            "counts",
            (_TOTAL, "counts[t] += bins[t]"),
        ),
        Mutant(
            "a plain store for the last block to win",
            "race",
            "counts[t] = bins[t]",
            "counts",
            (_TOTAL, "counts[t] = bins[t]"),
        ),
        Mutant("bins not set to zero", "uninitialised", _COUNT, "bins", (_ZERO, "pass")),
        Mutant(
            "last bins not set to zero",
            "uninitialised",
            _COUNT,
            "bins",
            (_ZERO, "bins[t // 2] = 0"),
        ),
        Mutant(
            "counted before the bins are empty",
            "race",
            _COUNT,
            "bins",
            ("cuda.syncthreads()  # the bins are empty", "pass"),
            other=_ZERO,
        ),
        Mutant(
            "totals taken before all are counted",
            "race",
            _TOTAL,
            "bins",
            ("cuda.syncthreads()  # all are counted", "pass"),
            other=_COUNT,
        ),
        Mutant(
            "a value beyond the last bin",
            "out_of_bounds",
            _COUNT,
            "bins",
            arguments=lambda a: a["x"].__setitem__(77, BINS),
        ),
        Mutant(
            "a value below the first bin",
            "negative_index",
            _COUNT,
            "bins",
            arguments=lambda a: a["x"].__setitem__(77, -1),
        ),
        Mutant(
            "too few counters",
            "out_of_bounds",
            _TOTAL,
            "counts",
            arguments=lambda a: a.update(counts=a["counts"][:-1]),
        ),
    ),
)

_ORDER = (np.arange(150) * 77 % 150).astype(np.int64)


def _permuted(a):
    out = np.empty_like(a["out"])
    out[a["p"]] = a["x"]
    return {"out": out}


PERMUTE = Algorithm(
    permute,
    (3,),
    (BLOCK,),
    lambda: {"p": _ORDER.copy(), "x": reals(150), "out": reals(150)},
    _permuted,
    (
        Mutant(
            "two threads store one element",
            "race",
            "out[p[i] // 2] = x[i]",
            "out",
            ("out[p[i]] = x[i]", "out[p[i] // 2] = x[i]"),
        ),
        Mutant(
            "an entry twice in the permutation",
            "race",
            "out[p[i]] = x[i]",
            "out",
            arguments=lambda a: a["p"].__setitem__(140, a["p"][3]),
        ),
        Mutant(
            "a permutation that counts from one",
            "out_of_bounds",
            "out[p[i]] = x[i]",
            "out",
            arguments=lambda a: a["p"].__iadd__(1),
        ),
        Mutant(
            "permuted in place",
            "race",
            "out[p[i]] = x[i]",
            "out",
            arguments=lambda a: a.update(out=a["x"]),
        ),
    ),
)

GATHER = Algorithm(
    gather,
    (3,),
    (BLOCK,),
    lambda: {"p": _ORDER.copy() // 2, "x": reals(75), "out": reals(150)},
    lambda a: {"out": a["x"][a["p"]]},
    (
        Mutant(
            "gathers from one before",
            "negative_index",
            "out[i] = x[p[i] - 1]",
            "x",
            ("out[i] = x[p[i]]", "out[i] = x[p[i] - 1]"),
        ),
        Mutant(
            "gathers from one after",
            "out_of_bounds",
            "out[i] = x[p[i] + 1]",
            "x",
            ("out[i] = x[p[i]]", "out[i] = x[p[i] + 1]"),
        ),
        Mutant(
            "the index itself is beyond the end",
            "out_of_bounds",
            "out[i] = x[p[i]]",
            "p",
            ("if i < out.size:", "if i <= out.size - 1 + 1:"),
        ),
        Mutant(
            "stores into what it gathers from",
            "race",
            "x[i % 75] = x[p[i]]",
            "x",
            ("out[i] = x[p[i]]", "x[i % 75] = x[p[i]]"),
        ),
    ),
)

COMPACT = Algorithm(
    compact,
    (3,),
    (BLOCK,),
    lambda: {
        "x": np.full(150, 2.0) * (np.arange(150) % 3 - 1),
        "out": np.zeros(150),
        "count": np.zeros(1, np.int64),
    },
    lambda a: {"out": [2.0] * 50 + [0.0] * 100, "count": [50]},
    (
        Mutant(
            "the counter is read and written apart",
            "race",
            "slot = count[0]; count[0] = slot + 1",
            "count",
            ("slot = cuda.atomic.add(count, 0, 1)", "slot = count[0]; count[0] = slot + 1"),
            depends_on_schedule=True,
        ),
        Mutant(
            "the place is read again after the atomic",
            "race",
            "out[count[0] - 1] = x[i]",
            "count",
            ("out[slot] = x[i]", "out[count[0] - 1] = x[i]"),
            other="slot = cuda.atomic.add(count, 0, 1)",
            depends_on_schedule=True,
        ),
        Mutant(
            "too little room for the result",
            "out_of_bounds",
            "out[slot] = x[i]",
            "out",
            arguments=lambda a: a.update(out=a["out"][:49]),
        ),
    ),
)

LARGEST = Algorithm(
    largest,
    (3,),
    (BLOCK,),
    lambda: {"x": reals(150), "out": np.full(1, -100.0)},
    lambda a: {"out": [a["x"].max()]},
    (
        Mutant(
            "compared and stored without atomics",
            "race",
            "out[0] = max(out[0], x[i])",
            "out",
            ("cuda.atomic.max(out, 0, x[i])", "out[0] = max(out[0], x[i])"),
        ),
        Mutant(
            "an atomic only where a plain read says so",
            "race",
            "if x[i] > out[0]: cuda.atomic.max(out, 0, x[i])",
            "out",
            ("cuda.atomic.max(out, 0, x[i])", "if x[i] > out[0]: cuda.atomic.max(out, 0, x[i])"),
            depends_on_schedule=True,
        ),
        Mutant(
            "guarded by the grid instead of the size",
            "out_of_bounds",
            "cuda.atomic.max(out, 0, x[i])",
            "x",
            ("if i < x.size:", "if i < cuda.gridsize(1):"),
        ),
    ),
)

ALGORITHMS = (HISTOGRAM, PERMUTE, GATHER, COMPACT, LARGEST)
