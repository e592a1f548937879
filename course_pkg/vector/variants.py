"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from functools import partial

from course_pkg.core import Library, Variants, variant_of
from course_pkg.vector import cost
from course_pkg.vector.tuning import THREADS_PER_BLOCK

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
EVERYWHERE = (CPU, NUMPY, CUDA, CUPY)
in_blocks = partial(cost.reduce_sum_tree, threads_per_block=THREADS_PER_BLOCK)

_variant = variant_of("vector", example={"n": 4096, "degree": 3, "stride": 3, "shape": (16, 32)})
VARIANTS = Variants(
    _variant("copy", "", "one element per thread; on a CPU, an equal share per core", cost.copy, EVERYWHERE),
    _variant("copy", "two", "two elements per thread, one block apart: more bytes in flight", cost.copy),
    _variant(
        "copy_strided",
        "",
        "as copy, but reads elements that lie a stride apart",
        cost.copy_strided,
        EVERYWHERE,
    ),
    _variant("scale", "", "one input, one output", cost.scale, EVERYWHERE),
    _variant("add", "", "two inputs, one output", cost.add, EVERYWHERE),
    _variant(
        "triad",
        "",
        "two inputs, one output, two flops; NumPy and CuPy need two sweeps",
        cost.triad,
        (CPU, NUMPY, Library.C, CUDA, CUPY),
        arrays=cost.triad_two_passes,
    ),
    _variant("triad", "fused", "one element-wise kernel from an expression", cost.triad, (CUPY,)),
    _variant(
        "dot",
        "",
        "each thread sums a share in a register, then a tree in shared memory",
        cost.dot,
        EVERYWHERE,
        kernels=("dot_kernel", "sum_kernel"),
    ),
    _variant(
        "horner",
        "",
        "the traffic of a copy with any amount of arithmetic; compiled for each degree",
        cost.horner,
        EVERYWHERE,
        kernels=(("horner_kernel", 1),),
    ),
    _variant(
        "reduce_sum",
        "",
        "one sum per core; or NumPy's or CuPy's reduction",
        cost.reduce_sum,
        (CPU, NUMPY, CUPY),
    ),
    _variant(
        "reduce_sum",
        "tree",
        "one element per thread, a tree in shared memory; then the same over the sums",
        in_blocks,
    ),
    _variant("reduce_sum", "shuffle", "as the tree, but warps sum by shuffles", in_blocks),
    _variant(
        "reduce_sum",
        "grid_stride",
        "few blocks: each thread sums a share in a register before it waits",
        cost.reduce_sum,
    ),
    _variant(
        "cumsum_columns",
        "",
        "one thread per column: a warp reads neighbours",
        cost.cumsum_columns,
        EVERYWHERE,
    ),
    _variant("cumsum_rows", "", "row by row", cost.cumsum_rows, (CPU, NUMPY, CUPY)),
    _variant("cumsum_rows", "serial", "one thread per row: each lane needs another sector", cost.cumsum_rows),
    _variant(
        "cumsum_rows", "chunked", "one warp per row: 32 numbers at a time, by shuffles", cost.cumsum_rows
    ),
    _variant("transpose", "", "block by block; or CuPy's strided copy", cost.transpose, (CPU, NUMPY, CUPY)),
    _variant("transpose", "naive", "a warp reads a row and writes a column", cost.transpose),
    _variant(
        "transpose",
        "tiled",
        "through a tile in shared memory, with padding against bank conflicts",
        cost.transpose,
        kernels=(("transpose_tiled_kernel", 1),),
    ),
)
