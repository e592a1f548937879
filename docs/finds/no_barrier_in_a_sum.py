"""A sum without a barrier: a step begins before the last one is done.

In a sum by halves, each step reads what other threads wrote in the step before. The threads of one warp often run
side by side, so a block of 32 threads gives the right sum; other warps may be a step behind, or ahead.

The cure: a barrier at the start of every step, where all threads of the block reach it.
"""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def sums(a, out):
    parts = cuda.shared.array(THREADS, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    parts[t] = a[i] if i < a.size else 0.0
    half = THREADS // 2
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]


@cuda.jit
def sums_mended(a, out):
    parts = cuda.shared.array(THREADS, np.float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    parts[t] = a[i] if i < a.size else 0.0
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            parts[t] += parts[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]


if __name__ == "__main__":
    a = np.random.default_rng(0).random(200)
    for kernel in (sums, sums_mended):
        kernel[4, THREADS](a, np.zeros(4))
