"""Conjugate gradient by CuPy: each container of an iteration is an operation of the library.

As ``x += alpha * p``, an update would take two kernels and a temporary array; as an element-wise kernel, it takes one
kernel. The scalars stay in GPU memory, where the next kernel reads them. Once per iteration the host reads them too, to
decide whether to go on. Only then does it wait for the device. Arrays are CuPy's, in GPU memory. The numbers beside the
lines are the steps that ``reference.py`` explains.
"""

from math import sqrt

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from course_pkg.cg.checks import (
    check_grids,
    check_norm,
    check_not_lost,
    check_stops,
    check_target,
    why_stopped,
)
from course_pkg.cg.outcome import finish, nothing_to_solve
from course_pkg.core import Solution
from course_pkg.stencil.gpu_cupy import laplacian_elementwise, laplacian_vectorised

DELTA, P_A_P, ALPHA, DELTA_OLD, BETA = range(5)  # places among the scalars

_update_p = cp.ElementwiseKernel(
    "T r, T p, raw float64 beta", "T out", "out = r + (T)beta[0] * p", "update_p"
)

_update_x_and_r = cp.ElementwiseKernel(
    "T p, T s, T x, T r, raw float64 alpha",
    "T x_out, T r_out",
    "x_out = x + (T)alpha[0] * p; r_out = r - (T)alpha[0] * s",
    "update_x_and_r",
)

# if the divisor is not positive, or is infinite, the quotient is 0: x does not change until the host sees the divisor
_quotient = cp.ElementwiseKernel("float64 a, float64 b", "float64 out", "out = b > 0 ? a / b : 0", "quotient")

# row by row, because one sum over all elements would run in a single block
_dot_rows = cp.ReductionKernel(
    "T u, T v", "float64 out", "(double)u * (double)v", "a + b", "out = a", "0", "dot_rows"
)


def matvec(p, s):
    """Compute ``s = A p``, A the 7-point Laplacian, by the fastest kernel that takes rows of this length.

    Examples
    --------
    >>> u, out = cp.ones((3, 3, 4)), cp.empty((3, 3, 4))
    >>> matvec(u, out); out[1, 1]
    array([1., 0., 0., 1.])
    """
    (laplacian_elementwise if p.shape[2] % 2 else laplacian_vectorised)(p, s)


def dot(a, b, out):
    """Compute ``out[0] = <a, b>`` in float64: float64 fields by cuBLAS, float32 fields by two reductions.

    Examples
    --------
    >>> out = cp.empty(1)
    >>> dot(cp.ones((2, 2, 2)), cp.full((2, 2, 2), 3.0), out); out
    array([24.])
    """
    if a.dtype == cp.float64:
        cp.dot(a.reshape(-1), b.reshape(-1), out=out.reshape(()))
    else:
        cp.sum(_dot_rows(a, b, axis=2), out=out.reshape(()))


def cg_baseline(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve ``A x = b``, A the 7-point Laplacian; each iteration makes 14 reads and writes per point.

    Parameters
    ----------
    b, x0 : cupy.ndarray, shape (nz, ny, nx)
        Right-hand side and first guess (zero when it is left out), in GPU memory. They are not changed.
    rtol, atol : float
        Stop when ``‖b - A x‖ ≤ max(rtol ‖b‖, atol)``.
    maxiter : int, optional
        Most iterations; ten times the number of unknowns when it is left out.
    callback : callable, optional
        Called with x after each iteration.

    Returns
    -------
    Solution
        ``converged`` is confirmed on the true residual, computed again at the end; x is a CuPy array.

    Raises
    ------
    CourseError
        If b or x0 are not grids of three dimensions, hold values that are not finite, or have different shapes.

    Notes
    -----
    Each iteration takes two dot products, and synchronises host and device once.

    Examples
    --------
    >>> found = cg_baseline(cp.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """
    check_grids(b, x0, device=True)
    check_stops(rtol, atol, maxiter)
    scalars = cp.zeros(5)
    delta, p_A_p, alpha, delta_old, beta = (scalars[i : i + 1] for i in range(5))
    norm_b = _norm(b, delta)
    check_norm(norm_b, "b")
    x = cp.zeros_like(b) if x0 is None or norm_b == 0 else x0.copy()
    if norm_b == 0:
        check_not_lost(norm_b, b)
        return nothing_to_solve(x)
    target = check_target(max(rtol * norm_b, atol))
    s, p, r = cp.empty_like(b), cp.zeros_like(b), b.copy()
    if x0 is not None:
        matvec(x, s)
        r -= s  # 1
    norms, trouble = [_norm(r, delta)], None
    check_norm(norms[0], "x0")
    limit = 10 * b.size if maxiter is None else maxiter
    while norms[-1] > target and len(norms) <= limit:
        _update_p(r, p, beta, p)  # 9 of the iteration before
        matvec(p, s)  # 2
        dot(p, s, p_A_p)  # 3
        _quotient(delta, p_A_p, alpha)  # 4
        _update_x_and_r(p, s, x, r, alpha, x, r)  # 5, 6
        delta_old[:] = delta
        dot(r, r, delta)  # 8
        _quotient(delta, delta_old, beta)
        seen = scalars.get()  # waits for the device
        trouble = why_stopped(seen[P_A_P], len(norms))
        if trouble:
            break
        norms.append(sqrt(seen[DELTA]))
        if callback is not None:
            callback(x)
    matvec(x, s)
    cp.subtract(b, s, out=s)
    return finish(x, norms, target, _norm(s, delta), trouble)


def _norm(a, out) -> float:
    """Return ``‖a‖`` and leave its square in ``out``; waits for the device."""
    dot(a, a, out)
    return float(cp.sqrt(out[0]))
