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
from course_pkg.spmv.gpu_numba.rows import (
    spmv_csr_scalar,
    spmv_csr_scalar_kernel,
    spmv_csr_vector,
    spmv_csr_vector_kernel,
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
    "load_products",
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
]
