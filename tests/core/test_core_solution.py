"""The text of a Solution says whether the result can be trusted."""

import dataclasses

import pytest

from course_pkg.core import CourseError, Solution, Status


def test_a_solution_says_that_it_converged():
    found = Solution([1.0], Status.CONVERGED, "the true residual meets rtol", 12, (1.0, 0.5, 1.25e-7))
    assert str(found) == (
        "converged after 12 iterations, last residual norm 1.250e-07: the true residual meets rtol"
    )


def test_a_failure_is_loud_and_says_what_to_try():
    found = Solution(None, Status.MAXITER, "maxiter was reached: try a preconditioner", 3)
    assert str(found) == "NOT converged after 3 iterations: maxiter was reached: try a preconditioner"


@pytest.mark.parametrize("status", Status, ids=lambda s: s.name)
def test_only_one_status_means_that_it_converged(status):
    assert Solution(None, status, "", 0).converged == (status is Status.CONVERGED)


def test_a_status_is_no_truth_value_and_no_sentence():
    for wrong in (True, "converged", None):
        with pytest.raises(CourseError, match=r"status is .*: pass a member of Status"):
            Solution(0, wrong, "", 1)


def test_solutions_share_nothing_and_do_not_change():
    one, two = (Solution(0, Status.CONVERGED, "", 1) for _ in range(2))
    one.extra["restarts"] = 2
    assert two.extra == {}
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.status = Status.MAXITER
