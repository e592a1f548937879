"""Kernels of the kinds that learners bring: cells with a halo, absorbed waves, gases, grains, and marched rays."""

import math

import numpy as np
from numba import float32, int32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
EDGE, WITH_HALO = 16, 18


@cuda.jit
def brought_life_by_tiles(old, new):
    """Conway's Game of Life on a torus; a block keeps its cells and their neighbours in shared memory."""
    tile = cuda.shared.array((WITH_HALO, WITH_HALO), int32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x + 1
    ty = cuda.threadIdx.y + 1
    rows, cols = old.shape
    tile[ty, tx] = old[y % rows, x % cols]
    if tx == 1:
        tile[ty, 0] = old[y % rows, (x - 1 + cols) % cols]
    if tx == EDGE:
        tile[ty, EDGE + 1] = old[y % rows, (x + 1) % cols]
    if ty == 1:
        tile[0, tx] = old[(y - 1 + rows) % rows, x % cols]
    if ty == EDGE:
        tile[EDGE + 1, tx] = old[(y + 1) % rows, x % cols]
    if tx == 1 and ty == 1:
        tile[0, 0] = old[(y - 1 + rows) % rows, (x - 1 + cols) % cols]
    if tx == EDGE and ty == 1:
        tile[0, EDGE + 1] = old[(y - 1 + rows) % rows, (x + 1) % cols]
    if tx == 1 and ty == EDGE:
        tile[EDGE + 1, 0] = old[(y + 1) % rows, (x - 1 + cols) % cols]
    if tx == EDGE and ty == EDGE:
        tile[EDGE + 1, EDGE + 1] = old[(y + 1) % rows, (x + 1) % cols]
    cuda.syncthreads()
    n = 0
    for i in range(-1, 2):
        for j in range(-1, 2):
            if i != 0 or j != 0:
                n += tile[ty + i, tx + j]
    if n == 3 or (n == 2 and tile[ty, tx] == 1):
        new[y, x] = 1
    else:
        new[y, x] = 0


cases.add(
    brought_life_by_tiles,
    (3, 2),
    (EDGE, EDGE),
    lambda: (
        np.random.default_rng(3).integers(0, 2, (32, 48)).astype(np.int32),
        zeros((32, 48), "int32"),
    ),
    "a halo on a torus: edges and corners by the threads next to them, remainders of a division",
)


@cuda.jit
def brought_absorbed_wave(p, p_old, p_new, velocity, damping, dt, dx):
    """A step of the wave equation of fourth order in space, damped near the boundary."""
    i, j = cuda.grid(2)
    nx, nz = p.shape
    if i >= 2 and i < nx - 2 and j >= 2 and j < nz - 2:
        pxx = (-p[i - 2, j] + 16 * p[i - 1, j] - 30 * p[i, j] + 16 * p[i + 1, j] - p[i + 2, j]) / (12 * dx**2)
        pzz = (-p[i, j - 2] + 16 * p[i, j - 1] - 30 * p[i, j] + 16 * p[i, j + 1] - p[i, j + 2]) / (12 * dx**2)
        s = damping[i, j] * dt
        p_new[i, j] = (2.0 * p[i, j] - (1.0 - s) * p_old[i, j] + (velocity[i, j] * dt) ** 2 * (pxx + pzz)) / (
            1.0 + s
        )


cases.add(
    brought_absorbed_wave,
    (2, 3),
    (16, 16),
    lambda: (
        numbers((27, 38), "float32"),
        numbers((27, 38), "float32", 1),
        zeros((27, 38), "float32"),
        numbers((27, 38), "float32", 2),
        numbers((27, 38), "float32", 3),
        0.001,
        0.1,
    ),
    "a wave in a medium: thirteen loads a point, rows along x, doubles from a float of the host",
)


@cuda.jit(device=True)
def brought_minmod(a, b):
    """The smaller of two slopes, or 0 where their signs differ."""
    if a * b <= 0.0:
        return 0.0
    if abs(a) < abs(b):
        return a
    return b


@cuda.jit(device=True)
def brought_pressure(rho, momentum, energy, gamma):
    """The pressure of an ideal gas."""
    return (gamma - 1.0) * (energy - 0.5 * momentum * momentum / rho)


@cuda.jit
def brought_gas(state, new, gamma, ratio):
    """A step of Euler's equations: limited slopes, and Rusanov's flux through both sides of a cell."""
    i = cuda.grid(1)
    n = state.shape[1]
    if i < 2 or i >= n - 2:
        return
    left = cuda.local.array(3, np.float64)
    right = cuda.local.array(3, np.float64)
    change = cuda.local.array(3, np.float64)
    for k in range(3):
        change[k] = 0.0
    for side in range(2):
        j = i - 1 + side
        for k in range(3):
            a, b, c, d = state[k, j - 1], state[k, j], state[k, j + 1], state[k, j + 2]
            left[k] = b + 0.5 * brought_minmod(b - a, c - b)
            right[k] = c - 0.5 * brought_minmod(c - b, d - c)
        pl = brought_pressure(left[0], left[1], left[2], gamma)
        pr = brought_pressure(right[0], right[1], right[2], gamma)
        ul = left[1] / left[0]
        ur = right[1] / right[0]
        fastest = max(abs(ul) + math.sqrt(gamma * pl / left[0]), abs(ur) + math.sqrt(gamma * pr / right[0]))
        sign = 1.0 if side == 0 else -1.0
        f0 = 0.5 * (left[1] + right[1]) - 0.5 * fastest * (right[0] - left[0])
        f1 = 0.5 * (left[1] * ul + pl + right[1] * ur + pr) - 0.5 * fastest * (right[1] - left[1])
        f2 = 0.5 * ((left[2] + pl) * ul + (right[2] + pr) * ur) - 0.5 * fastest * (right[2] - left[2])
        change[0] += sign * f0
        change[1] += sign * f1
        change[2] += sign * f2
    for k in range(3):
        new[k, i] = state[k, i] + ratio * change[k]


def gas(n):
    """Return density, momentum and energy of cells, with a positive pressure."""
    state = numbers((3, n))
    state[1] -= 1.5
    state[2] += 2
    return state


cases.add(
    brought_gas,
    4,
    64,
    lambda: (gas(200), zeros((3, 200)), 1.4, 0.1),
    "Euler's equations: a limiter with three returns, local arrays of a loop over both sides",
)


@cuda.jit
def brought_grains(position, velocity, radius, head, following, force, cell, stiffness, friction):
    """Forces between grains that touch; the grains of a cell are a chain, from its head to -1."""
    i = cuda.grid(1)
    if i >= position.shape[0]:
        return
    fx = 0.0
    fy = 0.0
    cx = int(math.floor(position[i][0] / cell))  # noqa: RUF046
    cy = int(math.floor(position[i][1] / cell))  # noqa: RUF046
    for a in range(-1, 2):
        for b in range(-1, 2):
            if cx + a < 0 or cy + b < 0 or cx + a >= head.shape[0] or cy + b >= head.shape[1]:
                continue
            j = head[cx + a, cy + b]
            while j != -1:
                if j != i:
                    dx = position[i][0] - position[j][0]
                    dy = position[i][1] - position[j][1]
                    d = (dx**2 + dy**2) ** 0.5
                    overlap = radius[i] + radius[j] - d
                    if overlap > 0:
                        vx = velocity[i][0] - velocity[j][0]
                        vy = velocity[i][1] - velocity[j][1]
                        vn = (vx * dx + vy * dy) / d
                        f = stiffness * overlap - friction * vn
                        fx += f * dx / d
                        fy += f * dy / d
                j = following[j]
    force[i][0] = fx
    force[i][1] = fy


def grains(n=150, cells=5):
    """Return places, speeds, radii, heads of cells of length 1, and the grain that follows each one."""
    rng = np.random.default_rng(12)
    places = rng.random((n, 2)) * cells
    head = np.full((cells, cells), -1)
    following = np.full(n, -1)
    for i, (x, y) in enumerate(places.astype(int)):
        following[i] = head[x, y]
        head[x, y] = i
    return places, rng.normal(size=(n, 2)), rng.uniform(0.1, 0.3, n), head, following


cases.add(
    brought_grains,
    3,
    64,
    lambda: (*grains(), zeros((150, 2)), 1.0, 100.0, 0.5),
    "grains in chains: one index after the other, powers as square roots",
    data_dependent=True,
)


@cuda.jit(device=True)
def brought_box(x, y, z, half):
    """The distance from a box around 0."""
    dx, dy, dz = abs(x) - half, abs(y) - half, abs(z) - half
    outside = math.sqrt(max(dx, float32(0)) ** 2 + max(dy, float32(0)) ** 2 + max(dz, float32(0)) ** 2)
    return outside + min(max(dx, max(dy, dz)), float32(0))


@cuda.jit(device=True)
def brought_scene(x, y, z):
    """The distance from a box with a spherical hole, and from the ground."""
    ball = math.sqrt(x * x + y * y + z * z) - float32(0.65)
    body = max(brought_box(x, y, z, float32(0.5)), -ball)
    return min(body, y + float32(0.75))


@cuda.jit
def brought_carved_box(picture, steps):
    """March through a field of distances, and shade by the angle between its normal and the light."""
    px, py = cuda.grid(2)
    height, width = picture.shape
    if px >= width or py >= height:
        return
    dx = float32(2 * px - width) / float32(height)
    dy = float32(height - 2 * py) / float32(height)
    dz = float32(1.5)
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx / length, dy / length, dz / length
    t = float32(0.0)
    hit = False
    for _ in range(steps):
        d = brought_scene(t * dx, t * dy, t * dz - float32(2))
        if d < float32(1e-3):
            hit = True
            break
        t += d
        if t > float32(10):
            break
    shade = float32(0.0)
    if hit:
        x, y, z = t * dx, t * dy, t * dz - float32(2)
        e = float32(1e-2)
        nx = brought_scene(x + e, y, z) - brought_scene(x - e, y, z)
        ny = brought_scene(x, y + e, z) - brought_scene(x, y - e, z)
        nz = brought_scene(x, y, z + e) - brought_scene(x, y, z - e)
        norm = math.sqrt(nx * nx + ny * ny + nz * nz)
        shade = max(float32(0.1), (nx + ny + ny - nz) / (norm * math.sqrt(float32(6))))
    picture[py, px] = shade


cases.add(
    brought_carved_box,
    (3, 3),
    (8, 8),
    lambda: (zeros((20, 24), "float32"), 60),
    "a field of distances by two device functions: a march with two ends, seven calls",
    data_dependent=True,
)
