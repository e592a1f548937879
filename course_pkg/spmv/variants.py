"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from course_pkg.core import Library, Variants, variant_of
from course_pkg.spmv import cost
from course_pkg.spmv.formats import Csr, CsrBalanced, Ell, EllR, SellCSigma

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY

_variant = variant_of("spmv")
VARIANTS = Variants(
    _variant(
        "spmv",
        "",
        "consecutive rows per core, with equal shares of nonzeros and rows; or the library's own product",
        cost.csr,
        (CPU, CUPY),
        rivals={Library.SCIPY: "scipy_csr", Library.PYTORCH: "torch_csr"},
    ),
    _variant("spmv", "csr_scalar", "one thread per row of CSR", cost.csr),
    _variant(
        "spmv",
        "csr_vector",
        "2 to 32 lanes per row of CSR, which read neighbours and add up by shuffles",
        cost.csr,
        kernels=(("spmv_csr_vector_kernel", 32),),
    ),
    _variant(
        "spmv",
        "csr_balanced",
        "tiles of equally many nonzeros and ends of rows: products in shared memory, then sums by rows",
        cost.csr_balanced,
        kernels=(("spmv_csr_balanced_kernel", "ITEMS"), "add_carries_kernel"),
    ),
    _variant("spmv", "ell", "one thread per row of a table that is stored column by column", cost.ell),
    _variant("spmv", "ellr", "as ell, with row lengths: nobody reads the padding", cost.ellr),
    _variant(
        "spmv",
        "sell",
        "slices of rows of similar length, each a table of its own; several nonzeros asked for at a time",
        cost.sell,
        kernels=(("spmv_sell_kernel", "CHUNK", "UNROLL", True),),
    ),
)
# the format that a variant's functions take, by the name of the function
FORMATS = {
    "spmv": Csr,
    "spmv_csr_scalar": Csr,
    "spmv_csr_vector": Csr,
    "spmv_csr_balanced": CsrBalanced,
    "spmv_ell": Ell,
    "spmv_ellr": EllR,
    "spmv_sell": SellCSigma,
}
