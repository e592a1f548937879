"""All products against the oracle: every kernel, precision and kind of matrix, on the CPU and in the interpreter."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from course_pkg import cuda, simt
from course_pkg.core import Library
from course_pkg.permutation.problem import problem
from course_pkg.spmv import cpu_numba, gpu_numba, reference
from course_pkg.spmv.cases import cases, empty_rows
from course_pkg.spmv.formats import Csr, CsrBalanced, SellCSigma
from course_pkg.spmv.problem import ProductProblem
from course_pkg.spmv.variants import FORMATS, VARIANTS

ON_GPU = VARIANTS.of("spmv", Library.NUMBA_CUDA)
PRECISIONS = [("float64", "float64"), ("float32", "float32"), ("float32", "float64")]  # of values, of vectors
PAD, GUARD = 5, -77.0
# what a format is made with, and a launcher called with, besides the defaults
MADE = {"spmv_sell": [{"sigma": 1}, {"sigma": 64, "chunk": 64}], "spmv_csr_balanced": [{"tile": 256}]}
CALLED = {
    "spmv_csr_vector": [{"lanes": lanes} for lanes in gpu_numba.LANES],
    "spmv_sell": [{"unroll": unroll} for unroll in (1, 3, 9)],
}


def csr(dense):
    return sp.csr_array(np.asarray(dense, float))


def one_long_row():
    dense = np.zeros((70, 600))
    dense[3] = np.linspace(1, 2, 600)
    dense[40, 7] = dense[69, 599] = 3.0
    return csr(dense)


MATRICES = {
    "poisson_2d": lambda: problem("poisson_2d", 9).matrix,
    "tetrahedral": lambda: problem("tetrahedral", 4).matrix,
    "power_law": lambda: problem("power_law", 150, seed=3).matrix,
    "airfoil": lambda: problem("airfoil").matrix[:64],
    "empty_rows": lambda: empty_rows(41, 33),
    "nothing": lambda: csr(np.zeros((40, 3))),
    "one_long_row": one_long_row,
    "row": lambda: csr(np.ones((1, 70))),
    "column": lambda: csr(np.arange(1, 301)[:, None] % 3),
    "scalar": lambda: csr([[2.0]]),
}


def bound(A, x, dtype):
    """Return how far a row may be from its exact sum."""
    longest = int(np.diff(A.indptr).max(initial=1))
    return (longest + 2) * np.finfo(dtype).eps * (abs(A) @ abs(x.astype(float))) + np.finfo(dtype).tiny


def exact(A, values, x):
    return A.astype(values).astype("longdouble") @ x.astype("longdouble")


def settings_of(variant):
    """Return all that a variant is tried with: for its format and for its launcher."""
    made, called = MADE.get(variant.function_name, []), CALLED.get(variant.function_name, [])
    return [({}, {}), *((m, {}) for m in made), *(({}, c) for c in called)]


def product_on_device(variant, A, values, x, made, called):
    """Return y between guards, and check that nothing is written beside it or to x."""
    M = FORMATS[variant.function_name].from_scipy(A, values, **made).to_device()
    buffer = np.full(A.shape[0] + 2 * PAD, GUARD, x.dtype)
    buffer[PAD:-PAD] = np.nan
    device_x, device_y = cuda.to_device(x), cuda.to_device(buffer)
    variant.function(Library.NUMBA_CUDA)(M, device_x, device_y[PAD:-PAD], **called)
    found = device_y.copy_to_host()
    assert np.all(found[:PAD] == GUARD) and np.all(found[-PAD:] == GUARD), "written beside y"
    np.testing.assert_array_equal(device_x.copy_to_host(), x, err_msg="x was changed")
    return found[PAD:-PAD]


@pytest.mark.family
@pytest.mark.parametrize(("values", "dtype"), PRECISIONS)
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("variant", ON_GPU, ids=lambda v: v.name)
def test_a_kernel_gives_the_product(variant, name, values, dtype):
    A = MATRICES[name]()
    x = np.random.default_rng(5).uniform(-1, 1, A.shape[1]).astype(dtype)
    right, largest = exact(A, values, x), bound(A, x, dtype)
    for made, called in settings_of(variant) if values == "float64" else settings_of(variant)[:1]:
        found = product_on_device(variant, A, values, x, made, called)
        assert np.all(np.abs(found - right) <= largest), (made, called)


@pytest.mark.parametrize(("values", "dtype"), PRECISIONS)
@pytest.mark.parametrize("name", MATRICES)
def test_the_reference_and_the_cpu_give_the_product(name, values, dtype):
    A = MATRICES[name]()
    x = np.random.default_rng(6).uniform(-1, 1, A.shape[1]).astype(dtype)
    for ops in (reference, cpu_numba):
        y = np.full(A.shape[0] + 2 * PAD, GUARD, dtype)
        ops.spmv(Csr.from_scipy(A, values), x, y[PAD:-PAD])
        assert np.all(np.abs(y[PAD:-PAD] - exact(A, values, x)) <= bound(A, x, dtype)), ops.__name__
        assert np.all(y[:PAD] == GUARD) and np.all(y[-PAD:] == GUARD)


@pytest.mark.parametrize("variant", ON_GPU, ids=lambda v: v.name)
def test_sums_of_mixed_precision_are_double(variant):
    """2^24 + 1 is no float32: only a sum in double sees the ones that follow, also where the matrix is float32."""
    A = csr([[2.0**24, *[1.0] * 40]])
    found = product_on_device(variant, A, "float32", np.ones(41), {}, {})
    assert found[0] == 2**24 + 40


@pytest.mark.parametrize("variant", ON_GPU, ids=lambda v: v.name)
def test_a_number_that_no_nonzero_meets_does_not_matter(variant):
    """Padding and idle lanes must not bring in a NaN: 0 times infinity is no zero."""
    A = csr([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 3.0]])
    x = np.array([np.inf, 1.0, 1.0])
    np.testing.assert_array_equal(product_on_device(variant, A, "float64", x, {}, {}), [2.0, 0.0, 4.0])
    x = np.array([1.0, np.inf, -1.0])
    np.testing.assert_array_equal(product_on_device(variant, A, "float64", x, {}, {}), [np.inf, 0.0, np.inf])


@st.composite
def sparse(draw):
    """Draw a matrix with empty rows, maybe a full one, of any small shape."""
    rows, columns = draw(st.integers(1, 70)), draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dense = np.where(rng.random((rows, columns)) < draw(st.sampled_from([0.0, 0.03, 0.3])), 1.0, 0.0)
    dense *= rng.uniform(-1, 1, dense.shape)
    if draw(st.booleans()):
        dense[draw(st.integers(0, rows - 1))] = rng.uniform(0.5, 1, columns)
    if draw(st.booleans()):
        dense[:: draw(st.integers(1, 3))] = 0.0
    return csr(dense)


@settings(max_examples=25)
@given(A=sparse(), values=st.sampled_from(["float64", "float32"]))
def test_any_matrix(A, values):
    x = np.random.default_rng(1).uniform(-1, 1, A.shape[1])
    right, largest = exact(A, values, x), bound(A, x, "float64")
    y = np.full(A.shape[0], np.nan)
    cpu_numba.spmv(Csr.from_scipy(A, values), x, y)
    assert np.all(np.abs(y - right) <= largest)
    for variant in ON_GPU:
        found = product_on_device(variant, A, values, x, {}, {})
        assert np.all(np.abs(found - right) <= largest), variant.name


@settings(max_examples=15)
@given(A=sparse(), tile=st.sampled_from([256, 512]), sigma=st.integers(1, 80), unroll=st.integers(1, 9))
def test_any_setting(A, tile, sigma, unroll):
    x = np.random.default_rng(2).uniform(-1, 1, A.shape[1])
    right, largest = exact(A, "float64", x), bound(A, x, "float64")
    for name, made, called in (
        ("spmv_csr_balanced", {"tile": tile}, {}),
        ("spmv_sell", {"sigma": sigma}, {"unroll": unroll}),
    ):
        found = product_on_device(VARIANTS[name], A, "float64", x, made, called)
        assert np.all(np.abs(found - right) <= largest), name


def test_a_row_may_be_longer_than_many_tiles():
    rng = np.random.default_rng(3)
    dense = np.zeros((5, 2000))
    dense[1], dense[4, :10] = rng.uniform(-1, 1, 2000), 1.0
    A, x = csr(dense), rng.uniform(-1, 1, 2000)
    assert list(CsrBalanced.from_scipy(A, tile=256).tile_rows) == [0, *[1] * 7, 5]
    found = product_on_device(VARIANTS["spmv_csr_balanced"], A, "float64", x, {"tile": 256}, {})
    assert np.all(np.abs(found - exact(A, "float64", x)) <= bound(A, x, "float64"))


def test_the_last_digit_is_the_same_in_every_run_and_whatever_carry_holds():
    A = problem("power_law", 400, seed=1).matrix
    M, x = CsrBalanced.from_scipy(A, tile=256).to_device(), cuda.to_device(np.linspace(-1, 1, 400))
    found = []
    for spoilt in (None, np.nan, 1e300):
        y = cuda.to_device(np.full(400, np.nan))
        carry = None if spoilt is None else cuda.to_device(np.full(2 * M.tile_rows.size + 3, spoilt))
        gpu_numba.spmv_csr_balanced(M, x, y, carry=carry)
        found.append(y.copy_to_host())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_a_result_that_stays_sorted_is_in_the_order_of_the_permutation():
    A = problem("power_law", 200, seed=2).matrix
    host = SellCSigma.from_scipy(A, sigma=200)
    M, x = host.to_device(), np.linspace(-1, 1, 200)
    y = {in_order: cuda.to_device(np.full(200, np.nan)) for in_order in (True, False)}
    for in_order, result in y.items():
        gpu_numba.spmv_sell(M, cuda.to_device(x), result, in_order=in_order)
    np.testing.assert_array_equal(y[False].copy_to_host(), y[True].copy_to_host()[host.perm])
    assert np.any(host.perm != np.arange(200))


def test_a_problem_has_a_matrix_and_vectors():
    p = ProductProblem.named("power_law", 100, "float64", "float32", seed=4)
    again = ProductProblem.named("power_law", 100, "float64", "float32", seed=4)
    assert (p.matrix.dtype, p.x.dtype, p.y.dtype) == ("float32", "float64", "float64")
    assert np.isnan(p.y).all() and np.array_equal(p.x, again.x) and np.abs(p.x).max() < 1


# ---- hazards


@pytest.mark.family
@pytest.mark.parametrize("case", list(cases), ids=lambda case: case.name)
def test_no_kernel_has_a_hazard(case):
    assert simt.profile(case.configured, *case.args()).hazards == []
