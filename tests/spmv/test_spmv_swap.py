"""The four ways to swap x in two precisions: the same bits, and the bytes that each way moves."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from course_pkg import cuda, simt
from course_pkg.core import Cost, CourseError
from course_pkg.permutation.problem import poisson, problem
from course_pkg.spmv import swap_cost
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.gpu_numba import jacobi_rows, swaps
from course_pkg.spmv.swap import WAYS, Vectors, stepping_matrix, swap, vectors_for
from course_pkg.spmv.tuning import THREADS_PER_BLOCK

STEPS = 7
MATRICES = {
    "poisson": poisson((5, 6, 7)),
    "power_law": problem("power_law", size=150).matrix,
    "1 × 1": csr_array([[2.0]]),
}


def first_x(n):
    return np.random.default_rng(3).uniform(-1, 1, n)


def run(way, A, x, lanes, steps=STEPS):
    vectors, A = vectors_for(way, x).to_device(), A.to_device()
    for _ in range(steps):
        vectors = getattr(swaps, f"swap_{way}")(A, vectors, lanes=lanes)
    return vectors


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lanes", [1, 4, 32])
@pytest.mark.parametrize("matrix", MATRICES)
def test_all_ways_give_the_same_bits(matrix, lanes, dtype):
    A = stepping_matrix(MATRICES[matrix], dtype)
    x = first_x(A.shape[0])
    found = {way: run(way, A, x, lanes) for way in WAYS}
    result = found["naive"].x64.copy_to_host()
    for way, vectors in found.items():
        np.testing.assert_array_equal(vectors.x64.copy_to_host(), result, err_msg=way)
        if vectors.x32 is not None:
            np.testing.assert_array_equal(vectors.x32.copy_to_host(), result.astype(np.float32), err_msg=way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("matrix", MATRICES)
def test_one_step_is_that_of_numpy(way, matrix):
    A = stepping_matrix(MATRICES[matrix])
    x = first_x(A.shape[0])
    expected = swap(A, vectors_for(way, x))
    found = run(way, A, x, lanes=4, steps=1)
    np.testing.assert_allclose(found.x64.copy_to_host(), expected.x64, rtol=0, atol=1e-15)
    assert (found.x32 is None) == (expected.x32 is None)


def test_numpys_step_is_the_product_of_rounded_x_summed_in_double():
    A = stepping_matrix(MATRICES["poisson"])
    x = first_x(A.shape[0])
    exact = csr_array((A.data.astype(float), A.indices, A.indptr), shape=A.shape) @ x.astype(
        np.float32
    ).astype(float)
    np.testing.assert_allclose(swap(A, vectors_for("naive", x)).x64, exact, rtol=0, atol=1e-15)
    # so the step above was not in single precision
    assert np.abs(exact - exact.astype(np.float32)).max() > 1e-9


@pytest.mark.parametrize("way", WAYS)
def test_what_rounding_costs_stays_at_single_precision(way):
    """Each step rounds x once: the error of k steps is at most k · 2⁻²⁴, as long as A's norm is 1."""
    A = stepping_matrix(MATRICES["poisson"], "float64")
    x = first_x(A.shape[0])
    exact, matrix = x, csr_array((A.data, A.indices, A.indptr), shape=A.shape)
    for _ in range(STEPS):
        exact = matrix @ exact
    error = np.abs(run(way, A, x, lanes=4).x64.copy_to_host() - exact).max()
    assert 1e-10 < error < STEPS * 2**-24


def test_pointers_are_swapped_and_nothing_else_is_allocated():
    A = stepping_matrix(MATRICES["poisson"]).to_device()
    for way, same in (
        ("naive", {"x64": "x64", "y64": "y64", "x32": "x32"}),
        ("cast", {"x64": "y64", "y64": "x64"}),
    ):
        before = vectors_for(way, first_x(A.shape[0])).to_device()
        after = getattr(swaps, f"swap_{way}")(A, before)
        assert all(getattr(after, now) is getattr(before, then) for now, then in same.items())
    before = vectors_for("fused", first_x(A.shape[0])).to_device()
    after = swaps.swap_fused(A, before)
    assert (after.x64, after.y64, after.x32, after.y32) == (before.y64, before.x64, before.y32, before.x32)
    before = vectors_for("hybrid", first_x(A.shape[0])).to_device()
    after = swaps.swap_hybrid(A, before)
    assert (after.x64, after.y64, after.x32) == (before.y64, before.x64, before.x32)


def test_one_array_for_old_and_new_x32_is_a_race_and_is_refused():
    """Therefore the fused way has a y32: threads of other rows still read what this one would overwrite."""
    A = stepping_matrix(MATRICES["poisson"])
    v, n = vectors_for("fused", first_x(A.shape[0])), A.shape[0]
    blocks = -(-4 * n // THREADS_PER_BLOCK)
    launch = swaps.swap_product_both_kernel(4)[blocks, THREADS_PER_BLOCK]
    assert simt.profile(launch, A.indptr, A.indices, A.data, v.x32, v.y64, v.x32).hazards
    x32, x64, y64 = map(cuda.to_device, (v.x32, v.x64, v.y64))
    with pytest.raises(CourseError, match="x32 and y32 share memory"):
        swaps.swap_fused(A.to_device(), Vectors(x64=x64, y64=y64, x32=x32, y32=x32))


# ---- what a step moves


def profiles(way, A, lanes):
    """Return the profiles of the launches that a step makes, each with its arrays on the host."""
    v, n = vectors_for(way, first_x(A.shape[0])), A.shape[0]
    rows, each = -(-n * lanes // THREADS_PER_BLOCK), -(-n // THREADS_PER_BLOCK)
    product = jacobi_rows.row_product_kernel
    arrays = A.indptr, A.indices, A.data
    launches = {
        "naive": [
            (product(lanes), rows, (*arrays, v.x32, v.y64)),
            (swaps.copy_both_kernel, each, (v.y64, v.x32, v.x64)),
        ],
        "cast": [(product(lanes, rounded=True), rows, (*arrays, v.x64, v.y64))],
        "fused": [(swaps.swap_product_both_kernel(lanes), rows, (*arrays, v.x32, v.y64, v.y32))],
        "hybrid": [
            (product(lanes), rows, (*arrays, v.x32, v.y64)),
            (swaps.copy_rounded_kernel, each, (v.y64, v.x32)),
        ],
    }
    return [simt.profile(kernel[blocks, THREADS_PER_BLOCK], *args) for kernel, blocks, args in launches[way]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("matrix", MATRICES)
def test_the_cost_is_what_the_interpreter_counts_and_there_is_no_hazard(matrix, way, lanes, dtype):
    A = stepping_matrix(MATRICES[matrix], dtype)
    found = profiles(way, A, lanes)
    counted = sum((p.cost("perfect") for p in found), Cost())
    cost = getattr(swap_cost, f"swap_{way}")(A.shape[0], A.nonzeros, dtype)
    assert (counted.bytes_read, counted.bytes_written) == (cost.bytes_read, cost.bytes_written)
    assert [p.hazards for p in found] == [[]] * len(found)
    if lanes == 1:
        assert counted.flops == cost.flops


def test_by_bytes_the_hybrid_way_lies_between_the_fused_and_the_naive_one():
    n, nnz = 1000, 7000
    cost = {way: getattr(swap_cost, f"swap_{way}")(n, nnz) for way in WAYS}
    swapped = {way: c.bytes - swap_cost.swap_cast(n, nnz).bytes for way, c in cost.items()}
    assert swapped == {"cast": 0, "fused": 0, "hybrid": 8 * n, "naive": 16 * n}
    assert len({c.a_eff_bytes for c in cost.values()}) == 1


def test_a_cast_pays_with_sectors_what_it_saves_in_copies():
    """Eight bytes per gathered x in place of four: up to twice the sectors for x."""
    A = stepping_matrix(poisson((8, 8, 32)))
    fused, cast = (profiles(way, A, 4)[0] for way in ("fused", "cast"))
    x_sectors = {name: p.by_array[name].global_load.sectors for p, name in ((fused, "x32"), (cast, "x"))}
    assert 1.2 * x_sectors["x32"] < x_sectors["x"] <= 2 * x_sectors["x32"]


def test_memory_per_row_is_as_the_table_says():
    x = first_x(10)
    assert {way: vectors_for(way, x).nbytes // 10 for way in WAYS} == {
        "naive": 20,
        "cast": 16,
        "fused": 24,
        "hybrid": 20,
    }


# ---- what is refused


@pytest.mark.parametrize("name", ["poisson_2d", "poisson_3d", "tetrahedral", "power_law_symmetric"])
def test_a_matrix_to_step_with_never_makes_x_larger(name):
    A = stepping_matrix(problem(name, size=200 if name.startswith("power") else 6).matrix, "float64")
    sums = np.bincount(np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), np.abs(A.data))
    assert sums.max() <= 1 + 1e-15


def test_a_matrix_without_a_diagonal_is_named():
    with pytest.raises(CourseError, match="Row 1 of A has no diagonal entry, and I - A needs one"):
        stepping_matrix(csr_array(np.array([[1.0, 1.0], [1.0, 0.0]])))


def test_vectors_that_do_not_fit_the_way_are_named():
    A = stepping_matrix(poisson((4, 4))).to_device()
    naive = vectors_for("naive", first_x(16)).to_device()
    with pytest.raises(
        CourseError, match="These vectors are x32, x64, y64, but the fused way needs x32, x64, y32, y64"
    ):
        swaps.swap_fused(A, naive)
    with pytest.raises(CourseError, match="way is 'lazy': choose from naive, cast, fused, hybrid"):
        vectors_for("lazy", first_x(16))
    with pytest.raises(CourseError, match="x has dtype float32"):
        vectors_for("naive", np.ones(16, "float32"))
    with pytest.raises(CourseError, match=r"x64 has shape \(15,\), expected \(16,\)"):
        swaps.swap_cast(A, vectors_for("cast", first_x(15)).to_device())
    with pytest.raises(CourseError, match="x64 lives in host memory"):
        swaps.swap_cast(A, vectors_for("cast", first_x(16)))
    with pytest.raises(CourseError, match="x64 and y64 share memory"):
        swaps.swap_cast(A, Vectors(x64=naive.x64, y64=naive.x64))
    with pytest.raises(CourseError, match="A must be square"):
        swaps.swap_cast(Csr.from_scipy(csr_array(np.ones((2, 3)))).to_device(), naive)
    with pytest.raises(CourseError, match="A lives in host memory"):
        swaps.swap_naive(stepping_matrix(poisson((4, 4))), naive)
    single = Vectors(x64=naive.x64, y64=cuda.to_device(np.ones(16, "float32")))
    with pytest.raises(CourseError, match="y64 has dtype float32, expected float64"):
        swaps.swap_cast(A, single)
