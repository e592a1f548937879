"""Stencils as CUDA kernels.

The variants, each with its idea, are listed in ``course_pkg/stencil/variants.py``. Each file holds one idea: ``plain``,
``tiled`` and ``marching`` for the Laplacian, ``diffusion_2d`` and ``diffusion_3d`` for the diffusion steps. The
docstring of each kernel says what differs from the kernel before it, and why.

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in GPU memory. If an argument does not fit, a function raises ``CourseError`` before anything is written. A
launch does not synchronise. Options of the launchers:

threads_per_block : tuple of int
    Threads of a block along x, y (and z), at most 1024 in all; 1 in the direction in which threads march.
planes, rows : int, at least 1
    Number of planes or rows through which a thread marches.
padding : int
    Columns added to each row of a tile.
"""

from course_pkg.stencil.gpu_numba.cross import BLOCK_CROSS, cross_mean_tiled, cross_mean_tiled_kernel
from course_pkg.stencil.gpu_numba.diffusion_2d import (
    BLOCK_MARCHING_2D,
    BLOCK_VECTORISED_2D,
    ROWS_MARCHING,
    ROWS_VECTORISED,
    diffusion_step_2d_marching,
    diffusion_step_2d_marching_kernel,
    diffusion_step_2d_marching_tiled,
    diffusion_step_2d_marching_tiled_kernel,
    diffusion_step_2d_tiled,
    diffusion_step_2d_tiled_kernel,
    diffusion_step_2d_vectorised,
    diffusion_step_2d_vectorised_kernel,
)
from course_pkg.stencil.gpu_numba.diffusion_3d import (
    BLOCK_VECTORISED_3D,
    PLANES_VECTORISED_3D,
    diffusion_step_3d_marching,
    diffusion_step_3d_marching_kernel,
    diffusion_step_3d_marching_tiled,
    diffusion_step_3d_marching_tiled_kernel,
    diffusion_step_3d_tiled,
    diffusion_step_3d_tiled_kernel,
    diffusion_step_3d_vectorised,
    diffusion_step_3d_vectorised_kernel,
)
from course_pkg.stencil.gpu_numba.marching import (
    BLOCK_MARCHING,
    BLOCK_VECTORISED,
    PLANES_MARCHING,
    laplacian_marching,
    laplacian_marching_kernel,
    laplacian_marching_tiled,
    laplacian_marching_tiled_kernel,
    laplacian_vectorised,
    laplacian_vectorised_kernel,
    launch_marching,
    launch_vectorised,
)
from course_pkg.stencil.gpu_numba.plain import (
    BLOCK_2D,
    BLOCK_3D,
    diffusion_step_2d,
    diffusion_step_2d_four_statements,
    diffusion_step_2d_kernel,
    diffusion_step_3d,
    diffusion_step_3d_kernel,
    divergence_kernel,
    flux_x_kernel,
    flux_y_kernel,
    laplacian_flat,
    laplacian_flat_kernel,
    laplacian_naive,
    laplacian_naive_kernel,
    update_kernel,
)
from course_pkg.stencil.gpu_numba.strided import (
    THREADS_STRIDED,
    centre_strided,
    centre_strided_kernel,
    centre_strided_pairs,
    centre_strided_pairs_kernel,
)
from course_pkg.stencil.gpu_numba.tiled import (
    BLOCK_TILED,
    centre_flat,
    centre_flat_kernel,
    centre_pairs,
    centre_pairs_kernel,
    centre_tiled,
    centre_tiled_halo,
    centre_tiled_halo_kernel,
    centre_tiled_kernel,
    laplacian_tiled,
    laplacian_tiled_kernel,
)

__all__ = [
    "BLOCK_2D",
    "BLOCK_3D",
    "BLOCK_CROSS",
    "BLOCK_MARCHING",
    "BLOCK_MARCHING_2D",
    "BLOCK_TILED",
    "BLOCK_VECTORISED",
    "BLOCK_VECTORISED_2D",
    "BLOCK_VECTORISED_3D",
    "PLANES_MARCHING",
    "PLANES_VECTORISED_3D",
    "ROWS_MARCHING",
    "ROWS_VECTORISED",
    "THREADS_STRIDED",
    "centre_flat",
    "centre_flat_kernel",
    "centre_pairs",
    "centre_pairs_kernel",
    "centre_strided",
    "centre_strided_kernel",
    "centre_strided_pairs",
    "centre_strided_pairs_kernel",
    "centre_tiled",
    "centre_tiled_halo",
    "centre_tiled_halo_kernel",
    "centre_tiled_kernel",
    "cross_mean_tiled",
    "cross_mean_tiled_kernel",
    "diffusion_step_2d",
    "diffusion_step_2d_four_statements",
    "diffusion_step_2d_kernel",
    "diffusion_step_2d_marching",
    "diffusion_step_2d_marching_kernel",
    "diffusion_step_2d_marching_tiled",
    "diffusion_step_2d_marching_tiled_kernel",
    "diffusion_step_2d_tiled",
    "diffusion_step_2d_tiled_kernel",
    "diffusion_step_2d_vectorised",
    "diffusion_step_2d_vectorised_kernel",
    "diffusion_step_3d",
    "diffusion_step_3d_kernel",
    "diffusion_step_3d_marching",
    "diffusion_step_3d_marching_kernel",
    "diffusion_step_3d_marching_tiled",
    "diffusion_step_3d_marching_tiled_kernel",
    "diffusion_step_3d_tiled",
    "diffusion_step_3d_tiled_kernel",
    "diffusion_step_3d_vectorised",
    "diffusion_step_3d_vectorised_kernel",
    "divergence_kernel",
    "flux_x_kernel",
    "flux_y_kernel",
    "laplacian_flat",
    "laplacian_flat_kernel",
    "laplacian_marching",
    "laplacian_marching_kernel",
    "laplacian_marching_tiled",
    "laplacian_marching_tiled_kernel",
    "laplacian_naive",
    "laplacian_naive_kernel",
    "laplacian_tiled",
    "laplacian_tiled_kernel",
    "laplacian_vectorised",
    "laplacian_vectorised_kernel",
    "launch_marching",
    "launch_vectorised",
    "update_kernel",
]
