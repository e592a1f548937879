"""Quadratic programs made of data sets that come with scikit-learn: nothing is downloaded."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.qp.quadratic import QuadraticProblem, least_squares


def nnls_diabetes(size: int = 442) -> QuadraticProblem:
    """Return a fit of the progression of diabetes by ten measured quantities and their opposites: 20 unknowns.

    A quantity and its opposite have two coefficients of at least 0; their difference has either sign. Q is singular.

    Parameters
    ----------
    size : int
        Number of patients, at most 442.

    Examples
    --------
    >>> nnls_diabetes().n
    20
    """
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    A = np.hstack([data.data, -data.data])[:size]
    target = data.target[:size]
    return least_squares(
        A, target - target.mean(), "nnls_diabetes", "Efron et al., Annals of Statistics 32, 2004"
    )


def nnls_digits(size: int = 1000) -> QuadraticProblem:
    """Return the image of one digit as a sum, with weights of at least 0, of the images of ``size`` others.

    Images have 64 pixels, so the optimum needs at most 64 of the weights.

    Examples
    --------
    >>> nnls_digits(100).n
    100
    """
    from sklearn.datasets import load_digits

    images = load_digits().data / 16
    if not 1 <= size < len(images):
        raise CourseError(f"size is {size}: choose from 1 to {len(images) - 1} images of digits.")
    return least_squares(
        images[:size].T, images[-1], "nnls_digits", "UCI, Optical Recognition of Handwritten Digits, 1998"
    )


def svm_breast_cancer(size: int = 569, gamma: float = 1 / 30, penalty: float = 10.0) -> QuadraticProblem:
    """Return the dual of a support vector machine with a Gaussian kernel, without bias, with squared hinge loss.

    Without the bias there is no equality constraint; with the squared loss there is no upper bound, but 1/C on the
    diagonal. Q_ij = y_i y_j exp(-γ‖a_i - a_j‖²) + δ_ij/C and h = -1; the support vectors have x_i > 0.

    Source: Y.-J. Lee and O. L. Mangasarian, SSVM, Computational Optimization and Applications 20, 2001 (squared loss).

    Examples
    --------
    >>> p = svm_breast_cancer(100)
    >>> p.n, p.Q[0, 0].round(3)
    (100, np.float64(1.1))
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    a = (data.data - data.data.mean(0)) / data.data.std(0)
    a, y = a[:size], 2.0 * data.target[:size] - 1
    squares = np.sum(a**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * a @ a.T, 0)
    Q = np.outer(y, y) * np.exp(-gamma * (distances + distances.T) / 2) + np.eye(y.size) / penalty
    return QuadraticProblem(
        Q,
        -np.ones(y.size),
        "svm_breast_cancer",
        "UCI, Breast Cancer Wisconsin (Diagnostic), 1995",
    )
