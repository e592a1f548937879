"""The solver: Jacobi's method on the host, until the residual is small.

The comments in the loop refer to these steps:

====  =====================  ==============================================================================
step  formula                when
====  =====================  ==============================================================================
1     A = D + E              once; so are all permutations of E, d and b
2     x_new = (b - E x) / d  each iteration
3     r = d (x_new - x)      each iteration: this is b - A x, the residual of the *old* x, at no extra product
4     x = x_new              each iteration, if r is not small enough yet
====  =====================  ==============================================================================

Source: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, SIAM 2003, section 4.1 (his E is the negative
of the lower triangle; here E is the whole of A without its diagonal).
"""

import numpy as np

from course_pkg.core import Solution
from course_pkg.core.solution import nothing_to_solve
from course_pkg.core.systems import check_norm, check_system, check_target, squared
from course_pkg.spmv import jacobi_reference
from course_pkg.spmv.jacobi import system_of
from course_pkg.spmv.jacobi_outcome import finish_jacobi


def jacobi(
    A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None, form="plain", perm=None, step=None
) -> Solution:
    """Solve ``A x = b`` by Jacobi's method, on the host.

    Parameters
    ----------
    A : scipy.sparse.csr_array or Csr, shape (n, n)
        float64 or float32, indices sorted; no zero on the diagonal. It need not be symmetric.
    b, x0 : ndarray, shape (n,)
        Right-hand side and first guess (by default zero), in A's precision; host memory.
    rtol, atol : float
        Stop when ``‖b - A x‖ ≤ max(rtol ‖b‖, atol)``.
    maxiter : int, optional
        Largest number of iterations; by default, ten times the number of unknowns.
    callback : callable, optional
        Called with x, in A's order, after each iteration.
    form : str
        ``"plain"``, ``"row_permuted"`` or ``"symmetric"``: all give the same x, up to rounding.
    perm : ndarray of int, optional
        The permutation, for the forms that need one.
    step : callable, optional
        ``step(system, x, out)`` for the form; by default NumPy's. The steps of ``cpu_numba.py`` use all cores.

    Returns
    -------
    Solution
        ``converged`` is confirmed on the true residual. If the method did not converge, ``reason`` says at which rate
        the residual fell or grew, and what to try.

    Raises
    ------
    CourseError
        If the diagonal has a zero, if A, b and x0 do not fit, or if values are not finite.

    Notes
    -----
    An iteration makes one sweep over E, d, b and x. The norm in step 3 is the only synchronisation point. It belongs to
    the old x, so a solver may test it later.

    Examples
    --------
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> found = jacobi(A, np.array([6.0, 18.0]))
    >>> found.status.name, found.iterations, found.x.round(4)
    ('CONVERGED', 10, array([1., 2.]))
    """
    check_system(b, x0, rtol, atol, maxiter)
    system = system_of(form, A, b, perm)  # 1
    if not b.any():
        return nothing_to_solve(np.zeros_like(b))
    step = step or getattr(jacobi_reference, f"jacobi_{form}")
    target = check_target(max(rtol * float(np.sqrt(squared(b))), atol))
    x = np.zeros_like(b) if x0 is None else system.taken(x0)
    limit = 10 * b.size if maxiter is None else maxiter
    norms: list[float] = []
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow shows in the norm
        while True:
            new = np.empty_like(x)
            step(system, x, new)  # 2
            norms.append(float(np.sqrt(squared(system.residual(x, new)))))  # 3
            if len(norms) == 1:
                check_norm(norms[0], "x0")
            if norms[-1] <= target or len(norms) > limit or not np.isfinite(norms[-1]):
                break
            x = new  # 4
            if callback is not None:
                callback(system.given(x))
        x = system.given(x)
        true = float(np.sqrt(squared(b - _product(A, x))))
    return finish_jacobi(x, norms, target, true, A)


def _product(A, x):
    row_of = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return np.bincount(row_of, A.data * x[A.indices], A.shape[0])
