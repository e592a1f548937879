"""Loads around branches: which loads move into the branch that uses them, and which move out of both branches."""

# ruff: noqa: SIM102, SIM108 — these branches are the subject: a conditional expression is another kernel

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N = 1024


def two_in(dtype="float64"):
    """Return two vectors and a place for results."""
    return numbers(N, dtype), numbers(N, dtype, 1), zeros(N, dtype)


def three_in():
    """Return three vectors and a place for results."""
    return *(numbers(N, seed=s) for s in range(3)), zeros(N)


def two_in_two_out():
    """Return two vectors and two places for results."""
    return *two_in(), zeros(N)


@cuda.jit
def used_in_one_branch(a, b, out):
    i = cuda.grid(1)
    y = b[i]
    if a[i] > 1.5:
        out[i] = y * y


cases.add(used_in_one_branch, 8, 128, two_in, "loaded before a branch, used in it alone")


@cuda.jit
def both_used_in_one_branch(a, b, out):
    i = cuda.grid(1)
    x = a[i]
    y = b[i]
    if i % 3 == 0:
        out[i] = x * y


cases.add(
    both_used_in_one_branch, 8, 128, two_in, "two loads and their product, used by a third of the lanes"
)


@cuda.jit
def used_in_two_branches(a, b, out, more):
    i = cuda.grid(1)
    x = a[i]
    y = b[i]
    if x > 1.5:
        out[i] = y * y
    if x < 1.25:
        more[i] = y


cases.add(used_in_two_branches, 8, 128, two_in_two_out, "loaded before two branches, used in both")


@cuda.jit
def used_in_a_nested_branch(a, b, out):
    i = cuda.grid(1)
    y = b[i]
    if i > 100:
        if a[i] > 1.5:
            out[i] = y * y


cases.add(used_in_a_nested_branch, 8, 128, two_in, "loaded outside, used in the inner of two branches")


@cuda.jit
def product_used_in_one_branch(a, b, out, more):
    i = cuda.grid(1)
    x = a[i]
    p = x * b[i]
    more[i] = x
    if i % 5 == 0:
        out[i] = p + 1.0


cases.add(
    product_used_in_one_branch,
    8,
    128,
    two_in_two_out,
    "a product before a branch and a store: its load stays, the product may move and be fused",
)


@cuda.jit
def used_on_both_sides(a, b, out):
    i = cuda.grid(1)
    x = a[i]
    y = b[i]
    if x > 1.5:
        v = x * y
    else:
        v = x + y
    out[i] = v


cases.add(used_on_both_sides, 8, 128, two_in, "loaded before a branch, used on both its sides")


@cuda.jit
def same_loads_compared_index(a, b, out):
    i = cuda.grid(1)
    if i > 5:
        v = a[i] * b[i]
    else:
        v = a[i] + b[i] + 1.0
    out[i] = v


cases.add(
    same_loads_compared_index,
    8,
    128,
    two_in,
    "both sides load the same, but each knows other bounds of the index: not merged",
)


@cuda.jit
def same_loads_by_parity(a, b, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        v = a[i] * b[i]
    else:
        v = a[i] + b[i] + 1.0
    out[i] = v


cases.add(same_loads_by_parity, 8, 128, two_in, "both sides load the same two elements: merged")


@cuda.jit
def same_load_later_on_one_side(a, b, c, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        v = c[i] * 2.5 + a[i]
    else:
        v = a[i] * b[i]
    out[i] = v


cases.add(
    same_load_later_on_one_side,
    8,
    128,
    three_in,
    "both sides load one element, but one does something else first",
)


@cuda.jit
def same_first_load(a, b, c, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        v = a[i] * b[i]
    else:
        v = a[i] * c[i]
    out[i] = v


cases.add(same_first_load, 8, 128, three_in, "both sides load one element first, and another after it")


@cuda.jit
def stored_on_both_sides(a, b, out, more):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = a[i] * 3.0
    else:
        out[i] = b[i] + 1.0
    more[i] = 1.0


cases.add(
    stored_on_both_sides,
    8,
    128,
    two_in_two_out,
    "both sides store to one place, and more follows: one store or two",
)


@cuda.jit
def stored_before_and_in_a_branch(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i]
    if i % 3 == 0:
        out[i] = b[i]


cases.add(stored_before_and_in_a_branch, 8, 128, two_in, "a store that a third of the lanes repeat")


@cuda.jit
def stored_in_two_branches(a, b, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = a[i]
    if i % 3 == 0:
        out[i] = b[i]


cases.add(stored_in_two_branches, 8, 128, two_in, "two branches after each other store to one place")


@cuda.jit
def stored_around_a_load(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i]
    y = b[i]
    out[i] = y * y


cases.add(
    stored_around_a_load,
    8,
    128,
    two_in,
    "a load between two stores to one place might see the first: both stay",
)


@cuda.jit
def stored_twice(a, b, out):
    i = cuda.grid(1)
    x = a[i]
    y = b[i]
    out[i] = x
    out[i] = x * y


cases.add(stored_twice, 8, 128, two_in, "two stores to one place and nothing between: one")


@cuda.jit
def divided_branches(a, b, out):
    i = cuda.grid(1)
    v = a[i]
    if i % 4 == 0:
        v = (v * b[i] + 3.0) * (v + 1.0)
    out[i] = v


cases.add(divided_branches, 8, 128, two_in, "a quarter of the lanes does more, then all store")
