"""Control flow: which lanes are switched off, how often a line runs, and what a compiler merges."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import SEED, Cases, numbers, zeros
from course_pkg.device.launch import blocks_for

cases = Cases()
N = 1024


def one_in_one_out(dtype="float64"):
    """Return a vector and a place for results."""
    return numbers(N, dtype), zeros(N, dtype)


@cuda.jit
def two_ways(a, b, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        out[i] = a[i]
    else:
        out[i] = b[i] * b[i]


cases.add(
    two_ways,
    8,
    128,
    lambda: (numbers(N), numbers(N, seed=1), zeros(N)),
    "both sides of a branch, a third of the lanes here",
)


@cuda.jit
def same_load_on_both_sides(a, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = a[i] + 1.0
    else:
        out[i] = a[i] * 3.0


cases.add(
    same_load_on_both_sides, 8, 128, one_in_one_out, "both branches load the same element: compilers hoist it"
)


@cuda.jit
def early_return(a, out):
    i = cuda.grid(1)
    if i % 5 == 2:
        return
    out[i] = a[i]


cases.add(early_return, 8, 128, one_in_one_out, "a fifth of the lanes has left")


@cuda.jit
def nested(a, b, c, out):
    i = cuda.grid(1)
    if i > 100:
        total = a[i]
        if i % 2 == 0:
            total += b[i]
            if i % 4 == 0:
                total += c[i]
        out[i] = total


cases.add(
    nested,
    8,
    128,
    lambda: (numbers(N), numbers(N, seed=1), numbers(N, seed=2), zeros(N)),
    "branches within branches: ever fewer lanes",
)


@cuda.jit
def four_ways(a, b, c, d, out):
    i = cuda.grid(1)
    way = cuda.threadIdx.x % 4
    if way == 0:
        out[i] = a[i]
    elif way == 1:
        out[i] = b[i]
    elif way == 2:
        out[i] = c[i]
    else:
        out[i] = d[i]


cases.add(
    four_ways,
    8,
    128,
    lambda: (*(numbers(N, seed=s) for s in range(4)), zeros(N)),
    "a switch: four loads of eight lanes each",
)


@cuda.jit
def chosen_value(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] if i % 2 == 0 else b[i]


cases.add(
    chosen_value,
    8,
    128,
    lambda: (numbers(N), numbers(N, seed=1), zeros(N)),
    "a conditional expression loads one side",
)


@cuda.jit
def short_circuit(a, out):
    i = cuda.grid(1)
    if i > 0 and a[i - 1] > 1.5:
        out[i] = 1.0


cases.add(
    short_circuit, 8, 128, one_in_one_out, "`and` loads only where its left side holds; stores where both do"
)


@cuda.jit
def grid_stride(a, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + 1.0


cases.add(
    grid_stride,
    4,
    96,
    lambda: (numbers(N), zeros(N)),
    "a loop over the grid whose last turn only some warps, and some lanes, make",
)


@cuda.jit
def eight_turns(a, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(8):
        total += a[k * cuda.gridsize(1) + i]
    out[i] = total


cases.add(
    eight_turns,
    2,
    64,
    lambda: (numbers(8 * 128), zeros(128)),
    "a trip count that the compiler knows: unrolled",
)


@cuda.jit
def same_turns_for_all(a, turns, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(turns):
        total += a[k * cuda.gridsize(1) + i]
    out[i] = total


cases.add(
    same_turns_for_all,
    2,
    64,
    lambda: (numbers(11 * 128), 11, zeros(128)),
    "an argument as trip count, equal for all lanes",
)


@cuda.jit
def leave_the_loop(a, out):
    i = cuda.grid(1)
    for k in range(16):
        if k * 8 > i:
            break
        out[i] += a[k]


cases.add(
    leave_the_loop,
    2,
    64,
    lambda: (numbers(16), zeros(128)),
    "`break` at another turn in each lane",
    data_dependent=True,
)


@cuda.jit
def skip_turns(a, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(6):
        if (i + k) % 3 == 0:
            continue
        total += a[k, i]
    out[i] = total


cases.add(
    skip_turns,
    2,
    64,
    lambda: (numbers((6, 128)), zeros(128)),
    "`continue` leaves two lanes of three at each turn",
)


@cuda.jit
def triangle(a, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(i + 1):
        total += a[i, k]
    out[i] = total


cases.add(
    triangle,
    2,
    48,
    lambda: (numbers((96, 96)), zeros(96)),
    "row i has i + 1 turns: lanes fall out one by one",
    data_dependent=True,
)


@cuda.jit
def halving(values, out):
    i = cuda.grid(1)
    n, steps = values[i], 0
    while n > 1:
        n //= 2
        steps += 1
    out[i] = steps


cases.add(
    halving,
    4,
    64,
    lambda: (numbers(256, "int32"), zeros(256, "int32")),
    "`while` with a trip count read from memory",
    data_dependent=True,
)


@cuda.jit
def csr_rows(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[indices[k]]
        y[row] = total


def some_matrix(rows=500, longest=13):
    """Return ``indptr, indices, data, x, y`` of a square sparse matrix with 0 to ``longest`` numbers a row."""
    rng = np.random.default_rng(SEED)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, longest + 1, rows))]).astype("int32")
    indices = rng.integers(0, rows, indptr[-1]).astype("int32")
    return indptr, indices, numbers(int(indptr[-1])), numbers(rows), zeros(rows)


cases.add(
    csr_rows,
    blocks_for(500, 128),
    128,
    some_matrix,
    "a sparse row a thread: rows differ in length",
    data_dependent=True,
)
