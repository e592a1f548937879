"""Conjugate gradient in plain NumPy, as the textbook has it: the oracle of every other file in this topic.

``cg`` takes any symmetric positive definite ``A``: a matrix, sparse or dense, or a function that multiplies by it.
"""

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
from course_pkg.core import Solution

M_NOT_DEFINITE = (
    "M is not positive definite: r·Mr = {:.3e}, and it must be positive; look at its sign, or leave it out."
)


def cg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by the conjugate gradient method.

    Parameters
    ----------
    A : matrix or callable
        Symmetric and positive definite; ``A @ x``, or ``A(x)`` for a function.
    b, x0 : ndarray
        Right-hand side and first guess (zero when it is left out), of one shape; host memory.
    rtol, atol : float
        Stop when ``‖b - A x‖ ≤ max(rtol ‖b‖, atol)``.
    maxiter : int, optional
        Most iterations; ten times the number of unknowns when it is left out.
    M : matrix or callable, optional
        Applies the inverse of a preconditioner.
    callback : callable, optional
        Called with x after each iteration.

    Returns
    -------
    Solution
        ``converged`` is confirmed on the true residual, recomputed at the end.

    Raises
    ------
    CourseError
        If b or x0 hold what is not finite, or do not fit together.

    Notes
    -----
    Each iteration takes one product with A and two dots: two synchronisation points.

    Source: M. R. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res. NBS 49, 1952.
    """
    check_system(b, x0, rtol, atol, maxiter)
    multiply, precondition = _function(A), _function(M)
    if not b.any():
        return nothing_to_solve(np.zeros_like(b))
    target = check_target(max(rtol * _norm(b), atol))
    x = np.zeros_like(b) if x0 is None else x0.copy()
    r = b - multiply(x) if x0 is not None else b.copy()  # 1
    z = precondition(r)
    p = z.copy()
    delta = dot(r, z)
    norms, trouble = [_norm(r)], ""
    check_norm(norms[0], "x0")
    limit = 10 * b.size if maxiter is None else maxiter
    while norms[-1] > target and len(norms) <= limit:
        s = multiply(p)  # 2
        check_product(s, b)
        p_A_p = dot(p, s)  # 3
        trouble = why_stopped(p_A_p, len(norms)) if delta > 0 else M_NOT_DEFINITE.format(delta)
        if trouble:
            break
        alpha = delta / p_A_p  # 4
        x += alpha * p  # 5
        r -= alpha * s  # 6
        z = precondition(r)  # 7
        delta_old, delta = delta, dot(r, z)  # 8
        p = z + (delta / delta_old) * p  # 9
        norms.append(_norm(r))
        if callback is not None:
            callback(x)
    return finish(x, norms, target, _norm(b - multiply(x)), trouble)


def _function(A):
    if A is None:
        return lambda x: x
    return A if callable(A) else lambda x: A @ x


def _norm(a) -> float:
    return float(np.sqrt(squared(a)))
