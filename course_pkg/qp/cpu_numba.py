"""Updates and solvers compiled by Numba for all cores: the fair competitor of the GPU. Each update reads Q once.

``fastmath`` lets the compiler reorder the sum of a row, so that one instruction adds several entries.
"""

import numpy as np
from numba import prange

from course_pkg.core import Solution
from course_pkg.core.checks import require_count
from course_pkg.core.parallel import parallel
from course_pkg.qp.arrays import Arrays
from course_pkg.qp.checks import check_options, check_problem, check_split_product, check_update
from course_pkg.qp.reference import diagonal_shift, starting_guess
from course_pkg.qp.solver import check_stops, minimise

REORDERED = {"reassoc", "contract", "nsz"}


@parallel(fastmath=REORDERED)
def _update(Q, h, shift, x, out, parts):
    zero, half = x.dtype.type(0), x.dtype.type(0.5)
    for i in prange(x.size):
        plus = minus = zero
        for j in range(x.size):
            q = Q[i, j]
            plus += max(q, zero) * x[j]
            minus += max(-q, zero) * x[j]
        shifted = shift[i] * x[i]
        above, below = max(-h[i], zero) + minus + shifted, max(h[i], zero) + plus + shifted
        parts[i] = x[i] * (half * (plus - minus) + h[i])
        out[i] = x[i] * (above / below) if x[i] > zero else zero


def update(Q, h, shift, x, out, parts):
    """Compute one update of x and the parts F_i of the objective; the rows of Q are shared by all cores.

    Examples
    --------
    >>> Q, h, x = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([-1.0, 1.0]), np.ones(2)
    >>> out, parts = np.empty(2), np.empty(2)
    >>> update(Q, h, np.zeros(2), x, out, parts); out, parts.sum()
    (array([1.        , 0.33333333]), np.float64(1.0))
    """
    check_update(Q, h, shift, x, out, parts, device=False)
    _update(Q, h, shift, x, out, parts)


@parallel(fastmath=REORDERED)
def _update_batch(Q, h, shift, x, out, parts, iterations):
    n = x.shape[1]
    zero, half = x.dtype.type(0), x.dtype.type(0.5)
    for p in prange(x.shape[0]):
        now = x[p].copy()
        plus, minus = np.empty_like(now), np.empty_like(now)
        for _ in range(iterations):
            for i in range(n):
                plus_i = minus_i = zero
                for j in range(n):
                    q = Q[p, i, j]
                    plus_i += max(q, zero) * now[j]
                    minus_i += max(-q, zero) * now[j]
                plus[i], minus[i] = plus_i, minus_i
            for i in range(n):
                shifted = shift[p, i] * now[i]
                above = max(-h[p, i], zero) + minus[i] + shifted
                below = max(h[p, i], zero) + plus[i] + shifted
                parts[p, i] = now[i] * (half * (plus[i] - minus[i]) + h[p, i])
                now[i] = now[i] * (above / below) if now[i] > zero else zero
        out[p] = now


def update_batch(Q, h, shift, x, out, parts, iterations=1):
    """Compute ``iterations`` updates of each of many problems, one problem after the other on each core.

    A small Q stays in a core's cache for all iterations.

    Examples
    --------
    >>> Q, h, x = np.ones((2, 1, 1)), np.full((2, 1), -3.0), np.ones((2, 1))
    >>> out, parts = np.empty((2, 1)), np.empty((2, 1))
    >>> update_batch(Q, h, np.zeros((2, 1)), x, out, parts, iterations=2); out.T
    array([[3., 3.]])
    """
    check_update(Q, h, shift, x, out, parts, device=False, batch=True)
    require_count(iterations=iterations)
    _update_batch(Q, h, shift, x, out, parts, iterations)


@parallel(fastmath=REORDERED)
def _split_product(Q, x, out):
    zero = x.dtype.type(0)
    for i in prange(x.size):
        plus_i = minus_i = zero
        for j in range(x.size):
            q = Q[i, j]
            plus_i += max(q, zero) * x[j]
            minus_i += max(-q, zero) * x[j]
        out[0, i], out[1, i] = plus_i, minus_i


def split_product(Q, x, out):
    """Compute ``out[0] = Q⁺x`` and ``out[1] = Q⁻x`` by one sweep over Q.

    Examples
    --------
    >>> out = np.empty((2, 2))
    >>> split_product(np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([1.0, 3.0]), out); out
    array([[2., 6.],
           [3., 1.]])
    """
    check_split_product(Q, x, out, device=False)
    _split_product(Q, x, out)


def pqp(
    Q,
    h,
    x0=None,
    *,
    rtol=1e-6,
    atol=0.0,
    maxiter=None,
    callback=None,
    shift="descent",
    accelerate=True,
    readmit=True,
) -> Solution:
    """Minimise ``½ xᵀQx + hᵀx`` over x ≥ 0; arguments and result are those of ``reference.pqp``.

    Examples
    --------
    >>> found = pqp(np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([-1.0, 1.0]))
    >>> found.status.name, found.x.round(6)
    ('CONVERGED', array([0.5, 0. ]))
    """
    check_problem(Q, h, x0)
    check_stops(rtol, atol)
    check_options(maxiter, accelerate=accelerate, readmit=readmit)

    def product(v):
        out = np.empty((2, v.size), v.dtype)
        _split_product(Q, v, out)
        return out[0], out[1]

    start = starting_guess(Q, h) if x0 is None else x0.copy()
    work = Arrays(np, product, Q, h, diagonal_shift(Q, shift), start)
    return minimise(work, rtol, atol, maxiter, callback, accelerate, readmit)
