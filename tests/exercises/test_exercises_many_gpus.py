"""Exercise 9 has a halo, a deep halo, a method, a fit and a model of its own; the package confirms them."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.halo import by_owner, needed
from course_pkg.distributed.partition import offsets
from course_pkg.distributed.serial import Serial
from course_pkg.distributed.work import COEFFICIENTS, Work
from course_pkg.grading import release

CELLS = (
    *("setup", "block", "halo", "run_halo", "step", "march", "multiply", "solve", "run_solve"),
    *("fit", "run_fit", "model", "run_model", "slow_symmetric", "symmetric"),
)
SOURCE = next(path for path in release.sources() if path.stem == "09_many_gpus")


@pytest.fixture
def rng():
    return np.random.default_rng(9)


def ring(n):
    """Return the matrix that adds an entry and its two neighbours in a ring."""
    return np.eye(n) + np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0)


def test_blocks_of_whole_rows_need_what_rows_of_the_matrix_need(names):
    """Nine points on a periodic grid are a product of two rings; the package's halo is that of a matrix."""
    ny, nx, ranks = 7, 5, 3
    A = csr_array(np.kron(ring(ny), ring(nx)))
    at = offsets(ny, ranks) * nx
    for rank, (first, last) in enumerate(pairwise(at)):
        halo = needed(A.indices[A.indptr[first] : A.indptr[last]], first, last)
        found = dict(names["receives"]((ny, nx), (ranks, 1), rank))
        expected = by_owner(halo, at)
        assert found.keys() == expected.keys()
        for other, numbers in expected.items():
            np.testing.assert_array_equal(found[other], numbers)
            assert names["wanted"]((ny, nx), (ranks, 1), rank)[other] == numbers.tolist()


def test_answers_run_on_ranks_of_the_package_too(names, rng):
    """The line above each function does not change what it does with a communicator."""
    whole, s = rng.random((11, 4)), 3
    at = offsets(11, 2)

    def run(comm: Communicator):
        u = whole[at[comm.rank] : at[comm.rank + 1]].copy()
        out = np.empty((s, *u.shape))
        names["march"](comm, u, s, out)
        return out

    R, C = ring(11) - np.eye(11), ring(4) - np.eye(4)
    expected = whole
    for _ in range(s):
        expected = expected + 0.2 * (R @ expected + expected @ C - 4 * expected)
    np.testing.assert_allclose(np.concatenate(Serial(2).run(run), axis=1)[-1], expected, atol=1e-14)


def test_the_textbooks_method_and_the_one_with_one_sum_solve_the_same_system(names, rng):
    d, b = rng.uniform(3, 9, 12), rng.random(12)
    A = np.diag(d + 1) - ring(12)
    A[0, -1] = A[-1, 0] = 0
    x, norms = names["textbook"](d, b, 1e-10)
    np.testing.assert_allclose(A @ x, b, atol=1e-9)
    assert norms[-1] <= 1e-10 < norms[-2]

    def run(comm):
        half = slice(6 * comm.rank, 6 * comm.rank + 6)
        return names["solve"](comm, d[half], b[half], 1e-10)

    world = Serial(2)
    (first, iterations), (second, _) = world.run(run)
    np.testing.assert_allclose(np.concatenate([first, second]), x, atol=1e-12)
    assert iterations == len(norms) - 1
    assert world.reductions == [3] * (iterations + 1)


def test_the_symmetric_part_needs_what_the_packages_halo_of_the_transpose_has(names, rng):
    """What others need of a rank is a block of its rows for each of them, without the block on the diagonal."""
    rows = (4, 0, 3, 5)
    starts = [0, *np.cumsum(rows).tolist()]
    A = rng.random((12, 12))
    number = np.arange(144).reshape(12, 12)
    needed_of = np.zeros(4, int)
    for mine in range(4):
        wanted = number[:, starts[mine] : starts[mine + 1]]  # these columns, transposed
        for other in range(4):
            needed_of[other] += wanted[starts[other] : starts[other + 1]].size * (other != mine)
    messages, numbers = names["least_of_each"](rows)
    np.testing.assert_array_equal(numbers, needed_of)
    assert messages.tolist() == [2, 0, 2, 2]

    for answer in ("symmetric", "slow_symmetric"):
        outs = [np.full((n, 12), np.nan) for n in rows]

        def run(comm, answer=answer, outs=outs):
            names[answer](comm, A[starts[comm.rank] : starts[comm.rank + 1]].copy(), starts, outs[comm.rank])

        world = Serial(4)
        world.run(run)
        np.testing.assert_allclose(np.concatenate(outs), (A + A.T) / 2, atol=1e-14)
        found = names["sent_by_each"](world, 4)
        if answer == "symmetric":
            np.testing.assert_array_equal(found, (messages, numbers))
        else:
            assert [set(column.tolist()) for column in found] == [{2}, {2 * 144}]


def test_the_fit_and_its_uncertainty_are_those_of_weighted_least_squares(names):
    _, nbytes, seconds = names["measured"](8, 1e6, 10, 3)
    (byte, latency), covariance = np.polyfit(nbytes, seconds, 1, w=1 / seconds, cov=True)
    np.testing.assert_allclose(names["fit"](nbytes, seconds), (latency, byte), rtol=1e-9)
    spread = np.sqrt(np.diag(covariance))[::-1]
    np.testing.assert_allclose(names["uncertainty"](nbytes, seconds), spread, rtol=1e-9)


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 32])
@pytest.mark.parametrize("latency_s", [1e-7, 1e-3])
def test_the_time_of_an_iteration_is_that_of_the_packages_model(names, ranks, latency_s):
    machine = {"memory_s": 3e-13, "latency_s": latency_s, "byte_s": 2e-11}
    theta = dict.fromkeys(COEFFICIENTS, 0.0)
    theta |= {"byte_s": 3e-13, "halo_s": latency_s, "round_s": latency_s}
    theta |= {"halo_byte_s": 2e-11, "round_byte_s": 2e-11}
    values = np.array([theta[name] for name in COEFFICIENTS])
    work = Work.of("pcg_sstep_moments", (100, 100, 100), ranks, 4)
    per_point = Work.of("pcg_sstep_moments", (100, 100, 100), 1, 4).bytes / 100**3
    method = {"per_point": per_point, "sums": 0.25, "numbers": 9, "ratio": 1.0}
    expected = work.row(values) @ values
    assert names["iteration"](machine, method, 100, ranks) == pytest.approx(expected, rel=1e-9)
    product, others, halo, sums = names["seconds_of"](machine, method, 100, ranks)
    assert max(product, halo) + others + sums == pytest.approx(expected, rel=1e-9)


def test_the_methods_of_the_last_part_differ(names):
    machine = {"memory_s": 3e-13, "latency_s": 1e-5, "byte_s": 1e-11}
    assert names["overtakes"](machine, names["TEXTBOOK"], names["BY_STEPS"], 256) == 1
    found = [
        names["overtakes"]({**machine, "latency_s": t}, names["TEXTBOOK"], names["ONE_SUM"], 256)
        for t in (0.0, 1e-6, 1e-5, 1e-4)
    ]
    assert found == [None, 32, 8, 2]
