"""The variants of this topic, each listed once: its idea, its cost, and the libraries that have a function for it."""

from course_pkg.core import Library, Variants, variant_of
from course_pkg.stencil import cost

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
EVERYWHERE = (CPU, NUMPY, CUDA, CUPY)

_variant = variant_of("stencil")


def _tiled(function: str, block: str) -> tuple:
    """Return the kernel of a tiled variant, which is compiled for its block."""
    return ((f"{function}_kernel", block),)


def _steps(step: str, block: str, queue: str) -> tuple:
    """Return the diffusion steps of a plate or of a block, by the names of their blocks of threads."""
    return (
        _variant(
            step, "", "all in one sweep", cost.diffusion_step, EVERYWHERE, arrays=cost.diffusion_step_arrays
        ),
        _variant(
            step,
            "tiled",
            "neighbours through a tile with halo in shared memory",
            cost.diffusion_step,
            kernels=_tiled(f"{step}_tiled", block),
        ),
        _variant(
            step,
            "marching",
            "threads march along the last direction with a queue in registers",
            cost.diffusion_step,
        ),
        _variant(
            step,
            "marching_tiled",
            "as marching, but neighbours across the direction of march come through shared memory",
            cost.diffusion_step,
            kernels=_tiled(f"{step}_marching_tiled", queue),
        ),
        _variant(
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
    _variant(
        "laplacian", "flat", "as naive, with 32-bit offsets into the array seen as a vector", cost.laplacian
    ),
    _variant(
        "laplacian",
        "tiled",
        "neighbours through a tile with halo in shared memory",
        cost.laplacian,
        kernels=_tiled("laplacian_tiled", "BLOCK_TILED"),
    ),
    _variant("laplacian", "marching", "threads march along z with a queue in registers", cost.laplacian),
    _variant(
        "laplacian",
        "marching_tiled",
        "as marching, but neighbours in the plane come through shared memory",
        cost.laplacian,
        kernels=_tiled("laplacian_marching_tiled", "BLOCK_MARCHING"),
    ),
    _variant(
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
    _variant("centre", "flat", "out = 6 u, with the threads and offsets of the flat Laplacian", cost.centre),
    _variant(
        "centre",
        "tiled",
        "through a tile in shared memory",
        cost.centre,
        kernels=_tiled("centre_tiled", "BLOCK_TILED"),
    ),
    _variant(
        "centre",
        "tiled_halo",
        "through a tile whose halo is loaded, too, but not used",
        cost.centre,
        kernels=_tiled("centre_tiled_halo", "BLOCK_TILED"),
    ),
    _variant("centre", "pairs", "two points per thread", cost.centre, width=2),
    _variant("centre", "strided", "few threads that stride through the grid", cost.centre),
    _variant("centre", "strided_pairs", "as strided, two points at a time", cost.centre, width=2),
    _variant(
        "cross_mean",
        "tiled",
        "through a tile with any halo and padding",
        cost.cross_mean,
        kernels=(("cross_mean_tiled_kernel", "BLOCK_CROSS", 1, 0),),
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
