"""Problems: what they promise, and that they are the same in every run."""

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.qp.problem import (
    PROBLEMS,
    blurred_picture,
    deblurring,
    dense,
    model_predictive,
    portfolio,
    problem,
)
from course_pkg.qp.reference import pqp

SIZES = {"obstacle_2d": 8, "deblurring": 10, "nnls_diabetes": 100}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_symmetric_semidefinite_and_has_a_source(name):
    p = problem(name, SIZES.get(name, 50))
    again = problem(name, SIZES.get(name, 50))
    np.testing.assert_array_equal(p.Q, p.Q.T)
    np.testing.assert_array_equal(p.Q, again.Q)
    np.testing.assert_array_equal(p.h, again.h)
    values = np.linalg.eigvalsh(p.Q)
    assert values[0] >= -1e-12 * values[-1]
    assert p.name == name and p.source and np.isfinite(p.h).all() and p.h.shape == (p.n,)


def test_usual_sizes():
    assert {name: problem(name).n for name in PROBLEMS} == {
        "nnls_diabetes": 20, "nnls_digits": 1000, "svm_breast_cancer": 569, "portfolio": 500, "obstacle_1d": 200,
        "obstacle_2d": 1024, "deblurring": 576, "dense": 1000,
    }  # fmt: skip


def test_wrong_requests_are_named():
    with pytest.raises(CourseError, match="No problem is called 'svm': choose from nnls_diabetes"):
        problem("svm")
    with pytest.raises(CourseError, match=r"size is 1\.5"):
        problem("portfolio", 1.5)
    with pytest.raises(CourseError, match="size is 5000: choose from 1 to 1796"):
        problem("nnls_digits", 5000)
    with pytest.raises(CourseError, match="dtype is int64"):
        problem("portfolio", 5).astype("int64")


def test_the_drawn_solution_is_the_solution():
    p = dense(60, inactive=0.8)
    x = pqp(p.Q, p.h, rtol=1e-11).x
    assert abs(np.mean(x == 0) - 0.8) < 0.15
    assert np.all(x[x > 0] > 0.49)


def test_deblurring_is_sharper_than_the_blurred_picture():
    sharp, blurred, blur = blurred_picture(20)
    assert np.all(blur >= 0) and blur.sum(axis=1).max() <= 1 + 1e-12
    found = pqp(deblurring(20).Q, deblurring(20).h, rtol=1e-5).x.reshape(20, 20)
    assert np.linalg.norm(found - sharp) < 0.8 * np.linalg.norm(blurred - sharp)
    assert np.mean(found == 0) > 0.4, "most of the picture is black"


def test_a_portfolio_has_the_largest_ratio_of_return_to_risk():
    p = portfolio(40)
    x = pqp(p.Q, p.h, rtol=1e-9).x

    def ratio(w):
        return -p.h @ w / np.sqrt(w @ p.Q @ w)

    rng = np.random.default_rng(0)
    assert all(ratio(x) >= ratio(rng.dirichlet(np.full(40, a))) for a in (0.05, 0.3, 1.0) for _ in range(50))


def test_control_brings_the_mass_to_rest():
    Q, h = model_predictive(4, 40)
    assert Q.shape == (4, 40, 40) and h.shape == (4, 40)
    np.testing.assert_array_equal(Q, Q.transpose(0, 2, 1))
    assert not np.array_equal(Q[0], Q[1]), "each mass has a friction of its own"
    for one, other in zip(Q, h, strict=True):
        assert np.linalg.eigvalsh(one)[0] > 0
        found = pqp(one, other, rtol=1e-8)
        assert found.converged and found.extra["objective"] <= 0
