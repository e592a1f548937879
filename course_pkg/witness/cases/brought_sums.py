"""Kernels of the kinds that learners bring: sums and scans."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
BLOCK, TWICE = 128, 256


@cuda.jit
def brought_sum_of_block(x, sums):
    part = cuda.shared.array(BLOCK, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def brought_sum_by_strides(x, sums):
    """A sum in which the adding threads lie further apart in each step, as in NVIDIA's first version."""
    part = cuda.shared.array(BLOCK, np.int32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if t % (2 * step) == 0:
            part[t] += part[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        cuda.atomic.add(sums, 0, part[0])


@cuda.jit
def brought_sum_by_shuffles(x, total):
    i = cuda.grid(1)
    value = x[i] if i < x.size else 0.0
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, value)


@cuda.jit
def brought_dot(a, b, out):
    part = cuda.shared.array(BLOCK, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i] * b[i]
    part[t] = total
    cuda.syncthreads()
    step = BLOCK // 2
    while step != 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


cases.add(
    brought_sum_of_block,
    3,
    BLOCK,
    lambda: (numbers(300, "float32"), zeros(3, "float32")),
    "a sum by halves, with half a block of the data missing",
)
cases.add(
    brought_sum_by_strides,
    3,
    BLOCK,
    lambda: (numbers(384, "int32"), zeros(1, "int32")),
    "a sum in which ever fewer lanes of each warp add",
)
cases.add(
    brought_sum_by_shuffles,
    3,
    BLOCK,
    lambda: (numbers(300), zeros(1)),
    "a sum by shuffles in a while loop of known length",
)
cases.add(
    brought_dot,
    2,
    BLOCK,
    lambda: (numbers(1000), numbers(1000, seed=1), zeros(1)),
    "a scalar product: sums of threads, of the block, of the grid",
)


@cuda.jit
def brought_scan(x, out):
    """Add the number that lies 1, 2, 4, … places before, in two buffers in turn."""
    buffer = cuda.shared.array((2, BLOCK), np.float32)
    t = cuda.threadIdx.x
    now = 0
    buffer[now, t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if t >= step:
            buffer[1 - now, t] = buffer[now, t] + buffer[now, t - step]
        else:
            buffer[1 - now, t] = buffer[now, t]
        now = 1 - now
        cuda.syncthreads()
        step *= 2
    out[cuda.grid(1)] = buffer[now, t]


@cuda.jit
def brought_scan_of_a_tree(x, out):
    """An exclusive scan: sums up a tree and down again."""
    tree = cuda.shared.array(TWICE, np.int32)
    t = cuda.threadIdx.x
    tree[2 * t] = x[2 * t]
    tree[2 * t + 1] = x[2 * t + 1]
    offset = 1
    width = BLOCK
    while width > 0:
        cuda.syncthreads()
        if t < width:
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1]
        offset *= 2
        width //= 2
    if t == 0:
        tree[TWICE - 1] = 0
    width = 1
    while width < TWICE:
        offset //= 2
        cuda.syncthreads()
        if t < width:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            kept = tree[left]
            tree[left] = tree[right]
            tree[right] += kept
        width *= 2
    cuda.syncthreads()
    out[2 * t] = tree[2 * t]
    out[2 * t + 1] = tree[2 * t + 1]


@cuda.jit
def brought_scan_of_warp(x, out):
    i, lane = cuda.grid(1), cuda.threadIdx.x % 32
    value = x[i]
    for k in range(5):
        step = 1 << k
        other = cuda.shfl_up_sync(0xFFFFFFFF, value, step)
        if lane >= step:
            value += other
    out[i] = value


cases.add(
    brought_scan,
    2,
    BLOCK,
    lambda: (numbers(TWICE, "float32"), zeros(TWICE, "float32")),
    "a scan in two buffers of shared memory",
)
cases.add(
    brought_scan_of_a_tree,
    1,
    BLOCK,
    lambda: (numbers(TWICE, "int32"), zeros(TWICE, "int32")),
    "a scan by a tree: pairs of neighbours, bank conflicts",
)
cases.add(
    brought_scan_of_warp,
    2,
    64,
    lambda: (numbers(128), zeros(128)),
    "a scan by shuffles in an unrolled loop",
)
