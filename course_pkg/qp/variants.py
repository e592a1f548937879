"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from course_pkg.core import Library, Variants, variant_of
from course_pkg.qp import cost

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY

_variant = variant_of("qp", example={"n": 4096})
VARIANTS = Variants(
    _variant(
        "update",
        "",
        "rows shared by all cores; or whole arrays, which hold Q⁺ and Q⁻ apart",
        cost.update,
        (NUMPY, CPU, CUPY),
        arrays=cost.update_arrays,
    ),
    _variant("update", "naive", "a thread per row of Q: a warp reads 32 rows at a time", cost.update),
    _variant("update", "columns", "a thread per column, which is the row: neighbours", cost.update),
    _variant("update", "staged", "as columns, with x in tiles, and h, in shared memory", cost.update),
    _variant(
        "update",
        "rows",
        "a block per few rows: Q is a stream of many loads, and x is loaded once for all rows",
        cost.update,
        kernels=(("update_rows_kernel", "ROWS", "UNROLL"),),
    ),
    _variant("update", "skip", "a warp per row: tests for zeros before it reads", cost.update_active),
    _variant(
        "update",
        "compacted",
        "a list of the unknowns that are not 0: their rows and columns alone are read",
        cost.update_compacted,
        kernels=("compact_kernel", ("update_compacted_kernel", "GATHERED")),
    ),
    _variant(
        "update",
        "packed",
        "a dense copy of these rows and columns, for several updates: each reads it as a stream",
        cost.update_packed,
        kernels=("gather_kernel", ("update_rows_kernel", "ROWS", "UNROLL"), "spread_kernel"),
    ),
    _variant(
        "pack",
        "",
        "the dense copy: a block per row gathers by the list, and writes neighbours",
        cost.pack,
        kernels=(("pack_kernel", "GATHERED"),),
        result="packed",
    ),
    _variant(
        "update_batch",
        "",
        "many small problems: a block for each, whose Q stays in registers; or a core for each",
        cost.update_batch,
        (NUMPY, CPU, CUDA, CUPY),
        arrays=cost.update_batch_arrays,
        kernels=(("update_batch_kernel", 64),),
    ),
    _variant(
        "split_product",
        "",
        "Q⁺x and Q⁻x from one sweep over Q",
        cost.split_product,
        (NUMPY, CPU, CUDA, CUPY),
        arrays=cost.split_product_arrays,
        kernels=(("split_product_kernel", "ROWS", "UNROLL"),),
    ),
    _variant(
        "split_product",
        "listed",
        "sums of the rows of Q whose x is not 0: a lane per column; other rows are not read",
        cost.split_product_listed,
        kernels=("compact_kernel", ("split_product_listed_kernel", "ROWS_AHEAD")),
    ),
    _variant(
        "pqp",
        "",
        "updates, line search and conjugate gradients; an iteration is one product",
        cost.split_product,
        (NUMPY, CPU, CUDA, CUPY),
        arrays=cost.split_product_arrays,
        kernels=(
            ("split_product_kernel", "ROWS", "UNROLL"),
            "compact_kernel",
            ("split_product_listed_kernel", "ROWS_AHEAD"),
        ),
        rivals={Library.OSQP: "osqp_solve", Library.SCIPY: "scipy_nnls", Library.MPAX: "mpax_solve"},
        result="x0",
    ),
    _variant(
        "apg_batch",
        "",
        "many small problems to a tolerance: a block for each, which stops when its own is met; or batched products",
        cost.apg_batch,
        (NUMPY, CUDA, CUPY),
        arrays=cost.apg_batch_arrays,
        kernels=(("apg_batch_kernel", 64),),
        rivals={Library.OSQP: "osqp_batch"},
    ),
    _variant(
        "apg", "", "accelerated projected gradients: one product Q x", cost.apg, (NUMPY, CUPY), result="x0"
    ),
)
