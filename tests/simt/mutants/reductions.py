"""Sums: a tree in shared memory, a grid-stride dot product."""

from mutants.algorithm import Algorithm, Mutant, reals
from numba import float64

from course_pkg import cuda

BLOCK = 128
ONE_LESS = BLOCK - 1


def block_sum(x, out):
    tile = cuda.shared.array(BLOCK, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()  # the tile is loaded
    half = BLOCK // 2
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()  # this level is done
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def grid_stride_dot(x, y, out):
    tile = cuda.shared.array(BLOCK, float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * y[i]
    tile[t] = total
    cuda.syncthreads()  # the partial sums are stored
    if t == 0:
        total = 0.0
        for k in range(BLOCK):
            total += tile[k]
        cuda.atomic.add(out, 0, total)


def sum_arguments():
    return {"x": reals(300), "out": reals(3)}


def sum_expected(a):
    return {"out": [a["x"][s : s + BLOCK].sum() for s in range(0, 300, BLOCK)]}


ADD = "tile[t] += tile[t + half]"
LOAD = "tile[t] = x[i] if i < x.size else 0.0"
_STORE = "out[cuda.blockIdx.x] = tile[0]"

BLOCK_SUM = Algorithm(
    block_sum,
    (3,),
    (BLOCK,),
    sum_arguments,
    sum_expected,
    (
        Mutant(
            "no barrier after the load",
            "race",
            ADD,
            "tile",
            ("cuda.syncthreads()  # the tile is loaded", "pass"),
            other=LOAD,
        ),
        Mutant(
            "no barrier in the loop",
            "race",
            ADD,
            "tile",
            ("cuda.syncthreads()  # this level is done", "pass"),
        ),
        Mutant(
            "syncwarp where a barrier is needed",
            "race",
            ADD,
            "tile",
            ("cuda.syncthreads()  # this level is done", "cuda.syncwarp()"),
        ),
        Mutant(
            "barrier inside the branch",
            "divergent_barrier",
            "cuda.syncthreads()",
            None,
            ("cuda.syncthreads()  # this level is done", "    cuda.syncthreads()"),
        ),
        Mutant("load not guarded", "out_of_bounds", "tile[t] = x[i]", "x", (LOAD, "tile[t] = x[i]")),
        Mutant(
            "load guarded by <=",
            "out_of_bounds",
            "tile[t] = x[i] if i <= x.size else 0.0",
            "x",
            (LOAD, "tile[t] = x[i] if i <= x.size else 0.0"),
        ),
        Mutant("one thread too many adds", "out_of_bounds", ADD, "tile", ("if t < half:", "if t <= half:")),
        Mutant(
            "tile one element short",
            "out_of_bounds",
            LOAD,
            "tile",
            (
                "tile = cuda.shared.array(BLOCK, float64)",
                "tile = cuda.shared.array(ONE_LESS, float64)",
            ),
        ),
        Mutant(
            "tile not padded with zeros",
            "uninitialised",
            ADD,
            "tile",
            (LOAD, "tile[i % BLOCK if i < x.size else 0] = x[i if i < x.size else 0]"),
        ),
        Mutant(
            "all blocks store one element",
            "race",
            "out[0] = tile[0]",
            "out",
            (_STORE, "out[0] = tile[0]"),
        ),
        Mutant(
            "blocks add without atomics",
            "race",
            "out[0] += tile[0]",
            "out",
            (_STORE, "out[0] += tile[0]"),
        ),
        Mutant("two threads store the sum", "race", _STORE, "out", ("if t == 0:", "if t < 2:")),
    ),
)

_PARTIAL = "total += tile[k]"
_TERM = "total += x[i] * y[i]"

GRID_STRIDE_DOT = Algorithm(
    grid_stride_dot,
    (2,),
    (BLOCK,),
    lambda: {"x": reals(700), "y": reals(700)[::-1].copy(), "out": reals(1) * 0},
    lambda a: {"out": [a["x"] @ a["y"]]},
    (
        Mutant(
            "no barrier before the partial sums are read",
            "race",
            _PARTIAL,
            "tile",
            ("cuda.syncthreads()  # the partial sums are stored", "pass"),
            other="tile[t] = total",
        ),
        Mutant(
            "plain += where an atomic is needed",
            "race",
            "out[0] += total",
            "out",
            ("cuda.atomic.add(out, 0, total)", "out[0] += total"),
        ),
        Mutant(
            "one partial sum too many",
            "out_of_bounds",
            _PARTIAL,
            "tile",
            ("for k in range(BLOCK):", "for k in range(BLOCK + 1):"),
        ),
        Mutant(
            "one element too many",
            "out_of_bounds",
            _TERM,
            "x",
            (
                "for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):",
                "for i in range(cuda.grid(1), x.size + 1, cuda.gridsize(1)):",
            ),
        ),
        Mutant(
            "barrier in a loop whose length differs between threads",
            "divergent_barrier",
            _TERM + "; cuda.syncthreads()",
            None,
            (_TERM, _TERM + "; cuda.syncthreads()"),
        ),
        Mutant(
            "plain store beside atomics",
            "race",
            "cuda.atomic.add(out, 0, total)",
            "out",
            ("if t == 0:", "if t == 0 and cuda.blockIdx.x == 0: out[0] = 0.0\n    if t == 0:"),
            other="if t == 0 and cuda.blockIdx.x == 0: out[0] = 0.0",
        ),
        Mutant(
            "the operands are of different length",
            "out_of_bounds",
            _TERM,
            "y",
            arguments=lambda a: a.update(y=a["y"][:690].copy()),
        ),
    ),
)

ALGORITHMS = (BLOCK_SUM, GRID_STRIDE_DOT)
