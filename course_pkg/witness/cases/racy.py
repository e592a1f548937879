"""Kernels with a known mistake, each with a corrected copy: the sanitizer and the interpreter must tell the two apart.

The sanitizer's racecheck looks only at shared memory, so the mistakes are in shared memory or in a barrier.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

racy, fixed = Cases(), Cases()


def add_twins(wrong, right, grid, block, make_args, idea, hazard):
    """Add a racy kernel, and its corrected copy, whose name ends with ``_fixed``."""
    name = wrong.py_func.__name__
    racy.add(wrong, grid, block, make_args, idea, hazard=hazard)
    fixed.add(right, grid, block, make_args, f"fixed: {idea}", name=f"{name}_fixed")


@cuda.jit
def tree_without_barrier(a, out):
    tile = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@cuda.jit
def tree_with_barrier(a, out):
    tile = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


add_twins(
    tree_without_barrier,
    tree_with_barrier,
    2,
    128,
    lambda: (numbers(256), zeros(2)),
    "a reduction whose levels do not wait for each other",
    "race",
)


@cuda.jit
def tile_without_barrier(a, out):
    tile = cuda.shared.array((32, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    out[y, x] = tile[x, y]


@cuda.jit
def tile_with_barrier(a, out):
    tile = cuda.shared.array((32, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]


add_twins(
    tile_without_barrier,
    tile_with_barrier,
    1,
    (32, 32),
    lambda: (numbers((32, 32)), zeros((32, 32))),
    "a tile is read before all of it is written",
    "race",
)


@cuda.jit
def shift_in_place(a, out):
    row = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    row[t] = a[t]
    cuda.syncthreads()
    if t < 127:
        row[t] = row[t + 1]
    cuda.syncthreads()
    out[t] = row[t]


@cuda.jit
def shift_through_a_register(a, out):
    row = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    row[t] = a[t]
    cuda.syncthreads()
    neighbour = row[min(t + 1, 127)]
    cuda.syncthreads()
    row[t] = neighbour
    cuda.syncthreads()
    out[t] = row[t]


add_twins(
    shift_in_place,
    shift_through_a_register,
    1,
    128,
    lambda: (numbers(128), zeros(128)),
    "a neighbour's number is read while the neighbour replaces it",
    "race",
)


@cuda.jit
def one_counter(a, out):
    count = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if a[t] > 1.5:
        count[0] += 1
    cuda.syncthreads()
    if t == 0:
        out[0] = count[0]


@cuda.jit
def one_atomic_counter(a, out):
    count = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if a[t] > 1.5:
        cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if t == 0:
        out[0] = count[0]


add_twins(
    one_counter,
    one_atomic_counter,
    1,
    128,
    lambda: (numbers(128), zeros(1, "int32")),
    "all threads add to one counter without an atomic",
    "race",
)


@cuda.jit
def last_warp_without_sync(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if t < 32:
        half = 32
        while half > 0:
            if t < half:
                other = tile[t + half]
                tile[t] += other
            half //= 2
    if t == 0:
        out[0] = tile[0]


@cuda.jit
def last_warp_with_sync(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if t < 32:
        half = 32
        while half > 0:
            if t < half:
                other = tile[t + half]
                tile[t] += other
            cuda.syncwarp()
            half //= 2
    if t == 0:
        out[0] = tile[0]


add_twins(
    last_warp_without_sync,
    last_warp_with_sync,
    1,
    64,
    lambda: (numbers(64), zeros(1)),
    "the last warp's levels do not wait for each other: a warp is not in step by itself",
    "missing_syncwarp",
)


@cuda.jit
def barrier_for_some(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    if t < 40:
        cuda.syncthreads()
        out[t] = tile[63 - t]
    cuda.syncthreads()
    tile[t] = out[63 - t]


@cuda.jit
def barrier_for_all(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if t < 40:
        out[t] = tile[63 - t]
    cuda.syncthreads()
    tile[t] = out[63 - t]


add_twins(
    barrier_for_some,
    barrier_for_all,
    1,
    64,
    lambda: (numbers(64), zeros(64)),
    "a barrier that only some threads of a warp reach",
    "divergent_barrier",
)
