"""What is said of a solve that went wrong: each sentence names the number that shows it and what to try next."""

import numpy as np
import pytest
from test_sstep_methods import ones, random_right_side, spd

from course_pkg.core import Status
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg
from course_pkg.sstep import outcome, projection, reference, troubles
from course_pkg.sstep.problem import Laplacian

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
    said = outcome.beyond_bounds(BOUNDS, "basis vectors grew by 3e+06", asked)
    assert "(0, 4)" in said and "3e+06" in said and said.endswith(f": {remedy}.")


def test_wrong_bounds_are_named():
    A, b = Laplacian((16, 16, 16)), random_right_side((16, 16, 16))
    low = reference.pcg_sstep(A, b, s=16, bounds=(0.0, 3.0), rtol=1e-8)
    right = reference.pcg_sstep(A, b, s=16, rtol=1e-8)
    assert low.iterations > 1.5 * right.iterations and low.extra["growth"] > 1e6
    assert low.extra["beyond_bounds"] and "beyond the bounds (0, 3)" in low.reason
    assert not right.extra["beyond_bounds"] and right.reason.count("bounds") == 0
    hopeless = reference.pcg_sstep(A, b, s=32, bounds=(0.0, 1e-9))
    assert hopeless.status is Status.OVERFLOW and "(0.0, 1e-09)" in hopeless.reason


def test_divergence_is_named(monkeypatch):
    """A step that overshoots lets the residual grow; the sentence names the bounds if the basis grew, too."""
    A, b = ones(10)
    right = projection.projected

    def overshooting(G, g, s):
        found = right(G, g, s)
        return found._replace(a=30 * found.a)

    monkeypatch.setattr(projection, "projected", overshooting)
    found = reference.pcg_sstep(A, b, s=4, bounds=(0.0, 6.0))
    assert found.status is Status.DIVERGED and found.extra["beyond_bounds"]
    assert "beyond the bounds (0, 6)" in found.reason
    found = reference.pcg_sstep(A, b, s=4)
    assert found.status is Status.DIVERGED and not found.extra["beyond_bounds"]
    assert "choose a smaller s, or check A and M" in found.reason


LARGEST_16 = 6 + 6 * np.cos(np.pi / 17)  # the largest eigenvalue on 16³ points


@pytest.mark.parametrize("basis", ["chebyshev", "newton"])
@pytest.mark.parametrize(
    ("factor", "told"), [(0.01, 1), (0.1, 1), (0.5, 1), (1.0, 0), (1.05, 0), (2.0, 0), (10.0, 0)]
)
def test_bounds_that_are_too_low_are_named_with_either_basis(basis, factor, told):
    """And no others: right bounds and wide ones are not, in either precision, nor are they with any s."""
    b, hi = random_right_side((16, 16, 16)), factor * LARGEST_16
    for s, dtype, rtol in (
        (2, "float64", 1e-6),
        (8, "float64", 1e-8),
        (16, "float64", 1e-6),
        (8, "float32", 1e-3),
    ):
        found = reference.pcg_sstep(
            Laplacian((16, 16, 16)),
            b.astype(dtype),
            s=s,
            basis=basis,
            bounds=(0.0, hi),
            rtol=rtol,
            maxiter=400,
        )
        assert found.extra["beyond_bounds"] == told, (s, dtype)
        if basis == "newton":
            least, largest = found.extra["ritz"]
            assert 0 < least <= largest <= LARGEST_16 * (1 + 1e-4) and found.extra["growth"] == 1


def test_a_lower_bound_that_is_too_high_is_named():
    A = np.diag(np.linspace(1.0, 10.0, 60))
    for basis, lo, told in (("newton", 4.0, True), ("chebyshev", 4.0, True), ("newton", 1.0, False)):
        found = reference.pcg_sstep(A, np.ones(60), s=8, basis=basis, bounds=(lo, 10.0), rtol=1e-8)
        assert found.converged and found.extra["beyond_bounds"] == told


def test_a_newton_basis_with_a_preconditioner_is_not_accused():
    A = poisson((8, 8, 8))
    found = reference.pcg_sstep(A, random_right_side(512), s=8, basis="newton", M=amg(A, max_coarse=30))
    assert found.converged and not found.extra["beyond_bounds"]
    assert found.extra["ritz"][1] <= found.extra["bounds"][1]


@pytest.mark.parametrize(("s", "basis"), [(8, "chebyshev"), (16, "newton")])
def test_an_ill_conditioned_matrix_is_not_called_indefinite(s, basis):
    """Rounding errors of the old directions can make their Gram matrix indefinite; then the method goes on without.

    Which right-hand sides that happens to depends on how BLAS rounds, so there are many.
    """
    A, restarts = spd(60, 1e12), 0
    for seed in range(24):
        b = np.random.default_rng(seed).standard_normal(60)
        found = reference.pcg_sstep(A, b, s=s, basis=basis, rtol=1e-8, maxiter=300)
        assert found.status in (Status.MAXITER, Status.DIVERGED, Status.STAGNATED), seed
        restarts += found.extra["restarts"]
    assert restarts > 0


def test_an_indefinite_matrix_is_named_also_when_its_direction_shows_late():
    found = reference.pcg_sstep(np.diag(np.linspace(-0.01, 3, 50)), np.ones(50), s=8)
    assert found.status is Status.NOT_DEFINITE and found.iterations > 0 and found.extra["restarts"] == 0
