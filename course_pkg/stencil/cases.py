"""Launches of every kernel of the stencil topic, at sizes that are a multiple of the block and at others."""

import numpy as np

from course_pkg.device.case import Cases, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.stencil import gpu_numba as stencil
from course_pkg.stencil.problem import HeatProblem

cases = Cases()


def _field(shape, dtype="float64"):
    return HeatProblem.random(shape, dtype).T


def _flat_laplacian(shape):
    nz, ny, nx = shape
    u = _field(shape)
    return u.reshape(-1), np.uint32(nx), np.uint32(ny), np.uint32(nz), zeros(u.size)


def _step(shape):
    p = HeatProblem.random(shape)
    return p.T, p.Cp, p.T.dtype.type(p.dt * p.lam / p.h**2), zeros(shape)


BOXES = {"64": (64, 64, 64), "odd": (35, 47, 61)}
PLANES = {"128": (128, 128), "odd": (61, 75)}

for size, shape in BOXES.items():
    grid = blocks_for(shape, stencil.BLOCK_3D)
    cases.add(
        stencil.laplacian_naive_kernel,
        grid,
        stencil.BLOCK_3D,
        lambda shape=shape: (_field(shape), zeros(shape)),
        f"7 points, {shape}: at the boundary, lanes are switched off",
        name=f"laplacian_naive_{size}",
    )
    cases.add(
        stencil.laplacian_flat_kernel,
        grid,
        stencil.BLOCK_3D,
        lambda shape=shape: _flat_laplacian(shape),
        f"7 points with 32-bit offsets, {shape}",
        name=f"laplacian_flat_{size}",
    )
    cases.add(
        stencil.diffusion_step_3d_kernel,
        grid,
        stencil.BLOCK_3D,
        lambda shape=shape: _step(shape),
        f"the fused step in a block, {shape}",
        name=f"diffusion_step_3d_{size}",
    )
cases.add(
    stencil.laplacian_naive_kernel,
    blocks_for(BOXES["odd"], stencil.BLOCK_3D),
    stencil.BLOCK_3D,
    lambda: (_field(BOXES["odd"], "float32"), zeros(BOXES["odd"], "float32")),
    "7 points in fp32",
    name="laplacian_naive_odd_float32",
)


def _fluxes(shape):
    """Return the fields that the four kernels of a plate take: T, fluxes in x and y, Cp, and dT/dt."""
    p = HeatProblem.random(shape)
    ny, nx = shape
    return p, zeros((ny, nx - 1)), zeros((ny - 1, nx)), zeros(shape)


def _flux_x(shape):
    p, qx, _, _ = _fluxes(shape)
    return p.T, np.float64(-p.lam / p.h), qx


def _flux_y(shape):
    p, _, qy, _ = _fluxes(shape)
    return p.T, np.float64(-p.lam / p.h), qy


def _divergence(shape):
    p, qx, qy, dTdt = _fluxes(shape)
    qx[...], qy[...] = p.T[:, 1:], p.T[1:]
    return qx, qy, p.Cp, np.float64(-1 / p.h), dTdt


def _update(shape):
    p, _, _, out = _fluxes(shape)
    return p.T, np.float64(p.dt), p.Cp, out


KERNELS_2D = {
    "diffusion_step_2d": (stencil.diffusion_step_2d_kernel, _step),
    "flux_x": (stencil.flux_x_kernel, _flux_x),
    "flux_y": (stencil.flux_y_kernel, _flux_y),
    "divergence": (stencil.divergence_kernel, _divergence),
    "update": (stencil.update_kernel, _update),
}
for size, shape in PLANES.items():
    for operation, (kernel, make) in KERNELS_2D.items():
        cases.add(
            kernel,
            blocks_for(shape, stencil.BLOCK_2D),
            stencil.BLOCK_2D,
            lambda make=make, shape=shape: make(shape),
            f"{operation} in a plate, {shape}",
            name=f"{operation}_{size}",
        )

# variants of the Laplacian on a flat array: kernel, block, planes (0: none), points per thread along x
LAPLACIANS = {
    "centre_flat": (stencil.centre_flat_kernel, (32, 4, 2), 0, 1),
    "centre_pairs": (stencil.centre_pairs_kernel, (32, 4, 2), 0, 2),
    "centre_tiled": (stencil.centre_tiled_kernel((32, 4, 2)), (32, 4, 2), 0, 1),
    "centre_tiled_halo": (stencil.centre_tiled_halo_kernel((32, 4, 2)), (32, 4, 2), 0, 1),
    "laplacian_tiled": (stencil.laplacian_tiled_kernel((32, 4, 2)), (32, 4, 2), 0, 1),
    "laplacian_marching": (stencil.laplacian_marching_kernel, (64, 4, 1), 16, 1),
    "laplacian_marching_tiled": (stencil.laplacian_marching_tiled_kernel((64, 4, 1)), (64, 4, 1), 16, 1),
    "laplacian_vectorised": (stencil.laplacian_vectorised_kernel, (32, 8, 1), 4, 2),
}
LAPLACIAN_CASES = [
    (64, (64, 64, 64), "float64"),
    ("odd", (35, 47, 62), "float64"),
    ("float32", (19, 33, 66), "float32"),
]


def laplacian_args(shape, dtype, planes):
    """Return the arguments of a Laplacian on flat arrays; ``planes``: that a thread marches through (0: none)."""
    u, sizes = _field(shape, dtype), [np.uint32(n) for n in reversed(shape)]
    marching = [np.uint32(planes)] if planes else []
    return u.reshape(-1), *sizes, *marching, zeros(u.size, dtype)


for size, shape, dtype in LAPLACIAN_CASES:
    for variant, (kernel, block, planes, width) in LAPLACIANS.items():
        cases.add(
            kernel,
            blocks_for(shape, block, planes=planes or None, width=width),
            block,
            lambda shape=shape, dtype=dtype, planes=planes: laplacian_args(shape, dtype, planes),
            f"{variant.replace('_', ' ')} on {shape}, {dtype}",
            name=f"{variant}_{size}",
        )

# variants of the diffusion step on flat arrays: kernel, block, rows or planes (0: none), points per thread along x
STEPS_2D = {
    "diffusion_step_2d_tiled": (stencil.diffusion_step_2d_tiled_kernel((32, 8)), (32, 8), 0, 1),
    "diffusion_step_2d_marching": (stencil.diffusion_step_2d_marching_kernel, (128, 1), 16, 1),
    "diffusion_step_2d_marching_tiled": (
        stencil.diffusion_step_2d_marching_tiled_kernel((128, 1)),
        (128, 1),
        16,
        1,
    ),
    "diffusion_step_2d_vectorised": (stencil.diffusion_step_2d_vectorised_kernel, (64, 1), 8, 2),
}
STEPS_3D = {
    "diffusion_step_3d_tiled": (stencil.diffusion_step_3d_tiled_kernel((32, 4, 2)), (32, 4, 2), 0, 1),
    "diffusion_step_3d_marching": (stencil.diffusion_step_3d_marching_kernel, (64, 4, 1), 16, 1),
    "diffusion_step_3d_marching_tiled": (
        stencil.diffusion_step_3d_marching_tiled_kernel((64, 4, 1)),
        (64, 4, 1),
        16,
        1,
    ),
    "diffusion_step_3d_vectorised": (stencil.diffusion_step_3d_vectorised_kernel, (32, 8, 1), 4, 2),
}
STEP_CASES_2D = [
    (128, (128, 128), "float64"),
    ("odd", (61, 74), "float64"),
    ("float32", (33, 142), "float32"),
]


def step_args(shape, dtype, length):
    """Return the arguments of a diffusion step on flat arrays; ``length``: rows or planes of a march (0: none)."""
    p, sizes = HeatProblem.random(shape, dtype), [np.uint32(n) for n in reversed(shape)]
    marching = [np.uint32(length)] if length else []
    factor = p.T.dtype.type(p.dt * p.lam / p.h**2)
    return p.T.reshape(-1), p.Cp.reshape(-1), factor, *sizes, *marching, zeros(p.T.size, dtype)


for variants, sizes in ((STEPS_2D, STEP_CASES_2D), (STEPS_3D, LAPLACIAN_CASES)):
    for size, shape, dtype in sizes:
        for variant, (kernel, block, length, width) in variants.items():
            cases.add(
                kernel,
                blocks_for(shape, block, planes=length or None, width=width),
                block,
                lambda shape=shape, dtype=dtype, length=length: step_args(shape, dtype, length),
                f"{variant.replace('_', ' ')} on {shape}, {dtype}",
                name=f"{variant}_{size}",
            )

for size, shape, dtype in LAPLACIAN_CASES:
    for variant, kernel in (
        ("centre_strided", stencil.centre_strided_kernel),
        ("centre_strided_pairs", stencil.centre_strided_pairs_kernel),
    ):
        cases.add(
            kernel,
            12,
            64,
            lambda shape=shape, dtype=dtype: (_field(shape, dtype).reshape(-1), zeros(np.prod(shape), dtype)),
            f"few threads in strides of the grid, {shape}, {dtype}",
            name=f"{variant}_{size}",
            data_dependent=True,
        )

for block, halo, padding in (((32, 8), 1, 0), ((8, 32), 2, 1), ((16, 16), 1, 1)):
    for size, shape in PLANES.items():
        cases.add(
            stencil.cross_mean_tiled_kernel(block, halo, padding),
            blocks_for(shape, block),
            block,
            lambda shape=shape: (_step(shape)[0], zeros(shape)),
            f"a cross of halo {halo} from a tile loaded together, block {block}, {padding} columns added, {shape}",
            name=f"cross_mean_tiled_{block[0]}x{block[1]}_{halo}_{padding}_{size}",
        )
