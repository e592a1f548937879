"""A halo that nobody loads: the tile has room for neighbours, and stays empty there.

The tile has one element more on each side, for the neighbours of its first and last thread. All threads load their
own element; nobody loads the two others. At the ends of each block the result is wrong, which a plot of the whole
does not show.

The cure: the first and the last thread load one element more.
"""

import numpy as np
from numba import cuda

THREADS = 32
WIDTH = THREADS + 2


@cuda.jit
def smooth(a, out):
    tile = cuda.shared.array(WIDTH, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t + 1] = a[i]
    cuda.syncthreads()
    if 0 < i < a.size - 1:
        out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3.0


@cuda.jit
def smooth_mended(a, out):
    tile = cuda.shared.array(WIDTH, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t + 1] = a[i]
    if t == 0 and i > 0:
        tile[0] = a[i - 1]
    if t == THREADS - 1 and i < a.size - 1:
        tile[WIDTH - 1] = a[i + 1]
    cuda.syncthreads()
    if 0 < i < a.size - 1:
        out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3.0


if __name__ == "__main__":
    a = np.random.default_rng(0).random(128)
    for kernel in (smooth, smooth_mended):
        kernel[4, THREADS](a, np.zeros(128))
