"""Products of a sparse matrix and a vector as CUDA kernels: by ``rows``, by ``tables``, and by tiles (``balanced``).

The variants, each with its idea, are listed in ``course_pkg/spmv/variants.py``. The docstring of each kernel says what
differs from the kernel before it, and why.

Arguments and equation are those of ``reference.py``; A is the format that a variant is named after, in GPU memory. If
an argument does not fit, a function raises ``CourseError`` before anything is written. A launch does not synchronise.
"""

from course_pkg.spmv.gpu_numba.balanced import (
    add_carries_kernel,
    carries,
    load_products,
    spmv_csr_balanced,
    spmv_csr_balanced_kernel,
    sum_of_row,
)
from course_pkg.spmv.gpu_numba.jacobi import (
    jacobi_plain,
    jacobi_plain_kernel,
    jacobi_row_permuted,
    jacobi_row_permuted_kernel,
    jacobi_symmetric,
)
from course_pkg.spmv.gpu_numba.jacobi_rows import row_product_kernel
from course_pkg.spmv.gpu_numba.rows import (
    spmv_csr_scalar,
    spmv_csr_scalar_kernel,
    spmv_csr_vector,
    spmv_csr_vector_kernel,
)
from course_pkg.spmv.gpu_numba.splitting import (
    splitting_add_kernel,
    splitting_entries_apart,
    splitting_entries_together,
    splitting_entries_together_kernel,
    splitting_rows_apart,
    splitting_rows_kernel,
    splitting_rows_together,
    splitting_rows_together_kernel,
)
from course_pkg.spmv.gpu_numba.swaps import (
    copy_both_kernel,
    copy_rounded_kernel,
    swap_cast,
    swap_fused,
    swap_hybrid,
    swap_naive,
    swap_product_both_kernel,
)
from course_pkg.spmv.gpu_numba.tables import (
    spmv_ell,
    spmv_ell_kernel,
    spmv_ellr,
    spmv_ellr_kernel,
    spmv_sell,
    spmv_sell_kernel,
)
from course_pkg.spmv.tuning import CHUNK, ITEMS, LANES, THREADS_PER_BLOCK, UNROLL

__all__ = [
    "CHUNK",
    "ITEMS",
    "LANES",
    "THREADS_PER_BLOCK",
    "UNROLL",
    "add_carries_kernel",
    "carries",
    "copy_both_kernel",
    "copy_rounded_kernel",
    "jacobi_plain",
    "jacobi_plain_kernel",
    "jacobi_row_permuted",
    "jacobi_row_permuted_kernel",
    "jacobi_symmetric",
    "load_products",
    "row_product_kernel",
    "splitting_add_kernel",
    "splitting_entries_apart",
    "splitting_entries_together",
    "splitting_entries_together_kernel",
    "splitting_rows_apart",
    "splitting_rows_kernel",
    "splitting_rows_together",
    "splitting_rows_together_kernel",
    "spmv_csr_balanced",
    "spmv_csr_balanced_kernel",
    "spmv_csr_scalar",
    "spmv_csr_scalar_kernel",
    "spmv_csr_vector",
    "spmv_csr_vector_kernel",
    "spmv_ell",
    "spmv_ell_kernel",
    "spmv_ellr",
    "spmv_ellr_kernel",
    "spmv_sell",
    "spmv_sell_kernel",
    "sum_of_row",
    "swap_cast",
    "swap_fused",
    "swap_hybrid",
    "swap_naive",
    "swap_product_both_kernel",
]
