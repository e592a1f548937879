"""Updates on a matrix larger than any cache, to compare the bytes that move with the cost.

Memory transfers whole sectors, so if x has zeros, more bytes move than the cost says. Only the lists and
an x with zeros are initialised; other memory is not.
"""

import numpy as np

from course_pkg.core import Cost
from course_pkg.device.case import SEED, Cases, Sliced, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.qp import cost
from course_pkg.qp import gpu_numba as qp
from course_pkg.qp.suite_solves import SETTINGS
from course_pkg.qp.tuning import PACKED_MULTIPLE

large = Cases()
N, ACTIVE, PROBLEMS, SMALL = 16384, 1638, 1024, 128
PACKED = -(-ACTIVE // PACKED_MULTIPLE) * PACKED_MULTIPLE
THREADS = qp.THREADS_PER_BLOCK


def _add(name: str, kernel, blocks, threads, make, its_cost: Cost) -> None:
    idea = f"{its_cost.bytes_read / 1e6:,.0f} MB read, of a matrix of {8 * N * N / 1e6:,.0f} MB"
    large.add(kernel, blocks, threads, make, idea, name=f"qp_{name}_{N}", cost=its_cost)


def _update() -> tuple:
    return Unwritten((N, N)), *(Unwritten(N) for _ in range(5))


def _product() -> tuple:
    return Unwritten((N, N)), Unwritten(N), Unwritten((2, N))


def _chosen() -> tuple[np.ndarray, np.ndarray]:
    """Return x, in which ACTIVE of the unknowns are not 0, and the list of these."""
    chosen = np.sort(np.random.default_rng(SEED).choice(N, ACTIVE, replace=False))
    x, active = np.zeros(N), np.zeros(N, np.uint32)
    x[chosen], active[:ACTIVE] = 1.0, chosen
    return x, active


def _listed() -> tuple:
    """Return the arguments of the compacted update: ACTIVE of the unknowns are not 0."""
    x, active = _chosen()
    lists = Sliced(x, 0), Sliced(active, 0), Sliced(np.array([ACTIVE], np.uint32), 0)
    return Unwritten((N, N)), Unwritten(N), Unwritten(N), *lists, Unwritten(N), Unwritten(N)


def _skipping() -> tuple:
    """Return the arguments of an update that skips zeros: as many as the compacted one has."""
    x, _ = _chosen()
    return Unwritten((N, N)), Unwritten(N), Unwritten(N), Sliced(x, 0), Unwritten(N), Unwritten(N)


def _product_listed() -> tuple:
    """Return the arguments of the product of listed rows."""
    x, active, count = _listed()[3:6]
    return Unwritten((N, N)), x, active, count, Unwritten((2, N))


def _packing() -> tuple:
    """Return the arguments of the kernel that makes a dense copy of the listed rows and columns."""
    active, count = _listed()[4:6]
    copy = Unwritten((PACKED, PACKED)), Unwritten(PACKED), Unwritten(PACKED)
    return Unwritten((N, N)), Unwritten(N), Unwritten(N), active, count, *copy


def _packed() -> tuple:
    """Return the arguments of an update on the copy."""
    return Unwritten((PACKED, PACKED)), *(Unwritten(PACKED) for _ in range(5))


def _batch() -> tuple:
    vectors = (Unwritten((PROBLEMS, SMALL)) for _ in range(5))
    return Unwritten((PROBLEMS, SMALL, SMALL)), *vectors, np.int32(10)


def _solved_batch() -> tuple:
    """Return the arguments of ten steps of each problem: the tolerance is not met."""
    vectors = (Unwritten((PROBLEMS, SMALL)) for _ in range(2))
    steps = Unwritten(PROBLEMS), Unwritten(PROBLEMS, "uint32"), np.float64(1e-30), np.uint32(10)
    return Unwritten((PROBLEMS, SMALL, SMALL)), *vectors, *steps


_add("update_naive", qp.update_naive_kernel, blocks_for(N, THREADS), THREADS, _update, cost.update(N))
_add("update_columns", qp.update_columns_kernel, blocks_for(N, THREADS), THREADS, _update, cost.update(N))
_add("update_staged", qp.update_staged_kernel, blocks_for(N, THREADS), THREADS, _update, cost.update(N))
for rows, unroll in dict.fromkeys([(qp.ROWS, qp.UNROLL), *SETTINGS]):
    name = "update_rows" + ("" if (rows, unroll) == (qp.ROWS, qp.UNROLL) else f"_{rows}_{unroll}")
    _add(name, qp.update_rows_kernel(rows, unroll), -(-N // rows), THREADS, _update, cost.update(N))
WARPS = THREADS // 32  # a warp for each row
_add(
    "update_skip",
    qp.update_skip_kernel,
    -(-N // WARPS),
    THREADS,
    _skipping,
    cost.update_active(N, ACTIVE),
)
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
    "split_product_listed",
    qp.split_product_listed_kernel(qp.ROWS_AHEAD),
    -(-N // 32),
    THREADS,
    _product_listed,
    cost.split_product_listed(N, ACTIVE),
)
ROWS_KERNEL = qp.update_rows_kernel(qp.ROWS, qp.UNROLL)  # on the copy, an update is one of a smaller problem
_add("update_packed", ROWS_KERNEL, -(-PACKED // qp.ROWS), THREADS, _packed, cost.update(ACTIVE))
_add("pack", qp.pack_kernel(qp.GATHERED), PACKED, THREADS, _packing, cost.pack(N, ACTIVE))
_add(
    "update_batch",
    qp.update_batch_kernel(SMALL // 2),
    PROBLEMS,
    (SMALL, 2),
    _batch,
    cost.update_batch(SMALL, PROBLEMS, 10),
)
_add(
    "apg_batch",
    qp.apg_batch_kernel(SMALL // 2),
    PROBLEMS,
    (SMALL, 2),
    _solved_batch,
    cost.apg_batch(SMALL, PROBLEMS, 10),
)
