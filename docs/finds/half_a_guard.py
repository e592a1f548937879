"""Half a guard: `and` where `or` is meant.

A thread has no element if it is outside in one direction *or* in the other. With `and`, only the corner of the grid
leaves, where both are outside; the threads at the right and at the lower rim go on. If both extents are multiples
of the block, nobody notices.

The cure: `or`; or turn the guard round, `if row < rows and column < columns:`, and put the work below it.
"""

import numpy as np
from numba import cuda


@cuda.jit
def brighten(picture, by):
    row, column = cuda.grid(2)
    if row >= picture.shape[0] and column >= picture.shape[1]:
        return
    picture[row, column] += by


@cuda.jit
def brighten_mended(picture, by):
    row, column = cuda.grid(2)
    if row >= picture.shape[0] or column >= picture.shape[1]:
        return
    picture[row, column] += by


if __name__ == "__main__":
    picture = np.zeros((40, 60))
    for kernel in (brighten, brighten_mended):
        kernel[(5, 8), (8, 8)](picture, 0.1)
