"""Quadratic programs by multiplicative updates, in plain NumPy: the tests compare every other file with it.

Minimise F(x) = ½ xᵀQx + hᵀx over x ≥ 0. A matrix or vector A is split into A⁺ = max(A, 0) and A⁻ = max(-A, 0), so that
A = A⁺ - A⁻. The *shift* r ≥ 0 is added to the diagonals of both Q⁺ and Q⁻, which leaves Q as it is. One update is

    x_i ← x_i (h⁻_i + (Q⁻x)_i + r_i x_i) / (h⁺_i + (Q⁺x)_i + r_i x_i).

Why F never increases. The update is x - D∇F with D_i = x_i / (h⁺_i + (Q⁺x)_i + r_i x_i), a gradient step with a step
length for each unknown. F cannot increase if 2 D⁻¹ - Q is positive semidefinite. For a symmetric matrix K of entries
that are not negative, diag((Kx)_i / x_i) - K is positive semidefinite (Sha, Saul and Lee, lemma 1). With K = Q⁺ +
diag(r), this gives Q⁺ ≤ K ≤ D⁻¹. A semidefinite Q has ``|v|ᵀQ|v| ≥ 0``, so ``-vᵀQ⁻v ≤ |v|ᵀQ⁻|v| ≤ |v|ᵀQ⁺|v| ≤ vᵀD⁻¹v``.
With vᵀQ⁺v ≤ vᵀD⁻¹v the sum is vᵀQv ≤ 2 vᵀD⁻¹v, for every r ≥ 0, also without a shift. ``SHIFTS`` lists the choices.

Sources: M. Brand and D. Chen, Parallel quadratic programming for image processing, ICIP 2011, pp. 2261-2264 (the update
and the shift by row sums of Q⁻). M. Brand et al., A parallel quadratic programming algorithm for model predictive
control, IFAC 2011 (conditions of convergence). F. Sha, L. K. Saul and D. D. Lee, Multiplicative updates for nonnegative
quadratic programming, Neural Computation 19, 2007 (the lemma).
"""

import numpy as np

from course_pkg.core import CourseError, Solution
from course_pkg.qp.arrays import Arrays
from course_pkg.qp.batch_gradient import gradients_of_a_batch
from course_pkg.qp.checks import (
    check_options,
    check_problem,
    check_solved_batch,
    check_split_product,
    check_update,
)
from course_pkg.qp.solver import accelerated_gradient, check_stops, minimise
from course_pkg.qp.tuning import MOST_GRADIENT_STEPS

SHIFTS = {
    "none": "no shift: F never increases, as Q is semidefinite; x may go to and fro",
    "descent": "r_i = max(0, Σ |Q_ij| - Q_ii) / 2, sum over j ≠ i: |Q| + 2 diag(r) is diagonally dominant; "
    "x may go to and fro",
    "contraction": "r_i = Σ_j Q⁻_ij, of Brand and Chen: Q⁻ + diag(r) is diagonally dominant; steps are short",
}


def split(A) -> tuple[np.ndarray, np.ndarray]:
    """Return A⁺ = max(A, 0) and A⁻ = max(-A, 0) of a matrix or a vector: A = A⁺ - A⁻.

    Examples
    --------
    >>> plus, minus = split(np.array([3.0, -2.0]))
    >>> plus, minus
    (array([3., 0.]), array([0., 2.]))
    """
    return np.maximum(A, 0), np.maximum(-A, 0)


def diagonal_shift(Q, kind: str = "descent", xp=np) -> np.ndarray:
    """Return the shift r that is added to the diagonals of Q⁺ and Q⁻; ``SHIFTS`` describes each kind.

    Q is an array of ``xp``: NumPy or CuPy.

    Examples
    --------
    >>> diagonal_shift(np.array([[1.0, -3.0], [-3.0, 10.0]])), diagonal_shift(np.eye(2), "none")
    (array([1., 0.]), array([0., 0.]))
    """
    if kind not in SHIFTS:
        raise CourseError(f"shift is {kind!r}: choose from {', '.join(SHIFTS)}.")
    if kind == "none":
        return xp.zeros(Q.shape[0], Q.dtype)
    if kind == "contraction":
        return xp.maximum(-Q, 0).sum(axis=1)
    diagonal = xp.diagonal(Q)
    beside = xp.abs(Q).sum(axis=1) - xp.abs(diagonal)
    return xp.maximum(0, beside - diagonal) / 2


def split_product(Q, x, out):
    """Compute ``out[0] = Q⁺x`` and ``out[1] = Q⁻x``.

    Examples
    --------
    >>> out = np.empty((2, 2))
    >>> split_product(np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([1.0, 3.0]), out); out
    array([[2., 6.],
           [3., 1.]])
    """
    check_split_product(Q, x, out, device=False)
    Q_plus, Q_minus = split(Q)
    out[0], out[1] = Q_plus @ x, Q_minus @ x


def update(Q, h, shift, x, out, parts):
    """Compute one update of x, and the parts F_i of the objective at x; F is their sum.

    ``F_i = x_i (½ (Qx)_i + h_i)``. F_i and the update of x_i need the same products, those of row i.

    Parameters
    ----------
    Q : ndarray, shape (n, n)
    h, shift, x : ndarray, shape (n,)
    out, parts : ndarray, shape (n,)
        The new x, and F_i of the old one.

    Examples
    --------
    >>> Q, h, x = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([-1.0, 1.0]), np.ones(2)
    >>> out, parts = np.empty(2), np.empty(2)
    >>> update(Q, h, np.zeros(2), x, out, parts); out, parts.sum()
    (array([1.        , 0.33333333]), np.float64(1.0))
    """
    check_update(Q, h, shift, x, out, parts, device=False)
    (Q_plus, Q_minus), (h_plus, h_minus) = split(Q), split(h)
    plus, minus = Q_plus @ x, Q_minus @ x
    parts[:] = x * ((plus - minus) / 2 + h)
    above, below = h_minus + minus + shift * x, h_plus + plus + shift * x
    # where x is 0, ``below`` may be 0, too
    out[:] = np.where(x > 0, x * (above / np.where(below > 0, below, 1)), 0)


def update_batch(Q, h, shift, x, out, parts, iterations=1):
    """Compute ``iterations`` updates of each of many problems of one size; ``parts`` belongs to the last one.

    Parameters
    ----------
    Q : ndarray, shape (problems, n, n)
    h, shift, x, out, parts : ndarray, shape (problems, n)

    Examples
    --------
    >>> Q, h, x = np.ones((2, 1, 1)), np.full((2, 1), -3.0), np.ones((2, 1))
    >>> out, parts = np.empty((2, 1)), np.empty((2, 1))
    >>> update_batch(Q, h, np.zeros((2, 1)), x, out, parts, iterations=2); out.T, parts.T
    (array([[3., 3.]]), array([[-4.5, -4.5]]))
    """
    check_update(Q, h, shift, x, out, parts, device=False, batch=True)
    for p in range(Q.shape[0]):
        now = x[p].copy()
        for _ in range(iterations):
            update(Q[p], h[p], shift[p], now, out[p], parts[p])
            now[:] = out[p]


def kkt_residual(x, gradient) -> float:
    """Return ``‖min(x, ∇F)‖∞``: 0 exactly where x ≥ 0, ∇F ≥ 0, and one of the two is 0 in each place.

    Complementarity alone, ``x_i ∇F_i = 0``, does not see a zero that ought to grow: there x_i = 0 and ∇F_i < 0.

    Examples
    --------
    >>> kkt_residual(np.array([0.0, 2.0]), np.array([-5.0, 0.0]))
    5.0
    """
    return float(np.max(np.abs(np.minimum(x, gradient)), initial=0))


def starting_guess(Q, h, xp=np) -> np.ndarray:
    """Return the start that Brand and Chen's published program takes: ``(mean |h| + |h|) / diag Q``.

    Examples
    --------
    >>> starting_guess(np.diag([2.0, 4.0]), np.array([1.0, -3.0]))
    array([1.5 , 1.25])
    """
    diagonal = xp.diagonal(Q)
    guess = (xp.abs(h).mean() + xp.abs(h)) / xp.where(diagonal > 0, diagonal, 1)
    return xp.where(guess > 0, guess, 1).astype(Q.dtype)


def serial(Q, h, x0, iterations: int, shift: str = "none") -> tuple[np.ndarray, list[float]]:
    """Run the loop of the document: an update of every x_i, and F, in each iteration; return x and the values of F.

    It does all ``iterations``, checks no optimality condition, and never lets a zero grow. :func:`pqp` is better.

    Examples
    --------
    >>> x, values = serial(np.eye(1), np.array([-2.0]), np.ones(1), 3)
    >>> x, values[0], values[-1]
    (array([2.]), -1.5, -2.0)
    """
    check_problem(Q, h, x0)
    x, r, values = x0.copy(), diagonal_shift(Q, shift), []
    out, parts = np.empty_like(x), np.empty_like(x)
    for _ in range(iterations):
        update(Q, h, r, x, out, parts)
        values.append(float(parts.sum()))
        x, out = out, x
    return x, values


def pqp(
    Q,
    h,
    x0=None,
    *,
    rtol=1e-6,
    atol=0.0,
    maxiter=None,
    callback=None,
    shift="descent",
    accelerate=True,
    readmit=True,
) -> Solution:
    """Minimise ``½ xᵀQx + hᵀx`` over x ≥ 0 by multiplicative updates.

    Parameters
    ----------
    Q : ndarray, shape (n, n)
        Symmetric and positive semidefinite; host memory. A negative entry of the diagonal, and a pair of rows with
        ``Q_ij² > Q_ii Q_jj``, are errors. The rest of what makes Q indefinite is not looked for: it is found only if
        a product with Q shows it, or if the method does not converge.
    h, x0 : ndarray, shape (n,)
        x0 is positive everywhere; :func:`starting_guess` when it is left out.
    rtol, atol : float
        Stop when ``‖min(x, ∇F)‖∞ ≤ max(rtol ‖h‖∞, atol)``.
    maxiter : int, optional
        Most iterations; by default ten times the number of unknowns, and at least 1000.
    callback : callable, optional
        Called with x after each iteration.
    shift : str
        One of ``SHIFTS``.
    accelerate : bool
        True for an exact line search along each update, and conjugate gradients on the unknowns that are not 0.
    readmit : bool
        True to let zeros grow again whose gradient is negative. Without it, and without ``accelerate``, this is the
        method of the document, in which a zero stays for ever.

    Returns
    -------
    Solution
        ``residual_norms`` are the KKT residuals. ``extra`` holds the certificates: the objective, the multipliers
        (the gradient), their least value, the duality gap ``xᵀ∇F``, and the number of products with Q.

    Raises
    ------
    CourseError
        If an argument is wrong; the message names it.

    Examples
    --------
    >>> found = pqp(np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([-1.0, 1.0]))
    >>> found.status.name, found.x.round(6)
    ('CONVERGED', array([0.5, 0. ]))
    """
    check_problem(Q, h, x0)
    check_stops(rtol, atol)
    check_options(maxiter, accelerate=accelerate, readmit=readmit)
    Q_plus, Q_minus = split(Q)
    start = starting_guess(Q, h) if x0 is None else x0.copy()
    work = Arrays(np, lambda x: (Q_plus @ x, Q_minus @ x), Q, h, diagonal_shift(Q, shift), start)
    return minimise(work, rtol, atol, maxiter, callback, accelerate, readmit)


def apg_batch(Q, h, out, norms, taken, rtol=1e-6, maxiter=MOST_GRADIENT_STEPS):
    """Solve each of many problems of one size by accelerated projected gradients, with restarts, from x = 0.

    Parameters
    ----------
    Q : ndarray, shape (problems, n, n)
    h, out : ndarray, shape (problems, n)
    norms : ndarray, shape (problems,)
        The KKT residuals at the end; a problem is solved if its own is at most ``rtol ‖h‖∞``.
    taken : ndarray, uint32, shape (problems,)
        Steps that each problem took.

    Examples
    --------
    >>> Q, h, out = np.full((2, 1, 1), 2.0), np.array([[-3.0], [1.0]]), np.empty((2, 1))
    >>> apg_batch(Q, h, out, np.empty(2), np.empty(2, np.uint32)); out.T
    array([[1.5, 0. ]])
    """
    check_solved_batch(Q, h, out, norms, taken, rtol, maxiter, device=False)
    gradients_of_a_batch(np, Q, h, out, norms, taken, rtol, maxiter)


def apg(Q, h, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Minimise ``½ xᵀQx + hᵀx`` over x ≥ 0 by accelerated projected gradients, with restarts: the honest rival.

    Arguments and result are those of :func:`pqp`, and so are the errors, but x0 may hold zeros, and what is negative
    in it counts as 0. An iteration is one product with Q.

    Source: A. Beck and M. Teboulle, A fast iterative shrinkage-thresholding algorithm, SIAM J. Imaging Sciences 2,
    2009; restarts: B. O'Donoghue and E. Candès, Adaptive restart for accelerated gradient schemes, Found. Comput. Math.
    15, 2015.

    Examples
    --------
    >>> found = apg(np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([-1.0, 1.0]))
    >>> found.status.name, found.x.round(6)
    ('CONVERGED', array([0.5, 0. ]))
    """
    check_problem(Q, h, x0, positive=False)
    check_stops(rtol, atol)
    check_options(maxiter)
    start = starting_guess(Q, h) if x0 is None else x0.copy()
    return accelerated_gradient(np, lambda x: Q @ x, h, start, rtol, atol, maxiter, callback)
