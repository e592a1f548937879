"""The plain stencils as CUDA kernels: one thread per point, which reads its neighbours from global memory."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import blocks_for, check_block
from course_pkg.stencil.checks import check_laplacian, check_step, check_work
from course_pkg.stencil.gpu_numba.indexing import flattened

BLOCK_2D = (32, 8)
BLOCK_3D = (32, 4, 2)


@cuda.jit
def laplacian_naive_kernel(u, out):
    """One thread per point. ``u[k, j, i]`` costs address arithmetic in 64 bits for every neighbour."""
    i, j, k = cuda.grid(3)
    nz, ny, nx = u.shape
    if i < nx and j < ny and k < nz:
        total = u.dtype.type(6) * u[k, j, i]
        if i > 0:
            total -= u[k, j, i - 1]
        if i < nx - 1:
            total -= u[k, j, i + 1]
        if j > 0:
            total -= u[k, j - 1, i]
        if j < ny - 1:
            total -= u[k, j + 1, i]
        if k > 0:
            total -= u[k - 1, j, i]
        if k < nz - 1:
            total -= u[k + 1, j, i]
        out[k, j, i] = total


def laplacian_naive(u, out, threads_per_block=BLOCK_3D):
    """Compute the 7-point Laplacian ``out = A u``; compulsory traffic: one read and one write per point.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> laplacian_naive(u, out); out.copy_to_host()[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    check_laplacian(u, out, device=True)
    block = check_block(threads_per_block)
    laplacian_naive_kernel[blocks_for(u.shape, block), block](u, out)


@cuda.jit
def laplacian_flat_kernel(u, nx, ny, nz, out):
    """As the naive kernel, but all addresses are computed from one 32-bit offset ``c``: fewer instructions."""
    i = np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    j = np.uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    k = np.uint32(cuda.blockIdx.z * cuda.blockDim.z + cuda.threadIdx.z)
    if i < nx and j < ny and k < nz:
        plane = np.uint32(nx * ny)
        c = np.uint32(np.uint32(k * plane) + np.uint32(j * nx) + i)
        total = u.dtype.type(6) * u[c]
        if i > 0:
            total -= u[np.uint32(c - np.uint32(1))]
        if i < nx - np.uint32(1):
            total -= u[np.uint32(c + np.uint32(1))]
        if j > 0:
            total -= u[np.uint32(c - nx)]
        if j < ny - np.uint32(1):
            total -= u[np.uint32(c + nx)]
        if k > 0:
            total -= u[np.uint32(c - plane)]
        if k < nz - np.uint32(1):
            total -= u[np.uint32(c + plane)]
        out[c] = total


def laplacian_flat(u, out, threads_per_block=BLOCK_3D):
    """Compute the 7-point Laplacian with 32-bit index arithmetic; at most 2^32 - 1 points.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> laplacian_flat(u, out); out.copy_to_host()[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    u_flat, sizes, out_flat = flattened(u, out)
    block = check_block(threads_per_block)
    laplacian_flat_kernel[blocks_for(u.shape, block), block](u_flat, *sizes, out_flat)


@cuda.jit
def diffusion_step_2d_kernel(T, Cp, factor, out):
    """The fused step: fluxes, divergence and update in one kernel, so that only T, Cp and ``out`` are moved."""
    i, j = cuda.grid(2)
    ny, nx = T.shape
    if i < nx and j < ny:
        if 0 < i < nx - 1 and 0 < j < ny - 1:
            total = T[j, i - 1] + T[j, i + 1] + T[j - 1, i] + T[j + 1, i] - T.dtype.type(4) * T[j, i]
            out[j, i] = T[j, i] + factor * total / Cp[j, i]
        else:
            out[j, i] = T[j, i]


def diffusion_step_2d(T, Cp, lam, dt, h, out, threads_per_block=BLOCK_2D):
    """Compute one fused diffusion step on the GPU; two reads and one write per point, one launch.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), cuda.device_array((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    check_step(2, T, Cp, lam, dt, h, out, device=True)
    factor, block = T.dtype.type(dt * lam / h**2), check_block(threads_per_block, 2)
    diffusion_step_2d_kernel[blocks_for(T.shape, block), block](T, Cp, factor, out)


@cuda.jit
def diffusion_step_3d_kernel(T, Cp, factor, out):
    """The step of ``diffusion_step_2d_kernel`` in space: two more neighbours, below and above."""
    i, j, k = cuda.grid(3)
    nz, ny, nx = T.shape
    if i < nx and j < ny and k < nz:
        if 0 < i < nx - 1 and 0 < j < ny - 1 and 0 < k < nz - 1:
            total = T[k, j, i - 1] + T[k, j, i + 1] + T[k, j - 1, i] + T[k, j + 1, i]
            total += T[k - 1, j, i] + T[k + 1, j, i] - T.dtype.type(6) * T[k, j, i]
            out[k, j, i] = T[k, j, i] + factor * total / Cp[k, j, i]
        else:
            out[k, j, i] = T[k, j, i]


def diffusion_step_3d(T, Cp, lam, dt, h, out):
    """Compute one fused diffusion step in three dimensions; two reads and one write per point, one launch.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 3, 4)), np.ones((3, 3, 4)), cuda.device_array((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out)
    >>> out.copy_to_host()[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    check_step(3, T, Cp, lam, dt, h, out, device=True)
    factor = T.dtype.type(dt * lam / h**2)
    diffusion_step_3d_kernel[blocks_for(T.shape, BLOCK_3D), BLOCK_3D](T, Cp, factor, out)


@cuda.jit
def flux_x_kernel(T, minus_lam_over_h, qx):
    """The first of four statements: its result goes to memory, and the third statement reads it."""
    i, j = cuda.grid(2)
    if j < qx.shape[0] and i < qx.shape[1]:
        qx[j, i] = minus_lam_over_h * (T[j, i + 1] - T[j, i])


@cuda.jit
def flux_y_kernel(T, minus_lam_over_h, qy):
    """As flux_x_kernel, but with the difference along y: T is read a second time."""
    i, j = cuda.grid(2)
    if j < qy.shape[0] and i < qy.shape[1]:
        qy[j, i] = minus_lam_over_h * (T[j + 1, i] - T[j, i])


@cuda.jit
def divergence_kernel(qx, qy, Cp, minus_over_h, dTdt):
    """The third statement reads the fluxes that the first two wrote, and writes dT/dt to memory."""
    i, j = cuda.grid(2)
    ny, nx = dTdt.shape
    if i < nx and j < ny:
        if 0 < i < nx - 1 and 0 < j < ny - 1:
            dTdt[j, i] = minus_over_h * (qx[j, i] - qx[j, i - 1] + qy[j, i] - qy[j - 1, i]) / Cp[j, i]
        else:
            dTdt[j, i] = 0


@cuda.jit
def update_kernel(T, dt, dTdt, out):
    """The last statement reads dT/dt. The fused step needs none of the three intermediate fields."""
    i, j = cuda.grid(2)
    if j < T.shape[0] and i < T.shape[1]:
        out[j, i] = T[j, i] + dt * dTdt[j, i]


def diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work):
    """Compute the same step as four kernels; 11 passes over memory, four launches.

    ``work`` holds ``qx`` (ny, nx - 1), ``qy`` (ny - 1, nx) and ``dTdt`` (ny, nx) in device memory.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), cuda.device_array((3, 4))
    >>> T[1, 1] = 1.0
    >>> work = tuple(cuda.device_array(shape) for shape in ((3, 3), (2, 4), (3, 4)))
    >>> diffusion_step_2d_four_statements(cuda.to_device(T), cuda.to_device(Cp), 1.0, 0.1, 1.0, out, work)
    >>> out.copy_to_host()[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    check_step(2, T, Cp, lam, dt, h, out, device=True)
    check_work(T, Cp, out, work, device=True)
    qx, qy, dTdt = work
    real, blocks = T.dtype.type, blocks_for(T.shape, BLOCK_2D)
    flux_x_kernel[blocks, BLOCK_2D](T, real(-lam / h), qx)
    flux_y_kernel[blocks, BLOCK_2D](T, real(-lam / h), qy)
    divergence_kernel[blocks, BLOCK_2D](qx, qy, Cp, real(-1 / h), dTdt)
    update_kernel[blocks, BLOCK_2D](T, real(dt), dTdt, out)
