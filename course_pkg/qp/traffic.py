"""Updates on a matrix larger than any cache: what moves between the GPU and its memory, beside the cost.

Where x has zeros, memory answers by whole sectors, so that more moves than the cost says. The lists are made here; all
else stays as memory is found.
"""

import numpy as np

from course_pkg.core import Cost
from course_pkg.device.case import SEED, Cases, Sliced, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.qp import cost
from course_pkg.qp import gpu_numba as qp

large = Cases()
N, ACTIVE, PROBLEMS, SMALL = 16384, 1638, 1024, 128
THREADS = qp.THREADS_PER_BLOCK


def _add(name: str, kernel, blocks, threads, make, its_cost: Cost) -> None:
    idea = f"{its_cost.bytes_read / 1e6:,.0f} MB read, of a matrix of {8 * N * N / 1e6:,.0f} MB"
    large.add(kernel, blocks, threads, make, idea, name=f"qp_{name}_{N}", cost=its_cost)


def _update() -> tuple:
    return Unwritten((N, N)), *(Unwritten(N) for _ in range(5))


def _product() -> tuple:
    return Unwritten((N, N)), Unwritten(N), Unwritten((2, N))


def _listed() -> tuple:
    """Return the arguments of the compacted update: ACTIVE of the unknowns are not 0."""
    chosen = np.sort(np.random.default_rng(SEED).choice(N, ACTIVE, replace=False))
    x, active = np.zeros(N), np.zeros(N, np.uint32)
    x[chosen], active[:ACTIVE] = 1.0, chosen
    lists = Sliced(x, 0), Sliced(active, 0), Sliced(np.array([ACTIVE], np.uint32), 0)
    return Unwritten((N, N)), Unwritten(N), Unwritten(N), *lists, Unwritten(N), Unwritten(N)


def _batch() -> tuple:
    vectors = (Unwritten((PROBLEMS, SMALL)) for _ in range(5))
    return Unwritten((PROBLEMS, SMALL, SMALL)), *vectors, np.int32(10)


_add("update_columns", qp.update_columns_kernel, blocks_for(N, THREADS), THREADS, _update, cost.update(N))
_add("update_staged", qp.update_staged_kernel, blocks_for(N, THREADS), THREADS, _update, cost.update(N))
ROWS_KERNEL = qp.update_rows_kernel(qp.ROWS, qp.UNROLL)
_add("update_rows", ROWS_KERNEL, -(-N // qp.ROWS), THREADS, _update, cost.update(N))
PRODUCT_KERNEL = qp.split_product_kernel(qp.ROWS, qp.UNROLL)
_add("split_product", PRODUCT_KERNEL, -(-N // qp.ROWS), THREADS, _product, cost.split_product(N))
_add(
    "update_compacted",
    qp.update_compacted_kernel(qp.GATHERED),
    qp.BLOCKS_COMPACTED,
    THREADS,
    _listed,
    cost.update_compacted(N, ACTIVE),
)
_add(
    "update_batch",
    qp.update_batch_kernel(SMALL // 2),
    PROBLEMS,
    (SMALL, 2),
    _batch,
    cost.update_batch(SMALL, PROBLEMS, 10),
)
