"""Global memory: how the addresses of a warp's 32 lanes fall on sectors."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import SEED, Cases, numbers, zeros
from course_pkg.device.launch import blocks_for

cases = Cases()
N = 4096


@cuda.jit
def copy_elements(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


for dtype in ("float64", "float32", "int8", "int16", "int32", "complex128"):
    cases.add(
        copy_elements,
        blocks_for(N - 10, 128),
        128,
        lambda dtype=dtype: (numbers(N - 10, dtype), zeros(N - 10, dtype)),
        f"neighbours on neighbours, {np.dtype(dtype).itemsize} bytes each; the last warp is ragged",
        name=f"copy_{dtype}",
    )
cases.add(
    copy_elements,
    blocks_for(N, 50),
    50,
    lambda: (numbers(N), zeros(N)),
    "blocks of 50 threads: every second warp has 18 lanes, and no block starts on a sector",
    name="copy_block_of_50",
)
cases.add(
    copy_elements,
    blocks_for(N, 1),
    1,
    lambda: (numbers(N), zeros(N)),
    "one thread a block: a request for each element",
    name="copy_block_of_1",
)


@cuda.jit
def strided(a, stride, out):
    i = cuda.grid(1)
    out[i] = a[i * stride]


for stride in (2, 8, 32):
    cases.add(
        strided,
        8,
        128,
        lambda stride=stride: (numbers(1024 * stride), stride, zeros(1024)),
        f"loads {stride} elements apart: {min(32, 8 * stride)} sectors per request in fp64",
        name=f"strided_by_{stride}",
    )
cases.add(
    strided,
    8,
    128,
    lambda: (numbers(3072, "float32"), 3, zeros(1024, "float32")),
    "a stride of 12 bytes: sectors shared by lanes unevenly",
    name="strided_by_3_float32",
)


@cuda.jit
def shifted_load(a, shift, out):
    i = cuda.grid(1)
    out[i] = a[i + shift]


@cuda.jit
def shifted_store(a, shift, out):
    i = cuda.grid(1)
    out[i + shift] = a[i]


for dtype in ("float64", "float32"):
    cases.add(
        shifted_load,
        8,
        128,
        lambda dtype=dtype: (numbers(1025, dtype), 1, zeros(1024, dtype)),
        "loads one element off: one sector more a request",
        name=f"shifted_load_{dtype}",
    )
    cases.add(
        shifted_store,
        8,
        128,
        lambda dtype=dtype: (numbers(1024, dtype), 1, zeros(1025, dtype)),
        "stores one element off",
        name=f"shifted_store_{dtype}",
    )


@cuda.jit
def one_for_all(a, out):
    i = cuda.grid(1)
    out[i] = a[5]


cases.add(one_for_all, 8, 128, lambda: (numbers(16), zeros(1024)), "32 lanes on one element: one sector")


@cuda.jit
def one_for_four(a, out):
    i = cuda.grid(1)
    out[i] = a[i // 4]


cases.add(one_for_four, 8, 128, lambda: (numbers(256), zeros(1024)), "four lanes on each element")


@cuda.jit
def backwards(a, out):
    i = cuda.grid(1)
    out[i] = a[a.size - 1 - i]


cases.add(backwards, 8, 128, lambda: (numbers(1024), zeros(1024)), "reversed: as many sectors as in order")


@cuda.jit
def gather(a, index, out):
    i = cuda.grid(1)
    out[i] = a[index[i]]


@cuda.jit
def scatter(a, index, out):
    i = cuda.grid(1)
    out[index[i]] = a[i]


def permutation(n):
    """Return the numbers from 0 to n - 1 in a random order, the same at every call."""
    return np.random.default_rng(SEED).permutation(n)


cases.add(
    gather,
    8,
    128,
    lambda: (numbers(1024), permutation(1024), zeros(1024)),
    "loads through a permutation: nearly a sector a lane",
)
cases.add(
    gather,
    8,
    128,
    lambda: (numbers(1024, "float32"), permutation(1024).astype("int32"), zeros(1024, "float32")),
    "the same with 32-bit elements and indices",
    name="gather_float32",
)
cases.add(
    scatter,
    8,
    128,
    lambda: (numbers(1024), permutation(1024), zeros(1024)),
    "stores through a permutation",
)


@cuda.jit
def last_element(a, out):
    i = cuda.grid(1)
    out[i] = a[a.size - 1] + a[i]


cases.add(
    last_element,
    4,
    96,
    lambda: (numbers(384), zeros(384)),
    "all lanes on the last element, and each on its own",
)


@cuda.jit
def pairs(a, out):
    i = cuda.grid(1)
    out[i] = a[i, 0] + a[i, 1]


cases.add(
    pairs,
    8,
    128,
    lambda: (numbers((1024, 2)), zeros(1024)),
    "two doubles a lane, side by side: two requests, every sector twice",
)


@cuda.jit
def complex_product(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] * b[i]


cases.add(
    complex_product,
    4,
    128,
    lambda: (numbers(512, "complex128"), numbers(512, "complex128", 1), zeros(512, "complex128")),
    "a complex number is two doubles: four loads, two stores, products and sums",
)
