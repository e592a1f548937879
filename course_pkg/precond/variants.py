"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from course_pkg.core import Library, Variants, variant_of
from course_pkg.precond import cost

EVERYWHERE = (Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY)
STEP, PRODUCT = ("jacobi_plain_kernel", 4), ("spmv_csr_vector_kernel", 4)

_variant = variant_of("precond", example={"n": 4096, "nnz": 30_000})
VARIANTS = Variants(
    _variant("precondition", "identity", "a copy", cost.identity, EVERYWHERE, kernels=("scale_kernel",)),
    _variant(
        "precondition",
        "diagonal",
        "Jacobi or ℓ1-Jacobi: a division, and no product",
        cost.diagonal,
        EVERYWHERE,
        kernels=("divide_kernel",),
    ),
    _variant(
        "precondition",
        "chebyshev",
        "a polynomial in A: for each degree, a step of Jacobi's method and a map",
        cost.chebyshev,
        EVERYWHERE,
        kernels=("divide_kernel", "scale_kernel", STEP, "advance_kernel"),
    ),
    _variant(
        "precondition",
        "vcycle",
        "algebraic multigrid: products with smaller and smaller matrices",
        cost.vcycle,
        EVERYWHERE,
        kernels=("divide_kernel", STEP, "difference_kernel", PRODUCT, "add_kernel"),
    ),
)
