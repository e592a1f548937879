"""The last warp without `syncwarp`: its lanes no longer run in step.

Once, the 32 threads of a warp ran in step, and kernels saved the barriers of the last steps of a sum. Since Volta,
each thread of a warp has its own program counter, and the compiler may move reads before writes.

The cure: `cuda.syncwarp()` at the start of every step, and before the result is read.
"""

import numpy as np
from numba import cuda

THREADS = 32


@cuda.jit
def warp_sum(a, out):
    parts = cuda.shared.array(THREADS, np.float64)
    t = cuda.threadIdx.x
    parts[t] = a[cuda.grid(1)]
    half = THREADS // 2
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]


@cuda.jit
def warp_sum_mended(a, out):
    parts = cuda.shared.array(THREADS, np.float64)
    t = cuda.threadIdx.x
    parts[t] = a[cuda.grid(1)]
    half = THREADS // 2
    while half > 0:
        cuda.syncwarp()
        if t < half:
            parts[t] += parts[t + half]
        half //= 2
    cuda.syncwarp()
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]


if __name__ == "__main__":
    a = np.random.default_rng(0).random(128)
    for kernel in (warp_sum, warp_sum_mended):
        kernel[4, THREADS](a, np.zeros(4))
