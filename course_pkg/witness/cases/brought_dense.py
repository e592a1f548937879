"""Kernels of the kinds that learners bring: matrices, distances, and what is done with neighbours in a table."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.device.launch import blocks_for

cases = Cases()
TILE, PADDED = 16, 17


@cuda.jit
def brought_product(a, b, c):
    row, column = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@cuda.jit
def brought_product_by_tiles(a, b, c):
    """Matrix product by tiles, filled with zeros where a tile extends beyond the matrix."""
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0.0)
    for tile in range(cuda.gridDim.x):
        tile_a[ty, tx] = 0
        tile_b[ty, tx] = 0
        if y < a.shape[0] and tx + tile * TILE < a.shape[1]:
            tile_a[ty, tx] = a[y, tx + tile * TILE]
        if x < b.shape[1] and ty + tile * TILE < b.shape[0]:
            tile_b[ty, tx] = b[ty + tile * TILE, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def two_matrices(n, dtype):
    """Return two square matrices and a place for their product."""
    return numbers((n, n), dtype), numbers((n, n), dtype, 1), zeros((n, n), dtype)


for dtype in ("float32", "float64"):
    cases.add(
        brought_product,
        (3, 3),
        (TILE, TILE),
        lambda dtype=dtype: two_matrices(40, dtype),
        "matrix product, one element per thread, sums in double precision",
        name=f"brought_product_{dtype}",
    )
cases.add(
    brought_product_by_tiles,
    (3, 3),
    (TILE, TILE),
    lambda: two_matrices(40, "float32"),
    "matrix product by tiles that leave the matrix: rows of a tile are read by 128 bits",
)


@cuda.jit
def brought_product_by_full_tiles(a, b, c):
    """Matrix product by tiles that all lie in the matrix; threadIdx.x counts rows, as in many first programs."""
    tile_a = cuda.shared.array(shape=(TILE, TILE), dtype=np.float64)
    tile_b = cuda.shared.array(shape=(TILE, TILE), dtype=np.float64)
    row, column = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for tile in range(a.shape[1] // TILE):
        tile_a[tx, ty] = a[row, ty + tile * TILE]
        tile_b[tx, ty] = b[tx + tile * TILE, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[tx, k] * tile_b[k, ty]
        cuda.syncthreads()
    c[row, column] = total


cases.add(
    brought_product_by_full_tiles,
    (3, 3),
    (TILE, TILE),
    lambda: two_matrices(48, "float64"),
    "matrix product by tiles that fit, with x as the row",
)


@cuda.jit
def brought_matrix_times_vector(matrix, x, y):
    row = cuda.grid(1)
    if row < matrix.shape[0]:
        y[row] = 0.0
        for k in range(matrix.shape[1]):
            y[row] += matrix[row, k] * x[k]


cases.add(
    brought_matrix_times_vector,
    2,
    64,
    lambda: (numbers((100, 33)), numbers(33, seed=1), zeros(100)),
    "the sum is kept in the result: a store in each trip",
)


@cuda.jit
def brought_transpose(source, target):
    tile = cuda.shared.array((TILE, PADDED), np.float32)
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    y = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.y
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


cases.add(
    brought_transpose,
    (4, 3),
    (TILE, TILE),
    lambda: (numbers((41, 50), "float32"), zeros((50, 41), "float32")),
    "transpose through a padded tile that leaves the matrix",
)


@cuda.jit
def brought_distances(points, centres, out):
    i, j = cuda.grid(2)
    if i < points.shape[0] and j < centres.shape[0]:
        total = 0.0
        for k in range(points.shape[1]):
            difference = points[i, k] - centres[j, k]
            total += difference * difference
        out[i, j] = math.sqrt(total)


for dtype in ("float32", "float64"):
    cases.add(
        brought_distances,
        blocks_for((30, 45), (16, 8))[::-1],
        (8, 16),
        lambda dtype=dtype: (numbers((45, 5), dtype), numbers((30, 5), dtype, 1), zeros((45, 30), dtype)),
        "distances of all pairs, and a square root",
        name=f"brought_distances_{dtype}",
    )


@cuda.jit
def brought_correlation(data, mean, deviation, out):
    i, j = cuda.grid(2)
    features = data.shape[1]
    if i >= features or j >= features or j < i:
        return
    total = 0.0
    for k in range(data.shape[0]):
        total += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
    value = total / (data.shape[0] * deviation[i] * deviation[j])
    out[i, j] = value
    out[j, i] = value


cases.add(
    brought_correlation,
    (2, 2),
    (16, 16),
    lambda: (numbers((20, 24)), numbers(24, seed=1), numbers(24, seed=2), zeros((24, 24))),
    "half of the pairs leave early; a division",
)


@cuda.jit
def brought_solve_lower(lower, b, x):
    """One thread solves one small triangular system."""
    system = cuda.grid(1)
    if system < b.shape[0]:
        for i in range(b.shape[1]):
            value = b[system, i]
            for j in range(i):
                value -= lower[system, i, j] * x[system, j]
            x[system, i] = value / lower[system, i, i]


cases.add(
    brought_solve_lower,
    2,
    32,
    lambda: (numbers((50, 6, 6)), numbers((50, 6), seed=1), zeros((50, 6))),
    "forward substitution: trips that depend on an outer loop",
)


@cuda.jit
def brought_softmax(x, out):
    """Softmax with one thread per row: largest number, sum of exponentials, quotients."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        largest = x[row, 0]
        for j in range(1, x.shape[1]):
            if x[row, j] > largest:
                largest = x[row, j]
        total = np.float32(0.0)
        for j in range(x.shape[1]):
            out[row, j] = math.exp(x[row, j] - largest)
            total += out[row, j]
        for j in range(x.shape[1]):
            out[row, j] /= total


cases.add(
    brought_softmax,
    2,
    32,
    lambda: (numbers((45, 10), "float32"), zeros((45, 10), "float32")),
    "a result that is stored, read again and divided",
)


@cuda.jit
def brought_layer(x, weights, bias, out):
    sample, unit = cuda.grid(2)
    if sample < out.shape[0] and unit < out.shape[1]:
        total = bias[unit]
        for k in range(x.shape[1]):
            total += x[sample, k] * weights[k, unit]
        out[sample, unit] = max(total, np.float32(0))


cases.add(
    brought_layer,
    (3, 2),
    (8, 16),
    lambda: (
        numbers((20, 12), "float32"),
        numbers((12, 30), "float32", 1),
        numbers(30, "float32", 2),
        zeros((20, 30), "float32"),
    ),
    "a layer of a network with the rectifier",
)
