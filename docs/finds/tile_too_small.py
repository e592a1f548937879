"""A tile too small: shared memory for 32 threads, and a block of 64.

The size of the tile is a constant above the kernel, the size of the block stands in the launch, and one of them was
changed. Threads 32 to 63 write behind the tile, into the shared memory of another array or of nobody.

The cure: one constant for both.
"""

import numpy as np
from numba import cuda

TILE, THREADS = 32, 64


@cuda.jit
def reverse(a):
    tile = cuda.shared.array(TILE, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    cuda.syncthreads()
    a[i] = tile[cuda.blockDim.x - 1 - t]


@cuda.jit
def reverse_mended(a):
    tile = cuda.shared.array(THREADS, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    cuda.syncthreads()
    a[i] = tile[THREADS - 1 - t]


if __name__ == "__main__":
    a = np.random.default_rng(0).random(256)
    for kernel in (reverse, reverse_mended):
        kernel[4, THREADS](a)
