"""What is recorded of sparse products: found by matrix, order and precision, and never mixed."""

import pytest
from verify_cases import timed

from course_pkg import bench
from course_pkg.core import Cost, CourseError, Library
from course_pkg.spmv.suite_products import PRODUCT
from course_pkg.spmv.variants import VARIANTS
from course_pkg.vector.bound import COPY
from course_pkg.witness.products import Products

CUDA = Library.NUMBA_CUDA
SELL, SCALAR = VARIANTS["spmv_sell"], VARIANTS["spmv_csr_scalar"]
MESH = {"matrix": "tetrahedral", "dtype": "float64"}


@pytest.fixture
def products(tmp_path):
    must_move = Cost(bytes_read=80, bytes_written=40, known_bytes=100)
    rows = [
        timed(COPY, 1e-9, Cost(50, 50)),  # 100 GB/s
        timed(PRODUCT.by(Library.CUPY), 5e-9, must_move, **MESH),
        timed(SCALAR.by(CUDA), 4e-9, must_move, **MESH),
        timed(SELL.by(CUDA), 2e-9, Cost(150, 50, known_bytes=100), **MESH, sigma=1),
        timed(SELL.by(CUDA), 3e-9, must_move, **MESH, sigma=256),
        timed(SELL.by(CUDA), 1e-9, must_move, **(MESH | {"dtype": "float32"}), sigma=1),
        timed(SELL.by(CUDA), 1.1e-9, must_move, **MESH, values="float32", sigma=1),
        timed(SELL.by(CUDA), 1.2e-9, must_move, **MESH, order="natural", sigma=1),
        timed(VARIANTS["swap_hybrid"].by(CUDA), 7e-9, must_move, matrix="tetrahedral", dtype="float32"),
        timed(VARIANTS["jacobi_symmetric"].by(CUDA), 8e-9, must_move, **MESH, order="rcm"),
        timed(VARIANTS["spmv_csr_vector"].by(CUDA), 9e-9, must_move, matrix="tetrahedral_scaled", n=8),
        timed(VARIANTS["splitting_rows_apart"].by(CUDA), 6e-9, must_move, matrix="tetrahedral_scaled", n=8),
    ]
    return Products(bench.Recorded(bench.record("spmv", rows, tmp_path, origin="a test")))


def test_a_kernel_is_found_in_its_order_and_precision(products):
    assert products.one(SELL, "tetrahedral").median_s == 2e-9
    assert products.one(SELL, "tetrahedral", sigma=256).median_s == 3e-9
    assert products.one(SELL, "tetrahedral", "natural").median_s == 1.2e-9
    assert products.one(SELL, "tetrahedral", values="float32").median_s == 1.1e-9
    assert products.one(SELL, "tetrahedral", dtype="float32").median_s == 1e-9
    assert products.library("tetrahedral").median_s == 5e-9


def test_the_best_is_sought_among_our_kernels_in_double_precision_and_own_order(products):
    assert [m.median_s for m in products.ours("tetrahedral")] == [4e-9, 2e-9, 3e-9]
    best = products.best("tetrahedral")
    assert best.median_s == 2e-9
    assert products.over_bound(best) == pytest.approx(2e-9 / (120 / 100e9)), (
        "of the bytes of CSR, not of its own"
    )


def test_other_operations_are_found_by_their_ways(products):
    assert products.swap("hybrid", "tetrahedral").median_s == 7e-9
    assert products.jacobi("symmetric", "tetrahedral", "rcm").median_s == 8e-9
    assert products.splitting(None, "tetrahedral", 8).median_s == 9e-9
    assert products.splitting("rows_apart", "tetrahedral", 8).median_s == 6e-9
    with pytest.raises(CourseError, match="There is no recorded measurement"):
        products.swap("naive", "tetrahedral")


def test_memory_sends_64_bytes_for_each_of_doubles_that_lie_far_apart():
    sent = Products(bench.recorded("cg")).strided_bytes()
    assert [round(sent[k] / (8 * 2**24)) for k in (1, 2, 4, 8, 64)] == [1, 2, 4, 8, 8]
