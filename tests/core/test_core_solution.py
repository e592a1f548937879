"""A solution says in its text whether to believe it."""

import dataclasses

import pytest

from course_pkg.core import Solution


def test_a_solution_says_that_it_converged():
    found = Solution([1.0], True, "the true residual meets rtol", 12, (1.0, 0.5, 1.25e-7))
    assert str(found) == (
        "converged after 12 iterations, last residual norm 1.250e-07: the true residual meets rtol"
    )


def test_a_failure_is_loud_and_says_what_to_try():
    found = Solution(None, False, "maxiter was reached: try a preconditioner", 3)
    assert str(found) == "NOT converged after 3 iterations: maxiter was reached: try a preconditioner"


def test_solutions_share_nothing_and_do_not_change():
    one, two = Solution(0, True, "", 1), Solution(0, True, "", 1)
    one.extra["restarts"] = 2
    assert two.extra == {}
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.converged = False
