"""A tile overwritten: fast threads load the next tile while slow ones still read this one.

A tiled matrix product needs two barriers per tile: one after the tile is loaded, and one before it is loaded anew.
The second one is easily left out, because the result is mostly right: warps seldom run so far apart.

The cure: the second barrier, at the end of the loop.
"""

import numpy as np
from numba import cuda

TILE = 8


@cuda.jit
def product(A, B, C):
    a = cuda.shared.array((TILE, TILE), np.float64)
    b = cuda.shared.array((TILE, TILE), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    value = 0.0
    for k in range(0, A.shape[1], TILE):
        a[y, x] = A[row, k + x]
        b[y, x] = B[k + y, column]
        cuda.syncthreads()
        for j in range(TILE):
            value += a[y, j] * b[j, x]
    C[row, column] = value


@cuda.jit
def product_mended(A, B, C):
    a = cuda.shared.array((TILE, TILE), np.float64)
    b = cuda.shared.array((TILE, TILE), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    value = 0.0
    for k in range(0, A.shape[1], TILE):
        a[y, x] = A[row, k + x]
        b[y, x] = B[k + y, column]
        cuda.syncthreads()
        for j in range(TILE):
            value += a[y, j] * b[j, x]
        cuda.syncthreads()
    C[row, column] = value


if __name__ == "__main__":
    A, B = np.random.default_rng(0).random((2, 16, 16))
    for kernel in (product, product_mended):
        kernel[(2, 2), (TILE, TILE)](A, B, np.zeros((16, 16)))
