"""The methods on a GPU: one sweep for each operation of a pass; the host waits only after passes that it has queued.

``A`` is a :class:`~course_pkg.sstep.problem.Laplacian`, which is fused with the recurrence of the basis, or a
:class:`~course_pkg.spmv.formats.Csr` in GPU memory. b and x0 are device arrays, float64 or float32: grids of three
dimensions for a Laplacian, vectors for a Csr. M is a preconditioner of ``precond`` in GPU memory; then A is a Csr.
All other arguments, results and errors are those of ``reference_methods.py``; x is a new device array. In single
precision, do not ask for less than about 1e-4.
"""

import sys

from course_pkg.core import Solution
from course_pkg.sstep import solver, stable
from course_pkg.sstep.gpu_numba.room import DeviceRoom
from course_pkg.sstep.room import room_for


def _room(*arguments) -> DeviceRoom:
    return room_for(DeviceRoom, sys.modules["course_pkg.sstep.gpu_numba"], *arguments)


def pcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by preconditioned conjugate gradients; no iteration waits for the host.

    Without M, :func:`course_pkg.cg.gpu_numba.cg_two_kernel` is faster, because it fuses more.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pcg(Laplacian((4, 4, 4)), cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.pcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pfcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by flexible conjugate gradients: one reduction, and one sweep of updates, for each iteration.

    No iteration waits for the host.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pfcg(Laplacian((4, 4, 4)), cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.pfcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pcg_sstep_moments(
    A, b, x0=None, *, s=4, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None
) -> Solution:
    """Solve ``A x = b`` by the s-step method of Chronopoulos and Gear: 2 s moments in one sweep for s iterations.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pcg_sstep_moments(Laplacian((4, 4, 4)), cuda.to_device(np.ones((4, 4, 4))), s=2)
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.moments(_room(A, b, x0, M, rtol, atol, maxiter), s, rtol, atol, maxiter, callback)


def pcg_sstep(
    A,
    b,
    x0=None,
    *,
    s=8,
    basis="chebyshev",
    bounds=None,
    replace=0,
    rtol=1e-6,
    atol=0.0,
    maxiter=None,
    M=None,
    callback=None,
) -> Solution:
    """Solve ``A x = b`` by the stable s-step method: one Gram matrix for s iterations.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pcg_sstep(Laplacian((4, 4, 4)), cuda.to_device(np.ones((4, 4, 4))), s=2)
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    room = _room(A, b, x0, M, rtol, atol, maxiter)
    return stable.solve(room, s, basis, bounds, replace, rtol, atol, maxiter, callback)
