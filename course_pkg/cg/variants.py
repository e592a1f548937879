"""The methods of this topic, each listed once: its idea, the plan that gives its cost, and its libraries."""

from dataclasses import dataclass, field
from functools import partial

from course_pkg.cg import cost, fusion, precision
from course_pkg.core import Library, Variant, Variants
from course_pkg.core.variant import unknown

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
# a stencil knows its matrix, and is solved without a preconditioner
COMMON = {"example": {"shape": (8, 16, 32)}, "result": "x0", "known": ("A", "M")}


@dataclass(frozen=True)
class Method(Variant):
    """A variant of conjugate gradient; its cost is that of an iteration.

    Attributes
    ----------
    plan : Plan
        Says which containers of the program share a kernel.
    launches : tuple of str
        The launches over whole fields that the kernels of the plan are, in turn, as the cases of ``traffic.py`` name
        them. Those of deferred x are of two iterations.

    Examples
    --------
    >>> chosen = VARIANTS["cg_two_kernel"]
    >>> chosen.plan.passes, chosen.cost((10, 10, 10)).bytes / 1000  # fields read and written; bytes per point
    ((5, 3), 64.0)
    """

    plan: fusion.Plan | None = field(default=None, hash=False)
    launches: tuple[str, ...] = ()


def _method(name, idea, plan, launches, kernels, libraries=(CPU, CUDA), called="") -> Method:
    return Method(
        "cg",
        "cg",
        name,
        idea,
        partial(cost.cost, plan),
        libraries,
        arrays=unknown,
        kernels=kernels,
        plan=plan,
        launches=launches,
        called=called,
        **COMMON,
    )


def _rival(name, idea, its_cost, **rivals) -> Variant:
    by_library = {Library[library.upper()]: function for library, function in rivals.items()}
    return Variant("cg", "cg", name, idea, its_cost, (), arrays=unknown, rivals=by_library)


VARIANTS = Variants(
    _method(
        "baseline",
        "one kernel per container",
        fusion.BASELINE,
        ("update_p", "matvec", "dot_pAp", "update_x_and_r", "dot_rr"),
        (
            "update_p_kernel",
            "matvec_kernel",
            "dot_kernel",
            "alpha_kernel",
            "update_x_and_r_kernel",
            "beta_kernel",
        ),
        (CPU, CUDA, CUPY),
    ),
    _method(
        "map_stencil_fused",
        "updateP inside matVec",
        fusion.MAP_STENCIL_FUSED,
        ("map_stencil", "dot_pAp", "update_x_and_r", "dot_rr"),
        ("map_stencil_kernel", "dot_kernel", "alpha_kernel", "update_x_and_r_kernel", "beta_kernel"),
    ),
    _method(
        "fused_dots",
        "dots beside their fields",
        fusion.FUSED_DOTS,
        ("update_p", "matvec_dot", "update_x_and_r_dot"),
        ("update_p_kernel", "matvec_dot_kernel", "alpha_kernel", "update_x_and_r_dot_kernel", "beta_kernel"),
    ),
    _method(
        "two_kernel",
        "both; A p is never stored",
        fusion.TWO_KERNEL,
        ("search", "advance"),
        ("search_kernel", "alpha_kernel", ("advance_kernel", 1), "beta_kernel"),
        called="CG, two kernels",
    ),
    _method(
        "deferred_x",
        "x every second iteration",
        fusion.DEFERRED_X,
        ("search", "advance_0", "search", "advance_2"),
        ("search_kernel", "alpha_kernel", ("advance_kernel", 0), ("advance_kernel", 2), "beta_kernel"),
        (CUDA,),
        called="CG, two kernels, x later",
    ),
    Variant(
        "cg",
        "cg",
        "mixed",
        "r and p in float32; x and the true residual in float64",
        partial(cost.cost, precision.MIXED),
        (CPU, CUDA),
        arrays=unknown,
        kernels=(
            "search_mixed_kernel",
            "alpha_kernel",
            "advance_mixed_kernel",
            "beta_mixed_kernel",
            "gather_kernel",
            "refresh_kernel",
            "settle_kernel",
        ),
        dtypes=("float64",),
        **COMMON,
    ),
    _rival("csr", "a stored matrix", cost.with_matrix, scipy="scipy_csr", cupy="cupy_csr"),
    _rival("matrix_free", "CuPy's method with our stencil", unknown, cupy="cupy_matrix_free"),
    _rival("slices", "JAX's method with slices of a padded array", unknown, jax="jax_slices"),
)
MIXED = VARIANTS["cg_mixed"]
# methods of one precision; they differ only in which containers share a kernel
METHODS = tuple(v for v in VARIANTS if isinstance(v, Method))
