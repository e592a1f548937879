"""Set up preconditioners on the host: each function takes a matrix and returns one kind of preconditioner.

``preconditioners.py`` explains why each of them is positive definite.
"""

import numpy as np
from scipy.sparse import csr_array

from course_pkg.core import CourseError
from course_pkg.core.checks import on_device, require_count
from course_pkg.permutation.checks import check_csr
from course_pkg.precond.preconditioners import Diagonal, Identity, Level, Multigrid, Polynomial
from course_pkg.spmv.formats import Csr


def identity(A) -> Identity:
    """Return the identity as a preconditioner for A: it does nothing.

    Examples
    --------
    >>> identity(csr_array(np.eye(2))).n
    2
    """
    return Identity(check_spd(A).shape[0])


def jacobi(A) -> Diagonal:
    """Return the Jacobi preconditioner, which divides by A's diagonal.

    Raises
    ------
    CourseError
        If A is not square and symmetric, or its diagonal is not positive.

    Examples
    --------
    >>> jacobi(csr_array(np.array([[4.0, 1.0], [1.0, 2.0]]))).d
    array([4., 2.])
    """
    return Diagonal(check_spd(A).diagonal().astype(A.dtype))


def l1_jacobi(A) -> Diagonal:
    """Return the ℓ1-Jacobi preconditioner, which divides by D, the sums of absolute values of the rows.

    With this D, ``D - A`` is positive semidefinite.

    Examples
    --------
    >>> l1_jacobi(csr_array(np.array([[4.0, -1.0], [-1.0, 2.0]]))).d
    array([5., 3.])
    """
    return Diagonal(_row_sums(check_spd(A)))


def chebyshev(A, degree: int = 3, ratio: float = 30.0) -> Polynomial:
    """Return ``degree + 1`` steps of Chebyshev's method: a polynomial of this degree in A, scaled by its diagonal.

    Parameters
    ----------
    A : scipy.sparse.csr_array
    degree : int
        Number of products with A; with 0, the result is Jacobi's method times a factor.
    ratio : float
        The polynomial is best for eigenvalues from hi / ratio to hi, where hi is Gershgorin's bound.

    Examples
    --------
    >>> len(chebyshev(csr_array(np.array([[4.0, -1.0], [-1.0, 2.0]])), degree=2).steps)
    3
    """
    require_count(degree=degree)
    if not ratio > 1:
        raise CourseError(f"ratio is {ratio}: it must be larger than 1.")
    check_spd(A)
    d = A.diagonal()
    hi = float(np.max(_row_sums(A) / d))
    centre, half = hi / 2 * (1 + 1 / ratio), hi / 2 * (1 - 1 / ratio)
    steps, rho, sigma = [(1 / centre, 0.0)], half / centre, centre / half
    for _ in range(degree):
        before, rho = rho, 1 / (2 * sigma - rho)
        steps.append((2 * rho / half, rho * before))
    return Polynomial(_shifted(A, d), d.astype(A.dtype), tuple(steps))


def amg(
    A, aggregation="pairwise", smoothed=True, smoother="jacobi", sweeps=1, max_coarse=200, most_levels=20
) -> Multigrid:
    """Return a V-cycle of algebraic multigrid. PyAMG finds the aggregates.

    Parameters
    ----------
    A : scipy.sparse.csr_array
        Symmetric and positive definite.
    aggregation : str
        ``"pairwise"``: an aggregate has 8 points, as pairs of pairs of pairs. ``"standard"``: an aggregate is a point
        and its neighbours, which is faster to set up and has fewer nonzeros, but needs more iterations.
    smoothed : bool
        Whether prolongation is smoothed by a step of Jacobi's method.
    smoother : str
        ``"jacobi"``, weighted, or ``"l1"``.
    sweeps : int
        Steps of the smoother before and after each correction.
    max_coarse : int
        Largest number of unknowns of the coarsest level; the inverse of its matrix is stored.
    most_levels : int
        Largest number of levels.

    Raises
    ------
    CourseError
        If A is not symmetric with a positive diagonal, or an argument is unknown.

    Examples
    --------
    >>> from course_pkg.permutation.problem import poisson
    >>> amg(poisson((8, 8, 8)), max_coarse=100).levels[0].P.shape
    (512, 64)
    """
    require_count(sweeps=sweeps, max_coarse=max_coarse)
    if sweeps < 1 or max_coarse < 1:
        raise CourseError(f"sweeps is {sweeps} and max_coarse {max_coarse}: both must be at least 1.")
    if aggregation not in _AGGREGATIONS or smoother not in ("jacobi", "l1"):
        raise CourseError(
            f"aggregation is {aggregation!r} and smoother {smoother!r}: choose standard or pairwise, and jacobi or l1."
        )
    dtype, levels = check_spd(A).dtype, []
    A = A.astype(np.float64, copy=False)
    while A.shape[0] > max_coarse and len(levels) < most_levels:
        d = _row_sums(A) if smoother == "l1" else A.diagonal() / _omega(A)
        P = _prolongation(A, _AGGREGATIONS[aggregation](A), smoothed)
        if P.shape[1] >= A.shape[0]:
            break
        R = csr_array(P.T)
        levels.append(Level(_shifted(A, d, dtype), d.astype(dtype), _csr(P, dtype), _csr(R, dtype)))
        A = R @ csr_array(A @ P)
        A = csr_array((A + A.T) / 2)
        A.sort_indices()
    if A.shape[0] > 20 * max_coarse:
        raise CourseError(f"{A.shape[0]} unknowns are left on the coarsest level: allow more levels.")
    return Multigrid(tuple(levels), _csr(csr_array(_inverse(A.toarray())), dtype), sweeps)


def check_spd(A):
    """Return A; raise unless it is a symmetric matrix in compressed rows (CSR) with a positive diagonal.

    The function does not check that A is positive definite, which would take as long as solving the system.

    Examples
    --------
    >>> check_spd(csr_array(np.array([[1.0, 2.0], [0.0, 1.0]])))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: A is not symmetric: the largest difference from its transpose is 2.
    """
    if not hasattr(A, "diagonal") or on_device(A.data):
        raise CourseError(f"A is a {type(A).__name__}: pass a scipy.sparse.csr_array in host memory.")
    check_csr(A)
    if A.shape[0] != A.shape[1]:
        raise CourseError(f"A has shape {A.shape}: it must be square.")
    d = A.diagonal()
    if not np.all(d > 0):
        row = int(np.argmin(d > 0))
        raise CourseError(
            f"A has {d[row]:g} on the diagonal of row {row}, so it is not positive definite: check its sign."
        )
    largest = _asymmetry(A)
    if largest > 1e-6 * float(d.max()):
        raise CourseError(f"A is not symmetric: the largest difference from its transpose is {largest:g}.")
    return A


def _asymmetry(A) -> float:
    """Return ``max |A - Aᵀ|``. If A and Aᵀ have nonzeros at the same places, no third matrix is made."""
    T = A.T.tocsr()
    T.sort_indices()
    if np.array_equal(T.indptr, A.indptr) and np.array_equal(T.indices, A.indices):
        T.data -= A.data
        return float(max(T.data.max(initial=0), -T.data.min(initial=0)))
    return float(abs(T - A).max())


def _standard(A):
    from pyamg.aggregation.aggregate import standard_aggregation

    return standard_aggregation(A)[0]


def _pairwise(A):
    from pyamg.aggregation.aggregate import pairwise_aggregation

    return pairwise_aggregation(A, matchings=3)[0]


_AGGREGATIONS = {"standard": _standard, "pairwise": _pairwise}


def _prolongation(A, aggregates, smoothed) -> csr_array:
    """Return the prolongation: ones for each aggregate, multiplied by ``I - omega D⁻¹ A`` if ``smoothed``."""
    T = csr_array(aggregates.astype(np.float64))
    if smoothed:
        T = csr_array(T - _scaled_rows(csr_array(A @ T), _omega(A) / A.diagonal()))
    T.sort_indices()
    return T


def _omega(A) -> float:
    """Return 4/3 divided by an upper bound of the eigenvalues of ``D⁻¹ A``: small enough for Jacobi to converge."""
    return 4 / 3 / float(np.max(_row_sums(A) / A.diagonal()))


def _row_sums(A) -> np.ndarray:
    """Return the sum of absolute values of each row; rows must not be empty."""
    return np.add.reduceat(np.abs(A.data), A.indptr[:-1]).astype(A.dtype)


def _scaled_rows(A, by) -> csr_array:
    data = A.data * np.repeat(by, np.diff(A.indptr))
    return csr_array((data, A.indices, A.indptr), shape=A.shape)


def _shifted(A, d, dtype=None) -> Csr:
    """Return ``A - diag(d)`` with the sparsity pattern of A; A must store every diagonal element."""
    row_of = np.repeat(np.arange(A.shape[0], dtype=A.indices.dtype), np.diff(A.indptr))
    diagonal = A.indices == row_of
    del row_of
    data = A.data.copy()
    data[diagonal] -= d
    return Csr(
        A.indptr.astype(np.int32, copy=False),
        A.indices.astype(np.int32, copy=False),
        data.astype(dtype or A.dtype, copy=False),
        A.shape,
    )


def _csr(A, dtype) -> Csr:
    return Csr.from_scipy(A, dtype)


def _inverse(A) -> np.ndarray:
    """Return the inverse of the coarsest matrix, made exactly symmetric."""
    try:
        L = np.linalg.inv(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        raise CourseError("A is not positive definite: its coarsest matrix is not; check its sign.") from None
    return L.T @ L
