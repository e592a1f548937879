"""The streaming operations, the sums and the transpose, compiled by Numba, on all cores: a fair competitor of the GPU.

Each is one parallel loop, so each element moves only once from memory to a core and back.

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in host memory. If an argument does not fit, a function raises ``CourseError`` before anything is written.
"""

from functools import cache

import numpy as np
from numba import prange

from course_pkg.core.checks import require_count, require_number
from course_pkg.core.parallel import parallel
from course_pkg.vector.checks import (
    check_copy_strided,
    check_cumsum,
    check_dot,
    check_reduce_sum,
    check_stream,
    check_transpose,
)

COLUMNS = 64  # columns that one core walks down together: whole cache lines in either precision
# Rows and columns of a transposed tile. The tile is small because rows that lie a power of two apart share one set of
# the cache, and a set holds few lines.
TILE = 8


@parallel()
def _copy(a, out):
    for i in prange(a.size):
        out[i] = a[i]


def copy(a, out):
    """Compute ``out = a``; one read and one write per element.

    Examples
    --------
    >>> a, out = np.array([1.0, 2.0]), np.empty(2)
    >>> copy(a, out); out
    array([1., 2.])
    """
    check_stream(device=False, a=a, out=out)
    _copy(a, out)


@parallel()
def _copy_strided(a, stride, out):
    for i in prange(out.size):
        out[i] = a[stride * i]


def copy_strided(a, stride, out):
    """Compute ``out[i] = a[stride * i]``; memory moves whole cache lines, even if only a part of each is used.

    Examples
    --------
    >>> a, out = np.arange(7.0), np.empty(3)
    >>> copy_strided(a, 3, out); out
    array([0., 3., 6.])
    """
    check_copy_strided(a, stride, out, device=False)
    _copy_strided(a, stride, out)


@parallel()
def _scale(a, s, out):
    for i in prange(a.size):
        out[i] = s * a[i]


def scale(a, s, out):
    """Compute ``out = s * a``; one read and one write per element.

    Examples
    --------
    >>> a, out = np.array([1.0, 2.0]), np.empty(2)
    >>> scale(a, 3.0, out); out
    array([3., 6.])
    """
    require_number(s=s)
    check_stream(device=False, a=a, out=out)
    _scale(a, a.dtype.type(s), out)


@parallel()
def _add(a, b, out):
    for i in prange(a.size):
        out[i] = a[i] + b[i]


def add(a, b, out):
    """Compute ``out = a + b``; two reads and one write per element.

    Examples
    --------
    >>> a, out = np.array([1.0, 2.0]), np.empty(2)
    >>> add(a, a, out); out
    array([2., 4.])
    """
    check_stream(device=False, a=a, b=b, out=out)
    _add(a, b, out)


@parallel()
def _triad(a, b, s, out):
    for i in prange(a.size):
        out[i] = a[i] + s * b[i]


def triad(a, b, s, out):
    """Compute ``out = a + s * b``; two reads and one write per element.

    Examples
    --------
    >>> a, b, out = np.array([1.0, 2.0]), np.array([10.0, 20.0]), np.empty(2)
    >>> triad(a, b, 3.0, out); out
    array([31., 62.])
    """
    require_number(s=s)
    check_stream(device=False, a=a, b=b, out=out)
    _triad(a, b, a.dtype.type(s), out)


# fastmath lets the compiler reorder the sum, which is necessary to vectorise it
@parallel(fastmath={"reassoc", "contract"})
def _dot(a, b):
    total = a.dtype.type(0)
    for i in prange(a.size):
        total += a[i] * b[i]
    return total


def dot(a, b, out):
    """Compute ``out[0] = sum(a * b)``; two reads per element, and one write in all.

    Examples
    --------
    >>> out = np.empty(1)
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]), out); out
    array([11.])
    """
    check_dot(a, b, out, device=False)
    out[0] = _dot(a, b)


@cache
def _compiled_horner(degree):
    # Because the degree is known here, the compiler unrolls the chain (up to about 64 steps) and puts several elements
    # into one vector.
    @parallel(fastmath={"contract"})
    def chain(a, one, out):
        for i in prange(a.size):
            y = one
            for _ in range(degree):
                y = one + a[i] * y
            out[i] = y

    return chain


def horner(a, degree, out):
    """Compute ``out = 1 + a (1 + a (1 + …))``; one read and one write per element, ``degree`` multiply-adds.

    It is compiled for each degree.

    Examples
    --------
    >>> out = np.empty(2)
    >>> horner(np.array([2.0, 10.0]), 3, out); out  # 1 + 2 + 4 + 8
    array([  15., 1111.])
    """
    require_count(degree=degree)
    check_stream(device=False, a=a, out=out)
    _compiled_horner(degree)(a, a.dtype.type(1), out)


# fastmath as for dot
@parallel(fastmath={"reassoc"})
def _reduce_sum(a):
    total = 0.0
    for i in prange(a.size):
        total += a[i]
    return total


def reduce_sum(a, out):
    """Compute ``out[0] = sum(a)``, accumulated in float64; one read per element, and one write in all.

    Examples
    --------
    >>> out = np.empty(1)
    >>> reduce_sum(np.array([1.0, 2.0, 3.0]), out); out
    array([6.])
    """
    check_reduce_sum(a, out, device=False)
    out[0] = _reduce_sum(a)


@parallel()
def _cumsum_columns(a, out):
    ny, nx = a.shape
    for block in prange((nx + COLUMNS - 1) // COLUMNS):
        columns = slice(block * COLUMNS, min((block + 1) * COLUMNS, nx))
        total = np.zeros(COLUMNS)
        for y in range(ny):
            # loop over views from index 0, because the compiler does not vectorise a loop over a[y, x + offset]
            row, row_out = a[y, columns], out[y, columns]
            for x in range(row.size):
                total[x] += row[x]
                row_out[x] = total[x]


def cumsum_columns(a, out):
    """Compute ``out[y, x] = sum(a[:y + 1, x])``, accumulated in float64; one read and one write per element.

    Each core walks down blocks of 64 columns, whose sums stay in its cache.

    Examples
    --------
    >>> out = np.empty((2, 3))
    >>> cumsum_columns(np.ones((2, 3)), out); out[-1]
    array([2., 2., 2.])
    """
    check_cumsum(a, out, device=False)
    _cumsum_columns(a, out)


@parallel()
def _cumsum_rows(a, out):
    for y in prange(a.shape[0]):
        total = 0.0
        for x in range(a.shape[1]):
            total += a[y, x]
            out[y, x] = total


def cumsum_rows(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])``, accumulated in float64; one read and one write per element.

    Each core takes whole rows. Within a row the work is serial, and the memory contiguous.

    Examples
    --------
    >>> out = np.empty((2, 3))
    >>> cumsum_rows(np.ones((2, 3)), out); out[-1]
    array([1., 2., 3.])
    """
    check_cumsum(a, out, device=False)
    _cumsum_rows(a, out)


@parallel()
def _transpose(a, out):
    ny, nx = a.shape
    for block in prange((nx + TILE - 1) // TILE):
        columns = slice(block * TILE, min((block + 1) * TILE, nx))
        for top in range(0, ny, TILE):
            rows = slice(top, min(top + TILE, ny))
            # each loop runs from 0 to the size of a view; with other bounds or an offset, it takes twice the time
            tile, tile_out = a[rows, columns], out[columns, rows]
            for x in range(tile_out.shape[0]):
                for y in range(tile_out.shape[1]):
                    tile_out[x, y] = tile[y, x]


def transpose(a, out):
    """Compute ``out[x, y] = a[y, x]``; one read and one write per element.

    It works in tiles of 8 × 8: the cache lines that a tile reads and writes stay in the core's cache until all of their
    elements have been used.

    Examples
    --------
    >>> out = np.empty((2, 3))
    >>> transpose(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), out); out[-1]
    array([2., 4., 6.])
    """
    check_transpose(a, out, device=False)
    _transpose(a, out)
