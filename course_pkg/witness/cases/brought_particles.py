"""Kernels of the kinds that learners bring: particles with neighbours, particles in a flow, and random paths."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.cuda.random import xoroshiro128p_dtype, xoroshiro128p_normal_float32
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N, CELLS, BOX = 180, 6, 6.0


def points(seed=11):
    """Return points of the box in the order of their cells, with the first point of each cell, or -1, and its end."""
    places = np.random.default_rng(seed).random((N, 2)) * BOX
    cells = places.astype(int) @ [1, CELLS]
    order = np.argsort(cells, kind="stable")
    counts = np.bincount(cells, minlength=CELLS * CELLS)
    ends = np.cumsum(counts)
    begins = np.where(counts > 0, ends - counts, -1)
    return places[order].astype(np.float32), begins.astype(np.int32), ends.astype(np.int32)


@cuda.jit
def brought_density(places, cell_start, cell_end, density, h, mass):
    """Density by smoothed particles: points of the cells around are neighbours."""
    i = cuda.grid(1)
    if i >= places.shape[0]:
        return
    xi, yi = places[i, 0], places[i, 1]
    cx, cy = int(xi / h), int(yi / h)
    h2 = h * h
    total = np.float32(0.0)
    for gy in range(max(cy - 1, 0), min(cy + 2, CELLS)):
        for gx in range(max(cx - 1, 0), min(cx + 2, CELLS)):
            cell = gy * CELLS + gx
            start = cell_start[cell]
            if start == -1:
                continue
            for j in range(start, cell_end[cell]):
                dx = xi - places[j, 0]
                dy = yi - places[j, 1]
                r2 = dx * dx + dy * dy
                if r2 < h2:
                    w = h2 - r2
                    total += mass * w * w * w
    density[i] = total * np.float32(4.0 / math.pi) / h**8


cases.add(
    brought_density,
    3,
    64,
    lambda: (*points(), zeros(N, "float32"), np.float32(1.0), np.float32(0.5)),
    "smoothed particles: cells around, then the points of each",
    data_dependent=True,
)


@cuda.jit
def brought_pair_forces(x, neighbours, counts, forces, energy, box, cutoff):
    """Forces of Lennard and Jones from a list of neighbours, in a periodic box."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        fx = fy = fz = e = 0.0
        for n in range(counts[i]):
            j = neighbours[i, n]
            dx = x[i, 0] - x[j, 0]
            dy = x[i, 1] - x[j, 1]
            dz = x[i, 2] - x[j, 2]
            dx -= box * round(dx / box)
            dy -= box * round(dy / box)
            dz -= box * round(dz / box)
            r2 = dx**2 + dy**2 + dz**2
            if r2 < cutoff**2:
                inv2 = 1.0 / r2
                inv6 = inv2**3
                f = 48.0 * inv2 * inv6 * (inv6 - 0.5)
                fx += f * dx
                fy += f * dy
                fz += f * dz
                e += 4.0 * inv6 * (inv6 - 1.0)
        forces[i, 0] = fx
        forces[i, 1] = fy
        forces[i, 2] = fz
        energy[i] = 0.5 * e


def neighbourhood(n=120, box=BOX, reach=2.2):
    """Return places in a box, a table of neighbours and their numbers."""
    grid = np.stack(np.meshgrid(*[np.arange(5)] * 3), -1).reshape(-1, 3)[:n] * (box / 5)
    places = grid + 0.2 * np.random.default_rng(3).random((n, 3))
    apart = places[:, None] - places
    apart -= box * np.round(apart / box)
    near = ((apart**2).sum(-1) < reach**2) & ~np.eye(n, dtype=bool)
    table = np.full((n, near.sum(1).max()), -1, np.int32)
    for i, row in enumerate(near):
        table[i, : row.sum()] = np.flatnonzero(row)
    return places, table, near.sum(1).astype(np.int32)


cases.add(
    brought_pair_forces,
    2,
    64,
    lambda: (*neighbourhood(), zeros((120, 3)), zeros(120), BOX, 2.0),
    "Lennard and Jones: a list of neighbours, rounded distances, powers",
    data_dependent=True,
)


@cuda.jit(device=True)
def brought_velocity(u, v, x, y):
    """The velocity at a point between four nodes of a grid; points outside are moved to its edge."""
    x = min(max(x, 0.0), u.shape[1] - 1.001)
    y = min(max(y, 0.0), u.shape[0] - 1.001)
    i, j = int(y), int(x)
    a, b = y - i, x - j
    vx = (1 - a) * ((1 - b) * u[i, j] + b * u[i, j + 1]) + a * ((1 - b) * u[i + 1, j] + b * u[i + 1, j + 1])
    vy = (1 - a) * ((1 - b) * v[i, j] + b * v[i, j + 1]) + a * ((1 - b) * v[i + 1, j] + b * v[i + 1, j + 1])
    return vx, vy


@cuda.jit
def brought_tracers(px, py, u, v, dt, steps):
    """Points move with a flow, by the method of Runge and Kutta; a thread moves several of them."""
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for p in range(start, px.shape[0], stride):
        x, y = px[p], py[p]
        for _ in range(steps):
            k1x, k1y = brought_velocity(u, v, x, y)
            k2x, k2y = brought_velocity(u, v, x + 0.5 * dt * k1x, y + 0.5 * dt * k1y)
            k3x, k3y = brought_velocity(u, v, x + 0.5 * dt * k2x, y + 0.5 * dt * k2y)
            k4x, k4y = brought_velocity(u, v, x + dt * k3x, y + dt * k3y)
            x += dt / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
            y += dt / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        px[p] = x
        py[p] = y


cases.add(
    brought_tracers,
    2,
    64,
    lambda: (
        4 * numbers(200, "float32"),
        3 * numbers(200, "float32", 1),
        numbers((9, 12), "float32", 2),
        numbers((9, 12), "float32", 3),
        np.float32(0.1),
        5,
    ),
    "Runge and Kutta in a sampled flow: single precision that becomes double",
    data_dependent=True,
)


@cuda.jit
def brought_asian_option(states, payoffs, price, strike, rate, volatility, years, steps):
    """The discounted payoff of an option on the mean price of a random path."""
    tid = cuda.grid(1)
    if tid >= payoffs.size:
        return
    dt = years / steps
    drift = (rate - 0.5 * volatility * volatility) * dt
    spread = volatility * math.sqrt(dt)
    s, total = price, 0.0
    for _ in range(steps):
        z = xoroshiro128p_normal_float32(states, tid)
        s *= math.exp(drift + spread * z)
        total += s
    payoffs[tid] = math.exp(-rate * years) * max(total / steps - strike, 0.0)


def states(n):
    """Return states of a generator of random numbers."""
    drawn = np.random.default_rng(5).integers(1, 2**63, (n, 2), dtype=np.uint64)
    return drawn.view(xoroshiro128p_dtype).ravel()


cases.add(
    brought_asian_option,
    2,
    128,
    lambda: (states(256), zeros(200), 100.0, 95.0, 0.03, 0.2, 1.0, 12),
    "random paths by Numba's generator: normal numbers, exponentials",
)
