"""Stencils compiled by Numba, on all cores: each statement is one parallel loop over the slowest direction.

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in host memory. Every function raises ``CourseError``, before anything is written, when an argument does
not fit.
"""

from numba import njit, prange

from course_pkg.stencil.checks import check_laplacian, check_step, check_work


@njit(parallel=True, fastmath={"contract"})
def _laplacian(u, out):
    nz, ny, nx = u.shape
    six = u.dtype.type(6)
    for k in prange(nz):
        for j in range(ny):
            for i in range(nx):
                total = six * u[k, j, i]
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


def laplacian(u, out):
    """Compute the 7-point Laplacian ``out = A u``; one read and one write a point when planes stay in cache."""
    check_laplacian(u, out, device=False)
    _laplacian(u, out)


# error_model="numpy": a division that may raise cannot be vectorised
@njit(parallel=True, fastmath={"contract"}, error_model="numpy")
def _diffusion_step_2d(T, Cp, factor, out):
    ny, nx = T.shape
    four = T.dtype.type(4)
    for j in prange(ny):
        if j == 0 or j == ny - 1:
            out[j, :] = T[j, :]
        else:
            out[j, 0] = T[j, 0]
            for i in range(1, nx - 1):
                total = T[j, i - 1] + T[j, i + 1] + T[j - 1, i] + T[j + 1, i] - four * T[j, i]
                out[j, i] = T[j, i] + factor * total / Cp[j, i]
            out[j, nx - 1] = T[j, nx - 1]


def diffusion_step_2d(T, Cp, lam, dt, h, out):
    """Compute one fused diffusion step: T and Cp are read once, ``out`` is written once."""
    check_step(2, T, Cp, lam, dt, h, out, device=False)
    _diffusion_step_2d(T, Cp, T.dtype.type(dt * lam / h**2), out)


@njit(parallel=True, fastmath={"contract"}, error_model="numpy")
def _diffusion_step_3d(T, Cp, factor, out):
    nz, ny, nx = T.shape
    six = T.dtype.type(6)
    for k in prange(nz):
        if k == 0 or k == nz - 1:
            out[k, :, :] = T[k, :, :]
        else:
            out[k, 0, :] = T[k, 0, :]
            out[k, ny - 1, :] = T[k, ny - 1, :]
            for j in range(1, ny - 1):
                out[k, j, 0] = T[k, j, 0]
                for i in range(1, nx - 1):
                    total = T[k, j, i - 1] + T[k, j, i + 1] + T[k, j - 1, i] + T[k, j + 1, i]
                    total += T[k - 1, j, i] + T[k + 1, j, i] - six * T[k, j, i]
                    out[k, j, i] = T[k, j, i] + factor * total / Cp[k, j, i]
                out[k, j, nx - 1] = T[k, j, nx - 1]


def diffusion_step_3d(T, Cp, lam, dt, h, out):
    """Compute one fused diffusion step in three dimensions; two reads and one write a point."""
    check_step(3, T, Cp, lam, dt, h, out, device=False)
    _diffusion_step_3d(T, Cp, T.dtype.type(dt * lam / h**2), out)


@njit(parallel=True, fastmath={"contract"}, error_model="numpy")
def _flux(T, minus_lam_over_h, qx, qy):
    ny, nx = T.shape
    for j in prange(ny):
        for i in range(nx - 1):
            qx[j, i] = minus_lam_over_h * (T[j, i + 1] - T[j, i])
    for j in prange(ny - 1):
        for i in range(nx):
            qy[j, i] = minus_lam_over_h * (T[j + 1, i] - T[j, i])


@njit(parallel=True, fastmath={"contract"}, error_model="numpy")
def _divergence(qx, qy, Cp, over_h, dTdt):
    ny, nx = Cp.shape
    for j in prange(ny):
        for i in range(nx):
            if 0 < j < ny - 1 and 0 < i < nx - 1:
                dTdt[j, i] = -over_h * (qx[j, i] - qx[j, i - 1] + qy[j, i] - qy[j - 1, i]) / Cp[j, i]
            else:
                dTdt[j, i] = 0


@njit(parallel=True, fastmath={"contract"})
def _update(T, dt, dTdt, out):
    for j in prange(T.shape[0]):
        for i in range(T.shape[1]):
            out[j, i] = T[j, i] + dt * dTdt[j, i]


def diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work):
    """Compute the same step in four statements; 11 passes over memory.

    ``work`` holds ``qx`` (ny, nx - 1), ``qy`` (ny - 1, nx) and ``dTdt`` (ny, nx).
    """
    check_step(2, T, Cp, lam, dt, h, out, device=False)
    check_work(T, Cp, out, work, device=False)
    qx, qy, dTdt = work
    real = T.dtype.type
    _flux(T, real(-lam / h), qx, qy)
    _divergence(qx, qy, Cp, real(1 / h), dTdt)
    _update(T, real(dt), dTdt, out)
