"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from course_pkg.core import Library, Variants, variant_of
from course_pkg.core.variant import unknown
from course_pkg.permutation import cost

COMPILED = (Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY)

_variant = variant_of("permutation", example={"n": 4096, "nnz": 30_000})
VARIANTS = Variants(
    _variant(
        "permute_vector",
        "",
        "gather: writes in order, reads wherever perm leads",
        cost.permute_vector,
        COMPILED,
    ),
    _variant(
        "unpermute_vector",
        "",
        "scatter: reads in order, writes wherever perm leads",
        cost.unpermute_vector,
        COMPILED,
    ),
    _variant(
        "permute_rows",
        "",
        "row lengths, their sums, then row by row: on a GPU, a warp per row",
        cost.permute_rows,
        COMPILED,
        arrays=unknown,
        kernels=("row_lengths_kernel", "permute_rows_kernel"),
    ),
    _variant(
        "permute_symmetric",
        "",
        "as the rows, with new columns, each put where it belongs in the sorted row",
        cost.permute_symmetric,
        COMPILED,
        arrays=unknown,
        kernels=("invert_kernel", "row_lengths_kernel", "permute_symmetric_kernel"),
    ),
)
