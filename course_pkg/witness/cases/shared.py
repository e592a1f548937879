"""Shared memory: how the addresses of a warp fall on 32 banks of 4 bytes."""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()


@cache
def transpose_kernel(width, dtype):
    """Return the kernel that transposes 32×32 tiles through shared rows of ``width`` elements."""

    @cuda.jit
    def transpose_tile(a, out):
        tile = cuda.shared.array((32, width), dtype)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        i, j = 32 * cuda.blockIdx.x + x, 32 * cuda.blockIdx.y + y
        tile[y, x] = a[j, i]
        cuda.syncthreads()
        out[32 * cuda.blockIdx.x + y, 32 * cuda.blockIdx.y + x] = tile[x, y]

    return transpose_tile


for dtype in (np.float64, np.float32):
    for width, padding in ((32, "unpadded"), (33, "padded")):
        cases.add(
            transpose_kernel(width, dtype),
            (2, 3),
            (32, 32),
            lambda dtype=dtype: (numbers((96, 64), dtype), zeros((64, 96), dtype)),
            f"{padding} tile read by columns, {np.dtype(dtype).itemsize} bytes per element",
            name=f"transpose_{padding}_{np.dtype(dtype).name}",
        )


@cache
def stage_kernel(dtype, stride, size):
    """Return a kernel that writes a shared vector in order and reads it with a stride, around its end."""

    @cuda.jit
    def read_with_stride(a, out):
        tile = cuda.shared.array(size, dtype)
        t = cuda.threadIdx.x
        for k in range(t, size, cuda.blockDim.x):
            tile[k] = a[k]
        cuda.syncthreads()
        out[t] = tile[(t * stride) % size]

    return read_with_stride


STRIDES = (
    (np.float32, 1, "no conflict"),
    (np.float32, 2, "two lanes a bank"),
    (np.float32, 3, "odd strides have no conflict"),
    (np.float32, 32, "all lanes on one bank"),
    (np.float64, 1, "two wavefronts for 256 bytes"),
    (np.float64, 2, "half the bank pairs idle"),
    (np.int8, 1, "four lanes in one bank's word"),
    (np.int16, 2, "one lane a word"),
)
for dtype, stride, idea in STRIDES:
    name = np.dtype(dtype).name
    cases.add(
        stage_kernel(dtype, stride, 2048),
        1,
        128,
        lambda name=name: (numbers(2048, name), zeros(128, name)),
        f"shared {name}, stride {stride}: {idea}",
        name=f"shared_stride_{stride}_{name}",
    )


@cuda.jit
def shared_broadcast(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[t // 32] + tile[63 - t // 8]


cases.add(
    shared_broadcast, 1, 64, lambda: (numbers(64), zeros(64)), "one word for all lanes, and four words for 32"
)


@cuda.jit
def shared_some_lanes(a, out):
    tile = cuda.shared.array((32, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    if x % 3 == 0:
        out[y, x] = tile[x, y]


cases.add(
    shared_some_lanes,
    1,
    (32, 32),
    lambda: (numbers((32, 32)), zeros((32, 32))),
    "a column read by a third of the lanes: fewer conflicts",
)


@cuda.jit
def shared_square_block(a, out):
    tile = cuda.shared.array((16, 16), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]


cases.add(
    shared_square_block,
    1,
    (16, 16),
    lambda: (numbers((16, 16)), zeros((16, 16))),
    "a warp is two rows of 16: which halves of the warp go together",
)


@cuda.jit
def shared_atomics(values, out):
    bins = cuda.shared.array(16, np.int32)
    t = cuda.threadIdx.x
    if t < 16:
        bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, values[cuda.grid(1)] % 16, 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, bins[t])


cases.add(
    shared_atomics,
    4,
    128,
    lambda: (numbers(512, "int32"), zeros(16, "int32")),
    "a histogram: shared atomics, then global ones",
)


@cuda.jit
def dynamic_tile(a, out):
    tile = cuda.shared.array(0, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[cuda.blockDim.x - 1 - t]


cases.add(
    dynamic_tile,
    4,
    96,
    lambda: (numbers(384), zeros(384)),
    "shared memory sized at the launch",
    shared_bytes=96 * 8,
)
