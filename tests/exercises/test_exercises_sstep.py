"""Exercise 7 has an operator, a scalar work and a basis of its own; the topic `sstep` confirms them."""

import numpy as np
import pytest

from course_pkg.grading import release
from course_pkg.sstep import bases, cost, reference, scalar_work

CELLS = (
    "setup",
    "sums",
    "scalar_work",
    "check_scalar_work",
    "chebyshev",
    "faulty",
    "repaired",
    "update",
    "run_update",
)
SOURCE = next(path for path in release.sources() if path.stem == "07_sstep_cg")


def system(n=30):
    """Return a diagonal matrix and a residual."""
    return np.diag(np.linspace(1, 2, n)), np.random.default_rng(7).standard_normal(n)


@pytest.mark.parametrize("s", [1, 2, 4])
def test_scalar_work_of_equal_s_is_that_of_the_package(names, s):
    A, r = system()
    mu = names["moments"](A, r, s)
    ours, (alpha, W) = scalar_work.first(mu), names["first_round"](mu)
    np.testing.assert_allclose(alpha, ours.alpha)
    np.testing.assert_allclose(W, ours.W)
    r = r - A @ names["powers"](A, r, s).T @ alpha
    mu = names["moments"](A, r, s)
    for mine, its in zip(names["next_round"](mu, alpha, W), scalar_work.following(mu, ours), strict=True):
        np.testing.assert_allclose(mine, its if its.ndim == mine.ndim else its.T, rtol=1e-6)


def test_a_smaller_s_keeps_the_directions_conjugate(names):
    A, r = system()
    alpha, _, W, P = names["directly"](A, r, 4)
    r = r - A @ P.T @ alpha
    _, beta, _ = names["next_round"](names["moments"](A, r, 2), alpha, W)
    new = names["powers"](A, r, 2) + beta.T @ P
    assert np.abs(P @ A @ new.T).max() < 1e-6 * np.abs(new @ A @ new.T).max()


def test_the_basis_and_the_condition_of_its_text_are_those_of_the_package(names):
    A, r = system()
    chosen, S = bases.basis("chebyshev", 6, (1.0, 2.0)), names["basis"](A, r, 5, 1.0, 2.0)
    np.testing.assert_allclose(S, bases.values(chosen, np.diag(A)) * r, atol=1e-12)
    products = S[:5] @ A
    np.testing.assert_allclose(names["change"](5, 1.0, 2.0).T @ S, products, atol=1e-12)


def test_the_fault_shows_from_s_2_on_in_the_second_round_and_x_is_right_there(names):
    A, b = system()
    for s in (1, 2, 3):
        wrong, right = (names["solve"](A, b, s, 2, names[which]) for which in ("directions", "repaired"))
        np.testing.assert_allclose(wrong[0], right[0])
        updated, true = wrong[1]
        assert true == pytest.approx(right[1][1]), "x of this round is right"
        assert bool(updated == pytest.approx(true, rel=1e-6)) == (s == 1)


def test_the_update_does_what_the_package_does_and_its_bound_is_the_packages(names):
    profile, needed = names["run_update"](128)
    bound = cost.update_block(128, s=4)
    assert 32 * needed["global_load.sectors"] == bound.bytes_read
    assert 32 * needed["global_store.sectors"] == bound.bytes_written
    assert profile.global_load.sectors <= 1.02 * needed["global_load.sectors"]
    rng = np.random.default_rng(1)
    old, fresh = rng.random((2, 8, 5))
    beta, alpha, x, r, out = rng.random((4, 4)), rng.random(4), rng.random(5), rng.random(5), np.empty((8, 5))
    reference.update_block(old, fresh, beta, alpha, x, r, out)
    np.testing.assert_allclose(names["repaired"](old, fresh, beta), out)
