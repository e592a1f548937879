"""The variants of this topic: each once, with its idea, its cost, and who has a function of it."""

from functools import partial

from course_pkg.core import Library, Variants, variant_of
from course_pkg.vector import cost
from course_pkg.vector.tuning import THREADS_PER_BLOCK

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
EVERYWHERE = (CPU, NUMPY, CUDA, CUPY)
in_blocks = partial(cost.reduce_sum_tree, threads_per_block=THREADS_PER_BLOCK)

_variant = variant_of("vector")
VARIANTS = Variants(
    _variant("copy", "", "one element a thread or a core's share of them", cost.copy, EVERYWHERE),
    _variant("copy", "two", "two elements a thread, a block apart: more bytes on their way", cost.copy),
    _variant("copy_strided", "", "elements that lie a stride apart are read", cost.copy_strided, EVERYWHERE),
    _variant("scale", "", "one input, one output", cost.scale, EVERYWHERE),
    _variant("add", "", "two inputs, one output", cost.add, EVERYWHERE),
    _variant(
        "triad",
        "",
        "an addition and a multiplication on the way; two passes by array statements",
        cost.triad,
        (CPU, NUMPY, Library.C, CUDA, CUPY),
        arrays=cost.triad_two_passes,
    ),
    _variant("triad", "fused", "one element-wise kernel from an expression", cost.triad, (CUPY,)),
    _variant(
        "dot",
        "",
        "a share in a register, then a tree in shared memory",
        cost.dot,
        EVERYWHERE,
        kernels=("dot_kernel", "sum_kernel"),
    ),
    _variant(
        "horner",
        "",
        "any amount of arithmetic on the traffic of a copy; a kernel is compiled for each degree",
        cost.horner,
        EVERYWHERE,
        kernels=(("horner_kernel", 1),),
    ),
    _variant(
        "reduce_sum", "", "a sum for each core; or CuPy's reduction", cost.reduce_sum, (CPU, NUMPY, CUPY)
    ),
    _variant(
        "reduce_sum", "tree", "one element a thread, a tree in shared memory; again over the sums", in_blocks
    ),
    _variant("reduce_sum", "shuffle", "the same, warps sum by shuffles", in_blocks),
    _variant(
        "reduce_sum",
        "grid_stride",
        "few blocks: a share in a register before any thread waits",
        cost.reduce_sum,
    ),
    _variant("cumsum_columns", "", "a thread a column: neighbours in a row", cost.cumsum_columns, EVERYWHERE),
    _variant("cumsum_rows", "", "row by row", cost.cumsum_rows, (CPU, NUMPY, CUPY)),
    _variant("cumsum_rows", "serial", "a thread a row: a sector for each lane", cost.cumsum_rows),
    _variant("cumsum_rows", "chunked", "a warp a row: 32 numbers at a time, by shuffles", cost.cumsum_rows),
    _variant("transpose", "", "block by block; or CuPy's strided copy", cost.transpose, (CPU, NUMPY, CUPY)),
    _variant("transpose", "naive", "a warp reads a row and writes a column", cost.transpose),
    _variant(
        "transpose",
        "tiled",
        "through a tile in shared memory, whose rows are padded against bank conflicts",
        cost.transpose,
        kernels=(("transpose_tiled_kernel", 1),),
    ),
)
