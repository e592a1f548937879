"""Launches of every kernel of the vector topic, at sizes that are a multiple of the block and at others."""

import numpy as np

from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.vector import gpu_numba as vector
from course_pkg.vector.problem import Ring, VectorProblem

cases = Cases()
THREADS = vector.THREADS_PER_BLOCK
FITTING, ODD = 8192, 10_007


def _vectors(names, n, dtype="float64"):
    """Return a function that makes the named fields of a vector problem, with the scalar in their precision."""

    def make():
        p = VectorProblem.random(n, dtype)
        return tuple(p.a.dtype.type(p.s) if name == "s" else getattr(p, name) for name in names)

    return make


STREAMS = {
    "copy": (vector.copy_kernel, ("a", "out")),
    "scale": (vector.scale_kernel, ("a", "s", "out")),
    "add": (vector.add_kernel, ("a", "b", "out")),
    "triad": (vector.triad_kernel, ("a", "b", "s", "out")),
}
for operation, (kernel, names) in STREAMS.items():
    for dtype in ("float64", "float32"):
        cases.add(
            kernel,
            blocks_for(ODD, THREADS),
            THREADS,
            _vectors(names, ODD, dtype),
            f"{operation} of a prime number of elements, {dtype}",
            name=f"vector_{operation}_{dtype}",
        )

cases.add(
    vector.copy_two_kernel,
    blocks_for((ODD + 1) // 2, THREADS),
    THREADS,
    _vectors(("a", "out"), ODD),
    "two elements per thread; in the last block only one",
    name="vector_copy_two",
)
for stride in (1, 3, 8):
    cases.add(
        vector.copy_strided_kernel,
        blocks_for(2000, THREADS),
        THREADS,
        lambda stride=stride: (numbers(2000 * stride), stride, zeros(2000)),
        f"gaps between the elements that are read: a stride of {stride}",
        name=f"vector_copy_strided_{stride}",
    )
cases.add(
    vector.dot_kernel,
    16,
    THREADS,
    lambda: (*_vectors(("a", "b"), ODD)(), zeros(16)),
    "a loop over the grid, then a tree in shared memory",
    name="vector_dot",
)
cases.add(
    vector.sum_kernel,
    1,
    THREADS,
    lambda: (*_vectors(("a",), 1000)(), zeros(1)),
    "one block adds up the partial sums of the others",
    name="vector_sum",
)
cases.add(
    vector.horner_kernel(8),
    blocks_for(ODD, THREADS),
    THREADS,
    lambda: (*_vectors(("a",), ODD)(), np.float64(1), zeros(ODD)),
    "eight fma between a load and a store",
    name="vector_horner_8",
)

LENGTHS = ((FITTING, "float64"), (ODD, "float64"), (ODD, "float32"))
for n, dtype in LENGTHS:
    for idea, kernel, what in (
        ("tree", vector.reduce_sum_tree_kernel, "nine barriers and a tree in shared memory"),
        ("shuffle", vector.reduce_sum_shuffle_kernel, "two rounds of shuffles, one barrier between them"),
        ("grid_stride", vector.reduce_sum_grid_stride_kernel, "a share in a register, then shuffles"),
    ):
        blocks = 8 if idea == "grid_stride" else blocks_for(n, THREADS)
        cases.add(
            kernel,
            blocks,
            THREADS,
            lambda n=n, dtype=dtype, blocks=blocks: (*_vectors(("a",), n, dtype)(), zeros(blocks)),
            f"the sum of {n} numbers, {dtype}: {what}",
            name=f"vector_reduce_sum_{idea}_{n}_{dtype}",
        )

PLANES = (((128, 128), "float64"), ((61, 75), "float64"), ((61, 75), "float32"))
for (ny, nx), dtype in PLANES:
    for operation, kernel, grid, block, what in (
        (
            "cumsum_columns",
            vector.cumsum_columns_kernel,
            blocks_for(nx, vector.LINES_PER_BLOCK),
            vector.LINES_PER_BLOCK,
            "a thread per column: neighbours in a row",
        ),
        (
            "cumsum_rows_serial",
            vector.cumsum_rows_serial_kernel,
            blocks_for(ny, vector.LINES_PER_BLOCK),
            vector.LINES_PER_BLOCK,
            "a thread per row: a sector for each lane",
        ),
        (
            "cumsum_rows_chunked",
            vector.cumsum_rows_chunked_kernel,
            blocks_for(ny, vector.BLOCK_CHUNKED[1]),
            vector.BLOCK_CHUNKED,
            "a warp per row: shuffles, and lanes beyond the row's end",
        ),
    ):
        cases.add(
            kernel,
            grid,
            block,
            lambda ny=ny, nx=nx, dtype=dtype: (numbers((ny, nx), dtype), zeros((ny, nx), dtype)),
            f"{what}, {ny} × {nx}, {dtype}",
            name=f"vector_{operation}_{ny}_{dtype}",
        )

TRANSPOSES = (
    ("naive", vector.transpose_naive_kernel, "float64", "a warp reads a row and writes a column"),
    (
        "tiled",
        vector.transpose_tiled_kernel(0),
        "float64",
        "a warp reads a column of a tile: all lanes in one bank",
    ),
    ("padded", vector.transpose_tiled_kernel(1), "float64", "a warp reads a column of a tile: no bank twice"),
    ("padded", vector.transpose_tiled_kernel(1), "float32", "a warp reads a column of a tile: no bank twice"),
)
for ny, nx in ((64, 96), (45, 70)):
    for idea, kernel, dtype, what in TRANSPOSES:
        covered = vector.BLOCK_TRANSPOSE if idea == "naive" else (vector.TILE, vector.TILE)
        cases.add(
            kernel,
            blocks_for((ny, nx), covered),
            vector.BLOCK_TRANSPOSE,
            lambda ny=ny, nx=nx, dtype=dtype: (numbers((ny, nx), dtype), zeros((nx, ny), dtype)),
            f"{what}, {ny} × {nx}, {dtype}",
            name=f"vector_transpose_{idea}_{ny}_{dtype}",
        )

for name, kernel, what in (
    ("chase", vector.chase_kernel, "each load waits for the one before it: a request of one lane per step"),
    ("chase_shared", vector.chase_shared_kernel, "a ring is copied to shared memory, and followed there"),
):
    cases.add(
        kernel,
        1,
        1,
        lambda: (Ring.random(1024, 32).links, 64, np.zeros(1, np.uint32)),
        what,
        name=f"vector_{name}",
    )
