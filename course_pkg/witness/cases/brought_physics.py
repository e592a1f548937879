"""Kernels of the kinds that learners bring: waves, reactions, particles, spins and signals."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
BLOCK, GRID, FIELD = (16, 8), (3, 3), (21, 40)
N = 100


@cuda.jit
def brought_wave(before, now, after, courant):
    x, y = cuda.grid(2)
    rows, columns = now.shape
    if y == 0 or x == 0 or y >= rows - 1 or x >= columns - 1:
        return
    curvature = now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1] - 4.0 * now[y, x]
    after[y, x] = 2.0 * now[y, x] - before[y, x] + courant * courant * curvature


@cuda.jit
def brought_reaction(u, v, new_u, new_v, feed, kill, dt):
    """Gray and Scott's two substances on a torus."""
    i, j = cuda.grid(2)
    n, m = u.shape
    if i < n and j < m:
        up, down = (i - 1) % n, (i + 1) % n
        left, right = (j - 1) % m, (j + 1) % m
        a, b = u[i, j], v[i, j]
        spread_a = u[up, j] + u[down, j] + u[i, left] + u[i, right] - 4 * a
        spread_b = v[up, j] + v[down, j] + v[i, left] + v[i, right] - 4 * b
        eaten = a * b * b
        new_u[i, j] = a + dt * (0.16 * spread_a - eaten + feed * (1 - a))
        new_v[i, j] = b + dt * (0.08 * spread_b + eaten - (feed + kill) * b)


@cuda.jit
def brought_red_black(phi, source, h, colour):
    """Half a step of Gauss and Seidel: the points of one colour, in place."""
    j, i = cuda.grid(2)
    if 1 <= i < phi.shape[0] - 1 and 1 <= j < phi.shape[1] - 1 and (i + j) % 2 == colour:
        around = phi[i - 1, j] + phi[i + 1, j] + phi[i, j - 1] + phi[i, j + 1]
        phi[i, j] = 0.25 * (around - h * h * source[i, j])


cases.add(
    brought_wave,
    GRID,
    BLOCK,
    lambda: (numbers(FIELD), numbers(FIELD, seed=1), zeros(FIELD), 0.5),
    "a step of the wave equation: three fields, early return at the boundary",
)
cases.add(
    brought_reaction,
    (3, 3),
    (8, 16),
    lambda: (
        numbers(FIELD, "float32"),
        numbers(FIELD, "float32", 1),
        zeros(FIELD, "float32"),
        zeros(FIELD, "float32"),
        np.float32(0.035),
        np.float32(0.065),
        np.float32(1.0),
    ),
    "two substances on a torus: remainders as indices, constants in double precision",
)
cases.add(
    brought_red_black,
    GRID,
    BLOCK,
    lambda: (numbers(FIELD), numbers(FIELD, seed=1), 0.1, 1),
    "every second point, in place",
)


@cuda.jit
def brought_bounce(places, speeds, width, height, dt):
    """Particles that fly in a box and bounce off its walls."""
    i = cuda.grid(1)
    if i >= places.shape[0]:
        return
    x = places[i, 0] + dt * speeds[i, 0]
    y = places[i, 1] + dt * speeds[i, 1]
    if x < 0:
        x = -x
        speeds[i, 0] = -speeds[i, 0]
    elif x > width:
        x = 2 * width - x
        speeds[i, 0] = -speeds[i, 0]
    if y < 0:
        y = -y
        speeds[i, 1] = -speeds[i, 1]
    elif y > height:
        y = 2 * height - y
        speeds[i, 1] = -speeds[i, 1]
    places[i, 0] = x
    places[i, 1] = y


@cuda.jit
def brought_collisions(x, y, radius, hits):
    """How many other discs touch this one, and the deepest overlap."""
    i = cuda.grid(1)
    if i < x.size:
        count, deepest = 0, 0.0
        for j in range(x.size):
            if j != i:
                dx, dy = x[j] - x[i], y[j] - y[i]
                near = dx * dx + dy * dy
                reach = radius[i] + radius[j]
                if near < reach * reach:
                    count += 1
                    deepest = max(deepest, reach - math.sqrt(near))
        hits[i, 0] = count
        hits[i, 1] = deepest


@cuda.jit
def brought_spins(spins, chances, table, colour):
    """Half a sweep of Metropolis on a torus of spins; the exponentials lie in a table."""
    x, y = cuda.grid(2)
    n = spins.shape[0]
    if x < n and y < n and (x + y) % 2 == colour:
        spin = spins[y, x]
        total = spins[(y + 1) % n, x] + spins[(y - 1) % n, x] + spins[y, (x + 1) % n] + spins[y, (x - 1) % n]
        gain = spin * total
        if gain <= 0 or chances[y, x] < table[gain]:
            spins[y, x] = -spin


cases.add(
    brought_bounce,
    2,
    64,
    lambda: (numbers((N, 2)) - 1.2, 3 * numbers((N, 2), seed=1) - 5, 0.5, 0.5, 0.1),
    "particles in a box: chains of branches that store",
    data_dependent=True,
)
cases.add(
    brought_collisions,
    2,
    64,
    lambda: (4 * numbers(N), 4 * numbers(N, seed=1), 0.2 * numbers(N, seed=2), zeros((N, 2))),
    "discs that touch: a root for few of the pairs",
    data_dependent=True,
)
cases.add(
    brought_spins,
    (2, 4),
    BLOCK,
    lambda: (
        2 * (numbers((30, 30), "int32") % 2) - 1,
        numbers((30, 30), seed=1) - 1,
        np.exp(-0.8 * np.arange(5.0)),
        0,
    ),
    "spins on a torus: a condition whose second part loads",
    data_dependent=True,
)


@cuda.jit
def brought_fourier(signal, real, imaginary):
    """The discrete Fourier transform by its definition, one frequency per thread."""
    k = cuda.grid(1)
    n = signal.size
    if k < n:
        a = b = 0.0
        for t in range(n):
            angle = 2.0 * math.pi * k * t / n
            a += signal[t] * math.cos(angle)
            b -= signal[t] * math.sin(angle)
        real[k] = a
        imaginary[k] = b


@cuda.jit
def brought_autocorrelation(signal, mean, out):
    lag = cuda.grid(1)
    if lag < out.size:
        total = 0.0
        for t in range(signal.size - lag):
            total += (signal[t] - mean) * (signal[t + lag] - mean)
        out[lag] = total / (signal.size - lag)


@cuda.jit
def brought_moving_average(signal, reach, out):
    i = cuda.grid(1)
    if i >= signal.size:
        return
    total = np.float32(0)
    count = 0
    for j in range(i - reach, i + reach + 1):
        if 0 <= j < signal.size:
            total += signal[j]
            count += 1
    out[i] = total / count


@cuda.jit
def brought_peaks(signal, level, found, number):
    """Collect in one list the places whose value is higher than both neighbours and a level."""
    i = cuda.grid(1)
    if i == 0 or i >= signal.size - 1:
        return
    value = signal[i]
    if value > level and value > signal[i - 1] and value >= signal[i + 1]:
        slot = cuda.atomic.add(number, 0, 1)
        if slot < found.size:
            found[slot] = i


cases.add(
    brought_fourier,
    2,
    32,
    lambda: (numbers(50), zeros(50), zeros(50)),
    "a Fourier transform by its definition: sin and cos of the same angle",
)
cases.add(
    brought_autocorrelation,
    2,
    32,
    lambda: (numbers(N), 1.5, zeros(40)),
    "a loop whose length is another one in each lane",
)
cases.add(
    brought_moving_average,
    2,
    64,
    lambda: (numbers(N, "float32"), 3, zeros(N, "float32")),
    "a window that is cut at both ends",
)
cases.add(
    brought_peaks,
    1,
    32,
    lambda: (numbers(32), 1.5, zeros(16, "int32"), zeros(1, "int32")),
    "peaks of a signal: three tests joined by `and`, then an atomic; one warp, so that the order is known",
    data_dependent=True,
)
