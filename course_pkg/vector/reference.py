"""The streaming operations, the sums and the transpose in plain NumPy: the oracle of every other file in this topic.

copy, scale, add, triad are the four kernels of STREAM (J. D. McCalpin, Memory Bandwidth and Machine Balance in Current
High Performance Computers, IEEE TCCA Newsletter, 1995); ``dot`` and ``reduce_sum`` add a reduction, ``horner`` as much
arithmetic as one likes on the same traffic, the cumulative sums a loop in which each step needs the one before it, and
``transpose`` a copy in another order.

Shapes and dtypes, for every file of this topic:

a, b : array, shape (n,), float64 or float32
    Inputs, left as they are; ``a`` and ``b`` may be one array. For a cumulative sum and a transpose ``a`` has
    shape (ny, nx).
s : float
    Scalar, converted to the precision of the arrays.
out : array, shape (n,), for ``dot`` and ``reduce_sum`` (1,), for a cumulative sum (ny, nx), for a transpose (nx, ny)
    Overwritten; shares no memory with the inputs.
degree : int, at least 0

``reduce_sum`` and the cumulative sums accumulate in float64 and round once to the precision of ``out``; those of CuPy
accumulate in the precision of the arrays.
"""

import numpy as np


def copy(a, out):
    """Compute ``out = a``."""
    np.copyto(out, a)


def scale(a, s, out):
    """Compute ``out = s * a``."""
    np.multiply(a, a.dtype.type(s), out=out)


def add(a, b, out):
    """Compute ``out = a + b``."""
    np.add(a, b, out=out)


def triad(a, b, s, out):
    """Compute ``out = a + s * b``, in two passes: NumPy writes ``s * b`` to memory and reads it again."""
    np.multiply(b, b.dtype.type(s), out=out)
    np.add(out, a, out=out)


def dot(a, b, out):
    """Compute ``out[0] = sum(a * b)``; ``out`` has shape (1,)."""
    out[0] = np.dot(a, b)


def horner(a, degree, out):
    """Compute the polynomial ``out = 1 + a (1 + a (1 + …))`` with ``degree`` multiply-adds an element.

    One pass over memory in compiled variants, whatever the degree; here two passes for each multiply-add.
    """
    out[:] = 1
    for _ in range(degree):
        out *= a
        out += 1


def reduce_sum(a, out):
    """Compute ``out[0] = sum(a)``; ``out`` has shape (1,)."""
    out[0] = np.sum(a, dtype=np.float64)


def cumsum_columns(a, out):
    """Compute ``out[y, x] = sum(a[:y + 1, x])``: the cumulative sum along y, down each column."""
    np.cumsum(a, axis=0, dtype=np.float64, out=out)


def cumsum_rows(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])``: the cumulative sum along x, through each row."""
    np.cumsum(a, axis=1, dtype=np.float64, out=out)


def transpose(a, out):
    """Compute ``out[x, y] = a[y, x]``."""
    np.copyto(out, a.T)
