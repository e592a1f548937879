"""Exercise 8 has an update, tests and needs of its own; the topic `qp` confirms them."""

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.grading import release
from course_pkg.qp import cost, reference
from course_pkg.qp.history import bytes_of_q

CELLS = ("setup", "residual", "pack", "run_pack", "any_way")
SOURCE = next(path for path in release.sources() if path.stem == "08_quadratic_programming")


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def test_the_update_and_the_shift_are_those_of_the_package(names, rng):
    Q, h = names["random_problem"](37)
    x, out, parts = rng.random(37) * (rng.random(37) < 0.7), np.empty(37), np.empty(37)
    shift = reference.diagonal_shift(Q, "contraction")
    np.testing.assert_array_equal(names["negative_sums"](Q), shift)
    reference.update(Q, h, shift, x, out, parts)
    np.testing.assert_allclose(names["updated"](Q, h, shift, x), out, rtol=1e-14)


def test_problems_are_definite_and_have_entries_of_both_signs(names):
    for negative in (0.5, 0.9, 0.0):
        Q, h = names["random_problem"](30, negative)
        assert np.linalg.eigvalsh(Q).min() > 0
        assert ((Q < 0).mean() > 0.1) == (negative > 0)
        assert h.min() < 0 < h.max()


def test_without_upper_bounds_the_residual_is_the_one_of_the_package(names, rng):
    Q, h = names["random_problem"](25)
    far, x = np.full(25, np.inf), rng.random(25) * (rng.random(25) < 0.5)
    assert names["residual"](Q, h, far, x) == pytest.approx(reference.kkt_residual(x, Q @ x + h), rel=1e-12)


def test_f_falls_by_no_more_than_may_fall_says(names):
    Q, _ = names["random_problem"](25)
    start = np.linspace(0.1, 2, 25)
    # so that no element of the gradient is negative, and no upper bound counts
    h = np.linspace(0, 3, 25) - Q @ start
    best = reference.pqp(Q, h, rtol=1e-12)
    falls = start @ (Q @ start / 2 + h) - best.extra["objective"]
    assert 0 < falls <= names["may_fall"](Q, h, np.full(25, np.inf), start)


def test_updates_and_grown_zeros_together_never_raise_f(names, rng):
    """The shift bounds Q from above on active unknowns, and the step on zeros: F cannot rise, in whatever mixture."""
    Q, h = names["random_problem"](40)
    shift, step = names["negative_sums"](Q), 1 / np.abs(Q).sum(axis=1)
    x = rng.uniform(0.5, 2, 40) * (rng.random(40) < 0.4)
    h -= 0.7 * (Q @ x) * (x == 0)
    values, zeros = [], []
    for _ in range(50):
        values.append(x @ (Q @ x / 2 + h))
        zeros.append((x == 0).sum())
        x = np.where(x > 0, names["updated"](Q, h, shift, x), np.maximum(0, -step * (Q @ x + h)))
    assert (np.diff(values) <= 1e-12 * abs(values[-1])).all()
    assert values[-1] < values[0]
    assert zeros[-1] < zeros[0], "some zeros grew"


def test_sectors_by_the_list_are_those_of_the_package(names, rng):
    active = np.sort(rng.choice(96, 30, replace=False)).astype(np.int32)
    mask = np.isin(np.arange(96), active)[None]
    by_list = bytes_of_q(mask)["by a list"][0]
    packed = SECTOR_BYTES * 30 * 8
    pays = names["pays_after"](active, 96)
    assert by_list + packed + pays * packed < pays * by_list
    assert by_list + packed + (pays - 1) * packed >= (pays - 1) * by_list


def test_the_bound_of_the_last_part_can_be_reached(names, rng):
    """The solution's loads lie between the cost of the active unknowns alone and the limit."""
    Q, h = names["random_problem"](600)
    active = np.sort(rng.choice(600, 149, replace=False)).astype(np.int32)
    x, new, F = np.zeros(600), np.zeros(600), np.zeros(1)
    x[active] = 1.0
    threads, arrays = names["prepare"](Q, h, names["negative_sums"](Q), active)
    profile = simt.profile(names["any_way_kernel"][(threads + 127) // 128, 128], *arrays, x, new, F)
    bound = cost.update(149).bytes_read  # of a problem that has the active unknowns alone
    assert bound == 8 * (149**2 + 3 * 149)
    assert bound <= SECTOR_BYTES * profile.global_load.sectors <= 1.1 * bound
