"""Streams (``streams``), sums (``sums``), cumulative sums (``scans``), transposes and chains of loads as CUDA kernels.

The variants, each with its idea, are listed in ``course_pkg/vector/variants.py``. The docstring of each kernel says
what differs from the kernel before it, and why.

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in GPU memory. If an argument does not fit, a function raises ``CourseError`` before anything is written. A
launch does not synchronise.
"""

from course_pkg.vector.gpu_numba.chases import (
    SHARED_LINKS,
    chase,
    chase_kernel,
    chase_shared,
    chase_shared_kernel,
)
from course_pkg.vector.gpu_numba.scans import (
    BLOCK_CHUNKED,
    LINES_PER_BLOCK,
    cumsum_columns,
    cumsum_columns_kernel,
    cumsum_rows_chunked,
    cumsum_rows_chunked_kernel,
    cumsum_rows_serial,
    cumsum_rows_serial_kernel,
    warp_cumsum,
)
from course_pkg.vector.gpu_numba.streams import (
    add,
    add_kernel,
    copy,
    copy_kernel,
    copy_strided,
    copy_strided_kernel,
    copy_two,
    copy_two_kernel,
    horner,
    horner_kernel,
    scale,
    scale_kernel,
    triad,
    triad_kernel,
)
from course_pkg.vector.gpu_numba.sums import (
    DOT_BLOCKS,
    block_sum,
    dot,
    dot_kernel,
    partial_sums,
    reduce_sum_grid_stride,
    reduce_sum_grid_stride_kernel,
    reduce_sum_shuffle,
    reduce_sum_shuffle_kernel,
    reduce_sum_tree,
    reduce_sum_tree_kernel,
    sum_kernel,
)
from course_pkg.vector.gpu_numba.transposes import (
    BLOCK_TRANSPOSE,
    TILE,
    transpose_naive,
    transpose_naive_kernel,
    transpose_tiled,
    transpose_tiled_kernel,
)
from course_pkg.vector.tuning import THREADS_PER_BLOCK

__all__ = [
    "BLOCK_CHUNKED",
    "BLOCK_TRANSPOSE",
    "DOT_BLOCKS",
    "LINES_PER_BLOCK",
    "SHARED_LINKS",
    "THREADS_PER_BLOCK",
    "TILE",
    "add",
    "add_kernel",
    "block_sum",
    "chase",
    "chase_kernel",
    "chase_shared",
    "chase_shared_kernel",
    "copy",
    "copy_kernel",
    "copy_strided",
    "copy_strided_kernel",
    "copy_two",
    "copy_two_kernel",
    "cumsum_columns",
    "cumsum_columns_kernel",
    "cumsum_rows_chunked",
    "cumsum_rows_chunked_kernel",
    "cumsum_rows_serial",
    "cumsum_rows_serial_kernel",
    "dot",
    "dot_kernel",
    "horner",
    "horner_kernel",
    "partial_sums",
    "reduce_sum_grid_stride",
    "reduce_sum_grid_stride_kernel",
    "reduce_sum_shuffle",
    "reduce_sum_shuffle_kernel",
    "reduce_sum_tree",
    "reduce_sum_tree_kernel",
    "scale",
    "scale_kernel",
    "sum_kernel",
    "transpose_naive",
    "transpose_naive_kernel",
    "transpose_tiled",
    "transpose_tiled_kernel",
    "triad",
    "triad_kernel",
    "warp_cumsum",
]
