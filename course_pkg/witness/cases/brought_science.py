"""Kernels of the kinds that learners bring: bodies, grids, prices, rows of sparse matrices, clusters and boxes."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.witness.cases.flow import some_matrix

cases = Cases()
BODIES = 64


@cuda.jit
def brought_bodies(places, masses, forces, softening):
    i = cuda.grid(1)
    if i < places.shape[0]:
        fx = fy = fz = np.float32(0.0)
        for j in range(places.shape[0]):
            dx = places[j, 0] - places[i, 0]
            dy = places[j, 1] - places[i, 1]
            dz = places[j, 2] - places[i, 2]
            squared = dx * dx + dy * dy + dz * dz + softening
            inverse = np.float32(1.0) / math.sqrt(squared)
            strength = masses[j] * inverse * inverse * inverse
            fx += dx * strength
            fy += dy * strength
            fz += dz * strength
        forces[i, 0] = fx
        forces[i, 1] = fy
        forces[i, 2] = fz


@cuda.jit
def brought_bodies_by_tiles(x, y, mass, ax, ay):
    near_x = cuda.shared.array(32, np.float64)
    near_y = cuda.shared.array(32, np.float64)
    near_m = cuda.shared.array(32, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    own_x, own_y = x[i], y[i]
    fx, fy = 0.0, 0.0
    for tile in range(cuda.gridDim.x):
        near_x[t] = x[tile * 32 + t]
        near_y[t] = y[tile * 32 + t]
        near_m[t] = mass[tile * 32 + t]
        cuda.syncthreads()
        for j in range(32):
            dx, dy = near_x[j] - own_x, near_y[j] - own_y
            squared = dx * dx + dy * dy + 1e-3
            strength = near_m[j] / (squared * math.sqrt(squared))
            fx += dx * strength
            fy += dy * strength
        cuda.syncthreads()
    ax[i] = fx
    ay[i] = fy


cases.add(
    brought_bodies,
    2,
    32,
    lambda: (
        numbers((BODIES, 3), "float32"),
        numbers(BODIES, "float32", 1),
        zeros((BODIES, 3), "float32"),
        np.float32(1e-3),
    ),
    "forces of all bodies: a root and a division for each pair",
)
cases.add(
    brought_bodies_by_tiles,
    2,
    32,
    lambda: (*(numbers(BODIES, seed=s) for s in range(3)), zeros(BODIES), zeros(BODIES)),
    "bodies by tiles: neighbours in shared memory are read together",
)


@cuda.jit(device=True)
def brought_normal(d):
    """The cumulative normal distribution at d, by a polynomial."""
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    value = 0.39894228040143267794 * math.exp(-0.5 * d * d) * poly
    if d > 0:
        value = 1.0 - value
    return value


@cuda.jit
def brought_prices(call, put, price, strike, years, rate, volatility):
    i = cuda.grid(1)
    if i >= price.size:
        return
    s, x, t = price[i], strike[i], years[i]
    root = math.sqrt(t)
    d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root)
    d2 = d1 - volatility * root
    first, second = brought_normal(d1), brought_normal(d2)
    discount = math.exp(-rate * t)
    call[i] = s * first - x * discount * second
    put[i] = x * discount * (1.0 - second) - s * (1.0 - first)


for dtype in ("float32", "float64"):
    cases.add(
        brought_prices,
        2,
        64,
        lambda dtype=dtype: (
            *(zeros(100, dtype) for _ in range(2)),
            *(numbers(100, dtype, s) for s in range(3)),
            np.dtype(dtype).type(0.02),
            np.dtype(dtype).type(0.3),
        ),
        "Black and Scholes: exp, log, root, divisions, a device function",
        name=f"brought_prices_{dtype}",
    )


@cuda.jit
def brought_heat(old, new, factor):
    x, y = cuda.grid(2)
    rows, columns = old.shape
    if x >= 1 and x < columns - 1 and y >= 1 and y < rows - 1:
        new[y, x] = old[y, x] + factor * (
            old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1] - 4.0 * old[y, x]
        )


@cuda.jit
def brought_heat_by_tiles(old, new):
    tile = cuda.shared.array((10, 18), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    rows, columns = old.shape
    inside = x < columns and y < rows
    if inside:
        tile[ty, tx] = old[y, x]
        if tx == 1 and x > 0:
            tile[ty, 0] = old[y, x - 1]
        if tx == 16 and x < columns - 1:
            tile[ty, 17] = old[y, x + 1]
        if ty == 1 and y > 0:
            tile[0, tx] = old[y - 1, x]
        if ty == 8 and y < rows - 1:
            tile[9, tx] = old[y + 1, x]
    cuda.syncthreads()
    if inside and x > 0 and x < columns - 1 and y > 0 and y < rows - 1:
        new[y, x] = np.float32(0.25) * (
            tile[ty, tx - 1] + tile[ty, tx + 1] + tile[ty - 1, tx] + tile[ty + 1, tx]
        )


@cuda.jit
def brought_life(old, new):
    x, y = cuda.grid(2)
    rows, columns = old.shape
    if x < columns and y < rows:
        alive = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    alive += old[(y + dy) % rows, (x + dx) % columns]
        if old[y, x] == 1 and (alive < 2 or alive > 3):
            new[y, x] = 0
        elif old[y, x] == 0 and alive == 3:
            new[y, x] = 1
        else:
            new[y, x] = old[y, x]


FIELD = (20, 45)
cases.add(
    brought_heat,
    (3, 3),
    (16, 8),
    lambda: (numbers(FIELD), zeros(FIELD), 0.1),
    "a step of heat on a grid: five points",
)
cases.add(
    brought_heat_by_tiles,
    (3, 3),
    (16, 8),
    lambda: (numbers(FIELD, "float32"), zeros(FIELD, "float32")),
    "a step of Jacobi in a tile with a halo, four branches fill it",
)
cases.add(
    brought_life,
    (3, 3),
    (16, 8),
    lambda: (numbers(FIELD, "int32") % 2, zeros(FIELD, "int32")),
    "the game of life on a torus",
    data_dependent=True,
)


@cuda.jit
def brought_rows_until(indptr, indices, data, wanted, found):
    """Walk along a row until its column is found."""
    row = cuda.grid(1)
    if row >= found.size:
        return
    found[row] = 0.0
    for k in range(indptr[row], indptr[row + 1]):
        if indices[k] == wanted[row]:
            found[row] = data[k]
            break


@cuda.jit
def brought_triplets(rows, columns, values, x, y):
    k = cuda.grid(1)
    if k < values.size:
        cuda.atomic.add(y, rows[k], values[k] * x[columns[k]])


@cuda.jit
def brought_padded_rows(columns, values, x, y):
    """A matrix whose rows are padded to one length, stored column by column; -1 ends a row."""
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(columns.shape[0]):
            column = columns[k, row]
            if column < 0:
                break
            total += values[k, row] * x[column]
        y[row] = total


def rows_and_wanted():
    """Return a sparse matrix and, for each row, one of its columns or a column that it does not have."""
    indptr, indices, data, _, y = some_matrix(200)
    places = np.minimum(indptr[:-1] + np.arange(200) % 5, indptr[-1] - 1)
    return indptr, indices, data, indices[places], y


def padded_matrix(rows=100, longest=6):
    """Return columns, values, x and y of a matrix with padded rows."""
    lengths = numbers(rows, "int32") % (longest + 1)
    columns = numbers((longest, rows), "int32", 1) % rows
    columns[np.arange(longest)[:, None] >= lengths] = -1
    return columns, numbers((longest, rows)), numbers(rows, seed=2), zeros(rows)


cases.add(
    brought_rows_until, 2, 128, rows_and_wanted, "a row of a sparse matrix, left early", data_dependent=True
)
cases.add(
    brought_triplets,
    3,
    64,
    lambda: (
        numbers(180, "int32") // 4,
        numbers(180, "int32", 1) // 4,
        numbers(180),
        numbers(30),
        zeros(30),
    ),
    "a sparse matrix by triplets: atomics on doubles",
)
cases.add(
    brought_padded_rows,
    2,
    64,
    padded_matrix,
    "padded rows that end early",
    data_dependent=True,
)
