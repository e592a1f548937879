"""A matrix in two precisions, by rows and by entries: what it loses, what it moves, and when it does not pay."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from course_pkg import cuda, simt
from course_pkg.core import Cost, CourseError
from course_pkg.permutation.problem import poisson, problem
from course_pkg.spmv import splitting_cost
from course_pkg.spmv.gpu_numba import jacobi_rows, splitting
from course_pkg.spmv.splitting import SPLITS, EntrySplit, RowSplit, split_entries, split_rows
from course_pkg.spmv.splitting_cost import LAUNCHES, expected_s
from course_pkg.spmv.tuning import THREADS_PER_BLOCK

HOW = {"rows": split_rows, "entries": split_entries}
TOLERANCES = (0.0, 1e-9, 1e-8, 1e-7)


def mixed(rows=90, columns=70, seed=2):
    """Return a matrix of which a third of the rows, and most entries of the others, are exact in float32."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((rows, columns)) < 0.15, rng.uniform(-1, 1, (rows, columns)), 0)
    exact = dense.astype(np.float32).astype(np.float64)
    dense = np.where(rng.random((rows, columns)) < 0.8, exact, dense)
    dense[::3] = exact[::3]
    dense[4] = 0
    dense[0], dense[1] = exact[0, 0], np.pi  # each part reads every x
    return csr_array(dense)


def stored(split):
    """Return the matrix that a split stands for."""
    if isinstance(split, RowSplit):
        dense = np.zeros(split.shape)
        for part, rows in ((split.high, split.high_rows), (split.low, split.low_rows)):
            dense[rows] = csr_array(
                (part.data.astype(float), part.indices, part.indptr), shape=part.shape
            ).toarray()
        return dense
    parts = (
        csr_array((part.data.astype(float), part.indices, part.indptr), shape=part.shape).toarray()
        for part in (split.high, split.low)
    )
    return sum(parts)


# ---- how it is split


@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize("how", HOW)
def test_what_is_stored_differs_from_a_by_no_more_than_the_tolerance(how, tol):
    A = mixed()
    split = HOW[how](A, tol)
    assert (split.high.dtype, split.low.dtype) == (np.float64, np.float32)
    assert (split.shape, split.nonzeros) == (A.shape, A.nnz)
    difference = np.abs(stored(split) - A.toarray())
    largest = np.abs(A.toarray()).max(axis=1)
    assert (difference <= tol * largest[:, None]).all()
    np.testing.assert_allclose(split.row_errors, difference.sum(axis=1), rtol=1e-12, atol=0)


@pytest.mark.parametrize("how", HOW)
def test_a_larger_tolerance_stores_more_in_single_precision(how):
    shares = [HOW[how](mixed(), tol).low_share for tol in TOLERANCES]
    assert 0 < shares[0] < shares[1] < shares[2] < shares[3] == 1


def test_each_entry_that_fits_is_low_and_no_other():
    A, tol = mixed(), 1e-8
    dense = A.toarray()
    error = np.abs(dense - dense.astype(np.float32))
    fits = (error <= tol * np.abs(dense).max(axis=1)[:, None]) & (dense != 0)
    split = split_entries(A, tol)
    low = csr_array(
        (np.ones(split.low.nonzeros), split.low.indices, split.low.indptr), shape=A.shape
    ).toarray()
    np.testing.assert_array_equal(low, fits)
    whole_rows = np.flatnonzero((fits | (dense == 0)).all(axis=1))
    np.testing.assert_array_equal(split_rows(A, tol).low_rows, whole_rows)
    assert 4 in whole_rows and 0 < whole_rows.size < A.shape[0]  # the empty row, too


def test_whole_numbers_lose_nothing_and_huge_ones_stay_double():
    for how in HOW.values():
        split = how(poisson((4, 4, 4)))
        assert (split.low_share, split.row_errors.max()) == (1.0, 0.0)
    huge = csr_array(np.array([[1e300, 1.0], [0.0, 1e300]]))
    for how, low in ((split_entries, 1), (split_rows, 0)):
        split = how(huge, 1.0)
        assert split.low.nonzeros == low
        np.testing.assert_array_equal(stored(split), huge.toarray())


@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize("how", HOW)
def test_the_error_bound_holds_and_is_reached(how, tol):
    A = mixed()
    split = HOW[how](A, tol)
    difference = A.toarray().astype(np.longdouble) - stored(split)
    x = np.random.default_rng(1).uniform(-1, 1, A.shape[1])
    assert np.abs(difference @ x).max() <= split.error_bound(x) * (1 + 1e-12)
    worst = np.sign(difference[split.row_errors.argmax()]).astype(float)
    np.testing.assert_allclose(float(np.abs(difference @ worst).max()), split.error_bound(worst), rtol=1e-12)


# ---- the product


def product(name, split, x, lanes):
    y = cuda.to_device(np.full(split.shape[0], np.nan, x.dtype))
    getattr(splitting, f"splitting_{name}")(split.to_device(), cuda.to_device(x), y, lanes=lanes)
    return y.copy_to_host()


MATRICES = {
    "mixed": mixed(),
    "poisson": poisson((5, 6, 7)),
    "power_law": problem("power_law", size=150).matrix,
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("tol", [0.0, 1e-8, 1e-7])
@pytest.mark.parametrize("lanes", [1, 4, None])
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", SPLITS)
def test_the_product_is_that_of_the_stored_matrix(name, matrix, lanes, tol, dtype):
    A = MATRICES[matrix]
    split = SPLITS[name](A, tol)
    x = np.random.default_rng(1).uniform(-1, 1, A.shape[1]).astype(dtype)
    found = product(name, split, x, lanes)
    exact = stored(split).astype(np.longdouble) @ x
    sizes = np.abs(A) @ np.abs(x.astype(float))
    roundings = 1 if dtype == "float64" or name != "entries_apart" else 3
    assert (np.abs(found - exact) <= sizes * (1e-14 if dtype == "float64" else roundings * 2**-24)).all()
    error = np.abs(found - A.toarray().astype(np.longdouble) @ x).max()
    assert error <= split.error_bound(x) + sizes.max() * (1e-14 if dtype == "float64" else roundings * 2**-24)


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize(
    "dense",
    [np.full((40, 40), 0.5), np.full((40, 40), 0.1), np.zeros((40, 40))],
    ids=["low", "high", "empty"],
)
def test_a_part_without_any_nonzero_is_no_trouble(name, dense):
    A, x = csr_array(dense), np.arange(40.0)
    np.testing.assert_allclose(product(name, SPLITS[name](A), x, 4), dense @ x, rtol=1e-14)


# ---- what it moves


def profiles(name, split, x, lanes=4):
    """Return the profiles of the launches of a product."""
    y = np.zeros(split.shape[0], x.dtype)
    high, low = ((part.indptr, part.indices, part.data) for part in (split.high, split.low))
    made = {
        "rows_together": lambda: [
            (splitting.splitting_rows_together_kernel, y.size, (*high, split.high_rows, *low, split.low_rows))
        ],
        "rows_apart": lambda: [
            (splitting.splitting_rows_kernel, rows.size, (*part, rows))
            for part, rows in ((high, split.high_rows), (low, split.low_rows))
        ],
        "entries_together": lambda: [(splitting.splitting_entries_together_kernel, y.size, (*high, *low))],
        "entries_apart": lambda: [
            (jacobi_rows.row_product_kernel, y.size, high),
            (splitting.splitting_add_kernel, y.size, low),
        ],
    }
    return [
        simt.profile(kernel(lanes)[-(-rows * lanes // THREADS_PER_BLOCK), THREADS_PER_BLOCK], *args, x, y)
        for kernel, rows, args in made[name]()
    ]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("name", SPLITS)
def test_the_cost_is_what_the_interpreter_counts_and_there_is_no_hazard(name, lanes, dtype):
    A = mixed(70, 70)
    split = SPLITS[name](A)
    found = profiles(name, split, np.ones(70, dtype), lanes)
    counted = sum((p.cost("perfect") for p in found), Cost())
    cost = getattr(splitting_cost, f"splitting_{name}")(70, 70, A.nnz, dtype, low=split.low.nonzeros)
    assert (counted.bytes_read, counted.bytes_written) == (cost.bytes_read, cost.bytes_written)
    assert (len(found), [p.hazards for p in found]) == (LAUNCHES[name], [[]] * len(found))


def test_at_most_one_warp_has_rows_of_both_precisions():
    """Because rows are sorted by precision, the branch costs nothing but this warp."""
    A = mixed(256, 70)
    split = split_rows(A)
    (found,) = profiles("rows_together", split, np.ones(70), lanes=1)
    ends = {"together": found.global_load.requests}
    ends["apart"] = sum(p.global_load.requests for p in profiles("rows_apart", split, np.ones(70), lanes=1))
    assert ends["together"] <= 1.1 * ends["apart"]


# ---- when it pays


def of_double(n, nnz):
    return Cost(bytes_read=12 * nnz + 4 * (n + 1) + 8 * n, bytes_written=8 * n)


def test_short_rows_lose_bytes_by_two_launches_even_if_all_but_the_diagonal_is_single():
    """Seven nonzeros per row: x and y are moved again, which costs more than four bytes less for six of them."""
    n, nnz, low = 10**6, 7 * 10**6, 6 * 10**6
    assert splitting_cost.splitting_entries_apart(n, n, nnz, low=low).bytes > of_double(n, nnz).bytes
    assert splitting_cost.splitting_entries_together(n, n, nnz, low=low).bytes < of_double(n, nnz).bytes
    longer = splitting_cost.splitting_entries_apart(n, n, 30 * n, low=29 * n)
    assert longer.bytes < of_double(n, 30 * n).bytes


def test_small_matrices_lose_by_the_second_launch_although_fewer_bytes_move():
    def gain(n):
        low = splitting_cost.splitting_entries_apart(n, n, 50 * n, low=50 * n)
        assert low.bytes < of_double(n, 50 * n).bytes
        return expected_s(of_double(n, 50 * n), 1, 3500, 3e-6) / expected_s(low, 2, 3500, 3e-6)

    assert gain(1000) < 0.6 < 1 < 1.3 < gain(10**6) < 1.5


# ---- what is refused


def test_wrong_arguments_are_named():
    A = mixed()
    with pytest.raises(CourseError, match="only float64 can be split"):
        split_rows(A.astype("float32"))
    with pytest.raises(CourseError, match=r"tol is -1.0: it must be at least 0"):
        split_entries(A, -1.0)
    with pytest.raises(CourseError, match="tol is 'small'"):
        split_entries(A, "small")
    by_entries, x, y = split_entries(A), cuda.to_device(np.ones(70)), cuda.to_device(np.ones(90))
    with pytest.raises(
        CourseError, match=r"A is a EntrySplit, but this function takes a RowSplit: make it with split_rows"
    ):
        splitting.splitting_rows_together(by_entries.to_device(), x, y)
    with pytest.raises(CourseError, match="A lives in host memory"):
        splitting.splitting_entries_apart(by_entries, x, y)
    with pytest.raises(CourseError, match=r"x has shape \(90,\), expected \(70,\)"):
        splitting.splitting_entries_apart(by_entries.to_device(), y, x)
    with pytest.raises(CourseError, match="y has dtype float32"):
        splitting.splitting_entries_together(
            by_entries.to_device(), x, cuda.to_device(np.ones(90, "float32"))
        )
    with pytest.raises(CourseError, match="lanes is 5"):
        splitting.splitting_entries_together(by_entries.to_device(), x, y, lanes=5)
    assert isinstance(split_rows(A), EntrySplit)
