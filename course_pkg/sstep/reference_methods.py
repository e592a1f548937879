"""The methods in plain NumPy: conjugate gradient with two reductions per iteration, one, or one per s iterations."""

from course_pkg.core import Solution
from course_pkg.sstep import reference_operations, scalar_work, solver, stable
from course_pkg.sstep.room import Room, room_for


def _room(*arguments) -> Room:
    return room_for(Room, reference_operations, *arguments)


def pcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by the preconditioned conjugate gradient method: two reductions for each iteration.

    Parameters
    ----------
    A : Laplacian, matrix or callable
        Symmetric and positive definite; ``A @ x``, or ``A(x)`` for a function.
    b, x0 : ndarray
        Right-hand side and first guess (zero when it is left out), of one shape; host memory.
    rtol, atol : float
        Stop when ``‖b - A x‖ ≤ max(rtol ‖b‖, atol)``.
    maxiter : int, optional
        Most iterations; ten times the number of unknowns when it is left out.
    M : matrix or callable, optional
        Applies the inverse of a preconditioner, which must be symmetric and positive definite.
    callback : callable, optional
        Called with x after each iteration, or after each pass of s iterations.

    Returns
    -------
    Solution
        ``converged`` is confirmed on the true residual; ``extra`` counts reductions and products with A.

    Raises
    ------
    CourseError
        If b or x0 hold values that are not finite, or have different shapes.

    Notes
    -----
    Source: M. R. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res. NBS 49, 1952.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> found = pcg(A, np.array([1.0, 2.0]))
    >>> found.status.name, found.iterations, found.extra["reductions"]
    ('CONVERGED', 2, 6)
    """
    return solver.pcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pfcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by the flexible conjugate gradient method: one reduction for each iteration.

    Parameters, returns and errors are those of :func:`pcg`. One reduction suffices because all its sums are over
    vectors that exist at the same time: ``p·Ap = u·Au - (u·Ap_prev)² / (p·Ap)_prev``.

    Source: Y. Notay, A. Napov, A massively parallel solver for discrete Poisson-like problems, J. Comput. Phys. 281,
    2015; Bernaschi et al. 2025, Algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> found = pfcg(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))
    >>> found.status.name, found.iterations
    ('CONVERGED', 2)
    """
    return solver.pfcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pcg_sstep_moments(
    A, b, x0=None, *, s=4, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None
) -> Solution:
    """Solve ``A x = b`` by the s-step method of Chronopoulos and Gear: 2 s moments in one reduction for s iterations.

    Parameters, returns and errors are those of :func:`pcg`; ``s`` is 1 to 32. The monomial basis loses accuracy as s
    grows. If the s × s matrix W is no longer positive definite, the method starts again from its x with half the s;
    for each restart, ``extra["fallbacks"]`` has the number of iterations before it and the old s.

    Source: A. T. Chronopoulos, C. W. Gear, J. Comput. Appl. Math. 25, 1989; Bernaschi et al. 2025, Algorithms 3 to 6,
    with one loop of Algorithm 6 corrected (:func:`~course_pkg.sstep.scalar_work.coupling`).

    Examples
    --------
    >>> import numpy as np
    >>> found = pcg_sstep_moments(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]), s=2)
    >>> found.status.name, found.iterations, found.extra["reductions"], found.extra["fallbacks"]
    ('CONVERGED', 2, 3, ())
    """
    room = _room(A, b, x0, M, rtol, atol, maxiter)
    return solver.moments(room, s, rtol, atol, maxiter, callback)


def pcg_sstep_printed(
    A, b, x0=None, *, s=4, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None
) -> Solution:
    """Do what :func:`pcg_sstep_moments` does, but with the loop of Algorithm 6 as printed; this version stagnates.

    The loop that fills the right-hand sides of beta ends at i - 1 instead of s, so the directions of a pass are not
    conjugate to earlier ones. It does not fall back to a smaller s: its purpose is to show the stagnation.

    Examples
    --------
    >>> from course_pkg.sstep.problem import Laplacian
    >>> import numpy as np
    >>> found = pcg_sstep_printed(Laplacian((4, 4, 4)), np.arange(64.0), s=3, maxiter=60)
    >>> found.converged
    False
    """
    room = _room(A, b, x0, M, rtol, atol, maxiter)
    return solver.moments(
        room, s, rtol, atol, maxiter, callback, couple=scalar_work.coupling_printed, fall_back=False
    )


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
    """Solve ``A x = b`` by an s-step method that stays stable: one reduction for s iterations.

    Each pass makes s vectors by a recurrence whose polynomials are bounded on the spectrum. It computes the Gram matrix
    of these and of the last s directions directly, and drops directions that rounding has made dependent. The method
    stops only if the true residual is small. If only the updated residual is, the true one replaces it. Near the end,
    passes may be shorter (:mod:`course_pkg.sstep.pace`), so that the method hardly takes more iterations than ``pcg``.

    Parameters are those of :func:`pcg`, and:

    s : int
        Number of iterations that a pass does, 1 to 32.
    basis : str
        ``"chebyshev"``, ``"newton"`` or ``"monomial"``; see :func:`course_pkg.sstep.bases.basis`.
    bounds : (float, float) or str, optional
        An interval that contains the eigenvalues of ``M A``, or a way to find one: ``"gershgorin"`` or ``"lanczos"``.
        The default is ``"gershgorin"`` if A has rows and there is no M, otherwise ``"lanczos"``.
    replace : int
        Replace r by ``b - A x`` after every ``replace`` passes; with 0, only at the end.

    Returns
    -------
    Solution
        ``extra`` has the numbers of reductions and products, the lengths of passes, the condition of each basis, the
        bounds, and what they are judged by: the growth of Chebyshev vectors, and the Ritz values of a Newton basis.
        ``beyond_bounds`` says that the bounds are too narrow; then the reason names them.

    Notes
    -----
    Sources: E. Carson, Communication-avoiding Krylov subspace methods in theory and practice, PhD thesis, Berkeley
    2015 (bases, residual replacement); D'Ambra et al., arXiv:2603.09790 (Chebyshev basis on GPU clusters).

    Examples
    --------
    >>> from course_pkg.sstep.problem import Laplacian
    >>> import numpy as np
    >>> found = pcg_sstep(Laplacian((8, 8, 8)), np.ones((8, 8, 8)), s=4)
    >>> found.status.name, found.iterations, found.extra["bounds"]
    ('CONVERGED', 16, (0.0, 12.0))
    """
    room = _room(A, b, x0, M, rtol, atol, maxiter)
    return stable.solve(room, s, basis, bounds, replace, rtol, atol, maxiter, callback)
