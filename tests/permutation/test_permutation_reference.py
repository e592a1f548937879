"""The oracle, compared with dense matrices, and the measures, compared with loops."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from course_pkg.core import CourseError
from course_pkg.permutation import measures
from course_pkg.permutation import reference as p
from course_pkg.permutation.checks import check_csr
from course_pkg.permutation.problem import problem

DTYPES = ("int32", "int64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 37])
def test_a_permutation_of_a_dense_matrix(draw, n, dtype):
    A, perm = draw(n, n), p.random_permutation(n, seed=n, dtype=dtype)
    dense = A.toarray()
    rows, both = p.permute_rows(perm, A), p.permute_symmetric(perm, A)
    for found in (rows, both):
        check_csr(found)
    np.testing.assert_array_equal(rows.toarray(), dense[perm])
    np.testing.assert_array_equal(both.toarray(), dense[np.ix_(perm, perm)])
    np.testing.assert_array_equal(p.permute_symmetric(p.invert(perm), both).toarray(), dense)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_of_a_rectangular_matrix(draw, dtype):
    A, perm = draw(9, 23, dtype=dtype), p.random_permutation(9, seed=4)
    found = p.permute_rows(perm, A)
    check_csr(found)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.toarray(), A.toarray()[perm])


def test_a_matrix_without_entries():
    empty = csr_array((4, 4))
    perm = np.array([3, 1, 0, 2])
    for permuted in (p.permute_rows(perm, empty), p.permute_symmetric(perm, empty)):
        assert permuted.nnz == 0 and permuted.shape == (4, 4)
    assert (measures.bandwidth(empty), measures.profile(empty)) == (0, 0)
    assert measures.x_footprint(empty) == measures.XFootprint(0.0, 0.0, 1, 0)
    assert measures.x_footprint(empty).reuse == 0


def test_composition_is_the_product_of_matrices(rng):
    a, b = rng.permutation(20), rng.permutation(20)
    product = p.permutation_matrix(a) @ p.permutation_matrix(b)
    np.testing.assert_array_equal(p.permutation_matrix(p.compose(a, b)).toarray(), product.toarray())
    x = rng.random(20)
    np.testing.assert_array_equal(
        p.permute_vector(p.compose(a, b), x), p.permute_vector(a, p.permute_vector(b, x))
    )
    np.testing.assert_array_equal(p.compose(a, p.invert(a)), np.arange(20))
    assert not np.array_equal(p.compose(a, b), p.compose(b, a)), "the order matters"


def test_random_permutations_are_reproducible():
    one, same, other = (p.random_permutation(50, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.dtype == np.int32 and p.random_permutation(5, dtype="int64").dtype == np.int64


@pytest.mark.parametrize(("n", "stride"), [(7, 3), (12, 4), (5, 1), (3, 8), (0, 2)])
def test_a_strided_permutation_lists_every_stride_th_element(n, stride):
    expected = [i for first in range(stride) for i in range(first, n, stride)]
    np.testing.assert_array_equal(p.strided_permutation(n, stride), expected)


# ---- orders


def test_reverse_cuthill_mckee_undoes_a_random_order():
    A = problem("poisson_2d", size=20).matrix
    shuffled = p.permute_symmetric(p.random_permutation(400, seed=1), A)
    restored = p.permute_symmetric(p.reverse_cuthill_mckee(shuffled), shuffled)
    assert measures.bandwidth(shuffled) > 300 and measures.bandwidth(restored) <= 2 * measures.bandwidth(A)
    assert measures.profile(restored) < measures.profile(shuffled) / 5


def test_reverse_cuthill_mckee_sees_an_edge_from_both_ends():
    """A chain whose links point one way only, in random order: its graph is still a chain."""
    A = csr_array(np.eye(60) + np.eye(60, k=1))
    shuffled = p.permute_symmetric(p.random_permutation(60, seed=4), A)
    assert measures.bandwidth(p.permute_symmetric(p.reverse_cuthill_mckee(shuffled), shuffled)) == 1


@pytest.mark.parametrize("window", [None, 1, 4, 5, 100])
def test_rows_are_sorted_by_length_within_windows(draw, window):
    A = draw(23, 40)
    lengths = np.diff(A.indptr)
    expected = []
    for first in range(0, 23, window or 23):
        expected += sorted(range(first, min(23, first + (window or 23))), key=lambda row: -lengths[row])
    found = p.by_row_length(A, window)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)  # sorted() is stable, too


# ---- measures


def test_bandwidth_and_profile_of_dense_matrices(draw):
    for _ in range(5):
        A = draw(17, 17, density=0.1)
        entries = [(i, j) for i, j in zip(*np.nonzero(A.toarray()), strict=True)]
        assert measures.bandwidth(A) == max(abs(i - j) for i, j in entries)
        begins = {i: min(j for k, j in entries if k == i) for i, _ in entries}
        assert measures.profile(A) == sum(max(0, i - j) for i, j in begins.items())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rows_per_warp", [1, 2, 32, 100])
def test_the_footprint_is_what_a_loop_finds(draw, monkeypatch, dtype, rows_per_warp):
    monkeypatch.setattr(measures, "ENTRIES_AT_A_TIME", 50)  # so that there are several pieces
    A = draw(75, 211, density=0.05)
    size = np.dtype(dtype).itemsize
    sectors, lines = [], []
    for first in range(0, 75, rows_per_warp):
        columns = A[first : first + rows_per_warp].indices.astype(int)
        sectors.append({c * size // 32 for c in columns})
        lines.append({c * size // 128 for c in columns})
    found = measures.x_footprint(A, dtype, rows_per_warp)
    assert found.warps == len(sectors)
    assert found.sectors == len(set.union(*sectors))
    assert found.sectors_per_warp == pytest.approx(np.mean([len(s) for s in sectors]))
    assert found.lines_per_warp == pytest.approx(np.mean([len(s) for s in lines]))


def test_the_order_decides_how_much_of_x_a_warp_touches():
    """With the diagonal alone, 32 doubles lie in 8 sectors; in random order the columns of a warp are scattered."""
    A = problem("tetrahedral", size=12).matrix
    shuffled = p.permute_symmetric(p.random_permutation(A.shape[0], seed=2), A)
    restored = p.permute_symmetric(p.reverse_cuthill_mckee(shuffled), shuffled)
    random, sorted_ = measures.x_footprint(shuffled), measures.x_footprint(restored)
    assert random.sectors == sorted_.sectors == 12**3 / 4
    assert random.sectors_per_warp > 2.5 * sorted_.sectors_per_warp
    assert random.reuse > 2.5 * sorted_.reuse


def test_numbers_that_make_no_sense_are_refused(draw):
    A = draw(5, 5)
    for call, message in (
        (lambda: p.by_row_length(A, 0), "window is 0: sort within at least 1 row"),
        (lambda: p.by_row_length(A, -3), "window is -3"),
        (lambda: p.strided_permutation(5, 0), "stride is 0"),
        (lambda: p.random_permutation(-1), "n is -1"),
        (lambda: p.random_permutation(2**31), "n is 2147483648: int32 cannot number"),
        (lambda: measures.x_footprint(A, rows_per_warp=0), "rows_per_warp is 0"),
    ):
        with pytest.raises(CourseError, match=message):
            call()


def test_the_inverse_of_a_list_is_refused_by_name():
    with pytest.raises(CourseError, match="perm is a list, not an array"):
        p.invert([1, 0])
