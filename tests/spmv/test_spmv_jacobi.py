"""Jacobi's method in three forms: the same iterates, what a form costs, and a solver that says how it ended."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from course_pkg import cuda, simt
from course_pkg.core import CourseError
from course_pkg.permutation.problem import poisson
from course_pkg.permutation.reference import (
    invert,
    permute_symmetric,
    random_permutation,
    reverse_cuthill_mckee,
)
from course_pkg.spmv import cpu_numba, jacobi_cost, jacobi_reference
from course_pkg.spmv.cost import gather
from course_pkg.spmv.gpu_numba import jacobi as kernels
from course_pkg.spmv.gpu_numba.jacobi_rows import lanes_or, launch_rows
from course_pkg.spmv.jacobi import (
    FORMS,
    plain_system,
    row_permuted_system,
    symmetric_system,
    system_of,
)
from course_pkg.spmv.tuning import THREADS_PER_BLOCK

STEPS = 6
HOST = {"reference": jacobi_reference, "cpu_numba": cpu_numba}
PERMUTING = FORMS[1:]
# row 0 of the document's example goes to place 1, row 1 to place 2, and row 2 to place 0
DOCUMENTS = np.array([2, 0, 1], np.int32)


def dominant(n=70, dtype="float64", seed=5):
    """Return a matrix that is not symmetric, with rows of many lengths: row 3 is its diagonal, row 5 is full."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n)) < 0.08, rng.uniform(-1, 1, (n, n)), 0)
    dense[3], dense[5] = 0, rng.uniform(-1, 1, n)
    np.fill_diagonal(dense, 0)
    np.fill_diagonal(dense, 1.5 * np.abs(dense).sum(axis=1) + 0.3)
    return csr_array(dense.astype(dtype))


def vectors(n, dtype="float64", seed=7):
    return np.random.default_rng(seed).uniform(-1, 1, (2, n)).astype(dtype)


def perm_for(form, n):
    return None if form == "plain" else random_permutation(n, seed=11)


def on_host(ops, form):
    step = getattr(ops, f"jacobi_{form}")

    def one(system, x):
        out = np.full_like(x, np.nan)
        step(system, x, out)
        return out

    return one


def on_gpu(form, lanes):
    step = getattr(kernels, f"jacobi_{form}")

    def one(system, x):
        out = cuda.to_device(np.full_like(x, np.nan))
        step(system.to_device(), cuda.to_device(x), out, lanes=lanes)
        return out.copy_to_host()

    return one


def iterates(one, form, A, b, x, perm=None):
    system = system_of(form, A, b, perm_for(form, x.size) if perm is None and form != "plain" else perm)
    x, found = system.taken(x), []
    for _ in range(STEPS):
        x = one(system, x)
        found.append(system.given(x))
    return np.array(found)


# ---- the three forms


def textbook(A, b, x):
    """Return the iterates by dense arithmetic that shares nothing with the package."""
    dense, found = A.toarray().astype(np.float64), []
    d = np.diag(dense)
    for _ in range(STEPS):
        x = (b - (dense - np.diag(d)) @ x) / d
        found.append(x)
    return np.array(found)


EVERYWHERE = {
    **{name: (lambda form, ops=ops: on_host(ops, form)) for name, ops in HOST.items()},
    **{f"gpu_numba, {lanes} lanes": (lambda form, lanes=lanes: on_gpu(form, lanes)) for lanes in (1, 4, 32)},
}


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "A", [dominant(), poisson((5, 6, 7)), csr_array(np.array([[2.0]]))], ids=["any", "poisson", "1 × 1"]
)
def test_every_form_gives_the_textbooks_iterates_everywhere(where, form, A):
    b, x = vectors(A.shape[0])
    found = iterates(EVERYWHERE[where](form), form, A, b, x)
    np.testing.assert_allclose(found, textbook(A, b, x), rtol=0, atol=1e-13)


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("form", FORMS)
def test_single_precision_sums_in_double_and_rounds_once(where, form):
    A = dominant(dtype="float32")
    b, x = vectors(A.shape[0], "float32")
    system = system_of(form, A, b, perm_for(form, x.size))
    found = system.given(EVERYWHERE[where](form)(system, system.taken(x)))
    assert found.dtype == np.float32
    exact = textbook(A, b.astype(float), x.astype(float))[0]
    np.testing.assert_allclose(found, exact, rtol=2**-24, atol=1e-13)


@pytest.mark.parametrize("where", EVERYWHERE)
def test_permuted_rows_change_no_bit_because_each_row_is_added_up_in_the_same_order(where):
    A = dominant()
    b, x = vectors(A.shape[0])
    plain, permuted = (iterates(EVERYWHERE[where](form), form, A, b, x) for form in ("plain", "row_permuted"))
    np.testing.assert_array_equal(permuted, plain)


def test_permuted_columns_change_last_bits_only_because_rows_are_added_up_in_another_order():
    """With the entries of each row left in their old order, there is no difference at all."""
    A = dominant()
    b, x = vectors(A.shape[0])
    one = on_host(cpu_numba, "symmetric")
    plain = iterates(on_host(cpu_numba, "plain"), "plain", A, b, x)
    symmetric = iterates(one, "symmetric", A, b, x)
    assert (symmetric != plain).any()
    np.testing.assert_allclose(symmetric, plain, rtol=0, atol=1e-15)

    perm = random_permutation(x.size, seed=11)
    system = symmetric_system(plain_system(A, b), perm)
    rows = row_permuted_system(plain_system(A, b), perm).E
    system.E.indices[:], system.E.data[:] = invert(perm)[rows.indices], rows.data
    now = system.taken(x)
    for expected in plain:
        now = one(system, now)
        np.testing.assert_array_equal(system.given(now), expected)


def test_the_documents_example_of_three_rows():
    """[1 → 2, 2 → 3, 3 → 1]: E' begins with row 3; only the symmetric form renumbers the columns."""
    A = csr_array(np.array([[11.0, 12, 13], [21, 22, 23], [31, 32, 33]]))
    b = np.array([1.0, 2.0, 3.0])
    rows = row_permuted_system(plain_system(A, b), DOCUMENTS)
    both = symmetric_system(plain_system(A, b), DOCUMENTS)
    for system in (rows, both):
        np.testing.assert_array_equal(system.b, [3, 1, 2])
        np.testing.assert_array_equal(system.d, [33, 11, 22])
    for system, E in (
        (rows, [[31, 32, 0], [0, 12, 13], [21, 0, 23]]),
        (both, [[0, 31, 32], [13, 0, 12], [23, 21, 0]]),
    ):
        dense = csr_array((system.E.data, system.E.indices, system.E.indptr), shape=(3, 3)).toarray()
        np.testing.assert_array_equal(dense, E)
    x = np.array([10.0, 20.0, 30.0])
    np.testing.assert_array_equal(rows.taken(x), x)
    np.testing.assert_array_equal(both.taken(x), [30, 10, 20])
    np.testing.assert_array_equal(both.given(both.taken(x)), x)


# ---- what a step moves


def profile_of(form, A, lanes, perm=None, dtype="float64"):
    n = A.shape[0]
    b, x = vectors(n, dtype)
    perm = perm_for(form, n) if perm is None and form != "plain" else perm
    s = system_of(form, A.astype(dtype), b, perm)
    kernel = getattr(kernels, f"jacobi_{'row_permuted' if form == 'row_permuted' else 'plain'}_kernel")(lanes)
    launch = kernel[-(-n * lanes // THREADS_PER_BLOCK), THREADS_PER_BLOCK]
    rows = (s.rows,) if form == "row_permuted" else ()
    return s, simt.profile(launch, s.E.indptr, s.E.indices, s.E.data, s.d, s.b, *rows, x, np.zeros_like(x))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("A", [poisson((6, 7, 9)), dominant()], ids=["poisson", "any"])
def test_the_cost_is_what_the_interpreter_counts_and_there_is_no_hazard(form, lanes, A, dtype):
    system, found = profile_of(form, A, lanes, dtype=dtype)
    cost = getattr(jacobi_cost, f"jacobi_{form}")(system.n, system.E.nonzeros, dtype)
    counted = found.cost("perfect")
    assert (counted.bytes_read, counted.bytes_written) == (cost.bytes_read, cost.bytes_written)
    assert found.hazards == []
    if lanes == 1:
        assert found.flops.total == cost.flops


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lanes", [1, 4])
def test_only_the_row_permuted_form_scatters_and_its_sectors_are_foreseen(lanes, dtype):
    A = poisson((8, 8, 16))
    n, perm = A.shape[0], random_permutation(A.shape[0], seed=11)
    stores = {form: profile_of(form, A, lanes, dtype=dtype)[1].global_store.sectors for form in FORMS}
    in_order = jacobi_cost.scattered_sectors(np.arange(n), lanes, dtype)
    assert stores["plain"] == stores["symmetric"] == in_order
    assert stores["row_permuted"] == jacobi_cost.scattered_sectors(perm, lanes, dtype) > 2 * in_order
    once = jacobi_cost.jacobi_row_permuted(n, A.nnz - n, dtype)
    scattered = jacobi_cost.with_scatter(once, perm, lanes, dtype)
    assert (scattered.bytes_written, scattered.bytes_read) == (32 * stores["row_permuted"], once.bytes_read)
    _, kept = profile_of("row_permuted", A, lanes, np.arange(n, dtype=np.int32), dtype)
    assert kept.global_store.sectors == in_order


@pytest.mark.parametrize("A", [poisson((8, 8, 16)), dominant()], ids=["poisson", "any"])
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("form", FORMS)
def test_the_gathers_of_x_are_those_of_the_product_with_e(form, lanes, A):
    system, found = profile_of(form, A, lanes)
    assert found.by_array["x"].global_load.sectors == gather(system.E, lanes=lanes).sectors


def test_cuthill_and_mckees_order_mends_the_gathers_of_the_symmetric_form_and_a_part_of_the_row_permuted():
    """Rows of a warp then share neighbours in both forms, but only new columns bring these neighbours together."""
    A = poisson((10, 10, 10))
    shuffled = permute_symmetric(random_permutation(1000, seed=1), A)
    sectors = {
        (form, name): profile_of(form, matrix, 4, perm)[1].by_array["x"].global_load.sectors
        for form, name, matrix, perm in (
            ("plain", "good", A, None),
            ("plain", "bad", shuffled, None),
            ("row_permuted", "rcm", shuffled, reverse_cuthill_mckee(shuffled)),
            ("symmetric", "rcm", shuffled, reverse_cuthill_mckee(shuffled)),
        )
    }
    good, bad = sectors["plain", "good"], sectors["plain", "bad"]
    assert bad > 3 * good
    assert 2 * good < sectors["row_permuted", "rcm"] < 0.8 * bad
    assert sectors["symmetric", "rcm"] < good


def test_few_lanes_suit_short_rows():
    E = plain_system(poisson((4, 4, 4)), np.ones(64)).E
    assert (lanes_or(None, E), lanes_or(32, E)) == (4, 32)
    with pytest.raises(CourseError, match="rows by 32 threads each exceed offsets of 32 bits"):
        launch_rows(kernels.jacobi_plain_kernel(32), 2**27, 32)


def test_a_permutation_may_be_a_view_and_is_kept_in_four_bytes_per_row():
    A = dominant()
    b, x = vectors(A.shape[0])
    backwards = np.arange(x.size)[::-1]
    for form in PERMUTING:
        found = iterates(on_gpu(form, 4), form, A, b, x, backwards)
        np.testing.assert_allclose(found, textbook(A, b, x), rtol=0, atol=1e-13)
    assert system_of("row_permuted", A, b, backwards).rows.dtype == np.int32
