"""Conjugate gradient in two precisions, compiled by Numba, on all cores: sweeps that move half the bytes.

The sweeps are those of ``cpu_passes.py``, on float32. The numbers beside the lines are the steps that ``reference.py``
explains, and ``updates.py`` explains the updates.
"""

from math import sqrt

import numpy as np

from course_pkg.cg import cpu_passes as passes
from course_pkg.cg.checks import check_grids, check_norm, check_system, check_target, why_stopped
from course_pkg.cg.outcome import finish, nothing_to_solve
from course_pkg.cg.updates import SINGLE, Updates, check_double, kept, scale_of
from course_pkg.core import Solution


def cg_mixed(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve ``A x = b``, A the 7-point Laplacian, with r and p in float32: two sweeps per iteration, 8 passes.

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
        p_A_p = passes.search(r, p_old, SINGLE(beta), p)  # 9 of the iteration before; 2, 3
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
