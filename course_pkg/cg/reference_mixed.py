"""Conjugate gradient in two precisions, in plain NumPy: the tests compare every other ``cg_mixed`` with it.

The fields that an iteration reads and writes, r, p and y, are stored in single precision, which halves the bytes. Each
number is computed in double precision and then rounded. The numbers beside the lines are the steps that
``reference.py`` explains. ``updates.py`` explains when and how the true residual is computed.
"""

from math import sqrt

import numpy as np

from course_pkg.cg.checks import (
    check_norm,
    check_product,
    check_system,
    check_target,
    dot,
    squared,
    why_stopped,
)
from course_pkg.cg.outcome import finish, nothing_to_solve
from course_pkg.cg.updates import SINGLE, Updates, check_double, kept, scale_of
from course_pkg.core import Solution


def cg_mixed(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve ``A x = b`` by conjugate gradient with r and p in float32, sums, x and the true residual in float64.

    Parameters
    ----------
    A : matrix or callable
        Symmetric and positive definite; ``A @ x``, or ``A(x)`` for a function. It gets vectors in float64.
    b, x0 : ndarray, float64
        Right-hand side and first guess (zero when it is left out), of one shape; host memory.
    rtol, atol, maxiter, callback
        As in :func:`course_pkg.cg.reference.cg`.

    Returns
    -------
    Solution
        ``converged`` only if the true residual, in float64, is at most ``max(rtol ‖b‖, atol)``.
        ``extra["reliable_updates"]`` says how often the true residual was computed.

    Raises
    ------
    CourseError
        If b or x0 hold values that are not finite, are not float64, or have different shapes.

    Notes
    -----
    Each iteration takes one product with A and two dot products. Each update takes one more of both.

    Examples
    --------
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> found = cg_mixed(A, np.array([1.0, 2.0]))
    >>> found.status.name, found.extra, found.x.round(4)
    ('CONVERGED', {'reliable_updates': 1}, array([0.0909, 0.6364]))
    """
    check_system(b, x0, rtol, atol, maxiter)
    check_double(b)
    multiply = A if callable(A) else lambda x: A @ x
    if not b.any():
        return nothing_to_solve(np.zeros_like(b))
    target = check_target(max(rtol * sqrt(squared(b)), atol))
    x = np.zeros_like(b) if x0 is None else x0.copy()
    true = b - multiply(x)
    norms, trouble = [sqrt(squared(true))], None
    check_norm(norms[0], "x0")
    scale = np.float64(scale_of(norms[0], b.size))  # np.float64, so that scale * y is float64
    r = (true / scale).astype(SINGLE)  # 1
    y, p = np.zeros_like(r), np.zeros_like(r)
    delta, beta = (norms[0] / scale) ** 2, 0.0
    updates = Updates(norms[0], target)
    limit = 10 * b.size if maxiter is None else maxiter
    while not updates.converged and len(norms) <= limit:
        p = r + SINGLE(beta) * p  # 9 of the iteration before
        s = multiply(p.astype(np.float64))  # 2
        check_product(s, b)
        p_A_p = dot(p, s)  # 3
        trouble = why_stopped(p_A_p, len(norms))
        if trouble:
            break
        alpha = delta / p_A_p  # 4
        y += SINGLE(alpha) * p  # 5
        r = (r - alpha * s).astype(SINGLE)  # 6
        delta_old, delta = delta, dot(r, r)  # 8
        beta = delta / delta_old
        norms.append(scale * sqrt(delta))
        if updates.due(norms[-1], len(norms) - 1):
            x += scale * y
            y[...] = 0
            true = (b - multiply(x)) / scale  # 1
            r, updated, delta = true.astype(SINGLE), delta, squared(true)
            beta = kept(beta, delta, updated)
            norms[-1] = scale * sqrt(delta)
            trouble = updates.note(norms[-1])
            if trouble:
                break
        if callback is not None:
            callback(x + scale * y)
    x += scale * y
    norm = sqrt(squared(b - multiply(x)))
    return finish(x, norms, target, norm, trouble, {"reliable_updates": updates.done})
