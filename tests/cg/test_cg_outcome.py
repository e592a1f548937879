"""The end of a solve: a status for programs to compare, and a sentence for people that says what to try next."""

import numpy as np
import pytest

from course_pkg.cg import outcome
from course_pkg.cg.checks import why_stopped
from course_pkg.cg.gpu_numba import scalars
from course_pkg.core import Status


@pytest.mark.parametrize(
    ("updated", "true", "status", "advice"),
    [
        (1e-7, 1e-7, Status.CONVERGED, "the true residual, 1.000e-07, meets the tolerance"),
        (1e-7, 1.005e-6, Status.CONVERGED, "meets the tolerance"),  # rounded differently
        (1e-7, 1.02e-6, Status.STAGNATED, "start again from this x, or use double precision"),
        (1e-3, 1e-3, Status.MAXITER, "allow more than 7 iterations, or use a preconditioner"),
        (np.nan, 1e-3, Status.OVERFLOW, "scale b and x0 down"),
        (1e-7, np.inf, Status.OVERFLOW, "scale b and x0 down"),
    ],
)
def test_residuals_say_how_it_ended_and_what_to_try(updated, true, status, advice):
    found = outcome.finish(None, [1.0] * 7 + [updated], 1e-6, true)
    assert (found.status, found.iterations) == (status, 7)
    assert advice in found.reason


def test_trouble_on_the_way_comes_before_what_the_residuals_say():
    found = outcome.finish(None, [1.0, 1e-7], 1e-6, 1e-7, outcome.not_definite(-2.0, 2))
    assert (found.status, found.reason) == outcome.not_definite(-2.0, 2)


@pytest.mark.parametrize(
    ("stop", "status", "number", "remedy"),
    [
        (outcome.not_definite(-2.0, 2), Status.NOT_DEFINITE, "in iteration 2 p·Ap = -2.000e+00", "MINRES"),
        (outcome.preconditioner_not_definite(-2.0), Status.M_NOT_DEFINITE, "r·Mr = -2.000e+00", "omit M"),
        (outcome.overflowed(np.inf, 2), Status.OVERFLOW, "in iteration 2 p·Ap = inf", "scale b and x0 down"),
    ],
)
def test_trouble_names_the_number_that_shows_it_and_the_remedy(stop, status, number, remedy):
    assert stop.status is status
    assert number in stop.reason and remedy in stop.reason


@pytest.mark.parametrize(
    ("p_A_p", "status"),
    [
        (1.0, None),
        (0.0, Status.NOT_DEFINITE),
        (-1.0, Status.NOT_DEFINITE),
        (np.inf, Status.OVERFLOW),
        (np.nan, Status.OVERFLOW),
    ],
)
def test_a_product_says_whether_to_go_on_and_the_device_agrees(p_A_p, status):
    stop = why_stopped(p_A_p, 1)
    assert (stop and stop.status) is status
    if status is not None:
        assert scalars.status_of(scalars.BROKEN, p_A_p) is status


def test_each_way_in_which_the_device_stops_has_a_status():
    found = [scalars.status_of(code, 1.0) for code in (scalars.RUNNING, scalars.CONVERGED, scalars.LIMIT)]
    assert found == [None, Status.CONVERGED, Status.MAXITER]
