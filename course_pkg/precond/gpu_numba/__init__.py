"""Preconditioners as CUDA kernels: ``maps`` holds the kernels, ``apply`` the functions that launch them.

The variants, each with its idea, are listed in ``course_pkg/precond/variants.py``. Products are launched by
``course_pkg/spmv/gpu_numba``. If an argument does not fit, a function raises ``CourseError`` before anything is
written. A launch does not synchronise.
"""

from course_pkg.precond.gpu_numba.apply import (
    precondition_chebyshev,
    precondition_diagonal,
    precondition_identity,
    precondition_vcycle,
)
from course_pkg.precond.gpu_numba.maps import (
    THREADS,
    add_kernel,
    advance_kernel,
    difference_kernel,
    divide_kernel,
    scale_kernel,
)
from course_pkg.spmv.gpu_numba import jacobi_plain_kernel, spmv_csr_vector_kernel

__all__ = [
    "THREADS",
    "add_kernel",
    "advance_kernel",
    "difference_kernel",
    "divide_kernel",
    "jacobi_plain_kernel",
    "precondition_chebyshev",
    "precondition_diagonal",
    "precondition_identity",
    "precondition_vcycle",
    "scale_kernel",
    "spmv_csr_vector_kernel",
]
