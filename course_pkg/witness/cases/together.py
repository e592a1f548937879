"""Threads that work together: reductions, votes, shuffles, atomics."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import SEED, Cases, numbers, zeros

cases = Cases()
ALL_LANES = 0xFFFFFFFF


@cuda.jit
def tree_sum(a, out):
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


cases.add(
    tree_sum, 8, 128, lambda: (numbers(1024), zeros(8)), "a tree of sums: from 64 lanes at work down to one"
)


@cuda.jit
def interleaved_sum(a, out):
    tile = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    step = 1
    while step < 128:
        cuda.syncthreads()
        if t % (2 * step) == 0:
            tile[t] += tile[t + step]
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


cases.add(
    interleaved_sum,
    8,
    128,
    lambda: (numbers(1024, "float32"), zeros(8, "float32")),
    "the tree that one writes first: lanes at work are far apart",
)


@cuda.jit
def warp_sum(a, out):
    i = cuda.grid(1)
    total = a[i]
    for k in range(5):
        total += cuda.shfl_down_sync(ALL_LANES, total, 16 >> k)
    if cuda.laneid == 0:
        out[i // 32] = total


for dtype in ("float64", "float32"):
    cases.add(
        warp_sum,
        8,
        128,
        lambda dtype=dtype: (numbers(1024, dtype), zeros(32, dtype)),
        "a sum by shuffles: no shared memory, five additions a lane",
        name=f"warp_sum_{dtype}",
    )


@cuda.jit
def votes(a, out):
    i = cuda.grid(1)
    found = cuda.ballot_sync(ALL_LANES, a[i] > 1.5)
    if cuda.laneid == 0:
        out[i // 32] = cuda.popc(found)


cases.add(votes, 8, 128, lambda: (numbers(1024), zeros(32, "int32")), "a ballot: one store a warp")


@cuda.jit
def count_in_block(a, out):
    i = cuda.grid(1)
    found = cuda.syncthreads_count(1 if a[i] > 1.5 else 0)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = found


cases.add(count_in_block, 8, 96, lambda: (numbers(768), zeros(8, "int32")), "a barrier that counts")


@cuda.jit
def atomic_own_address(a, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, i, a[i])


@cuda.jit
def atomic_one_address(a, out):
    cuda.atomic.add(out, 0, a[cuda.grid(1)])


@cuda.jit
def atomic_few_addresses(values, out):
    cuda.atomic.add(out, values[cuda.grid(1)] % 10, 1)


@cuda.jit
def atomic_largest(a, out):
    cuda.atomic.max(out, cuda.blockIdx.x, a[cuda.grid(1)])


@cuda.jit
def atomic_ticket(values, out):
    i = cuda.grid(1)
    if values[i] > 50:
        out[cuda.atomic.add(out, 0, 1) + 1] = 1


cases.add(atomic_own_address, 8, 128, lambda: (numbers(1024), zeros(1024)), "atomics without a contest, fp64")
cases.add(
    atomic_own_address,
    8,
    128,
    lambda: (numbers(1024, "float32"), zeros(1024, "float32")),
    "atomics without a contest, fp32",
    name="atomic_own_address_float32",
)
cases.add(atomic_one_address, 4, 64, lambda: (numbers(256), zeros(1)), "all lanes add to one address")
cases.add(
    atomic_few_addresses,
    4,
    128,
    lambda: (numbers(512, "int32"), zeros(10, "int32")),
    "ten addresses, integers, no result used",
)
cases.add(
    atomic_largest,
    4,
    64,
    lambda: (numbers(256, "int32"), zeros(4, "int32")),
    "a maximum for each block, integers",
)
cases.add(
    atomic_ticket,
    2,
    64,
    lambda: (numbers(128, "int32"), zeros(200, "int32")),
    "the old value is used, so it must come back",
)


@cuda.jit
def neighbour_by_shuffle(a, out):
    i = cuda.grid(1)
    left = cuda.shfl_up_sync(ALL_LANES, a[i], 1)
    if cuda.laneid > 0:
        out[i] = a[i] - left


cases.add(
    neighbour_by_shuffle,
    8,
    128,
    lambda: (numbers(1024), zeros(1024)),
    "a neighbour's register in place of a load",
)


@cuda.jit
def rows_by_warps(indptr, data, out):
    row = cuda.grid(1) // 32
    lane = cuda.laneid
    total = 0.0
    for k in range(indptr[row] + lane, indptr[row + 1], 32):
        total += data[k]
    for k in range(5):
        total += cuda.shfl_down_sync(ALL_LANES, total, 16 >> k)
    if lane == 0:
        out[row] = total


def some_rows(rows=32, longest=100):
    """Return ``indptr, data, out`` of rows with 0 to ``longest`` numbers each."""
    lengths = np.random.default_rng(SEED).integers(0, longest + 1, rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype("int32")
    return indptr, numbers(int(indptr[-1])), zeros(rows)


cases.add(
    rows_by_warps, 8, 128, some_rows, "a sparse row a warp: lanes differ by one turn", data_dependent=True
)
