"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from dataclasses import dataclass
from functools import partial

from course_pkg.core import Library, Variant, Variants
from course_pkg.sstep import cost

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
EVERYWHERE = (CPU, NUMPY, CUDA, CUPY)
FUSED = tuple(("laplacian_recurrence_kernel", terms) for terms in (0, 1, 2))
GRAM = (
    *(("gram_warps_kernel", 4, first) for first in (1, 0)),
    *(("gram_kernel", 20, first) for first in (1, 0)),
    ("finish_gram_kernel", 5),
)


@dataclass(frozen=True)
class Operation(Variant):
    """A method, or one of the operations of its passes.

    Attributes
    ----------
    coefficients : tuple of str
        The attributes of a ``BlockProblem`` that an update takes as its coefficients: it writes the new block, x and r.
        Empty for what adds up numbers.

    Examples
    --------
    >>> VARIANTS["update_block"].coefficients, VARIANTS["gram"].coefficients
    (('beta', 'alpha'), ())
    """

    coefficients: tuple[str, ...] = ()

    def results(self, arguments: tuple) -> tuple:
        """Return those arguments of an operation that it writes: of an update x, r and the new block, else the sums."""
        return arguments[-3:] if self.coefficients else arguments[-1:]


_variant = partial(Operation, "sstep", example={"n": 4096, "shape": (8, 16, 32)})
VARIANTS = Variants(
    _variant("recurrence", "", "a map of three vectors", cost.recurrence, EVERYWHERE),
    _variant(
        "laplacian_recurrence",
        "",
        "the Laplacian and the recurrence of a basis in one sweep",
        cost.laplacian_recurrence,
        EVERYWHERE,
        kernels=FUSED,
    ),
    _variant(
        "moments",
        "",
        "all dot products of a pass from one sweep; by a library, three calls",
        cost.moments,
        EVERYWHERE,
        arrays=cost.moments_by_library,
        kernels=(("moments_kernel", 4), "finish_kernel"),
    ),
    _variant(
        "gram",
        "",
        "the whole Gram matrix from one sweep, a warp for each tile; by a library, a product for each pair of halves",
        cost.gram,
        EVERYWHERE,
        arrays=cost.gram_by_library,
        kernels=GRAM,
    ),
    _variant(
        "update_block",
        "",
        "block times beta, then times alpha, the fresh row in registers; by a library, four calls",
        cost.update_block,
        EVERYWHERE,
        arrays=cost.update_block_by_library,
        coefficients=("beta", "alpha"),
        kernels=(("update_block_kernel", 4), ("update_block_warps_kernel", 20)),
    ),
    _variant(
        "project_block",
        "",
        "both blocks times coefficients, and x and r moved, in one sweep; by a library, eight calls",
        cost.project_block,
        EVERYWHERE,
        arrays=cost.project_block_by_library,
        coefficients=("C", "a"),
        kernels=(("project_block_kernel", 4), ("project_block_warps_kernel", 20)),
    ),
    _variant(
        "pcg",
        "",
        "two reductions for each iteration",
        cost.pcg,
        EVERYWHERE,
        kernels=("follow_kernel", "pcg_alpha_kernel", "pcg_beta_kernel", ("laplacian_recurrence_kernel", 0)),
        result="x0",
        called="CG, by operations",
    ),
    _variant(
        "pfcg",
        "",
        "one reduction for each iteration, and one sweep of updates",
        cost.pfcg,
        EVERYWHERE,
        kernels=(
            ("laplacian_recurrence_kernel", 0),
            ("gram_warps_kernel", 1, 0),
            "pfcg_scalars_kernel",
            ("update_block_kernel", 1),
        ),
        result="x0",
        called="CG, one sum",
    ),
    _variant(
        "pcg_sstep_moments",
        "",
        "one reduction of 2 s moments for s iterations",
        cost.pcg_sstep_moments,
        EVERYWHERE,
        kernels=(*FUSED[:2], ("moments_kernel", 4), "finish_kernel", ("update_block_kernel", 4)),
        result="x0",
        called="moments",
    ),
    _variant(
        "pcg_sstep",
        "",
        "one Gram matrix for s iterations, in a basis that stays well conditioned",
        cost.pcg_sstep,
        EVERYWHERE,
        kernels=(*FUSED, *GRAM, ("project_block_kernel", 4)),
        result="x0",
        called="stable",
    ),
)
METHODS = tuple(v for v in VARIANTS if v.result == "x0")  # a solve returns its first guess, changed
