"""Sums of a warp: by shuffles, and in shared memory in lock step."""

from mutants.algorithm import Algorithm, Mutant, reals
from mutants.reductions import ADD, BLOCK, LOAD, sum_arguments, sum_expected
from numba import float64

from course_pkg import cuda

WARPS = BLOCK // 32


def shuffle_sum(x, out):
    partial = cuda.shared.array(WARPS, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value = x[i] if i < x.size else 0.0
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if t % 32 == 0:
        partial[t // 32] = value
    cuda.syncthreads()  # each warp stored its sum
    if t == 0:
        total = 0.0
        for k in range(BLOCK // 32):
            total += partial[k]
        out[cuda.blockIdx.x] = total


def warp_sums(x, out):
    tile = cuda.shared.array(BLOCK, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    lane = t % 32
    tile[t] = x[i] if i < x.size else 0.0
    cuda.syncwarp()  # the warp's part is loaded
    half = 16
    while half > 0:
        if lane < half:
            tile[t] += tile[t + half]
        cuda.syncwarp()  # this level is done
        half //= 2
    if lane == 0:
        out[i // 32] = tile[t]


_WARP_STORE = "partial[t // 32] = value"

SHUFFLE_SUM = Algorithm(
    shuffle_sum,
    (3,),
    (BLOCK,),
    sum_arguments,
    sum_expected,
    (
        Mutant(
            "no barrier between the warps",
            "race",
            "total += partial[k]",
            "partial",
            ("cuda.syncthreads()  # each warp stored its sum", "pass"),
            other=_WARP_STORE,
        ),
        Mutant(
            "every warp stores to one element",
            "race",
            "partial[t % 32] = value",
            "partial",
            (_WARP_STORE, "partial[t % 32] = value"),
        ),
        Mutant(
            "the partial sums start at one",
            "out_of_bounds",
            "partial[t // 32 + 1] = value",
            "partial",
            (_WARP_STORE, "partial[t // 32 + 1] = value"),
        ),
        Mutant(
            "every second warp stores nothing",
            "uninitialised",
            "total += partial[k]",
            "partial",
            ("if t % 32 == 0:", "if t % 64 == 0:"),
        ),
        Mutant(
            "every lane stores the warp's sum",
            "race",
            _WARP_STORE,
            "partial",
            ("if t % 32 == 0:", "if t % 32 >= 0:"),
        ),
    ),
)

WARP_SUMS = Algorithm(
    warp_sums,
    (3,),
    (BLOCK,),
    lambda: {"x": reals(300), "out": reals(12)},
    lambda a: {"out": [a["x"][s : s + 32].sum() for s in range(0, 3 * BLOCK, 32)]},
    (
        Mutant(
            "no syncwarp after the load",
            "missing_syncwarp",
            ADD,
            "tile",
            ("cuda.syncwarp()  # the warp's part is loaded", "pass"),
            other=LOAD,
        ),
        Mutant(
            "no syncwarp in the loop",
            "missing_syncwarp",
            ADD,
            "tile",
            ("cuda.syncwarp()  # this level is done", "pass"),
        ),
        Mutant(
            "the last lanes add from the next warp",
            "race",
            ADD,
            "tile",
            ("if lane < half:", "if t + half < BLOCK:"),
        ),
    ),
)
ALGORITHMS = (SHUFFLE_SUM, WARP_SUMS)
