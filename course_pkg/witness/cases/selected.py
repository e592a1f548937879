"""Elements that one load brings for both sides of a branch, and elements of the test of a ``while``."""

# ruff: noqa: SIM108 — a branch that sets a name and a conditional expression are two subjects

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()


@cuda.jit(device=True)
def either(a, b, i):
    """Return an element of one of two arrays."""
    if i % 3 == 0:
        return a[i]
    return b[i]


@cuda.jit
def selected_at_the_ends(u, out):
    """A periodic difference: the neighbours of the ends are at the other end."""
    i = cuda.grid(1)
    n = u.size
    if i >= n:
        return
    if i > 0:
        left = u[i - 1]
    else:
        left = u[n - 1]
    if i < n - 1:
        right = u[i + 1]
    else:
        right = u[0]
    out[i] = right - left


@cuda.jit
def selected_by_choices(u, out):
    """The same, by conditional expressions, and the point itself."""
    i = cuda.grid(1)
    n = u.size
    if i < n:
        left = u[i - 1] if i > 0 else u[n - 1]
        right = u[i + 1] if i < n - 1 else u[0]
        out[i] = left - 2.0 * u[i] + right


@cuda.jit
def selected_of_three(a, b, c, out):
    """One of three arrays for each thread."""
    i = cuda.grid(1)
    if i < out.size:
        if i % 3 == 0:
            v = a[i]
        elif i % 3 == 1:
            v = b[i]
        else:
            v = c[i]
        out[i] = 2.5 * v


@cuda.jit
def selected_behind_products(a, b, c, s, out):
    """A product with the same number on both sides, then one with different numbers."""
    i = cuda.grid(1)
    if i < out.size:
        if i % 2 == 0:
            v = a[i] * s
            w = b[i] * 2.5
        else:
            v = c[i] * s
            w = a[i] * 3.5
        out[i] = v + w


@cuda.jit
def selected_in_two_factors(a, b, c, out):
    """Both factors differ: the second ones are of one array, the first ones are not."""
    i = cuda.grid(1)
    if i < out.size:
        if i % 2 == 0:
            v = a[i + 1] * c[i + 1]
        else:
            v = b[i + 2] * c[i]
        out[i] = v + 1.5


@cuda.jit
def selected_not_in_two_factors(a, b, c, out):
    """Both factors differ, and so do their arrays."""
    i = cuda.grid(1)
    if i < out.size:
        if i % 2 == 0:
            v = a[i] * c[i]
        else:
            v = c[i] * b[i]
        out[i] = v + 1.5


@cuda.jit
def selected_not_before_a_store(a, b, out, flags):
    """One side stores something after its load."""
    i = cuda.grid(1)
    if i < out.size:
        if i % 2 == 0:
            v = a[i]
            flags[i] = 1
        else:
            v = b[i]
        out[i] = v + 1.5


@cuda.jit
def selected_indices(keys, others, table, out):
    """The index of a later load is one of two elements."""
    i = cuda.grid(1)
    if i < out.size:
        if i % 2 == 0:
            k = keys[i]
        else:
            k = others[i]
        out[i] = table[k]


@cuda.jit
def selected_in_a_loop(a, b, out, n):
    """In each trip an element of one of two arrays, as the data of the trip say."""
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for k in range(n):
            if (i + k) % 3 == 0:
                v = a[i, k]
            else:
                v = b[i, k]
            total += v
        out[i] = total


@cuda.jit
def selected_in_shared_memory(a, out):
    """A neighbour to the left or to the right, of a tile."""
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    if t % 3 == 0:
        v = tile[63 - t]
    else:
        v = tile[t - 1]
    out[i] = v + 1.5


@cuda.jit
def selected_by_a_function(a, b, out):
    """A device function returns an element of one of two arrays, and the kernel loads one of them again."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = either(a, b, i) + a[i]


@cuda.jit
def tested_elements(a, b, out):
    """The test of a ``while`` loads what its body uses."""
    i = cuda.grid(1)
    if i < out.size:
        total, k = 0.0, i
        while a[k] > 1.25:
            total += a[k] * b[k]
            k += 1
        out[i] = total


@cuda.jit
def tested_in_a_chain(first, following, values, out):
    """A chain of indices for each thread, until one is -1."""
    i = cuda.grid(1)
    if i < out.size:
        total, k = 0.0, first[i]
        while following[k] != -1:
            total += values[following[k]]
            k = following[k]
        out[i] = total


@cuda.jit
def tested_from_the_start_again(words, longest):
    """For each place, how far the word at the beginning is repeated there: the first test is the same in each trip."""
    i = cuda.grid(1)
    if i < longest.size:
        best = 0
        for j in range(i, i + 8):
            k = 0
            while k < 6 and words[i + k] == words[j + k + 1]:
                k += 1
            best = max(best, k)
        longest[i] = best


def chains(n=200):
    """Return first elements, and for each element a later one, or -1 at the end of a chain."""
    following = np.arange(n) + 1 + np.arange(n) % 3
    following[np.arange(n) % 17 == 0] = -1
    return np.arange(90, dtype="int32") * 2, np.where(following < n, following, -1).astype("int32")


def few_letters(n=200):
    """Return letters with many repetitions."""
    return (np.arange(n) // 3 % 2 + (np.arange(n) % 11 == 0)).astype("uint8")


TWO, THREE = "both sides of a branch load", "each of three ways loads"
cases.add(selected_at_the_ends, 3, 32, lambda: (numbers(90), zeros(90)), f"{TWO}: the neighbours of a ring")
cases.add(selected_by_choices, 3, 32, lambda: (numbers(90), zeros(90)), f"{TWO}: by conditional expressions")
cases.add(selected_of_three, 3, 32, lambda: (numbers(90), numbers(90), numbers(90), zeros(90)), THREE)
for kernel, words in (
    (selected_in_two_factors, "two factors, the last of one array"),
    (selected_not_in_two_factors, "two factors of different arrays"),
):
    cases.add(kernel, 3, 32, lambda: (numbers(96), numbers(96), numbers(96), zeros(90)), f"{TWO} {words}")
cases.add(
    selected_behind_products,
    3,
    32,
    lambda: (numbers(90), numbers(90), numbers(90), 1.1, zeros(90)),
    f"{TWO} a factor; the other one is the same, or is not",
)
cases.add(
    selected_not_before_a_store,
    3,
    32,
    lambda: (numbers(90), numbers(90), zeros(90), zeros(90, "int32")),
    f"{TWO}, and one of them stores later",
)
cases.add(
    selected_indices,
    3,
    32,
    lambda: (numbers(90, "int32") % 50, numbers(90, "int32") % 60 + 5, numbers(96), zeros(90)),
    f"{TWO} an index",
)
cases.add(
    selected_in_a_loop, 3, 32, lambda: (numbers((90, 7)), numbers((90, 7)), zeros(90), 7), f"{TWO}, in a loop"
)
cases.add(selected_in_shared_memory, 2, 64, lambda: (numbers(128), zeros(128)), f"{TWO} from shared memory")
cases.add(
    selected_by_a_function,
    3,
    32,
    lambda: (numbers(90), numbers(90), zeros(90)),
    "two returns with an element each",
)
cases.add(
    tested_elements,
    3,
    32,
    lambda: (numbers(200), numbers(200), zeros(90)),
    "the test of a while loads what its body uses",
    data_dependent=True,
)
cases.add(
    tested_in_a_chain,
    3,
    32,
    lambda: (*chains(), numbers(200), zeros(90)),
    "chains of indices: the element of the test is the next index",
    data_dependent=True,
)
cases.add(
    tested_from_the_start_again,
    3,
    32,
    lambda: (few_letters(), zeros(90, "int32")),
    "the first test of an inner while loads the same element in each trip of the outer loop",
    data_dependent=True,
)
