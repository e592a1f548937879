"""Early returns, both branches, local arrays, dynamic shared memory."""

import numpy as np
from mutants.algorithm import Algorithm, Mutant, reals
from numba import float64

from course_pkg import cuda

BLOCK = 64


def neighbour_after_return(x, out):
    tile = cuda.shared.array(BLOCK, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= x.size:
        return
    tile[t] = x[i]
    cuda.syncthreads()  # threads that returned count as arrived
    if t > 0:
        out[i] = tile[t] - tile[t - 1]


def mirror(x, out):
    tile = cuda.shared.array(0, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = cuda.blockDim.x
    tile[t] = x[i]
    cuda.syncthreads()
    out[i] = tile[n - 1 - t]


def window_polynomial(x, out):
    window = cuda.local.array(3, float64)
    i = cuda.grid(1)
    if i + 2 < x.size:
        for k in range(3):
            window[k] = x[i + k]
        total = 0.0
        for k in range(2, -1, -1):
            total = 2 * total + window[k]
        out[i] = total


def halves(x, out):
    tile = cuda.shared.array(BLOCK, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < BLOCK // 2:
        tile[t] = 2 * x[i]
    else:
        tile[t] = 3 * x[i]
    cuda.syncthreads()  # both halves are there
    out[i] = tile[BLOCK - 1 - t]


def repeat_until_small(x, steps):
    tile = cuda.shared.array(BLOCK, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value = x[i]
    count = 0
    while count < 5:
        tile[t] = value
        cuda.syncthreads()  # stored
        value = 0.5 * (value + tile[(t + 32) % BLOCK])
        cuda.syncthreads()  # read
        count += 1
    steps[i] = value


def _difference(a):
    x, out = a["x"], a["out"].copy()
    t = np.arange(x.size) % BLOCK
    out[t > 0] = (x - np.roll(x, 1))[t > 0]
    return {"out": out}


_DIFFERENCE = "out[i] = tile[t] - tile[t - 1]"
_MET = "cuda.syncthreads()  # threads that returned count as arrived"

NEIGHBOUR_AFTER_RETURN = Algorithm(
    neighbour_after_return,
    (3,),
    (BLOCK,),
    lambda: {"x": reals(150), "out": reals(150)},
    _difference,
    (
        Mutant("no barrier", "race", _DIFFERENCE, "tile", (_MET, "pass"), other="tile[t] = x[i]"),
        Mutant(
            "the first thread looks left",
            "negative_index",
            _DIFFERENCE,
            "tile",
            ("if t > 0:", "if t >= 0:"),
        ),
        Mutant(
            "looks right, where the thread has returned",
            "uninitialised",
            "out[i] = tile[t] - tile[(t + 1) % BLOCK]",
            "tile",
            (_DIFFERENCE, "out[i] = tile[t] - tile[(t + 1) % BLOCK]"),
        ),
        Mutant(
            "barrier under a condition, beside threads that returned",
            "divergent_barrier",
            "if t % 2 == 0: cuda.syncthreads()",
            None,
            (_MET, "if t % 2 == 0: cuda.syncthreads()"),
        ),
    ),
)

MIRROR = Algorithm(
    mirror,
    (2,),
    (BLOCK,),
    lambda: {"x": reals(2 * BLOCK), "out": reals(2 * BLOCK)},
    lambda a: {"out": a["x"].reshape(2, BLOCK)[:, ::-1].ravel()},
    (
        Mutant(
            "no barrier",
            "race",
            "out[i] = tile[n - 1 - t]",
            "tile",
            ("cuda.syncthreads()", "pass"),
            other="tile[t] = x[i]",
        ),
        Mutant(
            "launched with half of the shared memory",
            "out_of_bounds",
            "tile[t] = x[i]",
            "tile",
            shared_bytes=BLOCK * 4,
        ),
        Mutant("launched without shared memory", "out_of_bounds", "tile[t] = x[i]", "tile", shared_bytes=0),
        Mutant(
            "mirrored about the wrong element",
            "out_of_bounds",
            "out[i] = tile[n - t]",
            "tile",
            ("out[i] = tile[n - 1 - t]", "out[i] = tile[n - t]"),
        ),
        Mutant("one block too many", "out_of_bounds", "tile[t] = x[i]", "x", blocks=(3,)),
    ),
    shared_bytes=BLOCK * 8,
)


def _polynomial(a):
    x, out = a["x"], a["out"].copy()
    out[:-2] = x[:-2] + 2 * x[1:-1] + 4 * x[2:]
    return {"out": out}


_TAKE = "total = 2 * total + window[k]"

WINDOW_POLYNOMIAL = Algorithm(
    window_polynomial,
    (3,),
    (BLOCK,),
    lambda: {"x": reals(150), "out": reals(150)},
    _polynomial,
    (
        Mutant(
            "local array not filled",
            "uninitialised",
            _TAKE,
            "window",
            ("for k in range(3):", "for k in range(2):"),
        ),
        Mutant(
            "local array too short",
            "out_of_bounds",
            "window[k] = x[i + k]",
            "window",
            ("window = cuda.local.array(3, float64)", "window = cuda.local.array(2, float64)"),
        ),
        Mutant(
            "local index below zero",
            "negative_index",
            _TAKE,
            "window",
            ("for k in range(2, -1, -1):", "for k in range(2, -2, -1):"),
        ),
        Mutant(
            "window beyond the end",
            "out_of_bounds",
            "window[k] = x[i + k]",
            "x",
            ("if i + 2 < x.size:", "if i + 1 < x.size:"),
        ),
    ),
)


def _halves(a):
    x = a["x"].reshape(2, BLOCK) * np.repeat([2.0, 3.0], BLOCK // 2)
    return {"out": x[:, ::-1].ravel()}


HALVES = Algorithm(
    halves,
    (2,),
    (BLOCK,),
    lambda: {"x": reals(2 * BLOCK), "out": reals(2 * BLOCK)},
    _halves,
    (
        Mutant(
            "barrier in one branch only",
            "divergent_barrier",
            "tile[t] = 2 * x[i]; cuda.syncthreads()",
            None,
            ("tile[t] = 2 * x[i]", "tile[t] = 2 * x[i]; cuda.syncthreads()"),
        ),
        Mutant(
            "a barrier in the other branch only",
            "divergent_barrier",
            "cuda.syncthreads()",
            None,
            ("cuda.syncthreads()  # both halves are there", "    cuda.syncthreads()"),
        ),
        Mutant(
            "no barrier between the halves",
            "race",
            "out[i] = tile[BLOCK - 1 - t]",
            "tile",
            ("cuda.syncthreads()  # both halves are there", "cuda.syncwarp()"),
            other=("tile[t] = 2 * x[i]", "tile[t] = 3 * x[i]"),
        ),
    ),
)


def _averaged(a):
    value = a["x"].reshape(2, BLOCK)
    for _ in range(5):
        value = 0.5 * (value + np.roll(value, -32, axis=1))
    return {"steps": value.ravel()}


_MEAN = "value = 0.5 * (value + tile[(t + 32) % BLOCK])"

REPEAT = Algorithm(
    repeat_until_small,
    (2,),
    (BLOCK,),
    lambda: {"x": reals(2 * BLOCK), "steps": reals(2 * BLOCK)},
    _averaged,
    (
        Mutant(
            "not stored before it is read",
            "race",
            _MEAN,
            "tile",
            ("cuda.syncthreads()  # stored", "pass"),
            other="tile[t] = value",
        ),
        Mutant(
            "not read before it is stored",
            "race",
            "tile[t] = value",
            "tile",
            ("cuda.syncthreads()  # read", "pass"),
            other=_MEAN,
        ),
        Mutant(
            "threads leave the loop at different times",
            "divergent_barrier",
            "cuda.syncthreads()  # stored",
            None,
            ("while count < 5:", "while count < 1 + t % 5:"),
        ),
        Mutant(
            "a thread breaks out before the barrier",
            "divergent_barrier",
            "cuda.syncthreads()  # read",
            None,
            (_MEAN, _MEAN + "\n        if value > 2: break"),
        ),
    ),
)

ALGORITHMS = (NEIGHBOUR_AFTER_RETURN, MIRROR, WINDOW_POLYNOMIAL, HALVES, REPEAT)
