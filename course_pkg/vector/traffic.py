"""Launches on vectors larger than any cache, to compare the bytes that move to and from GPU memory with the cost.

A stride leaves gaps between the elements that are read. Counters of L1 show how many sectors a request asks for. Only
the counters of memory, which are read for these launches, show how large the pieces are in which memory delivers. The
sizes are those of the timed vectors. For a sum, only the launch over the whole vector is counted, because the other
launches move less than a hundredth of its bytes. The results are not used, so memory is not initialised.
"""

import numpy as np

from course_pkg.device.case import Cases, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.vector import gpu_numba as vector
from course_pkg.vector.suite import DEGREES_GPU, EDGE, STRIDES

large = Cases()
N, N_STRIDED = 1 << 27, 1 << 24
SIDE = EDGE["gpu"]  # side of the square matrix that is summed by rows and by columns, and transposed
N_SUMMED = SIDE**2
THREADS = vector.THREADS_PER_BLOCK


def _stream(name, kernel, make, reads, per_thread=1):
    blocks = blocks_for(N // per_thread, THREADS)
    large.add_traffic(kernel, blocks, THREADS, make, N, reads, 1, f"vector_{name}_large")


_stream("copy", vector.copy_kernel, lambda: (Unwritten(N), Unwritten(N)), 1)
_stream("copy_two", vector.copy_two_kernel, lambda: (Unwritten(N), Unwritten(N)), 1, per_thread=2)
_stream("scale", vector.scale_kernel, lambda: (Unwritten(N), 3.0, Unwritten(N)), 1)
_stream("add", vector.add_kernel, lambda: (Unwritten(N), Unwritten(N), Unwritten(N)), 2)
_stream("triad", vector.triad_kernel, lambda: (Unwritten(N), Unwritten(N), 3.0, Unwritten(N)), 2)
for degree in DEGREES_GPU:
    _stream(
        f"horner_{degree}",
        vector.horner_kernel(degree),
        lambda: (Unwritten(N), np.float64(1), Unwritten(N)),
        1,
    )

for stride in STRIDES:
    large.add_traffic(
        vector.copy_strided_kernel,
        blocks_for(N_STRIDED, THREADS),
        THREADS,
        lambda stride=stride: (Unwritten(stride * N_STRIDED), stride, Unwritten(N_STRIDED)),
        N_STRIDED,
        1,
        1,
        f"vector_copy_strided_{stride}_large",
    )


def _sum(name, kernel, blocks, vectors, n):
    """Add the launch of a sum that reads ``vectors`` vectors of n elements and writes one number per block."""

    def make():
        return *(Unwritten(n) for _ in range(vectors)), Unwritten(blocks)

    large.add_traffic(kernel, blocks, THREADS, make, n, vectors, 0, f"vector_{name}_large")


_sum("dot", vector.dot_kernel, vector.DOT_BLOCKS, 2, N_SUMMED)
_sum("reduce_sum_tree", vector.reduce_sum_tree_kernel, blocks_for(N_SUMMED, THREADS), 1, N_SUMMED)
_sum("reduce_sum_shuffle", vector.reduce_sum_shuffle_kernel, blocks_for(N_SUMMED, THREADS), 1, N_SUMMED)
_sum("reduce_sum_grid_stride", vector.reduce_sum_grid_stride_kernel, vector.DOT_BLOCKS, 1, N_SUMMED)


def _square(name, kernel, blocks, threads):
    """Add a launch that reads a square array and writes another one."""

    def make():
        return Unwritten((SIDE, SIDE)), Unwritten((SIDE, SIDE))

    large.add_traffic(kernel, blocks, threads, make, SIDE**2, 1, 1, f"vector_{name}_large")


LINES, CHUNKED = vector.LINES_PER_BLOCK, vector.BLOCK_CHUNKED
for name, kernel in (
    ("cumsum_columns", vector.cumsum_columns_kernel),
    ("cumsum_rows_serial", vector.cumsum_rows_serial_kernel),
):
    _square(name, kernel, blocks_for(SIDE, LINES), LINES)
_square("cumsum_rows_chunked", vector.cumsum_rows_chunked_kernel, blocks_for(SIDE, CHUNKED[1]), CHUNKED)
TRANSPOSED, TILE = vector.BLOCK_TRANSPOSE, (vector.TILE, vector.TILE)
_square("transpose_naive", vector.transpose_naive_kernel, blocks_for((SIDE, SIDE), TRANSPOSED), TRANSPOSED)
for padding in (0, 1):
    kernel = vector.transpose_tiled_kernel(padding)
    _square(f"transpose_tiled_{padding}", kernel, blocks_for((SIDE, SIDE), TILE), TRANSPOSED)
