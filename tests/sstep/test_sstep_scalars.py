"""The scalar work of s-step methods, line by line, and their bases and bounds."""

import numpy as np
import pytest
from test_sstep_methods import random_right_side, spd

from course_pkg.permutation.problem import poisson
from course_pkg.sstep import bases, bounds, projection, reference, scalar_work
from course_pkg.sstep.bounds import gershgorin, lanczos
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.room import Room

# ---- the scalar work, line by line


def test_moments_are_those_of_the_residual():
    A, r = spd(30, 20.0), random_right_side(30)
    s, d = 3, np.diag(A)
    room = Room(reference, A, r, None, lambda v: v / d, 1e-6, 0.0, None)
    block = room.block(s)
    room.powers(room.take(r), bases.basis("monomial", s), block)
    *mu, squared = room.moments(block, r)
    power = r / d
    for k in range(2 * s):
        assert mu[k] == pytest.approx(r @ power)
        power = (A @ power) / d
    assert squared == pytest.approx(r @ r)
    np.testing.assert_allclose(block[:s] @ A @ block[:s].T, scalar_work.hankel(mu), rtol=1e-9)


def test_directions_are_conjugate_to_those_before():
    """With the corrected loop; with the printed one, they are not."""
    A, b, s = spd(40, 30.0), random_right_side(40), 3
    for couple, conjugate in ((scalar_work.coupling, True), (scalar_work.coupling_printed, False)):
        room = Room(reference, A, b, None, None, 1e-6, 0.0, None)
        old, fresh = room.block(s), room.block(s)
        room.residual(room.x, room.r)
        room.powers(room.r, bases.basis("monomial", s), old)
        step = scalar_work.first(room.moments(old, room.r)[:-1])
        room.update(room.block(s), old, step.beta, step.alpha, old)
        # the new residual is orthogonal to the directions
        np.testing.assert_allclose(old[:s] @ room.r, 0, atol=1e-9)
        room.powers(room.r, bases.basis("monomial", s), fresh)
        mu = room.moments(fresh, room.r)[:-1]
        np.testing.assert_allclose(
            old[:s] @ A @ fresh[:s].T, -scalar_work.coupling(mu, step.alpha), atol=1e-7
        )
        beta = np.linalg.solve(step.W, couple(mu, step.alpha))
        room.update(old, fresh, beta, np.zeros(s), fresh)
        W = fresh[:s] @ A @ fresh[:s].T
        cosines = (old[:s] @ A @ fresh[:s].T) / np.sqrt(np.outer(np.diag(step.W), np.diag(W)))
        assert (np.abs(cosines).max() < 1e-9) == conjugate
        if conjugate:
            np.testing.assert_allclose(scalar_work.following(mu, step).W, W, rtol=1e-6)
        np.testing.assert_allclose(fresh[s:], fresh[:s] @ A, atol=1e-9)


def test_a_projection_is_the_minimum_over_both_blocks():
    A, r = spd(50, 100.0), random_right_side(50)
    Z = np.random.default_rng(1).uniform(-1, 1, (6, 50))
    G, g = Z @ A @ Z.T, Z @ r
    found = projection.projected(G, g, 3)
    np.testing.assert_allclose(found.a, np.linalg.solve(G, g), rtol=1e-8)
    new = found.C.T @ Z
    np.testing.assert_allclose(new @ A @ new.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(new @ A @ Z[:3].T, 0, atol=1e-9)
    assert found.kept == 3


def test_one_factorisation_gives_what_eigenvalues_give(monkeypatch):
    """The same step, and directions of the same span; last and ahead are those of smaller systems."""
    rng = np.random.default_rng(5)
    A, Z, r = spd(40, 1e2), rng.standard_normal((10, 40)), rng.standard_normal(40)
    Z[1] = 0.0  # a vector that was dropped
    G, g = Z @ A @ Z.T, Z @ r
    fast = projection.projected(G, g, 4)
    monkeypatch.setattr(projection, "SAFE", np.inf)
    slow = projection.projected(G, g, 4)
    assert len(fast.last) == 4 and len(slow.last) == 0 and fast.kept == slow.kept == 4
    np.testing.assert_allclose(fast.a, slow.a, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fast.C @ fast.C.T, slow.C @ slow.C.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fast.condition, slow.condition)
    for k in range(1, 4):
        known = [j for j in range(6 + k) if j != 1]
        a = np.linalg.solve(G[np.ix_(known, known)], g[known])
        np.testing.assert_allclose(fast.last[k - 1], a[-1], rtol=1e-9)
        np.testing.assert_allclose(fast.ahead[k], g[6 + k] - G[6 + k, known] @ a, rtol=1e-8)


def test_a_projection_cuts_off_what_is_dependent():
    A = spd(50, 100.0)
    Z = np.random.default_rng(1).uniform(-1, 1, (6, 50))
    Z[5] = Z[4] + Z[3]
    Z[0] = 0  # cut off in the pass before
    r = random_right_side(50)
    found = projection.projected(Z @ A @ Z.T, Z @ r, 3)
    assert found.kept == 2 and not found.C[:, 2].any()
    x = found.a @ Z
    np.testing.assert_allclose(Z @ (r - A @ x), 0, atol=1e-8)


# ---- bases and bounds


def test_chebyshev_polynomials_stay_within_one_on_the_interval():
    t = np.linspace(0.5, 7.5, 200)
    rows = bases.values(bases.basis("chebyshev", 12, (0.5, 7.5)), t)
    assert rows.shape == (12, 200) and np.abs(rows).max() <= 1 + 1e-12
    np.testing.assert_allclose(rows[5], np.cos(5 * np.arccos((t - 4) / 3.5)), atol=1e-9)
    assert np.abs(bases.values(bases.basis("chebyshev", 12, (0.5, 7.5)), [9.0])).max() > 1e3


def test_leja_points_are_the_chebyshev_points_in_another_order():
    points = bases.leja(8, -1.0, 1.0)
    np.testing.assert_allclose(sorted(points), np.sort(np.cos((2 * np.arange(1, 9) - 1) * np.pi / 16)))
    rows = bases.values(bases.basis("newton", 8, (-0.0, 2.0)), np.linspace(0, 2, 50))
    assert np.abs(rows).max() < 50


def test_bounds_hold_all_eigenvalues():
    A = poisson((4, 5, 6))
    w = np.linalg.eigvalsh(A.toarray())
    for lo, hi in (gershgorin(A), gershgorin(A.toarray()), gershgorin(Laplacian((4, 5, 6)))):
        assert lo <= w[0] and w[-1] <= hi <= 12.0
    room = Room(reference, A, np.ones(120), None, None, 1e-6, 0.0, None)
    lo, hi = lanczos(room)
    assert (
        lo == 0.0
        and w[-1] <= hi * (1 + 1e-9)
        and hi < 1.1 * w[-1]
        and room.reductions == 2 * bounds.STEPS + 1
    )
    d = A.diagonal()
    room = Room(reference, A, np.ones(120), None, lambda v: v / d, 1e-6, 0.0, None)
    assert w[-1] / 6 <= lanczos(room)[1] * (1 + 1e-9) < 1.1 * w[-1] / 6


def test_lanczos_adds_the_norm_of_the_largest_ritz_vectors_residual():
    A, steps = poisson((4, 5, 6)).toarray(), 5
    room = Room(reference, A, np.ones(120), None, None, 1e-6, 0.0, None)
    powers = [np.random.default_rng(0).standard_normal(120)]
    for _ in range(steps - 1):
        powers.append(A @ powers[-1])
    V = np.linalg.qr(np.array(powers).T)[0]
    w, Y = np.linalg.eigh(V.T @ A @ V)
    y = V @ Y[:, -1]
    assert np.isclose(lanczos(room, steps)[1], w[-1] + np.linalg.norm(A @ y - w[-1] * y), rtol=1e-9)
