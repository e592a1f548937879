"""Conjugate gradient in plain NumPy, as in the textbook: the tests compare every other file of this topic with it.

``cg`` takes any symmetric positive definite ``A``: a matrix, sparse or dense, or a function that multiplies by it.

All files of this topic use the same numbers for the steps. M is the inverse of a preconditioner; without one, z is r.

====  ==========================  ===================================================
step  formula                     when
====  ==========================  ===================================================
1     r = b - A x                 once, before the loop; also z = M r, p = z, delta = <r, z>
2     s = A p                     each iteration
3     p·Ap = <p, s>               each iteration; all threads wait for this sum
4     alpha = delta / p·Ap        each iteration
5     x = x + alpha p             each iteration
6     r = r - alpha s             each iteration
7     z = M r                     each iteration
8     delta = <r, z>              each iteration; all threads wait for this sum
9     beta = delta / delta_old,   each iteration; in the other files, it begins the
      p = z + beta p              next iteration, and p and beta start at 0
====  ==========================  ===================================================

The method is Algorithm 9.1 (without a preconditioner, Algorithm 6.18) of Y. Saad, Iterative Methods for Sparse Linear
Systems, 2nd edition, SIAM 2003 (PyAMG cites its pages 262-267). The numbers are not Saad's: his lines are divided so
that each step is one sweep over the fields, one sum, or one division.
"""

import numpy as np

from course_pkg.cg.checks import (
    check_norm,
    check_product,
    check_system,
    check_target,
    vectors_of,
    why_stopped,
)
from course_pkg.cg.outcome import finish, nothing_to_solve, preconditioner_not_definite
from course_pkg.core import Solution


def cg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by the conjugate gradient method.

    Parameters
    ----------
    A : matrix or callable
        Symmetric and positive definite; ``A @ x``, or ``A(x)`` for a function. If the vectors are divided among
        ranks, ``A.vectors`` computes the dot products.
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
        ``status`` says why it stopped; ``converged`` is confirmed on the true residual, computed again at the end.

    Raises
    ------
    CourseError
        If b or x0 hold values that are not finite, or have different shapes.

    Notes
    -----
    Each iteration takes one product with A and two dot products. Each dot product is a synchronisation point: no part
    of x or r can be updated before the whole sum is known. The numbers beside the lines are explained at the top.

    Source: M. R. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res. NBS 49, 1952.

    Examples
    --------
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> found = cg(A, np.array([1.0, 2.0]))
    >>> found.status.name, found.iterations, found.x.round(4)
    ('CONVERGED', 2, array([0.0909, 0.6364]))
    """
    vectors = vectors_of(A)
    dot = vectors.inner

    def norm(a):
        return float(np.sqrt(dot(a, a)))

    check_system(b, x0, rtol, atol, maxiter, dot)
    multiply, precondition = _function(A), _function(M)
    norm_b = norm(b)
    if norm_b == 0:
        return nothing_to_solve(np.zeros_like(b))
    target = check_target(max(rtol * norm_b, atol))
    x = np.zeros_like(b) if x0 is None else x0.copy()
    r = b - multiply(x) if x0 is not None else b.copy()  # 1
    z = precondition(r)
    p = z.copy()
    delta = dot(r, z)
    norms, trouble = [norm(r)], None
    check_norm(norms[0], "x0")
    limit = 10 * vectors.unknowns(b) if maxiter is None else maxiter
    while norms[-1] > target and len(norms) <= limit:
        s = multiply(p)  # 2
        check_product(s, b)
        p_A_p = dot(p, s)  # 3
        trouble = why_stopped(p_A_p, len(norms)) if delta > 0 else preconditioner_not_definite(delta)
        if trouble:
            break
        alpha = delta / p_A_p  # 4
        x += alpha * p  # 5
        r -= alpha * s  # 6
        z = precondition(r)  # 7
        delta_old, delta = delta, dot(r, z)  # 8
        p = z + (delta / delta_old) * p  # 9
        norms.append(norm(r))
        if callback is not None:
            callback(x)
    return finish(x, norms, target, norm(b - multiply(x)), trouble)


def _function(A):
    if A is None:
        return lambda x: x
    return A if callable(A) else lambda x: A @ x
