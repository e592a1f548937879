"""More on shared and local memory: words that both halves of a warp read, idle halves, overwritten stores, views."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, Sliced, numbers, zeros
from course_pkg.witness.cases.global_memory import copy_elements

cases = Cases()


def in_and_out(n, dtype="float64"):
    """Return a function that makes a vector and a place for results."""
    return lambda: (numbers(n, dtype), zeros(n, dtype))


@cuda.jit
def both_halves_same_words(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[t % 16]


@cuda.jit
def both_halves_every_second_word(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[(t % 16) * 2]


@cuda.jit
def pairs_of_lanes_same_words(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[(t % 32) // 2]


@cuda.jit
def upper_half_at_work(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if t % 32 >= 16:
        out[t] = tile[t]


@cuda.jit
def upper_half_with_conflicts(a, out):
    tile = cuda.shared.array(256, np.float64)
    t = cuda.threadIdx.x
    for k in range(4):
        tile[t + 64 * k] = a[t]
    cuda.syncthreads()
    if t % 32 >= 16:
        out[t] = tile[4 * t]


@cuda.jit
def eight_lanes_at_work(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if t % 4 == 1:
        out[t] = tile[t]


@cuda.jit
def two_of_four_lanes_at_work(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    if t % 4 < 2:
        tile[t] = a[t]
    cuda.syncthreads()
    if t % 4 < 2:
        out[t] = tile[t]


@cuda.jit
def every_second_lane_stores(a, out):
    tile = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    if t % 2 == 0:
        tile[t // 2] = a[t]
    cuda.syncthreads()
    if t % 2 == 0:
        out[t] = tile[31 - t // 2]


@cuda.jit
def shared_stored_twice(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    x = a[t]
    tile[t] = x
    tile[t] = x * 2.5
    cuda.syncthreads()
    out[t] = tile[63 - t]


@cuda.jit
def shared_strided_store(a, out):
    tile = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    tile[2 * t] = a[t]
    tile[2 * t + 1] = 1.0
    cuda.syncthreads()
    out[t] = tile[127 - t]


HALVES = {
    both_halves_same_words: "fp64, the halves of a warp read the same 16 words",
    both_halves_every_second_word: "fp64, the halves read the same words, two of them on each bank pair",
    pairs_of_lanes_same_words: "fp64, 16 words for 32 lanes, neighbours on one word",
    upper_half_at_work: "fp64, only lanes 16 to 31",
    upper_half_with_conflicts: "fp64, only lanes 16 to 31, four on each bank pair",
    eight_lanes_at_work: "fp64, a quarter of the lanes, spread over the warp",
    two_of_four_lanes_at_work: "fp64, every second pair of neighbours, at a store and at a load",
    every_second_lane_stores: "fp64, every second lane, all on words of their own",
    shared_stored_twice: "two stores to one place of a tile and nothing between: one",
    shared_strided_store: "fp64, stores two elements apart: two on each bank pair",
}
for kernel, idea in HALVES.items():
    cases.add(kernel, 1, 64, in_and_out(64), idea)


@cuda.jit(device=True)
def halve(tile, t, n):
    while n > 1:
        n //= 2
        if t < n:
            tile[t] += tile[t + n]
        cuda.syncthreads()


@cuda.jit
def tree_by_a_device_function(a, out):
    tile = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    halve(tile, t, 128)
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


cases.add(
    tree_by_a_device_function,
    4,
    128,
    lambda: (numbers(512, "float32"), zeros(4, "float32")),
    "a tree of sums with its barriers in a device function",
)


@cuda.jit
def local_by_index_float32(a, index, out):
    i = cuda.grid(1)
    window = cuda.local.array(8, np.float32)
    for k in range(8):
        window[k] = a[k]
    out[i] = window[index[i]]


cases.add(
    local_by_index_float32,
    2,
    64,
    lambda: (numbers(8, "float32"), numbers(128, "int32") % 8, zeros(128, "float32")),
    "a local array of fp32 indexed by data: a sector holds one element of eight lanes",
)


for dtype, first in (("float64", 1), ("float64", 4), ("float32", 3), ("int8", 5)):
    cases.add(
        copy_elements,
        8,
        128,
        lambda dtype=dtype, first=first: (Sliced(numbers(1024, dtype), first), zeros(1024 - first, dtype)),
        f"a view that starts {first * np.dtype(dtype).itemsize} bytes into its allocation",
        name=f"copy_view_from_{first}_{dtype}",
    )
cases.add(
    copy_elements,
    8,
    128,
    lambda: (Sliced(numbers(1024), 3), Sliced(zeros(1023), 2)),
    "from a view 24 bytes into its allocation to one 16 bytes into its own",
    name="copy_view_to_view",
)
