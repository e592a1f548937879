"""A barrier in a branch: some threads of the block never reach it.

All threads of a block have to reach the same barrier. Here only those that still add do. CUDA leaves open what
follows: on some devices the kernel hangs, on others it goes on as if the barrier were not there.

The cure: the barrier stands outside the branch.
"""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def largest(a, out):
    parts = cuda.shared.array(THREADS, np.float64)
    t = cuda.threadIdx.x
    parts[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            parts[t] = max(parts[t], parts[t + half])
            cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]


@cuda.jit
def largest_mended(a, out):
    parts = cuda.shared.array(THREADS, np.float64)
    t = cuda.threadIdx.x
    parts[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            parts[t] = max(parts[t], parts[t + half])
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]


if __name__ == "__main__":
    a = np.random.default_rng(0).random(256)
    for kernel in (largest, largest_mended):
        kernel[4, THREADS](a, np.zeros(4))
