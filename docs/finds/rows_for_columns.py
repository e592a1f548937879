"""Rows for columns: the guard compares each index with the other extent.

`cuda.grid(2)` gives x, then y. An array of rows and columns is indexed by y first, if neighbouring threads are to
touch neighbouring elements. This kernel gets the index right, and the guard the wrong way round. On square
pictures, which examples like, it is right.

The cure: name the indices for what they count, and try a shape that is not square.
"""

import numpy as np
from numba import cuda


@cuda.jit
def invert(picture):
    x, y = cuda.grid(2)
    if x < picture.shape[0] and y < picture.shape[1]:
        picture[y, x] = 255.0 - picture[y, x]


@cuda.jit
def invert_mended(picture):
    column, row = cuda.grid(2)
    if row < picture.shape[0] and column < picture.shape[1]:
        picture[row, column] = 255.0 - picture[row, column]


if __name__ == "__main__":
    picture = np.zeros((48, 32))
    for kernel in (invert, invert_mended):
        kernel[(6, 6), (8, 8)](picture)
