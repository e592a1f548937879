"""Updates as CUDA kernels: a thread per unknown (``columns``), blocks of rows (``rows``), without zeros (``active``),
on a dense copy without them (``packed``), and many small problems (``batch``, ``batch_gradient``);
products (``rows``, ``listed``), and a
solver with these (``solver``).

The variants, each with its idea, are listed in ``course_pkg/qp/variants.py``. The docstring of each kernel says what
differs from the kernel before it, and why. Arguments and equations are those of ``reference.py``. Arrays are
C-contiguous, float64 or float32, all of one precision, in GPU memory. A launch does not synchronise.
"""

from course_pkg.qp.gpu_numba.active import (
    compact,
    compact_kernel,
    lists,
    update_compacted,
    update_compacted_kernel,
    update_skip,
    update_skip_kernel,
)
from course_pkg.qp.gpu_numba.batch import update_batch, update_batch_kernel
from course_pkg.qp.gpu_numba.batch_gradient import apg_batch, apg_batch_kernel
from course_pkg.qp.gpu_numba.columns import (
    update_columns,
    update_columns_kernel,
    update_naive,
    update_naive_kernel,
    update_staged,
    update_staged_kernel,
)
from course_pkg.qp.gpu_numba.listed import split_product_listed, split_product_listed_kernel
from course_pkg.qp.gpu_numba.packed import (
    Packed,
    gather_kernel,
    pack,
    pack_kernel,
    room_for,
    spread_kernel,
    update_packed,
)
from course_pkg.qp.gpu_numba.rows import (
    split_product,
    split_product_kernel,
    update_rows,
    update_rows_kernel,
)
from course_pkg.qp.gpu_numba.solver import pqp
from course_pkg.qp.tuning import (
    BLOCKS_COMPACTED,
    COLUMNS,
    GATHERED,
    ROWS,
    ROWS_AHEAD,
    THREADS_COMPACTION,
    THREADS_PER_BLOCK,
    UNROLL,
)

__all__ = [
    "BLOCKS_COMPACTED",
    "COLUMNS",
    "GATHERED",
    "ROWS",
    "ROWS_AHEAD",
    "THREADS_COMPACTION",
    "THREADS_PER_BLOCK",
    "UNROLL",
    "Packed",
    "apg_batch",
    "apg_batch_kernel",
    "compact",
    "compact_kernel",
    "gather_kernel",
    "lists",
    "pack",
    "pack_kernel",
    "pqp",
    "room_for",
    "split_product",
    "split_product_kernel",
    "split_product_listed",
    "split_product_listed_kernel",
    "spread_kernel",
    "update_batch",
    "update_batch_kernel",
    "update_columns",
    "update_columns_kernel",
    "update_compacted",
    "update_compacted_kernel",
    "update_naive",
    "update_naive_kernel",
    "update_packed",
    "update_rows",
    "update_rows_kernel",
    "update_skip",
    "update_skip_kernel",
    "update_staged",
    "update_staged_kernel",
]
