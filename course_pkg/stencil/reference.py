"""Stencils in plain NumPy: the oracle of every other file in this topic.

All quantities are dimensionless. Shapes and dtypes, for every file of this topic:

u, T, Cp, out : array, shape (ny, nx) or (nz, ny, nx), float64 or float32
    x is contiguous; at least 3 points in each direction. ``out`` is overwritten and shares no memory with the others.
lam, dt, h : float
    Conductivity, time step and grid spacing, positive. An explicit step is stable up to
    ``dt = h² min(Cp) / (2 d lam)`` in d dimensions (R. Courant, K. Friedrichs, H. Lewy, Math. Ann. 100, 1928).

The Laplacian here is the matrix A of Poisson's equation times h²: 6 on the diagonal and -1 for each neighbour. Outside
the grid, u is zero.
"""

import numpy as np


def laplacian(u, out):
    """Compute the 7-point Laplacian ``out = A u``: 6 u minus the six neighbours, zero outside the grid.

    Parameters
    ----------
    u, out : ndarray, shape (nz, ny, nx)
        Different arrays in host memory.

    Examples
    --------
    >>> u, out = np.ones((3, 3, 4)), np.empty((3, 3, 4))
    >>> laplacian(u, out); out[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    np.multiply(u, 6, out=out)
    for axis in range(3):
        lower, upper = _shifted(axis, 3)
        out[upper] -= u[lower]
        out[lower] -= u[upper]


def cross_mean(u, halo, out):
    """Compute the mean over a cross of ``4 halo + 1`` points; u is zero outside the grid.

    The cross reaches ``halo`` points to each side along both axes.

    Parameters
    ----------
    u, out : ndarray, shape (ny, nx)
    halo : int, at least 1

    Examples
    --------
    >>> u, out = np.ones((3, 5)), np.empty((3, 5))
    >>> cross_mean(u, 1, out); out[1]
    array([0.8, 1. , 1. , 1. , 0.8])
    """
    padded = np.pad(u, halo)
    ny, nx = u.shape
    out[:] = u
    for shift in (*range(-halo, 0), *range(1, halo + 1)):
        rows, columns = slice(halo, halo + ny), slice(halo, halo + nx)
        out += padded[rows, halo + shift : halo + shift + nx]
        out += padded[halo + shift : halo + shift + ny, columns]
    out /= u.dtype.type(4 * halo + 1)


def diffusion_step_2d(T, Cp, lam, dt, h, out):
    """Compute ``out = T + dt lam / Cp laplacian(T) / h²`` inside, ``out = T`` on the boundary.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), np.empty((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d(T, Cp, 1.0, 0.1, 1.0, out); out[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    _diffusion_step(T, Cp, lam, dt, h, out)


def diffusion_step_3d(T, Cp, lam, dt, h, out):
    """Compute the step of :func:`diffusion_step_2d` in three dimensions.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 3, 4)), np.ones((3, 3, 4)), np.empty((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d(T, Cp, 1.0, 0.1, 1.0, out); out[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    _diffusion_step(T, Cp, lam, dt, h, out)


def diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work):
    """Compute the same step as a physicist writes it: two fluxes, their divergence, and the update.

    Parameters
    ----------
    work : tuple of ndarray
        ``qx`` (ny, nx - 1), ``qy`` (ny - 1, nx) and ``dTdt`` (ny, nx), overwritten.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), np.empty((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d_four_statements(T, Cp, 1.0, 0.1, 1.0, out, work_arrays_2d(T)); out[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    qx, qy, dTdt = work
    qx[:] = -lam * (T[:, 1:] - T[:, :-1]) / h
    qy[:] = -lam * (T[1:, :] - T[:-1, :]) / h
    dTdt[:] = 0
    dTdt[1:-1, 1:-1] = (
        -((qx[1:-1, 1:] - qx[1:-1, :-1]) / h + (qy[1:, 1:-1] - qy[:-1, 1:-1]) / h) / Cp[1:-1, 1:-1]
    )
    out[:] = T + dt * dTdt


def work_arrays_2d(T, empty_like=np.empty_like):
    """Return the three fields that the four statements write and then read, in the memory space of ``T``.

    Examples
    --------
    >>> [field.shape for field in work_arrays_2d(np.zeros((3, 4)))]  # qx, qy, dTdt
    [(3, 3), (2, 4), (3, 4)]
    """
    return empty_like(T[:, 1:]), empty_like(T[1:, :]), empty_like(T)


def _diffusion_step(T, Cp, lam, dt, h, out):
    inner = (slice(1, -1),) * T.ndim
    total = -2 * T.ndim * T[inner]
    for axis in range(T.ndim):
        for shift in (slice(None, -2), slice(2, None)):
            total += T[(*inner[:axis], shift, *inner[axis + 1 :])]
    out[:] = T
    out[inner] += dt * lam / h**2 * total / Cp[inner]


def _shifted(axis, ndim):
    lower, upper = [slice(None)] * ndim, [slice(None)] * ndim
    lower[axis], upper[axis] = slice(None, -1), slice(1, None)
    return tuple(lower), tuple(upper)
