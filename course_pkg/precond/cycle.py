"""How to apply each preconditioner: the order of products and maps, written once for all libraries.

``tools`` is a class with the functions

- ``jacobi_plain(system, x, out)``: ``out = (b - E x) / d``, one product
- ``spmv(A, x, y)``: ``y = A x``
- ``divide(d, r, out)``: ``out = r / d``
- ``add(change, x)``: ``x = x + change``
- ``scale(a, r, out)``: ``out = a r``
- ``difference(d, y, x, out)``: ``out = d (y - x)``
- ``advance(y, a, b, p, x)``: ``p = a (y - x) + b p``, then ``x = x + p``
- ``empty(n, like)``: a new vector in the memory space and precision of ``like``

If one step of Jacobi's method takes x to y, then ``d (y - x)`` is the residual ``r - A x``. So a level needs only the
matrix of its smoother, and not A as well.
"""

from course_pkg.core import CourseError
from course_pkg.precond.checks import check_apply
from course_pkg.precond.preconditioners import Diagonal, Identity, Multigrid, Polynomial
from course_pkg.spmv.jacobi import JacobiSystem


def diagonal(tools, M, r, out, *, device: bool) -> None:
    """Compute ``out = r / d``.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg.precond import cpu_numba
    >>> out = np.empty(2)
    >>> diagonal(cpu_numba._Tools, Diagonal(np.array([4.0, 2.0])), np.ones(2), out, device=False); out
    array([0.25, 0.5 ])
    """
    check_apply(M, r, out, Diagonal, device=device)
    tools.divide(M.d, r, out)


def chebyshev(tools, M, r, out, *, device: bool) -> None:
    """Compute the steps of Chebyshev's method for ``A out = r``, from 0.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from course_pkg.precond import build, cpu_numba
    >>> M, out = build.chebyshev(scipy.sparse.csr_array(4 * np.eye(2)), degree=0, ratio=2.0), np.empty(2)
    >>> chebyshev(cpu_numba._Tools, M, np.ones(2), out, device=False); out.round(3)
    array([0.333, 0.333])
    """
    check_apply(M, r, out, Polynomial, device=device)
    system = JacobiSystem(M.E, M.d, r)
    p, y = tools.empty(M.n, r), tools.empty(M.n, r)
    tools.divide(M.d, r, p)
    tools.scale(M.steps[0][0], p, out)
    tools.scale(1.0, out, p)
    for a, b in M.steps[1:]:
        tools.jacobi_plain(system, out, y)
        tools.advance(y, a, b, p, out)


def vcycle(tools, M, r, out, *, device: bool) -> None:
    """Compute a V-cycle for ``A out = r``, from 0.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from course_pkg.precond import build, cpu_numba
    >>> M, out = build.amg(scipy.sparse.csr_array(4 * np.eye(2))), np.empty(2)
    >>> vcycle(cpu_numba._Tools, M, np.ones(2), out, device=False); out
    array([0.25, 0.25])
    """
    check_apply(M, r, out, Multigrid, device=device)
    _descend(tools, M, 0, r, out)


def _descend(tools, M, depth, r, out):
    if depth == len(M.levels):
        tools.spmv(M.inverse, r, out)
        return
    level = M.levels[depth]
    n, coarse = level.P.shape
    system, other = JacobiSystem(level.E, level.d, r), tools.empty(n, r)
    tools.divide(level.d, r, other)  # the first sweep, because it begins at 0
    x, y = _sweeps(tools, system, other, out, M.sweeps - 1)
    tools.jacobi_plain(system, x, y)
    tools.difference(level.d, y, x, y)
    below, correction = tools.empty(coarse, r), tools.empty(coarse, r)
    tools.spmv(level.R, y, below)
    _descend(tools, M, depth + 1, below, correction)
    tools.spmv(level.P, correction, y)
    tools.add(y, x)
    _sweeps(tools, system, x, y, M.sweeps)  # 2 sweeps - 1 exchanges in all, so the last result is in ``out``


def _sweeps(tools, system, x, y, times):
    """Do ``times`` Jacobi steps from x; return the vector that holds the result, then the other vector."""
    for _ in range(times):
        tools.jacobi_plain(system, x, y)
        x, y = y, x
    return x, y


def apply(module, M, r, out) -> None:
    """Compute ``out = B⁻¹ r`` by the module's function for the class of M.

    Parameters
    ----------
    module : module
        ``reference``, ``cpu_numba``, ``gpu_numba`` or ``gpu_cupy`` of this topic.
    M : one of ``preconditioners.py``
    r, out : array, shape (n,)

    Raises
    ------
    CourseError
        If M is not a preconditioner, or an argument does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg.precond import reference
    >>> out = np.empty(2)
    >>> apply(reference, Diagonal(np.array([4.0, 2.0])), np.ones(2), out); out
    array([0.25, 0.5 ])
    """
    kinds = {Identity: "identity", Diagonal: "diagonal", Polynomial: "chebyshev", Multigrid: "vcycle"}
    if type(M) not in kinds:
        raise CourseError(f"M is of the kind {type(M).__name__}: make it with precond/preconditioners.py.")
    getattr(module, f"precondition_{kinds[type(M)]}")(M, r, out)
