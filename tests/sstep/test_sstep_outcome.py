"""What is said of a solve that went wrong: each sentence names the number that shows it and what to try next."""

import numpy as np
import pytest
from test_sstep_methods import ones, random_right_side

from course_pkg.core import Status
from course_pkg.sstep import outcome, reference, scalar_work, troubles
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.solver import GROWN

BOUNDS = (0.0, 4.0)
INF = np.full((3, 3), np.inf)


@pytest.mark.parametrize(
    ("stop", "status", "number", "remedy"),
    [
        (troubles.broken(20, 8), Status.STAGNATED, "s = 20", "choose a smaller s, or pcg_sstep"),
        (troubles.moments_trouble([np.inf], 7), Status.OVERFLOW, "7 iterations", "choose a smaller s"),
        (
            troubles.gram_trouble(INF, 1, 7, BOUNDS),
            Status.OVERFLOW,
            str(BOUNDS),
            "pass a larger upper bound, or choose a smaller s",
        ),
        (outcome.diverged([2.0, 1e7], "try that."), Status.DIVERGED, "1.000e+07", "try that"),
        (outcome.diverged([2.0, np.nan], "try that."), Status.OVERFLOW, "nan", "try that"),
    ],
)
def test_a_method_that_has_to_stop_names_the_number_and_the_remedy(stop, status, number, remedy):
    assert stop.status is status
    assert number in stop.reason and remedy in stop.reason


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        (BOUNDS, "pass wider bounds, or leave bounds out"),
        (None, "pass wider bounds, or check that A and M are positive definite"),
        ("gershgorin", "pass wider bounds, or check that A and M are positive definite"),
    ],
)
def test_bounds_that_are_too_low_are_named_with_a_remedy_that_was_not_tried(asked, remedy):
    said = outcome.beyond_bounds(BOUNDS, 3e6, asked)
    assert "(0, 4)" in said and "3e+06" in said and said.endswith(f": {remedy}.")


def test_wrong_bounds_are_named():
    A, b = Laplacian((16, 16, 16)), random_right_side((16, 16, 16))
    low = reference.pcg_sstep(A, b, s=16, bounds=(0.0, 3.0), rtol=1e-8)
    right = reference.pcg_sstep(A, b, s=16, rtol=1e-8)
    assert low.iterations > 1.5 * right.iterations and low.extra["growth"] > 1e6
    assert _on_bounds(low, (0.0, 3.0)) in low.reason
    assert right.extra["growth"] <= GROWN and _on_bounds(right, None) not in right.reason
    hopeless = reference.pcg_sstep(A, b, s=32, bounds=(0.0, 1e-9))
    assert hopeless.status is Status.OVERFLOW and "(0.0, 1e-09)" in hopeless.reason


def _on_bounds(found, asked):
    """Return the sentence on the bounds of a solve, if it had to be said."""
    return outcome.beyond_bounds(found.extra["bounds"], found.extra["growth"], asked)[
        :-1
    ]  # notes lose their full stop


def test_divergence_is_named(monkeypatch):
    """A step that overshoots lets the residual grow; the sentence names the bounds if the basis grew, too."""
    A, b = ones(10)
    right = scalar_work.projected

    def overshooting(G, g, s):
        found = right(G, g, s)
        return found._replace(a=30 * found.a)

    monkeypatch.setattr(scalar_work, "projected", overshooting)
    found = reference.pcg_sstep(A, b, s=4, bounds=(0.0, 6.0))
    assert found.status is Status.DIVERGED and _on_bounds(found, (0.0, 6.0)) in found.reason
    found = reference.pcg_sstep(A, b, s=4)
    assert found.status is Status.DIVERGED and _on_bounds(found, None) not in found.reason
    assert "choose a smaller s, or check A and M" in found.reason
