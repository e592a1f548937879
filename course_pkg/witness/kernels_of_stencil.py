"""Every kernel of the stencil topic, at a size that fits the block and at one that does not."""

import numpy as np

from course_pkg.stencil import gpu_numba as stencil
from course_pkg.stencil.problem import HeatProblem
from course_pkg.witness.case import Cases, covering, zeros

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
    grid = covering(shape, stencil.BLOCK_3D)
    cases.add(
        stencil.laplacian_naive_kernel,
        grid,
        stencil.BLOCK_3D,
        lambda shape=shape: (_field(shape), zeros(shape)),
        f"7 points, {shape}: boundaries switch lanes off",
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
    covering(BOXES["odd"], stencil.BLOCK_3D),
    stencil.BLOCK_3D,
    lambda: (_field(BOXES["odd"], "float32"), zeros(BOXES["odd"], "float32")),
    "7 points in fp32",
    name="laplacian_naive_odd_float32",
)


def _fluxes(shape):
    """Return a plane's arguments by kernel: T, fluxes in x and y, Cp, and their derivative in time."""
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


FLAT_KERNELS = {
    "diffusion_step_2d": (stencil.diffusion_step_2d_kernel, _step),
    "flux_x": (stencil.flux_x_kernel, _flux_x),
    "flux_y": (stencil.flux_y_kernel, _flux_y),
    "divergence": (stencil.divergence_kernel, _divergence),
    "update": (stencil.update_kernel, _update),
}
for size, shape in PLANES.items():
    for operation, (kernel, make) in FLAT_KERNELS.items():
        cases.add(
            kernel,
            covering(shape, stencil.BLOCK_2D),
            stencil.BLOCK_2D,
            lambda make=make, shape=shape: make(shape),
            f"{operation} in a plate, {shape}",
            name=f"{operation}_{size}",
        )
