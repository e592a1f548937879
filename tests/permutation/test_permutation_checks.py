"""What is no permutation, and what is no matrix in sorted rows: the message names the first entry that is wrong."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.permutation import reference as p
from course_pkg.permutation.checks import check_csr, check_entries, check_permutation

BAD_PERMUTATIONS = [
    (
        [2, 0, 3],
        r"perm\[2\] is 3, but the places of 3 elements are 0 to 2: if yours count from 1, subtract 1",
    ),
    ([0, -1, -2], r"perm\[1\] is -1, but the places"),
    ([1, 2, 3], r"perm\[2\] is 3"),
    (
        [0, 4, 2, 4, 2],
        r"perm\[3\] is 4, as perm\[1\] is, and 1 is missing: a permutation holds each of 0 to 4 once",
    ),
    ([1, 1, 0, 0], r"perm\[1\] is 1, as perm\[0\] is, and 2 is missing"),
]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(("entries", "message"), BAD_PERMUTATIONS)
def test_a_wrong_permutation_is_named_by_its_first_wrong_entry(entries, message, dtype):
    perm = np.array(entries, dtype)
    n = len(entries)
    A = csr_array(np.eye(n))
    for call in (
        lambda: check_permutation(perm),
        lambda: p.permute_vector(perm, np.ones(n)),
        lambda: p.unpermute_vector(perm, np.ones(n)),
        lambda: p.invert(perm),
        lambda: p.permutation_matrix(perm),
        lambda: p.permute_rows(perm, A),
        lambda: p.permute_symmetric(perm, A),
    ):
        with pytest.raises(CourseError, match=message):
            call()


@pytest.mark.parametrize(
    ("perm", "message"),
    [
        ([2, 0, 1], r"perm is a list, not an array: use numpy.asarray\(perm\)"),
        (
            np.array([2.0, 0, 1]),
            r"perm has dtype float64, expected int32 or int64: use perm.astype\('int32'\)",
        ),
        (np.array([1, 0, 2], "uint8"), "perm has dtype uint8"),
        (np.array([[1, 0, 2]]), r"perm has 2 dimension\(s\), expected 1"),
        (np.array([1, 0]), "perm has 2 entries, but what it permutes has 3"),
    ],
)
def test_what_is_no_vector_of_integers_of_the_right_length_is_refused(perm, message):
    with pytest.raises(CourseError, match=message):
        p.permute_vector(perm, np.ones(3)) if not isinstance(perm, list) else check_permutation(perm)


def test_a_permutation_in_gpu_memory_is_not_looked_into():
    with pytest.raises(
        CourseError, match=r"perm lives in GPU memory: check a copy of it, perm.copy_to_host\(\)"
    ):
        check_permutation(cuda.to_device(np.array([0, 1])))


def test_both_permutations_of_a_composition_are_checked():
    good, bad = np.array([1, 0, 2]), np.array([1, 0, 0])
    with pytest.raises(CourseError, match=r"p\[2\] is 0, as p\[1\] is"):
        p.compose(bad, good)
    with pytest.raises(CourseError, match=r"q\[2\] is 0, as q\[1\] is"):
        p.compose(good, bad)
    with pytest.raises(CourseError, match="q has 2 entries, but what it permutes has 3"):
        p.compose(good, good[:2])


# ---- matrices


def parts(indptr=(0, 2, 2, 4), indices=(0, 2, 1, 2), data=(1.0, 2, 3, 4), shape=(3, 3), index="int32"):
    """The parts of a matrix, without the checks that SciPy makes."""
    return SimpleNamespace(
        indptr=np.array(indptr, index), indices=np.array(indices, index), data=np.array(data), shape=shape
    )


BAD_MATRICES = [
    (
        parts(indices=(2, 0, 1, 2)),
        r"Row 0 of A has column 0 behind 2, at indices\[1\]: call A.sort_indices\(\)",
    ),
    (parts(indices=(0, 2, 2, 1)), r"Row 2 of A has column 1 behind 2, at indices\[3\]"),
    (
        parts(indptr=(0, 0, 0, 4), indices=(0, 1, 2, 1)),
        r"Row 2 of A has column 1 behind 2, at indices\[3\]",
    ),
    (
        parts(indices=(0, 2, 1, 1)),
        r"Row 2 of A has column 1 twice, at indices\[3\]: A.sum_duplicates\(\) adds",
    ),
    (parts(indices=(0, 2, 1, 3)), r"A.indices\[3\], in row 2, is 3, but the columns of A are 0 to 2"),
    (parts(indices=(-1, 2, 1, 2)), r"A.indices\[0\], in row 0, is -1"),
    (parts(indptr=(0, 2, 1, 4)), "A.indptr falls from 2 to 1 in row 1: add up the lengths of rows in int64"),
    (parts(indptr=(0, 2**31 - 2, -(2**31) + 5, 4)), "A.indptr falls from 2147483646 to -2147483643 in row 1"),
    (parts(indptr=(1, 2, 2, 4)), r"A.indptr\[0\] is 1: the first row begins at entry 0"),
    (parts(indptr=(0, 2, 4)), "A.indptr has 3 entries; a matrix of 3 rows needs 4"),
    (parts(indptr=(0, 2, 2, 3)), "A.indptr ends at 3, but there are 4 entries"),
    (parts(indices=(0, 2, 1, 2, 0)), "A.indices has 5 entries but A.data has 4"),
    (parts(index="int64"), r"A.indptr has dtype int64, expected int32: use A.indptr.astype\('int32'\)"),
    (parts(data=(1, 2, 3, 4)), r"A.data has dtype int64: use A.astype\('float64'\)"),
    (
        csc_array(np.eye(3)),
        r"A is a csc_array, not a matrix in compressed rows: use scipy.sparse.csr_array\(A\)",
    ),
    (np.eye(3), "A is a ndarray, not a matrix in compressed rows"),
]


@pytest.mark.parametrize(("A", "message"), BAD_MATRICES)
def test_a_wrong_matrix_is_named_by_its_first_wrong_entry(A, message):
    perm = np.array([2, 0, 1])
    for call in (
        lambda: check_csr(A),
        lambda: p.permute_rows(perm, A),
        lambda: p.permute_symmetric(perm, A),
        lambda: p.by_row_length(A),
        lambda: p.reverse_cuthill_mckee(A),
    ):
        with pytest.raises(CourseError, match=message):
            call()


def test_more_entries_than_int32_counts():
    """A matrix that only claims to be so large: its numbers are one number, repeated."""
    huge = SimpleNamespace(
        indptr=np.array([0, 1], "int64"),
        indices=np.broadcast_to(np.int32(0), 2**31),
        data=np.broadcast_to(1.0, 2**31),
        shape=(1, 1),
    )
    with pytest.raises(
        CourseError, match="A has 2,147,483,648 entries, more than the 2,147,483,647 that row pointers"
    ):
        check_csr(huge)
    check_entries(2**31 - 1)


def test_a_rectangular_matrix_has_no_symmetric_permutation():
    A = csr_array(np.ones((3, 4)))
    message = "A has 3 rows and 4 columns, but must be square: .* permute_rows"
    for call in (lambda: p.permute_symmetric(np.array([2, 0, 1]), A), lambda: p.reverse_cuthill_mckee(A)):
        with pytest.raises(CourseError, match=message):
            call()
    p.permute_rows(np.array([2, 0, 1]), A)


def test_empty_rows_at_any_place_are_no_mistake(draw):
    for indptr in ((0, 0, 0, 4), (0, 4, 4, 4), (0, 0, 4, 4), (0, 2, 2, 4)):
        indices = (0, 1, 2, 3) if indptr[2] - indptr[1] != 2 else (2, 3, 0, 1)
        check_csr(
            parts(indptr=indptr, indices=indices if 4 in np.diff(indptr) else (2, 3, 0, 1), shape=(3, 4))
        )
    check_csr(parts(indptr=(0,), indices=(), data=(), shape=(0, 3)))
