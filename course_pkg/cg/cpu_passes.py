"""The sweeps over the grid from which ``cpu_numba.py`` composes its methods, compiled by Numba, on all cores.

Each sweep is written as a function of one row of the grid, which the compiler vectorises. ``_over_rows`` runs it over
all rows as ``stencil/cpu_numba.py`` does: y is cut into tiles, and a thread walks along z in a tile. ``sums``
has one element for each x. A row adds to it element by element, so the compiler can vectorise the loop without
reordering a sum. ``sums`` is added up at the end in a fixed order, so the same number of threads gives the same bits.

Sums are float64. Each sweep returns the total of ``sums``.
"""

from collections.abc import Callable
from inspect import Signature, signature

import numpy as np
from numba import get_num_threads, prange
from numba.extending import register_jitable

from course_pkg.core.parallel import parallel
from course_pkg.stencil.cpu_numba import _tile_rows, laplacian


def _over_rows(row) -> Callable:
    """Return a function that runs ``row`` over all rows of arrays, on all cores, and returns the total of ``sums``."""
    # not njit: Numba's cache compares what all_rows refers to, and a compiled function differs from process to process
    row = register_jitable(row)

    @parallel()
    def all_rows(rows, threads, *arguments):
        nz, ny, nx = arguments[0].shape
        strips = nz * -(-ny // rows)  # numbered along z, then tile by tile; each thread takes an equal share
        totals = np.zeros(threads)
        for thread in prange(threads):
            sums = np.zeros(nx)
            for strip in range(thread * strips // threads, (thread + 1) * strips // threads):
                k, first = strip % nz, strip // nz * rows
                for j in range(first, min(first + rows, ny)):
                    row(k, j, sums, *arguments)
            totals[thread] = sums.sum()
        return totals.sum()

    def over_grid(*arguments, rows=None, threads=None) -> float:
        return all_rows(rows or _tile_rows(arguments[0]), threads or get_num_threads(), *arguments)

    # what a reader sees of the sweep: the row's name, sentence and arguments, without the k, j and sums of one row
    _, _, _, *given = signature(row).parameters.values()
    _, *options = signature(over_grid).parameters.values()
    over_grid.__name__ = over_grid.__qualname__ = row.__name__
    over_grid.__doc__, over_grid.__signature__ = row.__doc__, Signature([*given, *options])
    return over_grid


# register_jitable: compiled with the sweep that calls it, and still callable from Python
@register_jitable
def _beside(k, n, one):
    """Return the indices of k's two neighbours, then their weights, 1; one outside has index k and weight 0."""
    return max(k - 1, 0), min(k + 1, n - 1), one * (k > 0), one * (k < n - 1)


@register_jitable
def _across(u, k, j, i):
    """Return six times u minus its neighbours in y and z. There is no branch, so the compiler can vectorise it."""
    nz, ny, _ = u.shape
    one = u.dtype.type(1)
    lower, upper, below, above = _beside(k, nz, one)
    before, behind, south, north = _beside(j, ny, one)
    total = u.dtype.type(6) * u[k, j, i] - south * u[k, before, i] - north * u[k, behind, i]
    return total - below * u[lower, j, i] - above * u[upper, j, i]


@register_jitable
def _A(u, k, j, i):  # at a point inside a row
    return _across(u, k, j, i) - u[k, j, i - 1] - u[k, j, i + 1]


@register_jitable
def _A_end(u, k, j, i):  # at the first or the last point of a row
    return _across(u, k, j, i) - u[k, j, 1 if i == 0 else i - 1]


@_over_rows
def residual(k, j, sums, b, x, r):
    """Compute ``r = b - A x`` and <r, r>."""

    def at(i, A_x):
        r[k, j, i] = b[k, j, i] - A_x
        sums[i] += np.float64(r[k, j, i]) * r[k, j, i]

    nx = b.shape[2]
    at(0, _A_end(x, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(x, k, j, i))
    at(nx - 1, _A_end(x, k, j, nx - 1))


@_over_rows
def dot(k, j, sums, a, b):
    """Return <a, b>."""
    for i in range(a.shape[2]):
        sums[i] += np.float64(a[k, j, i]) * b[k, j, i]


@_over_rows
def update_p(k, j, sums, r, beta, p):
    """Compute ``p = r + beta p``."""
    for i in range(r.shape[2]):
        p[k, j, i] = r[k, j, i] + beta * p[k, j, i]


@_over_rows
def update_x_and_r(k, j, sums, p, s, alpha, x, r):
    """Compute ``x += alpha p`` and ``r -= alpha s``."""
    for i in range(p.shape[2]):
        x[k, j, i] += alpha * p[k, j, i]
        r[k, j, i] -= alpha * s[k, j, i]


def matvec(p, s) -> None:
    """Compute ``s = A p``.

    Examples
    --------
    >>> p, s = np.ones((3, 3, 3)), np.empty((3, 3, 3))
    >>> matvec(p, s); s[1, 1]
    array([1., 0., 1.])
    """
    laplacian(p, s)


@_over_rows
def matvec_dot(k, j, sums, p, s):
    """Compute ``s = A p`` and <p, s>."""

    def at(i, A_p):
        s[k, j, i] = A_p
        sums[i] += np.float64(p[k, j, i]) * A_p

    nx = p.shape[2]
    at(0, _A_end(p, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(p, k, j, i))
    at(nx - 1, _A_end(p, k, j, nx - 1))


@_over_rows
def update_x_and_r_dot(k, j, sums, p, s, alpha, x, r):
    """Compute ``x += alpha p``, ``r -= alpha s`` and <r, r>."""
    for i in range(p.shape[2]):
        x[k, j, i] += alpha * p[k, j, i]
        r[k, j, i] -= alpha * s[k, j, i]
        sums[i] += np.float64(r[k, j, i]) * r[k, j, i]


@_over_rows
def update_p_and_matvec(k, j, sums, r, p1, beta, p2, s):
    """Compute ``p2 = r + beta p1`` and ``s = A r + beta A p1 = A p2``, so no row waits for another row's p2."""

    def at(i, A_r, A_p1):
        p2[k, j, i] = r[k, j, i] + beta * p1[k, j, i]
        s[k, j, i] = A_r + beta * A_p1

    nx = r.shape[2]
    at(0, _A_end(r, k, j, 0), _A_end(p1, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(r, k, j, i), _A(p1, k, j, i))
    at(nx - 1, _A_end(r, k, j, nx - 1), _A_end(p1, k, j, nx - 1))


@_over_rows
def search(k, j, sums, r, p1, beta, p2):
    """Compute ``p2 = r + beta p1`` and <p2, A p2>.

    Summation by parts turns <p, A p> into the sum of (difference)² over all pairs of neighbours; points outside the
    grid are zero. So each point needs only three of its neighbours: those with the smaller x, y and z.
    """
    nz, ny, nx = r.shape
    lower, _, below, above = _beside(k, nz, r.dtype.type(1))
    before, _, south, north = _beside(j, ny, r.dtype.type(1))
    outside = (1 - above) + (1 - north)  # neighbours outside the grid, towards larger y and z

    def new(k, j, i):
        return r[k, j, i] + beta * p1[k, j, i]

    def at(i, p, p_west):
        p2[k, j, i] = p
        in_x = np.float64(p - p_west)
        in_y, in_z = np.float64(p - south * new(k, before, i)), np.float64(p - below * new(lower, j, i))
        sums[i] += in_x * in_x + in_y * in_y + in_z * in_z + outside * (np.float64(p) * p)

    at(0, new(k, j, 0), r.dtype.type(0))
    for i in range(1, nx):
        at(i, new(k, j, i), new(k, j, i - 1))
    sums[nx - 1] += np.float64(p2[k, j, nx - 1]) * p2[k, j, nx - 1]


@_over_rows
def advance(k, j, sums, p, alpha, x, r):
    """Compute ``x += alpha p``, ``r -= alpha A p`` and <r, r>."""

    def at(i, A_p):
        x[k, j, i] += alpha * p[k, j, i]
        r[k, j, i] -= alpha * A_p
        sums[i] += np.float64(r[k, j, i]) * r[k, j, i]

    nx = p.shape[2]
    at(0, _A_end(p, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(p, k, j, i))
    at(nx - 1, _A_end(p, k, j, nx - 1))


# ---- two precisions: r, p and y are float32; b, x and sums are float64


@register_jitable
def _by_differences(u, k, j, i, west, east):
    """Return the sum of u minus each neighbour: the difference of two close float32 numbers has no rounding error."""
    nz, ny, _ = u.shape
    one, centre = u.dtype.type(1), u[k, j, i]
    lower, upper, below, above = _beside(k, nz, one)
    before, behind, south, north = _beside(j, ny, one)
    in_y = (centre - south * u[k, before, i]) + (centre - north * u[k, behind, i])
    in_z = (centre - below * u[lower, j, i]) + (centre - above * u[upper, j, i])
    return (centre - west) + (centre - east) + in_y + in_z


@_over_rows
def advance_mixed(k, j, sums, p, alpha, y, r):
    """Compute ``y += alpha p``, ``r -= alpha A p`` and <r, r>; as :func:`advance`, but A p is a sum of differences."""

    def at(i, A_p):
        y[k, j, i] += alpha * p[k, j, i]
        r[k, j, i] -= alpha * A_p
        sums[i] += np.float64(r[k, j, i]) * r[k, j, i]

    nx, zero = p.shape[2], p.dtype.type(0)
    at(0, _by_differences(p, k, j, 0, zero, p[k, j, 1]))
    for i in range(1, nx - 1):
        at(i, _by_differences(p, k, j, i, p[k, j, i - 1], p[k, j, i + 1]))
    at(nx - 1, _by_differences(p, k, j, nx - 1, p[k, j, nx - 2], zero))


@_over_rows
def gather(k, j, sums, y, scale, x):
    """Compute ``x += scale y`` and ``y = 0``."""
    for i in range(x.shape[2]):
        x[k, j, i] += scale * np.float64(y[k, j, i])
        y[k, j, i] = 0


@_over_rows
def refresh(k, j, sums, b, x, inverse, r):
    """Compute ``r = inverse (b - A x)`` and <r, r>; r is rounded to float32 when stored, <r, r> uses r before that."""

    def at(i, A_x):
        exact = inverse * (b[k, j, i] - A_x)
        r[k, j, i] = exact
        sums[i] += exact * exact

    nx = b.shape[2]
    at(0, _A_end(x, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(x, k, j, i))
    at(nx - 1, _A_end(x, k, j, nx - 1))
