"""Blocks and warps: which 32 threads make one request, where rows are shorter than warps and blocks are ragged."""

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.device.launch import blocks_for

cases = Cases()


@cuda.jit
def copy_plane(a, out):
    i, j = cuda.grid(2)
    if j < out.shape[0] and i < out.shape[1]:
        out[j, i] = a[j, i]


for block in ((8, 8), (10, 10), (48, 2), (32, 4), (3, 50)):
    cases.add(
        copy_plane,
        blocks_for((70, 90), block),
        block,
        lambda: (numbers((70, 90)), zeros((70, 90))),
        f"a warp of a {block[0]}×{block[1]} block takes threads from several rows",
        name=f"copy_plane_{block[0]}x{block[1]}",
    )


@cuda.jit
def copy_box(a, out):
    i, j, k = cuda.grid(3)
    if k < out.shape[0] and j < out.shape[1] and i < out.shape[2]:
        out[k, j, i] = a[k, j, i]


for block in ((5, 4, 3), (4, 4, 4), (7, 3, 2)):
    cases.add(
        copy_box,
        blocks_for((13, 17, 19), block),
        block,
        lambda: (numbers((13, 17, 19)), zeros((13, 17, 19))),
        "a warp spans rows and planes, and the last one is not full",
        name="copy_box_" + "x".join(map(str, block)),
    )


@cuda.jit
def transposed_reads(a, out):
    i, j = cuda.grid(2)
    if j < out.shape[0] and i < out.shape[1]:
        out[j, i] = a[i, j]


cases.add(
    transposed_reads,
    blocks_for((60, 70), (32, 8)),
    (32, 8),
    lambda: (numbers((70, 60)), zeros((60, 70))),
    "columns are read: a sector a lane",
)


@cuda.jit
def columns_by_x(a, out):
    j, i = cuda.grid(2)
    if j < out.shape[0] and i < out.shape[1]:
        out[j, i] = a[j, i]


cases.add(
    columns_by_x,
    (3, 9),
    (32, 8),
    lambda: (numbers((70, 60)), zeros((70, 60))),
    "x walks down the columns, in loads and in stores",
)


@cuda.jit
def linear_thread_number(out):
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
    n = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
    out[b * n + t] = t + cuda.laneid


cases.add(
    linear_thread_number,
    (2, 3, 2),
    (6, 5, 4),
    lambda: (zeros(12 * 120, "int32"),),
    "threads are numbered x first, then y, then z; 120 of them make three warps and 24 lanes",
)


@cuda.jit
def every_other_block(a, out):
    i = cuda.grid(1)
    if cuda.blockIdx.x % 2 == 0:
        out[i] = a[i]


cases.add(every_other_block, 16, 64, lambda: (numbers(1024), zeros(1024)), "whole blocks have nothing to do")


@cuda.jit
def every_other_warp(a, out):
    i = cuda.grid(1)
    if (cuda.threadIdx.x // 32) % 2 == 1:
        out[i] = 2.0 * a[i]


cases.add(every_other_warp, 8, 128, lambda: (numbers(1024), zeros(1024)), "whole warps are off: no request")
