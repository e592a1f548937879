"""A forgotten atomic: two threads add to one element.

`bins[b] += 1` is three steps: read, add, write. If two threads read the same number before either of them writes,
one count is lost. How many are lost depends on the day, the device, and the data.

The cure: `cuda.atomic.add`.
"""

import numpy as np
from numba import cuda


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        bins[values[i]] += 1


@cuda.jit
def histogram_mended(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


if __name__ == "__main__":
    values = np.random.default_rng(0).integers(0, 10, 300)
    for kernel in (histogram, histogram_mended):
        kernel[3, 128](values, np.zeros(10, np.int64))
