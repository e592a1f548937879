"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from dataclasses import dataclass
from functools import partial

from course_pkg.core import Library, Variant, Variants
from course_pkg.stencil import cost

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
EVERYWHERE = (CPU, NUMPY, CUDA, CUPY)


@dataclass(frozen=True)
class Sweep(Variant):
    """A variant of an operation on a grid.

    Attributes
    ----------
    offset_bits : int
        Bits of the offsets by which its Numba CUDA kernels find a point. With 32, its launcher refuses a grid of more
        points than they can count.

    Examples
    --------
    >>> VARIANTS["laplacian_naive"].offset_bits, VARIANTS["laplacian_flat"].offset_bits
    (64, 32)
    """

    offset_bits: int = 64


_variant = partial(Sweep, "stencil", example={"shape": (8, 16, 32)})
_narrow = partial(_variant, offset_bits=32)


def _tiled(function: str, block: str) -> tuple:
    """Return the kernel of a tiled variant, which is compiled for its block."""
    return ((f"{function}_kernel", block),)


def _steps(step: str, block: str, queue: str) -> tuple:
    """Return the diffusion steps of a plate or of a block, by the names of their blocks of threads."""
    return (
        _variant(
            step, "", "all in one sweep", cost.diffusion_step, EVERYWHERE, arrays=cost.diffusion_step_arrays
        ),
        _narrow(
            step,
            "tiled",
            "neighbours through a tile with halo in shared memory",
            cost.diffusion_step,
            kernels=_tiled(f"{step}_tiled", block),
        ),
        _narrow(
            step,
            "marching",
            "threads march along the last direction with a queue in registers",
            cost.diffusion_step,
        ),
        _narrow(
            step,
            "marching_tiled",
            "as marching, but neighbours across the direction of march come through shared memory",
            cost.diffusion_step,
            kernels=_tiled(f"{step}_marching_tiled", queue),
        ),
        _narrow(
            step,
            "vectorised",
            "the queue with two points per thread and 128-bit accesses",
            cost.diffusion_step,
            width=2,
        ),
    )


VARIANTS = Variants(
    _variant(
        "laplacian",
        "",
        "strips of rows that stay in a core's cache; in NumPy and CuPy, array statements",
        cost.laplacian,
        (CPU, NUMPY, CUPY),
        arrays=cost.laplacian_arrays,
    ),
    _variant("laplacian", "naive", "one thread per point, with three-dimensional indices", cost.laplacian),
    _narrow(
        "laplacian", "flat", "as naive, with 32-bit offsets into the array seen as a vector", cost.laplacian
    ),
    _narrow(
        "laplacian",
        "tiled",
        "neighbours through a tile with halo in shared memory",
        cost.laplacian,
        kernels=_tiled("laplacian_tiled", "BLOCK_TILED"),
    ),
    _narrow("laplacian", "marching", "threads march along z with a queue in registers", cost.laplacian),
    _narrow(
        "laplacian",
        "marching_tiled",
        "as marching, but neighbours in the plane come through shared memory",
        cost.laplacian,
        kernels=_tiled("laplacian_marching_tiled", "BLOCK_MARCHING"),
    ),
    _narrow(
        "laplacian",
        "vectorised",
        "the queue with two points per thread and 128-bit accesses",
        cost.laplacian,
        (CUDA, CUPY),
        width=2,
    ),
    _variant(
        "laplacian", "elementwise", "one element-wise kernel from an expression", cost.laplacian, (CUPY,)
    ),
    _variant(
        "laplacian",
        "slices",
        "shifted slices of a padded array, fused by a compiler of array statements",
        cost.laplacian,
        (),
        rivals={Library.JAX: "jax_slices", Library.PYTORCH: "torch_slices"},
    ),
    # the same kernels without neighbours, to show the cost of each step between the variants above
    _narrow("centre", "flat", "out = 6 u, with the threads and offsets of the flat Laplacian", cost.centre),
    _narrow(
        "centre",
        "tiled",
        "through a tile in shared memory",
        cost.centre,
        kernels=_tiled("centre_tiled", "BLOCK_TILED"),
    ),
    _narrow(
        "centre",
        "tiled_halo",
        "through a tile whose halo is loaded, too, but not used",
        cost.centre,
        kernels=_tiled("centre_tiled_halo", "BLOCK_TILED"),
    ),
    _narrow("centre", "pairs", "two points per thread", cost.centre, width=2),
    _narrow("centre", "strided", "few threads that stride through the grid", cost.centre),
    _narrow("centre", "strided_pairs", "as strided, two points at a time", cost.centre, width=2),
    _variant(
        "cross_mean",
        "tiled",
        "through a tile with any halo and padding",
        cost.cross_mean,
        kernels=(("cross_mean_tiled_kernel", "BLOCK_CROSS", 1, 0),),
        example={"shape": (16, 32), "halo": 2},
    ),
    *_steps("diffusion_step_2d", "BLOCK_2D", "BLOCK_MARCHING_2D"),
    _variant(
        "diffusion_step_2d",
        "four_statements",
        "fluxes, divergence and update as separate kernels, with fields in between",
        cost.diffusion_step_2d_four_statements,
        EVERYWHERE,
        arrays=cost.diffusion_step_2d_arrays,
        kernels=("flux_x_kernel", "flux_y_kernel", "divergence_kernel", "update_kernel"),
    ),
    *_steps("diffusion_step_3d", "BLOCK_3D", "BLOCK_MARCHING"),
)
