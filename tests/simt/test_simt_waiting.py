"""What a branch in a loop computes instead of the lanes around it, and which parts of a condition have a branch."""

import math

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.simt import api as cuda

N, TRIPS = 32, 3


@cuda.jit
def used_in_a_branch(a, b, out):
    i = cuda.grid(1)
    total = 0.0
    for j in range(b.size):
        x = a[i]
        h = x - b[j]
        if x > 1.5:
            total += math.sqrt(h)
    out[i] = total


@cuda.jit
def used_behind_continue(a, b, out):
    i = cuda.grid(1)
    total = 0.0
    for j in range(b.size):
        x = a[i]
        h = x - b[j] - 7.0
        if x <= 1.5:
            continue
        total += math.sqrt(-h)
    out[i] = total


@cuda.jit
def used_in_a_later_branch(a, b, out):
    i = cuda.grid(1)
    total = 0.0
    for j in range(b.size):
        x = a[i]
        h = x - b[j] - 7.0
        if x > 1.2:
            total += math.sqrt(x) / 3
        if x > 1.5:
            total += math.sqrt(-h)
    out[i] = total


@cuda.jit
def used_by_the_condition_too(a, b, out):
    i = cuda.grid(1)
    total = 0.0
    for j in range(b.size):
        y = a[i + j]
        h = b[j] * y
        if y > 1.5:
            total += math.sqrt(h)
    out[i] = total


@cuda.jit
def used_everywhere(a, b, out):
    i = cuda.grid(1)
    total = 0.0
    for j in range(b.size):
        x = a[i]
        h = x - b[j]
        if x > 1.5:
            total += math.sqrt(h)
        total += h
    out[i] = total


@pytest.mark.parametrize(
    ("kernel", "requests"),
    [
        (used_in_a_branch, 2 + TRIPS),
        (used_behind_continue, 2 + TRIPS),
        (used_in_a_later_branch, 2 + 2 * TRIPS),
        (used_by_the_condition_too, 4 * TRIPS),
        (used_everywhere, 2 + 2 * TRIPS),
    ],
)
def test_a_branch_loads_what_it_alone_uses(kernel, requests):
    a = np.repeat([1.25, 1.75, 1.25], N)  # the second warp alone takes the branch
    counts = simt.profile(kernel[1, 2 * N], a, np.arange(TRIPS) / 8, np.zeros(2 * N))
    assert counts.global_load.requests == requests
    assert not counts.hazards


def joined(test: str, dtype):
    """Return the multiplications and requests of a kernel that stores where a condition holds.

    Three quarters of the lanes pass ``w > 0``, half of them ``h > 0``, in a warp of its own for each quarter.
    """
    kernel = CONDITIONS[test]
    w = np.where(np.arange(4 * N) < 3 * N, 1, -1).astype(dtype)
    h = np.where(np.arange(4 * N) < 2 * N, 1, -1).astype(dtype)
    counts = simt.profile(kernel[1, 4 * N], w, h, dtype(0.5), np.zeros(4 * N, "int32"))
    return counts.flops.instructions(np.dtype(dtype).name, "mul") // N, counts.global_load.requests


@cuda.jit
def two_signs_and_a_product(w, h, limit, out):
    i = cuda.grid(1)
    x = w[i]
    y = h[i]
    if x > 0 and y > 0 and x * y > limit:
        out[i] = 1


@cuda.jit
def a_sign_and_a_product(w, h, limit, out):
    i = cuda.grid(1)
    x = w[i]
    y = h[i]
    if x > 0 and x * y > limit:
        out[i] = 1


@cuda.jit
def a_sign_and_two_products(w, h, limit, out):
    i = cuda.grid(1)
    x = w[i]
    y = h[i]
    if x > 0 and x * y * y > limit:
        out[i] = 1


@cuda.jit
def two_limits_and_a_product(w, h, limit, out):
    i = cuda.grid(1)
    x = w[i]
    y = h[i]
    if x > limit and y > limit and x * y > limit:
        out[i] = 1


CONDITIONS = {
    one.py_func.__name__: one
    for one in (
        two_signs_and_a_product,
        a_sign_and_a_product,
        a_sign_and_two_products,
        two_limits_and_a_product,
    )
}


@pytest.mark.parametrize(
    ("test", "dtype", "products", "requests"),
    [
        ("two_signs_and_a_product", np.float32, 3, 7),  # behind `x > 0`: three warps of four
        ("two_signs_and_a_product", np.float64, 4, 8),  # no conversion of y: one branch for all
        ("a_sign_and_a_product", np.float32, 4, 8),
        ("a_sign_and_two_products", np.float64, 6, 7),
        ("two_limits_and_a_product", np.float32, 4, 8),
    ],
)
def test_a_part_of_a_condition_with_one_operation_has_no_branch(test, dtype, products, requests):
    assert joined(test, dtype) == (products, requests)
