"""One step of Jacobi's method in plain NumPy: the tests compare every other file with it.

All functions take ``(system, x, out)`` and write the next x to ``out``; ``system`` is a
:class:`~course_pkg.spmv.jacobi.JacobiSystem`. Sums are float64, and each row is added up from left to right.
"""

import numpy as np

from course_pkg.spmv.checks_jacobi import check_step


def jacobi_plain(system, x, out):
    """Compute ``out = (b - E x) / d``.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.jacobi import plain_system
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> out = np.empty(2)
    >>> jacobi_plain(plain_system(A, np.array([6.0, 18.0])), np.array([2.0, 1.0]), out); out
    array([1.25, 1.75])
    """
    check_step(system, x, out, "plain", device=False)
    out[:] = _solved_rows(system, x)


def jacobi_row_permuted(system, x, out):
    """Compute ``out[rows] = (b - E x) / d``: row i of E gives unknown ``rows[i]``, so each step reorders its results.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system, out = system_of("row_permuted", A, np.array([6.0, 18.0]), np.array([1, 0])), np.empty(2)
    >>> jacobi_row_permuted(system, np.array([2.0, 1.0]), out); out
    array([1.25, 1.75])
    """
    check_step(system, x, out, "row_permuted", device=False)
    out[system.rows] = _solved_rows(system, x)


def jacobi_symmetric(system, x, out):
    """Compute ``out = (b - E x) / d``, with x and out in the permuted order: nothing is reordered.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system, out = system_of("symmetric", A, np.array([6.0, 18.0]), np.array([1, 0])), np.empty(2)
    >>> jacobi_symmetric(system, system.taken(np.array([2.0, 1.0])), out); system.given(out)
    array([1.25, 1.75])
    """
    check_step(system, x, out, "symmetric", device=False)
    out[:] = _solved_rows(system, x)


def _solved_rows(system, x):
    """Return ``(b - E x) / d`` in the order of E's rows; bincount adds in the order of its input, in float64."""
    E = system.E
    row_of = np.repeat(np.arange(system.n), np.diff(E.indptr))
    E_x = np.bincount(row_of, E.data.astype(np.float64) * x[E.indices], system.n)
    return (system.b - E_x) / system.d
