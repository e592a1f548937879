"""The streaming operations, the sums and the transpose compiled by Numba, on all cores: the fair competitor of the GPU.

Each is one parallel loop, so each element travels once from memory to a core and back.

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in host memory. Every function raises ``CourseError``, before anything is written, when an argument does
not fit.
"""

from functools import cache

import numpy as np
from numba import njit, prange

from course_pkg.core.checks import require_count, require_number
from course_pkg.vector.checks import check_cumsum, check_dot, check_reduce_sum, check_stream, check_transpose

COLUMNS = 64  # that one core walks down together: whole cache lines of either precision
# rows and columns of a transposed tile: rows a power of two apart lie in one set of a cache, which holds few lines
TILE = 8


@njit(parallel=True)
def _copy(a, out):
    for i in prange(a.size):
        out[i] = a[i]


def copy(a, out):
    """Compute ``out = a``; one read and one write an element."""
    check_stream(device=False, a=a, out=out)
    _copy(a, out)


@njit(parallel=True)
def _scale(a, s, out):
    for i in prange(a.size):
        out[i] = s * a[i]


def scale(a, s, out):
    """Compute ``out = s * a``; one read and one write an element."""
    require_number(s=s)
    check_stream(device=False, a=a, out=out)
    _scale(a, a.dtype.type(s), out)


@njit(parallel=True)
def _add(a, b, out):
    for i in prange(a.size):
        out[i] = a[i] + b[i]


def add(a, b, out):
    """Compute ``out = a + b``; two reads and one write an element."""
    check_stream(device=False, a=a, b=b, out=out)
    _add(a, b, out)


@njit(parallel=True)
def _triad(a, b, s, out):
    for i in prange(a.size):
        out[i] = a[i] + s * b[i]


def triad(a, b, s, out):
    """Compute ``out = a + s * b``; two reads and one write an element."""
    require_number(s=s)
    check_stream(device=False, a=a, b=b, out=out)
    _triad(a, b, a.dtype.type(s), out)


# fastmath allows the sum to be reordered, without which it cannot be vectorised
@njit(parallel=True, fastmath={"reassoc", "contract"})
def _dot(a, b):
    total = a.dtype.type(0)
    for i in prange(a.size):
        total += a[i] * b[i]
    return total


def dot(a, b, out):
    """Compute ``out[0] = sum(a * b)``; two reads an element, no writes but one."""
    check_dot(a, b, out, device=False)
    out[0] = _dot(a, b)


@cache
def _compiled_horner(degree):
    # with the degree known, the compiler unrolls the chain (up to about 64) and runs several elements in one vector
    @njit(parallel=True, fastmath={"contract"})
    def chain(a, one, out):
        for i in prange(a.size):
            y = one
            for _ in range(degree):
                y = one + a[i] * y
            out[i] = y

    return chain


def horner(a, degree, out):
    """Compute ``out = 1 + a (1 + a (1 + …))``; one read and one write an element, ``degree`` multiply-adds.

    Compiled anew for each degree.
    """
    require_count(degree=degree)
    check_stream(device=False, a=a, out=out)
    _compiled_horner(degree)(a, a.dtype.type(1), out)


# fastmath as for dot
@njit(parallel=True, fastmath={"reassoc"})
def _reduce_sum(a):
    total = 0.0
    for i in prange(a.size):
        total += a[i]
    return total


def reduce_sum(a, out):
    """Compute ``out[0] = sum(a)``, accumulated in float64; one read an element, no writes but one."""
    check_reduce_sum(a, out, device=False)
    out[0] = _reduce_sum(a)


@njit(parallel=True)
def _cumsum_columns(a, out):
    ny, nx = a.shape
    for block in prange((nx + COLUMNS - 1) // COLUMNS):
        columns = slice(block * COLUMNS, min((block + 1) * COLUMNS, nx))
        total = np.zeros(COLUMNS)
        for y in range(ny):
            # views from 0 on: with an offset, nothing is vectorised
            row, row_out = a[y, columns], out[y, columns]
            for x in range(row.size):
                total[x] += row[x]
                row_out[x] = total[x]


def cumsum_columns(a, out):
    """Compute ``out[y, x] = sum(a[:y + 1, x])``, accumulated in float64; one read and one write an element.

    Each core walks down blocks of 64 columns, whose sums stay in its cache.
    """
    check_cumsum(a, out, device=False)
    _cumsum_columns(a, out)


@njit(parallel=True)
def _cumsum_rows(a, out):
    for y in prange(a.shape[0]):
        total = 0.0
        for x in range(a.shape[1]):
            total += a[y, x]
            out[y, x] = total


def cumsum_rows(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])``, accumulated in float64; one read and one write an element.

    Each core walks through rows of its own: a row is serial, and contiguous.
    """
    check_cumsum(a, out, device=False)
    _cumsum_rows(a, out)


@njit(parallel=True)
def _transpose(a, out):
    ny, nx = a.shape
    for block in prange((nx + TILE - 1) // TILE):
        columns = slice(block * TILE, min((block + 1) * TILE, nx))
        for top in range(0, ny, TILE):
            rows = slice(top, min(top + TILE, ny))
            # views from 0 to their own sizes: with an offset or other bounds it takes twice the time
            tile, tile_out = a[rows, columns], out[columns, rows]
            for x in range(tile_out.shape[0]):
                for y in range(tile_out.shape[1]):
                    tile_out[x, y] = tile[y, x]


def transpose(a, out):
    """Compute ``out[x, y] = a[y, x]``; one read and one write an element.

    In tiles of 8 × 8, of which the lines that are read and those that are written stay in a core's cache until they are
    used whole.
    """
    check_transpose(a, out, device=False)
    _transpose(a, out)
