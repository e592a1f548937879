"""One result of many blocks: each block overwrites the sum of the others.

Each block sums its part correctly, and then its first thread writes the sum to the only element of the result. The
last block wins. With one block, as in the example that came with such a kernel, the sum is right.

The cure: an atomic addition by one thread per block, or one element for each block and a second sum.
"""

import numpy as np
from numba import cuda

THREADS = 64


@cuda.jit
def total(a, out):
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
        out[0] = parts[0]


@cuda.jit
def total_mended(a, out):
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
        cuda.atomic.add(out, 0, parts[0])


if __name__ == "__main__":
    a = np.random.default_rng(0).random(200)
    for kernel in (total, total_mended):
        kernel[4, THREADS](a, np.zeros(1))
