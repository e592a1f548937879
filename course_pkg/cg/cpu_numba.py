"""Conjugate gradient compiled by Numba, on all cores: methods that divide an iteration into different sweeps.

Four methods use one precision throughout; ``cg_mixed`` keeps r and p in single precision.

Arrays are C-contiguous, float64 or float32, in host memory. The sweeps are those of
``cpu_passes.py``. The scalars stay on the host between sweeps. The numbers beside the lines are the steps that
``reference.py`` explains; ``updates.py`` explains the updates of ``cg_mixed``.
"""

from math import sqrt

import numpy as np

from course_pkg.cg import cpu_passes as passes
from course_pkg.cg.checks import check_grids, check_norm, check_system, check_target, vectors_of, why_stopped
from course_pkg.cg.outcome import finish, nothing_to_solve
from course_pkg.cg.updates import SINGLE, Updates, check_double, kept, scale_of
from course_pkg.core import Solution


class _Fields:
    """The fields of an iteration. ``np.zeros`` takes memory only at the first use, so an unused field takes none."""

    def __init__(self, b, x0):
        self.x = np.zeros(b.shape, b.dtype) if x0 is None else x0.copy()
        self.r, self.p, self.p_old, self.s = (np.zeros(b.shape, b.dtype) for _ in range(4))
        self.real = b.dtype.type

    def exchange(self):
        self.p, self.p_old = self.p_old, self.p


def _solve(search, advance, b, x0, rtol, atol, maxiter, callback, sweeps) -> Solution:
    """Iterate: ``search`` computes p and returns <p, A p>; ``advance`` updates x and r and returns <r, r>."""
    check_grids(b, x0, device=False)
    vectors = vectors_of(sweeps)
    check_system(b, x0, rtol, atol, maxiter, vectors.inner)
    norm_b = sqrt(sweeps.dot(b, b))
    if norm_b == 0:
        return nothing_to_solve(np.zeros_like(b))
    w = _Fields(b, x0)
    target = check_target(max(rtol * norm_b, atol))
    delta, beta = sweeps.residual(b, w.x, w.r), 0.0  # 1
    check_norm(sqrt(delta), "x0")
    norms, trouble = [sqrt(delta)], None
    limit = 10 * vectors.unknowns(b) if maxiter is None else maxiter
    while norms[-1] > target and len(norms) <= limit:
        p_A_p = search(w, w.real(beta))  # step 9 of the iteration before, then steps 2 and 3
        trouble = why_stopped(p_A_p, len(norms))
        if trouble:
            break
        alpha = delta / p_A_p  # 4
        delta_old, delta = delta, advance(w, w.real(alpha))  # 5, 6, 8
        beta = delta / delta_old
        norms.append(sqrt(delta))
        if callback is not None:
            callback(w.x)
    return finish(w.x, norms, target, sqrt(sweeps.residual(b, w.x, w.p)), trouble)


def _in_two(sweeps):
    def advance(w, alpha):
        sweeps.update_x_and_r(w.p, w.s, alpha, w.x, w.r)  # 5, 6
        return sweeps.dot(w.r, w.r)  # 8

    return advance


def cg_baseline(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None, sweeps=passes) -> Solution:
    """Solve ``A x = b``, A the 7-point Laplacian; five sweeps per iteration read or write 14 fields.

    Parameters
    ----------
    b, x0 : ndarray, shape (nz, ny, nx)
        Right-hand side and first guess (zero when it is left out), in host memory. They are not changed.
    rtol, atol : float
        Stop when ``‖b - A x‖ ≤ max(rtol ‖b‖, atol)``.
    maxiter : int, optional
        Most iterations; ten times the number of unknowns when it is left out.
    callback : callable, optional
        Called with x after each iteration.
    sweeps : module or object
        Has the functions of ``cpu_passes.py``, on this process alone or on one rank among several.

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
        sweeps.update_p(w.r, beta, w.p)  # 9
        sweeps.matvec(w.p, w.s)  # 2
        return sweeps.dot(w.p, w.s)  # 3

    return _solve(search, _in_two(sweeps), b, x0, rtol, atol, maxiter, callback, sweeps)


def cg_map_stencil_fused(
    b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None, sweeps=passes
) -> Solution:
    """Solve as :func:`cg_baseline`, but compute p and ``A p`` in one sweep: four sweeps read or write 13 fields.

    Two fields p take turns, because threads of neighbouring points still read the old one.

    Examples
    --------
    >>> found = cg_map_stencil_fused(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """

    def search(w, beta):
        w.exchange()
        sweeps.update_p_and_matvec(w.r, w.p_old, beta, w.p, w.s)  # 9, 2
        return sweeps.dot(w.p, w.s)  # 3

    return _solve(search, _in_two(sweeps), b, x0, rtol, atol, maxiter, callback, sweeps)


def cg_fused_dots(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None, sweeps=passes) -> Solution:
    """Solve as :func:`cg_baseline`, but compute each sum in the sweep that makes its fields.

    Three sweeps read or write 11 fields.

    Examples
    --------
    >>> found = cg_fused_dots(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """

    def search(w, beta):
        sweeps.update_p(w.r, beta, w.p)  # 9
        return sweeps.matvec_dot(w.p, w.s)  # 2, 3

    def advance(w, alpha):
        return sweeps.update_x_and_r_dot(w.p, w.s, alpha, w.x, w.r)  # 5, 6, 8

    return _solve(search, advance, b, x0, rtol, atol, maxiter, callback, sweeps)


def cg_two_kernel(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None, sweeps=passes) -> Solution:
    """Solve as :func:`cg_baseline`, but compute ``A p`` twice and never store it: two sweeps read or write 8 fields.

    Examples
    --------
    >>> found = cg_two_kernel(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 16)
    """

    def search(w, beta):
        w.exchange()
        return sweeps.search(w.r, w.p_old, beta, w.p)  # 9, 2, 3

    def advance(w, alpha):
        return sweeps.advance(w.p, alpha, w.x, w.r)  # 5, 2 again, 6, 8

    return _solve(search, advance, b, x0, rtol, atol, maxiter, callback, sweeps)


def cg_mixed(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve ``A x = b``, A the 7-point Laplacian, with r and p in float32; two sweeps read or write 8 fields.

    Arguments, result and errors are those of ``cg_baseline``, but b and x0 must be float64.
    ``extra["reliable_updates"]`` says how often the true residual, in float64, replaced r.

    Examples
    --------
    >>> found = cg_mixed(np.ones((8, 8, 8)))
    >>> found.status.name, found.iterations, found.extra
    ('CONVERGED', 16, {'reliable_updates': 5})
    """
    check_grids(b, x0, device=False)
    check_double(b)
    check_system(b, x0, rtol, atol, maxiter)
    if not b.any():
        return nothing_to_solve(np.zeros_like(b))
    x = np.zeros_like(b) if x0 is None else x0.copy()
    r, p, p_old, y = (np.zeros(b.shape, SINGLE) for _ in range(4))
    target = check_target(max(rtol * sqrt(passes.dot(b, b)), atol))
    norms, trouble = [_true_norm(b, x, r, 1.0)], None
    check_norm(norms[0], "x0")
    scale = scale_of(norms[0], b.size)
    delta, beta = passes.refresh(b, x, 1 / scale, r), 0.0  # 1
    updates = Updates(norms[0], target)
    limit = 10 * b.size if maxiter is None else maxiter
    while not updates.converged and len(norms) <= limit:
        p, p_old = p_old, p
        p_A_p = passes.search(r, p_old, SINGLE(beta), p)  # step 9 of the iteration before, then steps 2 and 3
        trouble = why_stopped(p_A_p, len(norms))
        if trouble:
            break
        alpha = delta / p_A_p  # 4
        delta_old, delta = delta, passes.advance_mixed(p, SINGLE(alpha), y, r)  # 5, 6, 8
        beta = delta / delta_old
        norms.append(scale * sqrt(delta))
        if updates.due(norms[-1], len(norms) - 1):
            passes.gather(y, scale, x)
            updated, delta = delta, passes.refresh(b, x, 1 / scale, r)  # 1
            beta = kept(beta, delta, updated)
            norms[-1] = scale * sqrt(delta)
            trouble = updates.note(norms[-1])
            if trouble:
                break
        if callback is not None:
            callback(x + np.float64(scale) * y)
    passes.gather(y, scale, x)
    return finish(x, norms, target, _true_norm(b, x, r, scale), trouble, {"reliable_updates": updates.done})


def _true_norm(b, x, r, scale):
    return scale * sqrt(passes.refresh(b, x, 1 / scale, r))
