"""Literals in kernels of single precision: Numba computes in double precision, LLVM often in single precision."""

# ruff: noqa: SIM108 — a branch that sets a name and a conditional expression are two subjects

import math

from numba import float32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N = 256


@cuda.jit
def twice_rounded(a, out):
    i = cuda.grid(1)
    out[i] = 2 * a[i]


@cuda.jit
def two_operations_rounded(a, out):
    i = cuda.grid(1)
    out[i] = 3 * a[i] - 1


@cuda.jit
def tenth_rounded(a, out):
    i = cuda.grid(1)
    out[i] = 0.1 * a[i]


@cuda.jit
def third_rounded(a, out):
    i = cuda.grid(1)
    out[i] = a[i] / 3


@cuda.jit
def rounded_in_place(a, out):
    i = cuda.grid(1)
    a[i] *= 3
    out[i] -= 1


@cuda.jit
def rounded_by_a_cast(a, out):
    i = cuda.grid(1)
    out[i] = float32(a[i] * 3) + a[i ^ 1]


@cuda.jit
def half_of_a_difference(a, out):
    i = cuda.grid(1)
    out[i] = (a[i] - a[i ^ 1]) / 2


@cuda.jit
def rounded_twice(a, out, more):
    i = cuda.grid(1)
    x = 3 * a[i]
    out[i] = x
    if i > 70:
        more[i] = float32(x) * a[i]


@cuda.jit
def rounded_behind_a_branch(a, out):
    i = cuda.grid(1)
    if a[i] > 1.5:
        x = 3 * a[i]
    else:
        x = 5 * a[i]
    out[i] = x


@cuda.jit
def negative_rounded(a, out):
    i = cuda.grid(1)
    out[i] = -(3 * a[i])


@cuda.jit
def rounded_and_used(a, out):
    i = cuda.grid(1)
    x = 3 * a[i]
    out[i] = x
    a[i] = 0.1 * x


@cuda.jit
def sum_of_halves(a, out):
    i = cuda.grid(1)
    out[i] = 0.5 * a[i] + 0.5 * a[i ^ 1]


@cuda.jit
def root_of_twice(a, out):
    i = cuda.grid(1)
    out[i] = math.sqrt(2 * a[i])


@cuda.jit
def rounded_in_a_loop(a, b, out, steps):
    i = cuda.grid(1)
    x = a[i]
    for k in range(steps):
        x = float32(2 * x) - b[(i + k) % 256]
        out[i] += 1
    a[i] = x


def one_in():
    """Return a vector in single precision and a place for results."""
    return numbers(N, "float32"), zeros(N, "float32")


for kernel, idea in (
    (twice_rounded, "2 x, stored as a float32: one addition in single precision"),
    (two_operations_rounded, "only the last of two operations is rounded: both stay in double precision"),
    (tenth_rounded, "0.1 is no number of single precision: the product stays in double precision"),
    (third_rounded, "a quotient of single precision, although Numba divides in double precision"),
    (rounded_in_place, "`*=` and `-=` with integers"),
    (rounded_by_a_cast, "a product that a cast rounds, fused with a sum"),
    (half_of_a_difference, "half of a difference: a difference and a product in single precision"),
    (rounded_behind_a_branch, "rounded only behind a branch: double precision"),
    (negative_rounded, "the negative of a product that is rounded"),
    (rounded_and_used, "a result that double precision needs as well"),
    (sum_of_halves, "products that a sum in double precision needs"),
    (root_of_twice, "a root in double precision"),
):
    cases.add(kernel, 2, 128, one_in, idea)
cases.add(
    rounded_twice, 2, 128, lambda: (*one_in(), zeros(N, "float32")), "a result that is rounded in two places"
)
cases.add(
    rounded_in_a_loop,
    2,
    128,
    lambda: (numbers(N, "float32"), *one_in(), 6),
    "results that each trip rounds",
)
