"""Conjugate gradient compiled by Numba, on all cores: four methods, which divide an iteration into different passes.

Each step of an iteration is a function of one row of the grid, which the compiler vectorises. :func:`_pass` runs it
over all rows as ``stencil/cpu_numba.py`` does: y is cut into tiles; a thread walks along z in a tile. A row adds to
``sums`` element by element along x, and ``sums`` is added up at the end in a fixed order. So the compiler need not
reorder a sum to vectorise it, and the same number of threads always gives the same bits.

Arrays are C-contiguous, float64 or float32, all of one precision, in host memory. Sums are float64, and the scalars
stay on the host between passes. The numbers beside the lines are the steps that ``reference.py`` explains.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np
from numba import get_num_threads, njit, prange
from numba.extending import register_jitable

from course_pkg.cg.checks import check_grids, check_norm, check_system, check_target, why_stopped
from course_pkg.cg.outcome import finish, nothing_to_solve
from course_pkg.core import Solution
from course_pkg.stencil.cpu_numba import _tile_rows, laplacian


def _pass(row) -> Callable:
    """Return a function that runs ``row`` over all rows of arrays, on all cores, and returns the total of ``sums``."""
    row = njit(row)

    @njit(parallel=True)
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

    return over_grid


# register_jitable: compiled with the pass that calls it, and still callable from Python
@register_jitable
def _beside(k, n, one):
    """Return for each neighbour of k its index and 1; for a neighbour outside 0 to n - 1, k and 0 instead."""
    return max(k - 1, 0), min(k + 1, n - 1), one * (k > 0), one * (k < n - 1)


@register_jitable
def _across(u, k, j, i):
    """Return six times u minus its neighbours in y and z, without a branch, so that the compiler can vectorise it."""
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


@_pass
def _residual(k, j, sums, b, x, r):
    """Compute ``r = b - A x`` and <r, r>."""

    def at(i, A_x):
        r[k, j, i] = b[k, j, i] - A_x
        sums[i] += np.float64(r[k, j, i]) * r[k, j, i]

    nx = b.shape[2]
    at(0, _A_end(x, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(x, k, j, i))
    at(nx - 1, _A_end(x, k, j, nx - 1))


@_pass
def _dot(k, j, sums, a, b):
    for i in range(a.shape[2]):
        sums[i] += np.float64(a[k, j, i]) * b[k, j, i]


@_pass
def _update_p(k, j, sums, r, beta, p):
    for i in range(r.shape[2]):
        p[k, j, i] = r[k, j, i] + beta * p[k, j, i]


@_pass
def _update_x_and_r(k, j, sums, p, s, alpha, x, r):
    for i in range(p.shape[2]):
        x[k, j, i] += alpha * p[k, j, i]
        r[k, j, i] -= alpha * s[k, j, i]


@_pass
def _matvec_dot(k, j, sums, p, s):
    """Compute ``s = A p`` and <p, s>."""

    def at(i, A_p):
        s[k, j, i] = A_p
        sums[i] += np.float64(p[k, j, i]) * A_p

    nx = p.shape[2]
    at(0, _A_end(p, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(p, k, j, i))
    at(nx - 1, _A_end(p, k, j, nx - 1))


@_pass
def _update_x_and_r_dot(k, j, sums, p, s, alpha, x, r):
    """Compute ``x += alpha p``, ``r -= alpha s`` and <r, r>."""
    for i in range(p.shape[2]):
        x[k, j, i] += alpha * p[k, j, i]
        r[k, j, i] -= alpha * s[k, j, i]
        sums[i] += np.float64(r[k, j, i]) * r[k, j, i]


@_pass
def _update_p_and_matvec(k, j, sums, r, p1, beta, p2, s):
    """Compute ``p2 = r + beta p1`` and ``s = A r + beta A p1 = A p2``, so that no row has to wait for p2 of another."""

    def at(i, A_r, A_p1):
        p2[k, j, i] = r[k, j, i] + beta * p1[k, j, i]
        s[k, j, i] = A_r + beta * A_p1

    nx = r.shape[2]
    at(0, _A_end(r, k, j, 0), _A_end(p1, k, j, 0))
    for i in range(1, nx - 1):
        at(i, _A(r, k, j, i), _A(p1, k, j, i))
    at(nx - 1, _A_end(r, k, j, nx - 1), _A_end(p1, k, j, nx - 1))


@_pass
def _search(k, j, sums, r, p1, beta, p2):
    """Compute ``p2 = r + beta p1`` and <p2, A p2>.

    Summation by parts turns <p, A p> into the sum of squared differences over all pairs of neighbours, where points
    outside the grid count as zeros. Each point then needs only the three neighbours before it.
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


@_pass
def _advance(k, j, sums, p, alpha, x, r):
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


class _Fields:
    """The fields of an iteration. Zeros take memory only when they are first used, so an unused field takes none."""

    def __init__(self, b, x0):
        self.x = np.zeros(b.shape, b.dtype) if x0 is None else x0.copy()
        self.r, self.p, self.p_old, self.s = (np.zeros(b.shape, b.dtype) for _ in range(4))
        self.real = b.dtype.type

    def exchange(self):
        self.p, self.p_old = self.p_old, self.p


def _solve(search, advance, b, x0, rtol, atol, maxiter, callback) -> Solution:
    """Iterate: ``search`` computes p and returns <p, A p>; ``advance`` updates x and r and returns <r, r>."""
    check_grids(b, x0, device=False)
    check_system(b, x0, rtol, atol, maxiter)
    if not b.any():
        return nothing_to_solve(np.zeros_like(b))
    w = _Fields(b, x0)
    target = check_target(max(rtol * sqrt(_dot(b, b)), atol))
    delta, beta = _residual(b, w.x, w.r), 0.0  # 1
    check_norm(sqrt(delta), "x0")
    norms, trouble = [sqrt(delta)], None
    limit = 10 * b.size if maxiter is None else maxiter
    while norms[-1] > target and len(norms) <= limit:
        p_A_p = search(w, w.real(beta))  # 9 of the iteration before; 2, 3
        trouble = why_stopped(p_A_p, len(norms))
        if trouble:
            break
        alpha = delta / p_A_p  # 4
        delta_old, delta = delta, advance(w, w.real(alpha))  # 5, 6, 8
        beta = delta / delta_old
        norms.append(sqrt(delta))
        if callback is not None:
            callback(w.x)
    return finish(w.x, norms, target, sqrt(_residual(b, w.x, w.p)), trouble)


def _advance_in_two(w, alpha):
    _update_x_and_r(w.p, w.s, alpha, w.x, w.r)  # 5, 6
    return _dot(w.r, w.r)  # 8


def cg_baseline(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve ``A x = b``, A the 7-point Laplacian, by five passes per iteration: 14 reads and writes per point.

    Parameters
    ----------
    b, x0 : ndarray, shape (nz, ny, nx)
        Right-hand side and first guess (zero when it is left out), left as they are; host memory.
    rtol, atol : float
        Stop when ``‖b - A x‖ ≤ max(rtol ‖b‖, atol)``.
    maxiter : int, optional
        Most iterations; ten times the number of unknowns when it is left out.
    callback : callable, optional
        Called with x after each iteration.

    Returns
    -------
    Solution
        ``converged`` is confirmed on the true residual, computed again at the end.

    Raises
    ------
    CourseError
        If b or x0 are not grids of three dimensions, hold values that are not finite, or have different shapes.

    Examples
    --------
    >>> found = cg_baseline(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """

    def search(w, beta):
        _update_p(w.r, beta, w.p)  # 9
        laplacian(w.p, w.s)  # 2
        return _dot(w.p, w.s)  # 3

    return _solve(search, _advance_in_two, b, x0, rtol, atol, maxiter, callback)


def cg_map_stencil_fused(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve as :func:`cg_baseline`, with p and ``A p`` in one pass: four passes, 13 reads and writes per point.

    Two fields p take turns, because neighbours still read the old one.

    Examples
    --------
    >>> found = cg_map_stencil_fused(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """

    def search(w, beta):
        w.exchange()
        _update_p_and_matvec(w.r, w.p_old, beta, w.p, w.s)  # 9, 2
        return _dot(w.p, w.s)  # 3

    return _solve(search, _advance_in_two, b, x0, rtol, atol, maxiter, callback)


def cg_fused_dots(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve as :func:`cg_baseline`, with each sum in the pass that makes its fields: three passes, 11 reads and writes.

    Examples
    --------
    >>> found = cg_fused_dots(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """

    def search(w, beta):
        _update_p(w.r, beta, w.p)  # 9
        return _matvec_dot(w.p, w.s)  # 2, 3

    def advance(w, alpha):
        return _update_x_and_r_dot(w.p, w.s, alpha, w.x, w.r)  # 5, 6, 8

    return _solve(search, advance, b, x0, rtol, atol, maxiter, callback)


def cg_two_kernel(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve as :func:`cg_baseline`, but compute ``A p`` twice and never store it: two passes, 8 reads and writes.

    Examples
    --------
    >>> found = cg_two_kernel(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """

    def search(w, beta):
        w.exchange()
        return _search(w.r, w.p_old, beta, w.p)  # 9, 2, 3

    def advance(w, alpha):
        return _advance(w.p, alpha, w.x, w.r)  # 5, 2 again, 6, 8

    return _solve(search, advance, b, x0, rtol, atol, maxiter, callback)
