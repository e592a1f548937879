"""Arithmetic: which multiplications and additions become one instruction, and which operations take several or none."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N = 256


def three_in(dtype="float64"):
    """Return three vectors and a place for results."""
    return (*(numbers(N, dtype, seed) for seed in range(3)), zeros(N, dtype))


def add_both(kernel, idea, make=three_in, **options):
    """Add a kernel in both precisions."""
    for dtype in ("float64", "float32"):
        name = f"{kernel.py_func.__name__}_{dtype}"
        cases.add(kernel, 2, 128, lambda dtype=dtype: make(dtype), idea, name=name, **options)


@cuda.jit
def multiply_add(a, b, c, out):
    i = cuda.grid(1)
    out[i] = a[i] * b[i] + c[i]


add_both(multiply_add, "a product and a sum: one fma")


@cuda.jit
def multiply_subtract(a, b, c, out):
    i = cuda.grid(1)
    out[i] = c[i] - a[i] * b[i]


add_both(multiply_subtract, "a product taken off: one fma with a sign")


@cuda.jit
def two_products(a, b, c, out):
    i = cuda.grid(1)
    out[i] = a[i] * b[i] + b[i] * c[i]


add_both(two_products, "two products and one sum: a multiplication and an fma")


@cuda.jit
def sums_and_products(a, b, c, out):
    i = cuda.grid(1)
    out[i] = (a[i] + b[i]) * (b[i] - c[i]) * c[i]


add_both(sums_and_products, "nothing to fuse: two additions, two multiplications")


@cuda.jit
def product_used_twice(a, b, c, out):
    i = cuda.grid(1)
    p = a[i] * b[i]
    out[i] = (p + c[i]) * (p - c[i])


add_both(product_used_twice, "a product with two sums: computed twice by fma, or once")


def positive(dtype):
    """Return two vectors and a place for results."""
    return numbers(N, dtype), numbers(N, dtype, 1), zeros(N, dtype)


@cuda.jit
def polynomial(a, b, out):
    i = cuda.grid(1)
    x = a[i]
    y = b[i]
    for _ in range(5):
        y = y * x + b[i]
    out[i] = y


add_both(polynomial, "Horner's rule: five fma", positive)


@cuda.jit
def square_and_cube(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] ** 2 + b[i] ** 3


add_both(square_and_cube, "integer powers are products", positive)


@cuda.jit
def extremes(a, b, out):
    i = cuda.grid(1)
    out[i] = max(a[i], b[i]) - min(a[i], b[i]) + abs(a[i]) - (-b[i])


add_both(extremes, "max, min, abs and signs are no flops", positive)


@cuda.jit
def promoted(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] * 0.1 + b[i]


add_both(promoted, "a literal is fp64: fp32 operands are widened, and the flops are fp64", positive)


@cuda.jit
def explicit_fma(a, b, c, out):
    i = cuda.grid(1)
    out[i] = cuda.fma(a[i], b[i], c[i])


add_both(explicit_fma, "an fma by name")


@cuda.jit
def divergent_flops(a, b, out):
    i = cuda.grid(1)
    if i % 4 == 0:
        out[i] = a[i] * b[i]
    else:
        out[i] = a[i] + b[i]


add_both(divergent_flops, "only lanes at work count", positive)


@cuda.jit
def quotient(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] / b[i]


add_both(quotient, "a division is a reciprocal and several fma", positive)


@cuda.jit
def root(a, b, out):
    i = cuda.grid(1)
    out[i] = math.sqrt(a[i]) + b[i]


add_both(root, "a square root is a guess and several fma", positive)


@cuda.jit
def exponential_and_sine(a, b, out):
    i = cuda.grid(1)
    out[i] = math.exp(a[i]) + math.sin(b[i])


add_both(exponential_and_sine, "library functions are polynomials", positive)


@cuda.jit
def divided_by_constants(a, out):
    i = cuda.grid(1)
    out[i] = a[i] / 4.0 + a[i] / 3.0


cases.add(
    divided_by_constants,
    2,
    128,
    lambda: (numbers(N), zeros(N)),
    "a power of two divides by a product, three does not",
)


@cuda.jit
def integers(a, b, out):
    i = cuda.grid(1)
    out[i] = (a[i] * b[i] + 7) // 3 - (a[i] % 5) * np.int32(2)


cases.add(
    integers,
    2,
    128,
    lambda: (numbers(N, "int32"), numbers(N, "int32", 1), zeros(N, "int32")),
    "integer arithmetic is no flop",
)


@cuda.jit
def averaged(values, out):
    i = cuda.grid(1)
    out[i] = values[i] * 0.5 + i


cases.add(
    averaged,
    2,
    128,
    lambda: (numbers(N, "int32"), zeros(N)),
    "integers become fp64 before they meet a literal",
)
