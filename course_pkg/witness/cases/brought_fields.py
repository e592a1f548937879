"""Kernels of the kinds that learners bring: fields in space and time, such as fluids, waves and heat."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
CX = (0, 1, 0, -1, 0, 1, -1, -1, 1)
CY = (0, 0, 1, 0, -1, 1, 1, -1, -1)
OPPOSITE = (0, 3, 4, 1, 2, 7, 8, 5, 6)
WEIGHT = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)


@cuda.jit
def brought_lattice(f, f_new, solid, omega):
    """A step of the lattice Boltzmann method: pull nine populations, bounce at walls, relax."""
    x, y = cuda.grid(2)
    ny, nx = solid.shape
    if x >= nx or y >= ny:
        return
    local = cuda.local.array(9, np.float64)
    rho, ux, uy = 0.0, 0.0, 0.0
    for q in range(9):
        xs = (x - CX[q] + nx) % nx
        ys = (y - CY[q] + ny) % ny
        local[q] = f[q, ys, xs]
        rho += local[q]
        ux += CX[q] * local[q]
        uy += CY[q] * local[q]
    if solid[y, x]:
        for q in range(9):
            f_new[q, y, x] = local[OPPOSITE[q]]
        return
    ux /= rho
    uy /= rho
    usq = 1.5 * (ux * ux + uy * uy)
    for q in range(9):
        cu = 3.0 * (CX[q] * ux + CY[q] * uy)
        feq = WEIGHT[q] * rho * (1.0 + cu + 0.5 * cu * cu - usq)
        f_new[q, y, x] = local[q] - omega * (local[q] - feq)


cases.add(
    brought_lattice,
    (3, 3),
    (16, 8),
    lambda: (numbers((9, 20, 45)), zeros((9, 20, 45)), numbers((20, 45), "int32") < 15, 1.2),
    "lattice Boltzmann in two dimensions: tuples of directions, a local array, walls",
)


@cuda.jit
def brought_crank_nicolson(u, out, r):
    """A thread solves a tridiagonal system along its column, by the algorithm of Thomas."""
    col = cuda.grid(1)
    if col >= u.shape[1]:
        return
    n = u.shape[0]
    c = cuda.local.array(32, np.float64)
    d = cuda.local.array(32, np.float64)
    c[0], d[0] = 0.0, u[0, col]
    for i in range(1, n - 1):
        rhs = 0.5 * r * u[i - 1, col] + (1.0 - r) * u[i, col] + 0.5 * r * u[i + 1, col]
        m = 1.0 + r + 0.5 * r * c[i - 1]
        c[i] = -0.5 * r / m
        d[i] = (rhs + 0.5 * r * d[i - 1]) / m
    out[n - 1, col] = u[n - 1, col]
    for i in range(n - 2, -1, -1):
        out[i, col] = d[i] - c[i] * out[i + 1, col]


cases.add(
    brought_crank_nicolson,
    3,
    32,
    lambda: (numbers((21, 75)), zeros((21, 75)), 0.4),
    "Crank and Nicolson: elimination in local arrays, then backwards through the result",
)


@cuda.jit
def brought_yee(ex, ey, ez, hx, hy, hz, eps, dt):
    """A step of the electric field on a grid of Yee; x is the first index, as in many programs."""
    i, j, k = cuda.grid(3)
    nx, ny, nz = ex.shape
    if i < 1 or j < 1 or k < 1 or i >= nx or j >= ny or k >= nz:
        return
    c = dt / eps[i, j, k]
    ex[i, j, k] += c * ((hz[i, j, k] - hz[i, j - 1, k]) - (hy[i, j, k] - hy[i, j, k - 1]))
    ey[i, j, k] += c * ((hx[i, j, k] - hx[i, j, k - 1]) - (hz[i, j, k] - hz[i - 1, j, k]))
    ez[i, j, k] += c * ((hy[i, j, k] - hy[i - 1, j, k]) - (hx[i, j, k] - hx[i, j - 1, k]))


cases.add(
    brought_yee,
    (2, 2, 5),
    (8, 8, 4),
    lambda: (*(numbers((13, 11, 18), "float32", s) for s in range(7)), np.float32(0.1)),
    "Maxwell's equations in three dimensions: neighbours of three fields, threads along x",
)


@cuda.jit(device=True)
def brought_flux(hl, ql, hr, qr):
    """Rusanov's flux of water and momentum between two cells."""
    g = 9.81
    ul, ur = ql / hl, qr / hr
    speed = max(abs(ul) + math.sqrt(g * hl), abs(ur) + math.sqrt(g * hr))
    mass = 0.5 * (ql + qr) - 0.5 * speed * (hr - hl)
    momentum = 0.5 * (ql * ul + 0.5 * g * hl * hl + qr * ur + 0.5 * g * hr * hr) - 0.5 * speed * (qr - ql)
    return mass, momentum


@cuda.jit
def brought_shallow_water(h, q, h_new, q_new, dt, dx):
    """A step of the shallow water equations; water is reflected at both ends."""
    i = cuda.grid(1)
    n = h.size
    if i < n:
        if i == 0:
            left_h, left_q = h[0], -q[0]
        else:
            left_h, left_q = h[i - 1], q[i - 1]
        if i == n - 1:
            right_h, right_q = h[i], -q[i]
        else:
            right_h, right_q = h[i + 1], q[i + 1]
        f_mass, f_momentum = brought_flux(left_h, left_q, h[i], q[i])
        g_mass, g_momentum = brought_flux(h[i], q[i], right_h, right_q)
        h_new[i] = h[i] - dt / dx * (g_mass - f_mass)
        q_new[i] = q[i] - dt / dx * (g_momentum - f_momentum)


cases.add(
    brought_shallow_water,
    4,
    64,
    lambda: (numbers(230), numbers(230, seed=1) - 1.5, zeros(230), zeros(230), 0.01, 0.1),
    "fluxes by a device function that returns two numbers",
)
