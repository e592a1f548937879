"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from course_pkg.core import Library, Variants, variant_of
from course_pkg.spmv import cost, jacobi_cost, splitting_cost, swap_cost
from course_pkg.spmv.formats import Csr, CsrBalanced, Ell, EllR, SellCSigma

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
EVERYWHERE = (CPU, NUMPY, CUDA, CUPY)

_variant = variant_of("spmv", example={"rows": 64, "columns": 96, "nonzeros": 512})
VARIANTS = Variants(
    _variant(
        "spmv",
        "",
        "consecutive rows per core, with equal shares of nonzeros and rows; or the library's own product",
        cost.csr,
        (CPU, CUPY),
        rivals={Library.SCIPY: "scipy_csr", Library.PYTORCH: "torch_csr"},
        result="y",
    ),
    _variant("spmv", "csr_scalar", "one thread per row of CSR", cost.csr, result="y"),
    _variant(
        "spmv",
        "csr_vector",
        "2 to 32 lanes per row of CSR, which read neighbours and add up by shuffles",
        cost.csr,
        kernels=(("spmv_csr_vector_kernel", 32),),
        result="y",
    ),
    _variant(
        "spmv",
        "csr_balanced",
        "tiles of equally many nonzeros and ends of rows: products in shared memory, then sums by rows",
        cost.csr_balanced,
        kernels=(("spmv_csr_balanced_kernel", "ITEMS"), "add_carries_kernel"),
        result="y",
    ),
    _variant(
        "spmv", "ell", "one thread per row of a table that is stored column by column", cost.ell, result="y"
    ),
    _variant("spmv", "ellr", "as ell, with row lengths: nobody reads the padding", cost.ellr, result="y"),
    _variant(
        "spmv",
        "sell",
        "slices of rows of similar length, each a table of its own; several nonzeros asked for at a time",
        cost.sell,
        kernels=(("spmv_sell_kernel", "CHUNK", "UNROLL", True),),
        result="y",
    ),
    _variant(
        "jacobi",
        "plain",
        "rows in their order: the new x is written as it comes",
        jacobi_cost.jacobi_plain,
        EVERYWHERE,
        arrays=jacobi_cost.jacobi_two_kernels,
        kernels=(("jacobi_plain_kernel", 4),),
    ),
    _variant(
        "jacobi",
        "row_permuted",
        "rows permuted: each step puts the new x back in order, by scattered writes",
        jacobi_cost.jacobi_row_permuted,
        EVERYWHERE,
        arrays=jacobi_cost.jacobi_row_permuted_two_kernels,
        kernels=(("jacobi_row_permuted_kernel", 4),),
    ),
    _variant(
        "jacobi",
        "symmetric",
        "rows, columns and x permuted, once: a step reorders nothing",
        jacobi_cost.jacobi_symmetric,
        EVERYWHERE,
        arrays=jacobi_cost.jacobi_two_kernels,
        kernels=(("jacobi_plain_kernel", 4),),
    ),
    _variant(
        "swap",
        "naive",
        "a kernel copies y64 to x32 and x64",
        swap_cost.swap_naive,
        kernels=(("row_product_kernel", 4), "copy_both_kernel"),
        result="vectors",
    ),
    _variant(
        "swap",
        "cast",
        "no x32: the product reads x64 and casts each number",
        swap_cost.swap_cast,
        kernels=(("row_product_kernel", 4, 1),),
        result="vectors",
    ),
    _variant(
        "swap",
        "fused",
        "the product writes y32 beside y64; both pairs of pointers are swapped",
        swap_cost.swap_fused,
        kernels=(("swap_product_both_kernel", 4),),
        result="vectors",
    ),
    _variant(
        "swap",
        "hybrid",
        "a kernel copies y64 to x32; x64 and y64 are swapped by their pointers",
        swap_cost.swap_hybrid,
        kernels=(("row_product_kernel", 4), "copy_rounded_kernel"),
        result="vectors",
    ),
    _variant(
        "splitting",
        "rows_together",
        "rows in two precisions, sorted by precision, in one launch",
        splitting_cost.splitting_rows_together,
        kernels=(("splitting_rows_together_kernel", 4),),
        result="y",
    ),
    _variant(
        "splitting",
        "rows_apart",
        "rows in two precisions, a launch for each",
        splitting_cost.splitting_rows_apart,
        kernels=(("splitting_rows_kernel", 4),),
        result="y",
    ),
    _variant(
        "splitting",
        "entries_together",
        "a row's float64 and float32 entries, added up in one launch",
        splitting_cost.splitting_entries_together,
        kernels=(("splitting_entries_together_kernel", 4),),
        result="y",
    ),
    _variant(
        "splitting",
        "entries_apart",
        "y = A_high x, then y = y + A_low x: two launches",
        splitting_cost.splitting_entries_apart,
        kernels=(("row_product_kernel", 4), ("splitting_add_kernel", 4)),
        result="y",
    ),
)
# the format of the matrix argument, by the name of the function
FORMATS = {
    "spmv": Csr,
    "spmv_csr_scalar": Csr,
    "spmv_csr_vector": Csr,
    "spmv_csr_balanced": CsrBalanced,
    "spmv_ell": Ell,
    "spmv_ellr": EllR,
    "spmv_sell": SellCSigma,
}
