"""Launches of every kernel of the topic, on matrices whose rows fill all blocks and on others, some with empty rows."""

from functools import cache

import numpy as np
from scipy.sparse import csr_array

from course_pkg.device.case import SEED, Cases, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.problem import problem
from course_pkg.spmv import gpu_numba as spmv
from course_pkg.spmv.cases_jacobi import add_cases
from course_pkg.spmv.formats import Csr, CsrBalanced, Ell, EllR, SellCSigma

cases = Cases()
THREADS = spmv.THREADS_PER_BLOCK
TILE = 2 * THREADS  # a small tile, so that a small matrix has several
PRECISIONS = {
    "float64": ("float64", "float64"),
    "float32": ("float32", "float32"),
    "mixed": ("float32", "float64"),
}


@cache
def matrix(name: str) -> csr_array:
    """Return a small matrix by its name in the cases."""
    if name == "fitting":  # 256 rows
        return problem("poisson_2d", size=16).matrix
    if name == "odd":  # 300 rows of very different lengths
        return problem("power_law", size=300, seed=SEED).matrix
    return empty_rows(75, 61)


def empty_rows(rows: int, columns: int) -> csr_array:
    """Return a matrix in which every third row and the last one are empty, and one row is full."""
    rng = np.random.default_rng(SEED)
    dense = np.where(rng.random((rows, columns)) < 0.05, 1 + rng.random((rows, columns)), 0.0)
    dense[rows // 2] = 1 + rng.random(columns)
    dense[::3] = dense[-1] = 0.0
    return csr_array(dense)


def vectors(A, dtype):
    """Return x and y for a product with the matrix."""
    return numbers(A.shape[1], dtype), zeros(A.shape[0], dtype)


def by_rows(A, values, dtype, kernel_lanes=1):
    """Return the number of blocks and the arguments for a kernel on CSR."""
    M = Csr.from_scipy(A, values)
    blocks = blocks_for(A.shape[0], THREADS // kernel_lanes)
    return blocks, (M.indptr.copy(), M.indices.copy(), M.data.copy(), *vectors(A, dtype))


def by_table(A, values, dtype):
    """Return the number of blocks and the arguments for the kernel on a table."""
    M = Ell.from_scipy(A, values)
    table = np.uint32(M.width), M.indices, M.data, np.uint32(M.pitch)
    return blocks_for(A.shape[0], THREADS), (*table, *vectors(A, dtype))


def by_lengths(A, values, dtype):
    """Return the number of blocks and the arguments for the kernel on a table with row lengths."""
    M = EllR.from_scipy(A, values)
    table = M.lengths, M.indices, M.data, np.uint32(M.pitch)
    return blocks_for(A.shape[0], THREADS), (*table, *vectors(A, dtype))


def by_slices(A, values, dtype, sigma):
    """Return the number of blocks and the arguments for the kernel on slices."""
    M = SellCSigma.from_scipy(A, values, spmv.CHUNK, sigma)
    return blocks_for(A.shape[0], THREADS), (M.offsets, M.perm, M.indices, M.data, *vectors(A, dtype))


def by_tiles(A, values, dtype):
    """Return the number of blocks and the arguments for the kernel on tiles of equal work."""
    M = CsrBalanced.from_scipy(A, values, TILE)
    tiles = M.tile_rows.size - 1
    arrays = (M.indptr.copy(), M.indices.copy(), M.data.copy(), M.tile_rows)
    return tiles, (*arrays, *vectors(A, dtype), zeros(2 * tiles))


def carried(A, values, dtype):
    """Return the number of blocks and the arguments for the kernel that adds the sums which tiles carry over."""
    M = CsrBalanced.from_scipy(A, values, TILE)
    tiles = M.tile_rows.size - 1
    rows = np.minimum(M.tile_rows[1:], A.shape[0] - 1)
    ends = (M.indptr[rows + 1] + rows) // M.tile  # the tile in which the row of each sum ends
    carry = np.concatenate([numbers(tiles), ends])
    return blocks_for(tiles, THREADS), (M.tile_rows, carry, numbers(A.shape[0], dtype))


KERNELS = {  # name: (kernel, function for blocks and arguments, idea)
    "csr_scalar": (spmv.spmv_csr_scalar_kernel, by_rows, "a thread per row: rows of different lengths in a warp"),
    **{
        f"csr_vector_{lanes}": (
            spmv.spmv_csr_vector_kernel(lanes),
            lambda A, values, dtype, lanes=lanes: by_rows(A, values, dtype, lanes),
            f"{lanes} lanes per row, then shuffles",
        )
        for lanes in spmv.LANES
    },
    "csr_balanced": (
        spmv.spmv_csr_balanced_kernel(TILE // THREADS),
        by_tiles,
        "products in shared memory; short rows by a thread each, long ones by a warp",
    ),
    "add_carries": (spmv.add_carries_kernel, carried, "a thread per row that several tiles share"),
    "ell": (spmv.spmv_ell_kernel, by_table, "a table by columns: lanes at padding do not load x"),
    "ellr": (spmv.spmv_ellr_kernel, by_lengths, "a table by columns: a loop as long as the row"),
    **{
        f"sell_{unroll}_{sigma}": (
            spmv.spmv_sell_kernel(spmv.CHUNK, unroll, sigma > 1),
            lambda A, values, dtype, sigma=sigma: by_slices(A, values, dtype, sigma),
            f"slices by columns, {unroll} nonzeros at a time, {'sorted within windows' if sigma > 1 else 'in order'}",
        )
        for unroll, sigma in ((1, 1), (4, 1), (4, 64))
    },
}  # fmt: skip
LAUNCHES = (
    ("fitting", "float64"),
    ("odd", "float64"),
    ("empty", "float64"),
    ("odd", "float32"),
    ("odd", "mixed"),
)

for kernel_name, (kernel, make, what) in KERNELS.items():
    for name, precision in LAUNCHES:
        values, dtype = PRECISIONS[precision]
        cases.add(
            kernel,
            make(matrix(name), values, dtype)[0],
            THREADS,
            lambda make=make, name=name, values=values, dtype=dtype: make(matrix(name), values, dtype)[1],
            f"{what}; {name} matrix, {precision}",
            name=f"spmv_{kernel_name}_{name}_{precision}",
            data_dependent=True,
        )

add_cases(cases, matrix)
