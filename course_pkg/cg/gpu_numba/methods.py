"""Conjugate gradient, from one kernel per container of the fusion document to two kernels per iteration.

The methods, each with its idea and the plan that says what it moves, are listed in ``course_pkg/cg/variants.py``.

``A`` is the 7-point Laplacian; x is zero outside the grid. Steps are numbered as in ``cg/reference.py``. All methods
take these arguments:

b, x0 : device array, float64 or float32, shape (nz, ny, nx)
    Right-hand side and first guess (zero when it is left out); C-contiguous, of one precision. They are not changed.
rtol, atol : float
    Stop when ``‖b - A x‖ ≤ max(rtol ‖b‖, atol)``. In single precision, do not ask for less than about 1e-4.
maxiter : int, optional
    Most iterations; ten times the number of unknowns when it is left out.
callback : callable, optional
    Called with x, a new device array, after each iteration (``cg_deferred_x``: after every second one), on the default
    stream. With a callback, the host waits after every iteration, which takes time. Without one, a GPU makes it wait
    only after every 64th iteration.

Each method returns a ``Solution`` whose x is a new device array; ``converged`` is true only if the true residual meets
the tolerance. Each raises ``CourseError`` if an argument does not fit. Sums are accumulated in float64 and do not
depend on which block comes first, so two runs give the same digits.
"""

from course_pkg.cg.gpu_numba.maps import update_p_kernel, update_x_and_r_dot_kernel, update_x_and_r_kernel
from course_pkg.cg.gpu_numba.solver import Iteration, solve
from course_pkg.cg.gpu_numba.stencils import (
    advance_kernel,
    map_stencil_kernel,
    matvec_dot_kernel,
    matvec_kernel,
    search_kernel,
)


def baseline_iteration(w, p1, p2, odd, stream):
    """Queue five kernels for the fields and two for the scalars. p is updated in place, so p1 and p2 are one field."""
    w.over_pairs(update_p_kernel, stream, w.r, w.state, p2)  # 9
    w.marching(matvec_kernel, stream, (p2, w.state), (w.s,))  # 2
    w.make_alpha(w.dot(p2, w.s, stream), stream)  # 3, 4
    w.over_pairs(update_x_and_r_kernel, stream, p2, w.s, w.state, w.x, w.r)  # 5, 6
    w.make_beta(w.dot(w.r, w.r, stream), stream)  # 8


def cg_baseline(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None):
    """Solve ``A x = b`` with every container of the fusion document as a kernel of its own.

    Examples
    --------
    >>> found = cg_baseline(cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations, found.x.shape
    ('CONVERGED', 4, (4, 4, 4))
    """
    return solve(ITERATIONS["baseline"], b, x0, rtol, atol, maxiter, callback)


def map_stencil_fused_iteration(w, p1, p2, odd, stream):
    """Queue four kernels; p1 is not changed, because neighbours still read it."""
    w.marching(map_stencil_kernel, stream, (w.r, p1, w.state), (p2, w.s), w.marches.two_fields)  # 9, 2
    w.make_alpha(w.dot(p2, w.s, stream), stream)  # 3, 4
    w.over_pairs(update_x_and_r_kernel, stream, p2, w.s, w.state, w.x, w.r)  # 5, 6
    w.make_beta(w.dot(w.r, w.r, stream), stream)  # 8


def cg_map_stencil_fused(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None):
    """Solve ``A x = b`` with the update of p and the stencil in one kernel.

    Examples
    --------
    >>> found = cg_map_stencil_fused(cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations, found.x.shape
    ('CONVERGED', 4, (4, 4, 4))
    """
    return solve(ITERATIONS["map_stencil_fused"], b, x0, rtol, atol, maxiter, callback)


def fused_dots_iteration(w, p1, p2, odd, stream):
    """Queue three kernels; no field is read only for a reduction."""
    w.over_pairs(update_p_kernel, stream, w.r, w.state, p2)  # 9
    w.make_alpha(w.marching(matvec_dot_kernel, stream, (p2, w.state), (w.s, w.partial)), stream)  # 2, 3, 4
    blocks = w.over_pairs(update_x_and_r_dot_kernel, stream, p2, w.s, w.state, w.x, w.r, w.partial)  # 5, 6
    w.make_beta(blocks, stream)  # 8


def cg_fused_dots(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None):
    """Solve ``A x = b`` with each reduction inside the kernel that makes its fields.

    Examples
    --------
    >>> found = cg_fused_dots(cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations, found.x.shape
    ('CONVERGED', 4, (4, 4, 4))
    """
    return solve(ITERATIONS["fused_dots"], b, x0, rtol, atol, maxiter, callback)


def _search(w, p1, p2, stream):
    blocks = w.marching(search_kernel, stream, (w.r, p1, w.state), (p2, w.partial), w.marches.search)  # 9, 2
    w.make_alpha(blocks, stream)  # 3, 4


def _advance(w, p1, p2, terms, stream):
    """Queue the kernel that adds ``terms`` directions to x."""
    arguments = (p2, p1, w.state), (w.x, w.r, w.partial)
    march = w.marches.advance if terms == 1 else w.marches.deferred
    w.make_beta(w.marching(advance_kernel(terms), stream, *arguments, march), stream)  # 2, 5, 6, 8


def two_kernel_iteration(w, p1, p2, odd, stream):
    """Queue two kernels; ``A p2`` is computed in both."""
    _search(w, p1, p2, stream)
    _advance(w, p1, p2, 1, stream)


def cg_two_kernel(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None):
    """Solve ``A x = b`` with two kernels per iteration; ``A p`` is never stored.

    Examples
    --------
    >>> found = cg_two_kernel(cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations, found.x.shape
    ('CONVERGED', 4, (4, 4, 4))
    """
    return solve(ITERATIONS["two_kernel"], b, x0, rtol, atol, maxiter, callback)


def deferred_x_iteration(w, p1, p2, odd, stream):
    """Queue two kernels; x is updated in every second iteration, when two directions are in memory."""
    _search(w, p1, p2, stream)
    _advance(w, p1, p2, 2 if odd else 0, stream)


def cg_deferred_x(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None):
    """Solve as :func:`cg_two_kernel`, but update x only in every second iteration.

    Examples
    --------
    >>> found = cg_deferred_x(cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations, found.x.shape
    ('CONVERGED', 4, (4, 4, 4))
    """
    return solve(ITERATIONS["deferred_x"], b, x0, rtol, atol, maxiter, callback)


# the keys are the names of the variants
ITERATIONS = {
    "baseline": Iteration(baseline_iteration),
    "map_stencil_fused": Iteration(map_stencil_fused_iteration, swaps_p=True),
    "fused_dots": Iteration(fused_dots_iteration),
    "two_kernel": Iteration(two_kernel_iteration, swaps_p=True, stores_s=False),
    "deferred_x": Iteration(deferred_x_iteration, swaps_p=True, stores_s=False, defers_x=True),
}
