"""Stencils as CUDA kernels."""

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

__all__ = [
    "BLOCK_2D",
    "BLOCK_3D",
    "diffusion_step_2d",
    "diffusion_step_2d_four_statements",
    "diffusion_step_2d_kernel",
    "diffusion_step_3d",
    "diffusion_step_3d_kernel",
    "divergence_kernel",
    "flux_x_kernel",
    "flux_y_kernel",
    "laplacian_flat",
    "laplacian_flat_kernel",
    "laplacian_naive",
    "laplacian_naive_kernel",
    "update_kernel",
]
