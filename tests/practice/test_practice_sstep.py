"""The steps of lecture 7 ask for what the package does: the same sums, coefficients and vectors."""

import numpy as np
import pytest

from course_pkg.practice import catalogue
from course_pkg.practice.step import RESULT
from course_pkg.sstep import reference, scalar_work

STEPS = {step.name: step for step in catalogue.lectures()["sstep_cg"]}


def trials(name):
    """Return the trials of a step, as a pair of arguments and expected results."""
    return [(trial.arguments, trial.expected) for trial in STEPS[name].trials(seed=3)]


def test_moments_of_all_parts_are_those_of_the_package():
    for given, right in trials("block_moments"):
        out = np.empty(len(given["block"]) + 1)
        reference.moments(given["block"], given["r"], out)
        np.testing.assert_array_equal(right["parts"].sum(axis=1), out[:-1])


def test_the_gram_matrix_is_that_of_the_package():
    for given, right in trials("gram_once"):
        out = np.zeros((3, 3))
        reference.gram(None, np.concatenate([given["Z"], given["AZ"]]), given["r"], out)
        wanted = [out[0, 0], out[0, 1], out[1, 1], out[0, 2], out[1, 2]]
        np.testing.assert_array_equal(right["parts"].sum(axis=1), wanted)


def test_the_update_is_that_of_the_package():
    for given, right in trials("advance_block"):
        x, r, out = given["x"].copy(), given["r"].copy(), np.empty_like(given["fresh"])
        reference.update_block(given["old"], given["fresh"], given["beta"], given["alpha"], x, r, out)
        for found, name in ((out, "fresh"), (x, "x"), (r, "r")):
            np.testing.assert_array_equal(right[name], found)


def test_the_next_vector_is_that_of_the_package_in_one_plane():
    for given, right in trials("chebyshev_step"):
        grids = [np.pad(given[name][None], ((1, 1), (0, 0), (0, 0))) for name in ("before", "now")]
        product, out = np.empty_like(grids[0]), np.empty_like(grids[0])
        a = 2 / given["h"]
        # in three dimensions the diagonal is 6: a centre larger by 2 makes up for it
        reference.laplacian_recurrence(*grids, a, given["c"] + 2, 1.0, product, out)
        np.testing.assert_array_equal(right["after"], out[1])
        np.testing.assert_array_equal(right["product"], (product - 2 * grids[1])[1])


@pytest.mark.parametrize("number", range(3))
def test_beta_makes_the_new_directions_conjugate(number):
    given, right = trials("conjugate")[number]
    s = len(given["alpha"])
    eigenvalues = np.arange(1.0, 2 * s + 1)
    rng = np.random.default_rng([3, number])
    r = np.sqrt(rng.integers(1, 5, 2 * s) / 4)
    P = r * eigenvalues ** np.arange(s)[:, None]
    r = r - eigenvalues * (given["alpha"] @ P)
    Q = r * eigenvalues ** np.arange(s)[:, None]
    np.testing.assert_allclose([Q[0] @ (r * eigenvalues**k) for k in range(2 * s)], given["mu"], atol=1e-9)
    new = Q + right[RESULT].T @ P
    assert np.abs((P * eigenvalues) @ new.T).max() < 1e-7 * np.abs((P * eigenvalues) @ P.T).max()


def test_mistakes_that_are_told_are_mistakes_at_the_drawn_size():
    for step in STEPS.values():
        trial = step.trials()[0]
        for says, wrong in trial.mistakes.items():
            assert any(not np.allclose(wrong[name], trial.expected[name]) for name in wrong), (
                step.name,
                says,
            )


def test_step_lengths_are_those_of_the_package():
    for given, right in trials("step_lengths"):
        np.testing.assert_allclose(right[RESULT], scalar_work.first(given["mu"]).alpha)
