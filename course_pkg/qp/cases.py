"""Test launches of every kernel of the topic, at sizes that are a multiple of the block and at others."""

import numpy as np

from course_pkg.device.case import SEED, Cases, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.qp import gpu_numba as qp
from course_pkg.qp.tuning import PACKED_MULTIPLE

cases = Cases()
THREADS = qp.THREADS_PER_BLOCK
SIZES = {"512": 512, "odd": 301}
DTYPES = ("float64", "float32")
IDLE = 0.7  # share of zeros in x, where zeros are skipped


def matrix(shape, dtype):
    """Return symmetric matrices with entries of both signs."""
    drawn = numbers(shape, dtype) - np.dtype(dtype).type(1.5)
    return drawn + np.swapaxes(drawn, -1, -2)


def vectors(shape, dtype):
    """Return h with both signs, a shift, and x."""
    return (
        numbers(shape, dtype, 1) - np.dtype(dtype).type(1.5),
        numbers(shape, dtype, 2),
        numbers(shape, dtype, 3),
    )


def sparse(n, dtype):
    """Return an x in which many elements are 0."""
    x = numbers(n, dtype, 3)
    x[np.random.default_rng(SEED).random(n) < IDLE] = 0
    return x


def whole(n, dtype):
    """Return the arguments of an update."""
    return matrix((n, n), dtype), *vectors(n, dtype), zeros(n, dtype), zeros(n, dtype)


def with_zeros(n, dtype):
    """Return the arguments of an update whose x has zeros."""
    Q, h, shift, _, out, parts = whole(n, dtype)
    return Q, h, shift, sparse(n, dtype), out, parts


def compacted(n, dtype):
    """Return the arguments of the kernel that takes a list."""
    Q, h, shift, x, out, parts = with_zeros(n, dtype)
    active = zeros(n, "uint32")
    found = np.flatnonzero(x)
    active[: found.size] = found
    return Q, h, shift, x, active, np.array([found.size], np.uint32), out, parts


def listing(n, dtype):
    """Return the arguments of the kernel that makes the list."""
    return sparse(n, dtype), zeros(n, "uint32"), zeros(1, "uint32")


def product(n, dtype):
    """Return the arguments of the product."""
    return matrix((n, n), dtype), vectors(n, dtype)[2], zeros((2, n), dtype)


def product_listed(n, dtype):
    """Return the arguments of the product of listed rows."""
    Q, _, _, x, active, count, *_ = compacted(n, dtype)
    return Q, x, active, count, zeros((2, n), dtype)


def packed_size(n):
    """Return the number of unknowns of the dense copy, which does not depend on the precision."""
    found = int(np.count_nonzero(sparse(n, "float64")))
    return -(-found // PACKED_MULTIPLE) * PACKED_MULTIPLE


def packing(n, dtype):
    """Return the arguments of the kernel that makes the dense copy."""
    Q, h, shift, _, active, count, *_ = compacted(n, dtype)
    size = packed_size(n)
    return Q, h, shift, active, count, zeros((size, size), dtype), zeros(size, dtype), zeros(size, dtype)


def gathering(n, dtype):
    """Return the arguments of the kernel that packs x."""
    *_, x, active, count, _, _ = compacted(n, dtype)
    return x, active, count, zeros(packed_size(n), dtype)


def spreading(n, dtype):
    """Return the arguments of the kernel that spreads the results to their full length."""
    *_, x, active, count, out, parts = compacted(n, dtype)
    return x, active, count, *(numbers(packed_size(n), dtype, k) for k in (1, 2)), out, parts


def by_threads(n):
    """Return the blocks of a launch with a thread per unknown."""
    return blocks_for(n, THREADS)


def by_rows(n):
    """Return the blocks of a launch with a block per few rows."""
    return -(-n // qp.ROWS)


KERNELS = {  # name: (kernel, blocks, threads, arguments, idea, whether loops depend on the data)
    "update_naive": (qp.update_naive_kernel, by_threads, THREADS, whole, "a thread per row", False),
    "update_columns": (qp.update_columns_kernel, by_threads, THREADS, whole, "a thread per column", False),
    "update_staged": (qp.update_staged_kernel, by_threads, THREADS, whole, "x in tiles in shared memory", False),
    "update_rows": (
        qp.update_rows_kernel(qp.ROWS, qp.UNROLL), by_rows, THREADS, whole,
        "loads of a stream, local arrays in registers, shuffles", False,
    ),
    "split_product": (
        qp.split_product_kernel(qp.ROWS, qp.UNROLL), by_rows, THREADS, product,
        "as update_rows; the sums are the result", False,
    ),
    "update_skip": (
        qp.update_skip_kernel, lambda n: -(-n // (THREADS // 32)), THREADS, with_zeros,
        "a warp per row; lanes at zeros do not load", True,
    ),
    "compact": (
        qp.compact_kernel, lambda n: 1, qp.THREADS_COMPACTION, listing, "ballots, and sums over warps", True,
    ),
    "update_compacted": (
        qp.update_compacted_kernel(qp.GATHERED), lambda n: 40, THREADS, compacted,
        "a gather by a list; a block per row of the list", True,
    ),
    "split_product_listed": (
        qp.split_product_listed_kernel(qp.ROWS_AHEAD), lambda n: -(-n // 32), THREADS, product_listed,
        "a lane per column; warps share the rows of a list", False,
    ),
    "pack": (
        qp.pack_kernel(qp.GATHERED), packed_size, THREADS, packing, "a gather by a list, written as neighbours", True,
    ),
    "gather": (
        qp.gather_kernel, lambda n: blocks_for(packed_size(n), THREADS), THREADS, gathering, "x by a list", False,
    ),
    "spread": (qp.spread_kernel, by_threads, THREADS, spreading, "results by a list, and zeros", False),
}  # fmt: skip

for name, (kernel, blocks, threads, make, idea, depends) in KERNELS.items():
    for size, n in SIZES.items():
        for dtype in DTYPES:
            cases.add(
                kernel,
                blocks(n),
                threads,
                lambda make=make, n=n, dtype=dtype: make(n, dtype),
                f"{idea}; {n} unknowns, {dtype}",
                name=f"qp_{name}_{size}_{dtype}",
                data_dependent=depends,
            )

for n, columns in ((64, 32), (37, 32), (128, 64)):
    for dtype in DTYPES:
        cases.add(
            qp.update_batch_kernel(columns),
            3,
            (max(2 * columns, 32), 2),
            lambda n=n, dtype=dtype: (
                matrix((3, n, n), dtype),
                *vectors((3, n), dtype),
                zeros((3, n), dtype),
                zeros((3, n), dtype),
                np.int32(2),
            ),
            f"a block per problem of {n} unknowns, Q in registers, {dtype}",
            name=f"qp_update_batch_{n}_{dtype}",
        )
        cases.add(
            qp.apg_batch_kernel(columns),
            3,
            (max(2 * columns, 32), 2),
            lambda n=n, dtype=dtype: (
                matrix((3, n, n), dtype),
                vectors((3, n), dtype)[0],
                zeros((3, n), dtype),
                zeros(3, dtype),
                zeros(3, "uint32"),
                np.dtype(dtype).type(1e-30),  # a tolerance that is never met, so the number of steps is known
                np.uint32(3),
            ),
            f"as update_batch, with three reductions over a block; {n} unknowns, {dtype}",
            name=f"qp_apg_batch_{n}_{dtype}",
        )
