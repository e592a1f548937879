"""Arithmetic with constants: a compiler adds instead of doubling, and leaves out what changes nothing."""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N = 256


def two_in(dtype, size=N):
    """Return two vectors of ``size`` elements and a place for N results."""
    return numbers(size, dtype), numbers(size, dtype, 1), zeros(N, dtype)


@cache
def kernels(real):
    """Return kernels with constants of a precision, each with its idea."""
    two, one, none, quarter = real(2), real(1), real(0), real(0.25)

    @cuda.jit
    def doubled_plus(a, b, out):
        i = cuda.grid(1)
        out[i] = two * a[i] + b[i]

    @cuda.jit
    def minus_doubled(a, b, out):
        i = cuda.grid(1)
        out[i] = b[i] - two * a[i]

    @cuda.jit
    def second_difference(a, b, out):
        i = cuda.grid(1)
        out[i] = a[i] - two * a[i + 1] + a[i + 2]

    @cuda.jit
    def second_difference_by_weight(a, b, out):
        i = cuda.grid(1)
        out[i] = (a[i] - two * a[i + 1] + a[i + 2]) * quarter + b[i]

    @cuda.jit
    def minus_one_times(a, b, out):
        i = cuda.grid(1)
        out[i] = -one * a[i] + b[i]

    @cuda.jit
    def doubled_sum(a, b, out):
        i = cuda.grid(1)
        out[i] = (a[i] + b[i]) * two

    @cuda.jit
    def nothing_and_one(a, b, out):
        i = cuda.grid(1)
        out[i] = none * a[i] + one * b[i] + none

    @cuda.jit
    def mean_and_product(a, b, out):
        i = cuda.grid(1)
        out[i] = (a[i] + b[i]) * quarter + a[i] * b[i]

    @cuda.jit
    def products_taken_off(a, b, out):
        i = cuda.grid(1)
        out[i] = a[i] * b[i] - a[i + 1] * b[i + 1] - a[i + 2] * b[i + 2]

    return {
        doubled_plus: "twice one vector plus another: one fma",
        minus_doubled: "twice a vector taken off: doubled by an addition, or an fma",
        second_difference: "1, -2, 1: three loads; the doubling is an addition, or a part of an fma",
        second_difference_by_weight: "the same, weighted and added to another vector",
        minus_one_times: "a factor of -1 is a sign",
        doubled_sum: "a sum doubled: two additions",
        nothing_and_one: "0·a is not left out (a may be infinite), 1·b is, and + 0 is not (b may be -0)",
        mean_and_product: "two products in one sum: which of them is fused",
        products_taken_off: "three products: the first is a multiplication, two are fused",
    }


for real in (np.float64, np.float32):
    dtype = np.dtype(real).name
    for kernel, idea in kernels(real).items():
        cases.add(
            kernel,
            2,
            128,
            lambda dtype=dtype: two_in(dtype, N + 2),
            idea,
            name=f"{kernel.py_func.__name__}_{dtype}",
        )


@cuda.jit
def scattered_by_hash(a, out):
    i = np.uint32(cuda.grid(1))
    j = (i * np.uint32(2654435761)) >> np.uint32(7)
    out[i] = a[j % np.uint32(1024)]


cases.add(
    scattered_by_hash,
    8,
    128,
    lambda: (numbers(1024), zeros(1024)),
    "unsigned index arithmetic: which 32 bits are kept decides the sectors",
)


@cuda.jit
def unsigned_neighbours(a, out):
    i = np.uint32(cuda.grid(1))
    out[i] = a[i + np.uint32(1)] - a[i]


cases.add(
    unsigned_neighbours,
    8,
    128,
    lambda: (numbers(1025, "float32"), zeros(1024, "float32")),
    "two neighbours by unsigned indices: which of two loads are one",
)
