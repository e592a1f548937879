"""The 3 × 3 example of "1 → 2, 2 → 3, 3 → 1": every matrix and vector of it, in the order in which it is written."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from course_pkg.permutation import reference as p

# entry a_ij is the number ij, and x_i the number i: where each has gone can be read
A = csr_array(np.array([[11.0, 12, 13], [21, 22, 23], [31, 32, 33]]))
X = np.array([1.0, 2, 3])
Y1, Y2, Y3 = Y = A @ X
GOES_TO = np.array([1, 2, 0])  # 1 → 2, 2 → 3, 3 → 1, counted from 0
PERM = np.array([2, 0, 1])
ROW_PERMUTED = [[31, 32, 33], [11, 12, 13], [21, 22, 23]]
SYMMETRIC = [[33, 31, 32], [13, 11, 12], [23, 21, 22]]
DTYPES = ("int32", "int64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_the_elements_go_is_the_inverse_of_where_they_come_from(dtype):
    found = p.invert(GOES_TO.astype(dtype))
    np.testing.assert_array_equal(found, PERM)
    assert found.dtype == dtype
    np.testing.assert_array_equal(p.invert(PERM), GOES_TO)


@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors(dtype):
    perm = PERM.astype(dtype)
    np.testing.assert_array_equal(p.permute_vector(perm, X), [3, 1, 2])
    np.testing.assert_array_equal(p.permute_vector(perm, Y), [Y3, Y1, Y2])
    np.testing.assert_array_equal(p.unpermute_vector(perm, [Y3, Y1, Y2]), Y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_row_permutation_permutes_y_but_not_x(dtype):
    permuted = p.permute_rows(PERM.astype(dtype), A)
    np.testing.assert_array_equal(permuted.toarray(), ROW_PERMUTED)
    np.testing.assert_array_equal(permuted @ X, [Y3, Y1, Y2])
    np.testing.assert_array_equal(p.unpermute_vector(PERM, permuted @ X), Y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_symmetric_permutation_permutes_x_and_y(dtype):
    permuted = p.permute_symmetric(PERM.astype(dtype), A)
    np.testing.assert_array_equal(permuted.toarray(), SYMMETRIC)
    np.testing.assert_array_equal(permuted @ [3, 1, 2], [Y3, Y1, Y2])


def test_matrices_of_the_permutation():
    P = p.permutation_matrix(PERM)
    np.testing.assert_array_equal(P.toarray(), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal((P @ A).toarray(), ROW_PERMUTED)
    np.testing.assert_array_equal((P @ A @ P.T).toarray(), SYMMETRIC)


def test_three_times_around_is_back_at_the_start():
    twice = p.compose(PERM, PERM)
    np.testing.assert_array_equal(p.permute_vector(twice, X), [2, 3, 1])
    np.testing.assert_array_equal(twice, GOES_TO)  # two steps forward are one step back
    np.testing.assert_array_equal(p.compose(twice, PERM), [0, 1, 2])


def test_a_step_of_jacobi_in_the_three_forms_of_the_summary():
    d, b = A.diagonal(), np.array([5.0, 7.0, 9.0])
    E = csr_array(A - np.diag(d))
    plain = (b - E @ X) / d
    row_E, row_b, row_d = p.permute_rows(PERM, E), p.permute_vector(PERM, b), p.permute_vector(PERM, d)
    np.testing.assert_array_equal(p.unpermute_vector(PERM, (row_b - row_E @ X) / row_d), plain)
    symmetric = (row_b - p.permute_symmetric(PERM, E) @ p.permute_vector(PERM, X)) / row_d
    np.testing.assert_array_equal(symmetric, p.permute_vector(PERM, plain))
