"""Permutations of vectors (``vectors``) and of matrices in compressed rows (``matrices``) as CUDA kernels.

The variants, each with its idea, are listed in ``course_pkg/permutation/variants.py``. Arguments and equations are
those of ``reference.py``; the result goes to ``out``, and all arrays are in GPU memory. If dtype, shape or memory do
not fit, a function raises ``CourseError`` before anything is written. The *values* of an index vector are not checked,
because that would take longer than the launch. ``checks.check_permutation`` and ``checks.check_csr`` check them on the
host.
"""

from course_pkg.permutation.gpu_numba.matrices import (
    BLOCK_ROWS,
    empty_like,
    permute_rows,
    permute_rows_kernel,
    permute_symmetric,
    permute_symmetric_kernel,
    row_lengths_kernel,
    to_device,
)
from course_pkg.permutation.gpu_numba.vectors import (
    THREADS_PER_BLOCK,
    invert,
    invert_kernel,
    permute_vector,
    permute_vector_kernel,
    unpermute_vector,
    unpermute_vector_kernel,
)

__all__ = [
    "BLOCK_ROWS",
    "THREADS_PER_BLOCK",
    "empty_like",
    "invert",
    "invert_kernel",
    "permute_rows",
    "permute_rows_kernel",
    "permute_symmetric",
    "permute_symmetric_kernel",
    "permute_vector",
    "permute_vector_kernel",
    "row_lengths_kernel",
    "to_device",
    "unpermute_vector",
    "unpermute_vector_kernel",
]
