"""Physics in steps: bodies, heat, waves in two fields, a lattice Boltzmann step, smoothed particles, a game of life."""

from collections import namedtuple
from math import pi, sqrt

import numba as nb
import numpy as np
from numba import cuda

try:
    import cupy
except ImportError:  # the course's laptops have none
    cupy = None

Box = namedtuple("Box", ["nx", "ny"])
CX = (0, 1, 0, -1, 0, 1, -1, -1, 1)
CY = (0, 0, 1, 0, -1, 1, 1, -1, -1)
W = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
BLOCK = 64


@cuda.jit
def nbody(pos, mass, acc, soft):
    tile = cuda.shared.array((BLOCK, 4), nb.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    n = pos.shape[0]
    ax = ay = az = 0.0
    for start in range(0, n, BLOCK):
        j = start + t
        if j < n:
            tile[t, 0], tile[t, 1], tile[t, 2] = pos[j, 0], pos[j, 1], pos[j, 2]
            tile[t, 3] = mass[j]
        cuda.syncthreads()
        if i < n:
            for k in range(min(BLOCK, n - start)):
                dx, dy, dz = tile[k, 0] - pos[i, 0], tile[k, 1] - pos[i, 1], tile[k, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + soft
                s = tile[k, 3] / (r2 * sqrt(r2))
                ax += s * dx
                ay += s * dy
                az += s * dz
        cuda.syncthreads()
    if i < n:
        acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az


@cuda.jit
def heat(u, new, alpha, dt):
    i, j = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        new[i, j] = u[i, j] + alpha * dt * (
            u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j]
        )


@cuda.jit
def fdtd_e(ez, hx, hy, c):
    i, j = cuda.grid(2)
    if i > 0 and j > 0 and i < ez.shape[0] and j < ez.shape[1]:
        ez[i, j] += c * ((hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1]))


@cuda.jit
def fdtd_h(ez, hx, hy, c):
    i, j = cuda.grid(2)
    if i < ez.shape[0] - 1 and j < ez.shape[1] - 1:
        hx[i, j] -= c * (ez[i, j + 1] - ez[i, j])
        hy[i, j] += c * (ez[i + 1, j] - ez[i, j])


@cuda.jit(device=True)
def equilibrium(q, rho, ux, uy):
    cu = 3.0 * (CX[q] * ux + CY[q] * uy)
    return rho * W[q] * (1.0 + cu + 0.5 * cu**2 - 1.5 * (ux * ux + uy * uy))


@cuda.jit
def lattice(f, g, omega):
    """Pull, collide: one step of D2Q9 with periodic borders."""
    x, y = cuda.grid(2)
    box = Box(f.shape[1], f.shape[2])
    if x >= box.nx or y >= box.ny:
        return
    local = cuda.local.array(9, nb.float64)
    rho, ux, uy = 0.0, 0.0, 0.0
    for q in range(9):
        v = f[q, (x - CX[q] + box.nx) % box.nx, (y - CY[q] + box.ny) % box.ny]
        local[q] = v
        rho += v
        ux += CX[q] * v
        uy += CY[q] * v
    ux /= rho
    uy /= rho
    for q in range(9):
        g[q, x, y] = local[q] + omega * (equilibrium(q, rho, ux, uy) - local[q])


@cuda.jit
def sph_density(p, rho, h):
    i = cuda.grid(1)
    if i < p.shape[0]:
        total = 0.0
        for q in p:
            r2 = (q[0] - p[i, 0]) ** 2 + (q[1] - p[i, 1]) ** 2
            if r2 < h * h:
                total += (h * h - r2) ** 3
        rho[i] = 4.0 / (pi * h**8) * total


@cuda.jit
def life(old, new):
    y, x = cuda.grid(2)
    h, w = old.shape
    if y < h and x < w:
        alive = -int(old[y, x])
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                alive += old[(y + dy) % h, (x + dx) % w]
        new[y, x] = alive == 3 or (old[y, x] and alive == 2)


def main():
    rng = np.random.default_rng(2)
    n = 150
    pos, mass, acc = rng.random((n, 3)), rng.random(n), np.zeros((n, 3))
    nbody[(n + BLOCK - 1) // BLOCK, BLOCK](pos, mass, acc, 1e-2)
    d = pos[None] - pos[:, None]
    r2 = (d**2).sum(axis=2) + 1e-2
    np.testing.assert_allclose(acc, ((mass / r2**1.5)[:, :, None] * d).sum(axis=1), rtol=1e-10)
    u = cuda.to_device(rng.random((20, 30)))
    new = cuda.to_device(u.copy_to_host())
    want = u.copy_to_host()
    for _ in range(4):
        heat[(2, 2), (16, 16)](u, new, 0.1, 0.5)
        u, new = new, u
        c = want[1:-1, 1:-1]
        lap = want[2:, 1:-1] + want[:-2, 1:-1] + want[1:-1, 2:] + want[1:-1, :-2] - 4 * c
        want = np.pad(c + 0.05 * lap, 1) + want * np.pad(np.zeros_like(c), 1, constant_values=1)
    np.testing.assert_allclose(u.copy_to_host(), want, rtol=1e-12)
    ez, hx, hy = (rng.random((20, 20)) for _ in range(3))
    e2, hx2, hy2 = ez.copy(), hx.copy(), hy.copy()
    fdtd_e[(2, 2), (16, 16)](ez, hx, hy, 0.5)
    fdtd_h[(2, 2), (16, 16)](ez, hx, hy, 0.5)
    e2[1:, 1:] += 0.5 * (hy2[1:, 1:] - hy2[:-1, 1:] - hx2[1:, 1:] + hx2[1:, :-1])
    hx2[:-1, :-1] -= 0.5 * (e2[:-1, 1:] - e2[:-1, :-1])
    np.testing.assert_allclose(ez, e2)
    np.testing.assert_allclose(hx, hx2)
    f, g = rng.random((9, 12, 10)) + 1, np.zeros((9, 12, 10))
    lattice[(2, 2), (8, 8)](f, g, 0.6)
    np.testing.assert_allclose(f.sum(), g.sum())
    np.testing.assert_allclose(np.tensordot(CX, f, 1).sum(), np.tensordot(CX, g, 1).sum(), atol=1e-9)
    p, rho = rng.random((100, 2)), np.zeros(100)
    sph_density.forall(100)(p, rho, 0.2)
    r2 = ((p[:, None] - p) ** 2).sum(axis=2)
    np.testing.assert_allclose(rho, 4 / (pi * 0.2**8) * (np.maximum(0.04 - r2, 0) ** 3).sum(axis=1))
    world = rng.random((33, 20)) < 0.4
    after = np.zeros_like(world)
    life[(5, 3), (8, 8)](world, after)
    near = sum(np.roll(world, (a, b), (0, 1)).astype(int) for a in (-1, 0, 1) for b in (-1, 0, 1)) - world
    np.testing.assert_array_equal(after, (near == 3) | (world & (near == 2)))


if __name__ == "__main__":
    main()
