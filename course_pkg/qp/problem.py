"""Quadratic programs with bounds at zero: minimise F(x) = ½ xᵀQx + hᵀx over x ≥ 0. All data are offline.

The document of this topic calls the unknowns λ; here they are x. :mod:`.quadratic` says what a problem is, and those
made of data sets are in :mod:`.data_sets`. Whatever is drawn at random depends on a seed alone.
"""

from collections.abc import Callable

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.qp.data_sets import nnls_diabetes, nnls_digits, svm_breast_cancer
from course_pkg.qp.quadratic import QuadraticProblem, least_squares

__all__ = [
    "PROBLEMS",
    "QuadraticProblem",
    "blurred_picture",
    "deblurring",
    "dense",
    "least_squares",
    "model_predictive",
    "nnls_diabetes",
    "nnls_digits",
    "obstacle_1d",
    "obstacle_2d",
    "portfolio",
    "problem",
    "svm_breast_cancer",
]

SEED = 2027


def portfolio(size: int = 500, factors: int = 20, seed: int = SEED) -> QuadraticProblem:
    """Return a long-only portfolio on a factor model, whose weights are scaled to sum 1 afterwards.

    Returns have the covariance B Bᵀ + D, of few factors and of each asset's own risk; Q is this covariance, and h is
    minus the expected returns. The minimiser, divided by its sum, is the long-only portfolio with the largest ratio of
    expected return to risk.

    Source: the factor model of W. F. Sharpe, A simplified model for portfolio analysis, Management Science 9, 1963;
    the numbers are drawn.

    Examples
    --------
    >>> portfolio(50).n
    50
    """
    rng = np.random.default_rng(seed)
    B = 0.15 * rng.standard_normal((size, factors)) / np.sqrt(factors)
    B[:, 0] += 0.15  # the market, which moves all assets
    Q = B @ B.T + np.diag(rng.uniform(0.05, 0.3, size) ** 2)
    returns = 0.05 + 0.05 * rng.standard_normal(size)
    return QuadraticProblem(Q, -returns, "portfolio", f"drawn from a factor model, seed {seed}")


def obstacle_1d(size: int = 200) -> QuadraticProblem:
    """Return a string that is stretched over an arc: x is its height above the arc, and 0 where they touch.

    Q = (-1, 2, -1)/d², d = 1/(n+1), is an M-matrix: no entry beside the diagonal is positive. So Q⁺ is its diagonal.
    The arc is ψ(s) = 0.01 - 2(s - ½)², and the string's ends are at height 0, so that it touches only the top: of
    200 unknowns, 2 % are 0. From a small start, multiplicative updates set many more x_i to 0, and these stay 0.

    Examples
    --------
    >>> p = obstacle_1d(9)
    >>> p.h[4].round(6), int((p.h < 0).sum())  # only next to the ends is h negative
    (np.float64(4.0), 2)
    """
    d = 1 / (size + 1)
    Q = (2 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)) / d**2
    at = np.arange(1, size + 1) * d
    return QuadraticProblem(Q, Q @ (0.01 - 2 * (at - 0.5) ** 2), "obstacle_1d", "a string over an arc")


def obstacle_2d(size: int = 32) -> QuadraticProblem:
    """Return a membrane above a dome on a square of size² points; x is its height above the dome.

    Source: the model problem of R. Glowinski, Numerical Methods for Nonlinear Variational Problems, Springer 1984,
    chapter II.

    Examples
    --------
    >>> obstacle_2d(4).n
    16
    """
    d = 1 / (size + 1)
    one = (2 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)) / d**2
    Q = np.kron(one, np.eye(size)) + np.kron(np.eye(size), one)
    at = np.arange(1, size + 1) * d
    dome = 0.1 - (at[:, None] - 0.5) ** 2 - (at - 0.5) ** 2
    return QuadraticProblem(Q, Q @ dome.reshape(-1) + 1.0, "obstacle_2d", "a membrane above a dome")


def model_predictive(size: int = 4096, n: int = 128, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Return a batch of model-predictive control problems: many small quadratic programs.

    A mass on a line with friction, each of its own, is to be brought to rest at 0 by forces u_0, …, u_{n-1} that only
    push to one side. The forces minimise ½ Σ s_k² + ½ ρ Σ u_k², where s_k are the positions that follow from them.

    Returns
    -------
    Q : ndarray, shape (size, n, n)
    h : ndarray, shape (size, n)

    Examples
    --------
    >>> Q, h = model_predictive(3, 10)
    >>> Q.shape, h.shape
    ((3, 10, 10), (3, 10))
    """
    require_count(size=size, n=n)
    rng = np.random.default_rng(seed)
    step, weight = 0.1, 0.1
    steps = np.arange(n)
    friction = rng.uniform(0.8, 0.98, size)[:, None]
    speed = friction ** np.arange(n)  # what is left of a push after k steps
    reach = step * step * np.cumsum(speed, axis=1)  # the position that a unit push leads to
    delay = steps[:, None] - steps
    G = np.where(delay >= 0, reach[:, np.maximum(delay, 0)], 0.0)
    start, first = rng.uniform(-2, 0.5, (size, 1)), rng.uniform(-1, 1, (size, 1))
    free = start + step * np.cumsum(speed, axis=1) * first
    Q = np.einsum("pki,pkj->pij", G, G, optimize=True) + weight * np.eye(n)
    return (Q + Q.transpose(0, 2, 1)) / 2, np.einsum("pki,pk->pi", G, free)


def deblurring(size: int = 24, width: float = 1.5, noise: float = 0.01) -> QuadraticProblem:
    """Return the problem of deblurring a picture of bright shapes on black, with size² pixels of at least 0.

    The picture is blurred by a Gaussian of ``width`` pixels, cut off at the boundary, and gets some noise:
    :func:`blurred_picture` returns it before and after. A small multiple of the identity keeps Q definite.

    Examples
    --------
    >>> deblurring(8).n
    64
    """
    _, blurred, blur = blurred_picture(size, width, noise)
    found = least_squares(blur, blurred.reshape(-1), "deblurring", "drawn shapes, blurred by a Gaussian")
    return QuadraticProblem(found.Q + 1e-3 * np.eye(found.n), found.h, found.name, found.source)


def blurred_picture(size: int = 24, width: float = 1.5, noise: float = 0.01) -> tuple[np.ndarray, ...]:
    """Return a picture, the same picture blurred and with noise, and the matrix that blurs it.

    Examples
    --------
    >>> sharp, blurred, blur = blurred_picture(8)
    >>> sharp.shape, blurred.shape, blur.shape
    ((8, 8), (8, 8), (64, 64))
    """
    y, x = np.mgrid[:size, :size] / (size - 1)
    sharp = np.zeros((size, size))
    sharp[(x - 0.3) ** 2 + (y - 0.3) ** 2 < 0.03] = 1.0
    sharp[(abs(x - 0.7) < 0.08) & (abs(y - 0.5) < 0.3)] = 0.7
    sharp[(abs(y - 0.8) < 0.05) & (abs(x - 0.35) < 0.2)] = 0.9
    distance = np.subtract.outer(np.arange(size), np.arange(size))
    line = np.exp(-0.5 * (distance / width) ** 2)
    line /= line.sum(axis=1).max()
    blur = np.kron(line, line)
    drawn = np.random.default_rng(SEED).standard_normal(size * size)
    return sharp, (blur @ sharp.reshape(-1) + noise * drawn).reshape(size, size), blur


def dense(size: int = 1000, inactive: float = 0.9, seed: int = SEED) -> QuadraticProblem:
    """Return a drawn problem with entries of both signs, in whose solution the share ``inactive`` of x is 0.

    The solution is drawn first; h follows from it, so that the optimality conditions hold with a margin.

    Examples
    --------
    >>> dense(20).n
    20
    """
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((size, size)) / np.sqrt(size)
    Q = A.T @ A + np.eye(size)
    Q = (Q + Q.T) / 2
    zero = rng.random(size) < inactive
    x, multiplier = (
        np.where(zero, 0, rng.uniform(0.5, 1.5, size)),
        np.where(zero, rng.uniform(0.5, 1, size), 0),
    )
    return QuadraticProblem(Q, multiplier - Q @ x, "dense", f"drawn with a known solution, seed {seed}")


PROBLEMS: dict[str, Callable[..., QuadraticProblem]] = {
    made.__name__: made
    for made in (
        nnls_diabetes,
        nnls_digits,
        svm_breast_cancer,
        portfolio,
        obstacle_1d,
        obstacle_2d,
        deblurring,
        dense,
    )
}


def problem(name: str, size: int | None = None) -> QuadraticProblem:
    """Return one of the problems by its name, of its usual size or of another.

    Raises
    ------
    CourseError
        If there is none of this name.

    Examples
    --------
    >>> problem("portfolio", 30).n
    30
    """
    if name not in PROBLEMS:
        raise CourseError(f"No problem is called {name!r}: choose from {', '.join(PROBLEMS)}.")
    if size is None:
        return PROBLEMS[name]()
    require_count(size=size)
    return PROBLEMS[name](size)
