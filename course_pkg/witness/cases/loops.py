"""Loops whose number of trips is known only at run time: compilers unroll them by several trips."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N = 1000  # neither a multiple of the grid nor of a warp: the last trip is partial
GRID, BLOCK = 2, 48


def vectors(count, dtype="float64"):
    """Return a function that makes ``count`` vectors and a place for results."""
    return lambda: (*(numbers(N, dtype, seed) for seed in range(count)), zeros(N, dtype))


@cuda.jit
def stride_1_load(a, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] * 2.5


@cuda.jit
def stride_2_loads(a, b, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i]


@cuda.jit
def stride_3_loads(a, b, c, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] * b[i] + c[i]


@cuda.jit
def stride_4_loads(a, b, c, d, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] * b[i] + c[i] * d[i]


@cuda.jit
def stride_5_loads(a, b, c, d, e, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i] + c[i] + d[i] + e[i]


@cuda.jit
def stride_6_loads(a, b, c, d, e, f, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i]


@cuda.jit
def stride_7_loads(a, b, c, d, e, f, g, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i]


STRIDES = (
    stride_1_load,
    stride_2_loads,
    stride_3_loads,
    stride_4_loads,
    stride_5_loads,
    stride_6_loads,
    stride_7_loads,
)
for count, kernel in enumerate(STRIDES, start=1):
    cases.add(
        kernel,
        GRID,
        BLOCK,
        vectors(count),
        f"a loop over the grid, loads per trip: {count}; how many trips are written out together",
        data_dependent=True,
    )
cases.add(
    stride_3_loads,
    GRID,
    BLOCK,
    vectors(3, "float32"),
    "the same loop in fp32",
    name="stride_3_loads_float32",
    data_dependent=True,
)


def lengths(longest=20, threads=96):
    """Return a number of trips for each thread."""
    return np.random.default_rng(5).integers(0, longest + 1, threads)


@cuda.jit
def columns_1_load(a, turns, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(turns[i]):
        total += a[k, i]
    out[i] = total


@cuda.jit
def columns_3_loads(a, turns, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(turns[i]):
        total += a[k, i] * a[k + 1, i] + a[k + 2, i]
    out[i] = total


@cuda.jit
def columns_6_loads(a, b, turns, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(turns[i]):
        total += a[k, i] * b[k, i] + a[k + 1, i] * b[k + 1, i] + a[k + 2, i] * b[k + 2, i]
    out[i] = total


for kernel, count in ((columns_1_load, 1), (columns_3_loads, 1), (columns_6_loads, 2)):
    cases.add(
        kernel,
        2,
        48,
        lambda count=count: (*(numbers((23, 96), seed=s) for s in range(count)), lengths(), zeros(96)),
        "a column a thread, down to its own depth, by two indices",
        data_dependent=True,
    )


@cuda.jit
def window_of_five(a, turns, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(turns[i]):
        total += a[k] * a[k + 1] + a[k + 2] * a[k + 3] + a[k + 4]
    out[i] = total


cases.add(
    window_of_five,
    2,
    48,
    lambda: (numbers(25), lengths(), zeros(96)),
    "a window that overlaps the next trip: loads shared between trips written out together",
    data_dependent=True,
)


@cuda.jit
def own_while(a, turns, out):
    i = cuda.grid(1)
    total, k = 0.0, 0
    while k < turns[i]:
        total += a[k]
        k += 1
    out[i] = total


@cuda.jit
def own_while_held(a, turns, out):
    i = cuda.grid(1)
    total, k, last = 0.0, 0, turns[i]
    while k < last:
        total += a[k] * a[k + 1]
        k += 1
    out[i] = total


for kernel in (own_while, own_while_held):
    cases.add(
        kernel,
        2,
        48,
        lambda: (numbers(25), lengths(), zeros(96)),
        "`while` with a counter and an end of its own for each thread",
        data_dependent=True,
    )


@cuda.jit
def six_turns_by_while(a, out):
    i = cuda.grid(1)
    total, k = 0.0, 0
    while k < 6:
        total += a[k * cuda.gridsize(1) + i]
        k += 1
    out[i] = total


cases.add(
    six_turns_by_while,
    2,
    64,
    lambda: (numbers(6 * 128), zeros(128)),
    "`while` with a number of trips that the compiler finds: written out",
)


@cuda.jit
def loop_with_a_branch(a, turns, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(turns[i]):
        if a[k] > 1.5:
            total += a[k + 1]
    out[i] = total


cases.add(
    loop_with_a_branch,
    2,
    48,
    lambda: (numbers(25), lengths(), zeros(96)),
    "a branch within a loop whose trips are written out together",
    data_dependent=True,
)
