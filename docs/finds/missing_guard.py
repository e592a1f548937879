"""A missing guard: threads without an element write behind the array.

The grid is rounded up, so that 4 blocks of 64 threads serve 200 elements, and 56 threads are left over. Nothing
stops them. On a GPU they change whatever lies behind the array: mostly nothing that matters, and one day something
else. The result of the kernel itself is right, so a test of the result finds nothing.

The cure: compare the number of the thread with the size before the first access.
"""

import numpy as np
from numba import cuda


@cuda.jit
def scale(a, factor, out):
    i = cuda.grid(1)
    out[i] = factor * a[i]


@cuda.jit
def scale_mended(a, factor, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * a[i]


if __name__ == "__main__":
    a, out = np.random.default_rng(0).random(200), np.zeros(200)
    for kernel in (scale, scale_mended):
        kernel[4, 64](a, 3.0, out)
