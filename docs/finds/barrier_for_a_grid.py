"""A barrier for a grid: `syncthreads` waits for one block only.

The first half of the kernel writes squares, the second half reads the square of the right neighbour, and a barrier
stands between them. At the last thread of a block the neighbour belongs to another block, which may not have begun.

The cure: two launches; between launches, everything is done.
"""

import numpy as np
from numba import cuda


@cuda.jit
def squares_then_steps(a, squares, steps):
    i = cuda.grid(1)
    if i < a.size:
        squares[i] = a[i] * a[i]
    cuda.syncthreads()
    if i < a.size - 1:
        steps[i] = squares[i + 1] - squares[i]


@cuda.jit
def squares_mended(a, squares):
    i = cuda.grid(1)
    if i < a.size:
        squares[i] = a[i] * a[i]


@cuda.jit
def steps_mended(squares, steps):
    i = cuda.grid(1)
    if i < steps.size - 1:
        steps[i] = squares[i + 1] - squares[i]


if __name__ == "__main__":
    a, squares, steps = np.random.default_rng(0).random(200), np.zeros(200), np.zeros(200)
    squares_then_steps[4, 64](a, squares, steps)
    squares_mended[4, 64](a, squares)
    steps_mended[4, 64](squares, steps)
