"""A name that stands for different arrays in different threads: a warp makes one request of a chosen address."""

# ruff: noqa: SIM108 — a branch that sets a name and a conditional expression are two subjects

from numba import float64

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.witness.cases.branches import two_in, two_in_two_out

cases = Cases()
N, BLOCK, GRID = 1024, 128, 8


@cuda.jit
def chosen_by_index(a, b, out):
    i = cuda.grid(1)
    out[i] = (a, b)[i % 2][i]


@cuda.jit
def chosen_by_condition(a, b, out):
    i = cuda.grid(1)
    source = a if i % 3 == 0 else b
    out[i] = source[i] + source[i ^ 1]


@cuda.jit
def chosen_in_a_branch(a, b, out, more):
    i = cuda.grid(1)
    if i % 32 < 8:
        target = out
    else:
        target = more
    target[i] = a[i] + b[i]


@cuda.jit
def chosen_by_warp(a, b, out):
    i = cuda.grid(1)
    source = a if (i // 32) % 2 == 0 else b
    out[i] = source[i]


@cuda.jit
def chosen_for_an_update(a, b, out, more):
    i = cuda.grid(1)
    target = out if i % 4 == 0 else more
    target[i] += a[i] * b[i]


@cuda.jit
def chosen_row(a, b, out):
    i = cuda.grid(1)
    row = (a[0], a[1], b[1])[i % 3]
    out[i] = row[i // 3]


@cuda.jit
def changing_places(a, b, steps):
    i = cuda.grid(1)
    old, new = a, b
    for _ in range(steps):
        new[i] = 2.0 * old[i]
        old, new = new, old


@cuda.jit
def changing_places_unequally(a, b, out):
    i = cuda.grid(1)
    old, new = a, b
    for _ in range(i % 3):
        old, new = new, old
    out[i] = 2.0 * old[i] - new[i]


@cuda.jit
def chosen_for_an_atomic(a, counts, more):
    i = cuda.grid(1)
    target = counts if a[i] > 1.5 else more
    cuda.atomic.add(target, i % 8, 1.0)


@cuda.jit
def chosen_tile(a, b, out):
    first = cuda.shared.array(128, float64)
    second = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    first[t] = a[i]
    second[t] = b[i]
    cuda.syncthreads()
    tile = first if t % 2 == 0 else second
    out[i] = tile[127 - t]


def two_rows_in():
    """Return two matrices of two rows and a place for results."""
    return numbers((2, N), "float64"), numbers((2, N), "float64", 1), zeros(N)


def one_in_two_counts():
    """Return a vector and two vectors of eight counts."""
    return numbers(N), zeros(8), zeros(8)


def add(kernel, make_args, idea):
    """Add a case of the size that all cases of this file have."""
    cases.add(kernel, GRID, BLOCK, make_args, idea)


add(chosen_by_index, two_in, "every other lane loads from the other array: one request")
add(chosen_by_condition, two_in, "two loads through one conditional expression")
add(chosen_in_a_branch, two_in_two_out, "a branch sets the name through which all lanes store")
add(chosen_by_warp, two_in, "the lanes of a warp agree on the array")
add(chosen_for_an_update, two_in_two_out, "a load and a store through one choice")
add(chosen_row, two_rows_in, "rows of two arrays in a tuple that is indexed at run time")
add(changing_places, lambda: (*two_in()[:2], 5), "arrays that change places, alike in all threads")
add(changing_places_unequally, two_in, "arrays that change places, differently in each lane")
add(chosen_for_an_atomic, one_in_two_counts, "atomics on a chosen array, chosen by a value")
add(chosen_tile, two_in, "every other lane loads from another tile of shared memory")
