"""Wrong arguments of a product: each is named before anything is written."""

import numpy as np
import pytest
import scipy.sparse as sp

from course_pkg import cuda
from course_pkg.core import CourseError, Library
from course_pkg.spmv import cpu_numba, gpu_numba
from course_pkg.spmv.formats import Csr, CsrBalanced, SellCSigma
from course_pkg.spmv.tuning import lanes_for
from course_pkg.spmv.variants import FORMATS, VARIANTS

A = sp.csr_array(np.arange(1.0, 13.0).reshape(3, 4))
GUARD = -77.0
ON_GPU = {v.function_name: v.function(Library.NUMBA_CUDA) for v in VARIANTS.of("spmv", Library.NUMBA_CUDA)}
WAYS = {"cpu": cpu_numba.spmv, **ON_GPU}


@pytest.fixture(params=WAYS)
def way(request):
    """A product, its matrix where it belongs, how to put arrays there, and how to put them elsewhere."""
    if request.param == "cpu":
        return WAYS["cpu"], Csr.from_scipy(A), np.array, cuda.to_device
    host = FORMATS[request.param].from_scipy(A)
    return WAYS[request.param], host.to_device(), cuda.to_device, np.array


def test_wrong_vectors_are_named(way):
    product, M, put, put_wrong = way
    x, y = put(np.ones(4)), put(np.full(3, GUARD))
    wrong = [
        ((x, put(np.ones(4))), "y has 4 elements, but A has 3 rows"),
        ((put(np.ones(3)), y), "x has 3 elements, but A has 4 columns"),
        ((put(np.ones((4, 1))), y), r"x has 2 dimension\(s\), expected 1"),
        ((put(np.ones(4, "int64")), y), "x has dtype int64, expected float64 or float32"),
        ((x, put(np.ones(3, "float32"))), "y has dtype float32, expected float64"),
        ((put(np.ones(4, "float32")), put(np.ones(3, "float32"))), "A has dtype float64 but x has float32"),
        ((put_wrong(np.ones(4)), y), "x lives in (host|GPU) memory"),
        ((x, put_wrong(np.ones(3))), "y lives in (host|GPU) memory"),
        (([1.0] * 4, y), "x is a list"),
        ((put(np.ones(8))[::2], y), "x is not C-contiguous"),
        ((x, x[1:4]), "x and y share memory"),
    ]
    for arguments, message in wrong:
        with pytest.raises(CourseError, match=message):
            product(M, *arguments)
    assert np.all((y if isinstance(y, np.ndarray) else y.copy_to_host()) == GUARD)


def test_a_result_may_not_lie_in_the_matrix(way):
    product, M, put, _ = way
    with pytest.raises(CourseError, match="data and y share memory"):
        product(M, put(np.ones(4)), M.data[:3])


def test_a_wrong_matrix_is_named(way):
    product, M, put, _ = way
    x, y = put(np.ones(4)), put(np.ones(3))
    other = SellCSigma if type(M) is not SellCSigma else Csr
    name = type(M).__name__
    for wrong in (A, other.from_scipy(A), np.ones((3, 4))):
        with pytest.raises(
            CourseError, match=rf"but this function takes a {name}: make it with {name}.from_scipy"
        ):
            product(wrong, x, y)
    if product is cpu_numba.spmv:
        with pytest.raises(CourseError, match="A lives in GPU memory but this function runs on the CPU"):
            product(M.to_device(), x, y)
    else:
        with pytest.raises(CourseError, match=r"A lives in host memory .* pass A.to_device\(\)"):
            product(type(M).from_scipy(A), x, y)


def test_wrong_settings_of_a_launcher_are_named():
    x, y = cuda.to_device(np.ones(4)), cuda.to_device(np.full(3, GUARD))
    rows, slices = Csr.from_scipy(A).to_device(), SellCSigma.from_scipy(A).to_device()
    tiles = CsrBalanced.from_scipy(A, tile=256).to_device()
    wrong = [
        (
            lambda: gpu_numba.spmv_csr_vector(rows, x, y, lanes=3),
            "lanes is 3: a row is shared by 2, 4, 8, 16, 32",
        ),
        (lambda: gpu_numba.spmv_csr_vector(rows, x, y, lanes=64), "lanes is 64"),
        (lambda: gpu_numba.spmv_sell(slices, x, y, unroll=0), "unroll is 0: a thread asks for at least 1"),
        (lambda: gpu_numba.spmv_sell(slices, x, y, unroll=-1), "unroll is -1: it must be an integer"),
        (
            lambda: gpu_numba.spmv_csr_balanced(CsrBalanced.from_scipy(A, tile=100).to_device(), x, y),
            "A.tile is 100: the kernel takes a multiple of 256",
        ),
        (lambda: gpu_numba.spmv_csr_balanced(tiles, x, y, carry=y), "y and carry share memory"),
        (lambda: gpu_numba.spmv_csr_balanced(tiles, x, y, carry=np.ones(1)), "carry lives in host memory"),
        (
            lambda: gpu_numba.spmv_csr_balanced(tiles, x, y, carry=cuda.to_device(np.ones(1, "float32"))),
            "carry has dtype float32, expected float64",
        ),
        (
            lambda: gpu_numba.spmv_csr_balanced(tiles, x, y, carry=cuda.to_device(np.ones(0))),
            r"carry has shape \(0,\)|carry has 0 elements but needs 2",
        ),
    ]
    for call, message in wrong:
        with pytest.raises(CourseError, match=message):
            call()
    assert np.all(y.copy_to_host() == GUARD)


@pytest.mark.parametrize(
    ("mean", "lanes"), [(0, 2), (1, 2), (3, 2), (4, 4), (7, 4), (8, 8), (31, 16), (32, 32), (100, 32)]
)
def test_a_row_is_shared_by_no_more_lanes_than_it_is_long(mean, lanes):
    dense = np.zeros((3, 128))
    dense[:, :mean] = 1.0
    assert lanes_for(Csr.from_scipy(sp.csr_array(dense))) == lanes
