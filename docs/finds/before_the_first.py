"""Before the first element: index -1 is another element.

A difference of neighbours has no left neighbour at the left end. In Python, `a[-1]` is the last element, and so it
is in Numba's kernels: no error, and a wrong first result. In a language with plain pointers it would be memory that
belongs to somebody else.

The cure: leave the end out, or say what holds there.
"""

import numpy as np
from numba import cuda


@cuda.jit
def difference(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] - a[i - 1]


@cuda.jit
def difference_mended(a, out):
    i = cuda.grid(1)
    if 0 < i < a.size:
        out[i] = a[i] - a[i - 1]


if __name__ == "__main__":
    a, out = np.random.default_rng(0).random(100), np.zeros(100)
    for kernel in (difference, difference_mended):
        kernel[2, 64](a, out)
