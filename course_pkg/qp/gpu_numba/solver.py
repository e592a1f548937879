"""The solver that computes Q⁺v and Q⁻v with our kernels: one sweep over Q for both, and no second matrix.

Directions and unknowns are 0 wherever a zero stays a zero. If Q is large and many entries of v are 0, only the rows of
the others are read: Q is symmetric, so these are the columns that the product needs.

The vectors, each 1/n of the size of Q, are whole arrays: CuPy's on a GPU, NumPy's in the interpreter.
"""

from dataclasses import replace

import numpy as np

from course_pkg import cuda
from course_pkg.core import Solution
from course_pkg.core.checks import require_arrays
from course_pkg.qp.arrays import Arrays
from course_pkg.qp.checks import check_options, check_problem
from course_pkg.qp.gpu_numba.active import lists
from course_pkg.qp.gpu_numba.listed import split_product_listed
from course_pkg.qp.gpu_numba.rows import split_product
from course_pkg.qp.reference import diagonal_shift, starting_guess
from course_pkg.qp.solver import check_stops, minimise
from course_pkg.qp.tuning import LISTED_AT_MOST, LISTED_FROM

SIMT = getattr(cuda, "BACKEND", "") == "simt"


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
    """Minimise ``½ xᵀQx + hᵀx`` over x ≥ 0 on the GPU; arguments are those of ``reference.pqp``, as device arrays.

    Each iteration reads Q once, or only the rows of unknowns that are not 0 if these are few, and synchronises host and
    device for its sums. ``x`` and the multipliers of the result are device arrays; the callback gets an array of CuPy
    (in the interpreter, of NumPy).

    Examples
    --------
    >>> Q, h = cuda.to_device(np.array([[2.0, -1.0], [-1.0, 2.0]])), cuda.to_device(np.array([-1.0, 1.0]))
    >>> found = pqp(Q, h)
    >>> found.status.name, found.x.copy_to_host().round(6)
    ('CONVERGED', array([0.5, 0. ]))
    """
    for name, a in {"Q": Q, "h": h, "x0": x0}.items():
        if a is not None:
            require_arrays(device=True, **{name: a})
    xp, whole = _library()
    matrix, linear, start = whole(Q), whole(h), None if x0 is None else whole(x0)
    check_problem(matrix, linear, start, xp)
    check_stops(rtol, atol)
    check_options(maxiter, accelerate=accelerate, readmit=readmit)
    start = starting_guess(matrix, linear, xp) if start is None else start.copy()
    work = Arrays(xp, _product(Q, xp), matrix, linear, diagonal_shift(matrix, shift, xp), start)
    found = minimise(work, rtol, atol, maxiter, callback, accelerate, readmit)
    multipliers = _on_device(found.extra["multipliers"])
    return replace(found, x=_on_device(found.x), extra={**found.extra, "multipliers": multipliers})


def _library():
    """Return the library of whole arrays, and the function that makes its arrays from device arrays."""
    if SIMT:
        return np, lambda a: a.copy_to_host()
    import cupy

    return cupy, cupy.asarray  # no copy


def _on_device(array):
    return cuda.to_device(array) if SIMT else cuda.as_cuda_array(array)


def _product(Q, xp):
    room = lists(Q.shape[0])

    def product(v):
        out, given = _on_device(xp.empty((2, v.size), v.dtype)), _on_device(xp.ascontiguousarray(v))
        if v.size >= LISTED_FROM and int(xp.count_nonzero(v)) <= LISTED_AT_MOST * v.size:
            split_product_listed(Q, given, out, *room)
        else:
            split_product(Q, given, out)
        both = out.copy_to_host() if SIMT else xp.asarray(out)
        return both[0], both[1]

    return product
