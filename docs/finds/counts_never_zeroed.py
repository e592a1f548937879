"""Counts that nobody set to zero: shared memory does not begin with zeros.

A block counts in shared memory first, and adds its counts to the result at the end. Shared memory holds what the
block before has left there. The first launch after a start of the machine may even find zeros.

The cure: set them to zero, and let a barrier stand between this and the first addition.
"""

import numpy as np
from numba import cuda

BINS = 8


@cuda.jit
def count(values, bins):
    own = cuda.shared.array(BINS, np.int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < values.size:
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(bins, t, own[t])


@cuda.jit
def count_mended(values, bins):
    own = cuda.shared.array(BINS, np.int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t < BINS:
        own[t] = 0
    cuda.syncthreads()
    if i < values.size:
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(bins, t, own[t])


if __name__ == "__main__":
    values = np.random.default_rng(0).integers(0, BINS, 200)
    for kernel in (count, count_mended):
        kernel[4, 64](values, np.zeros(BINS, np.int32))
