"""The compiled permutations: one test body for every implementation, equal to the oracle to the last bit."""

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.permutation import cpu_numba, gpu_numba, reference
from course_pkg.permutation.checks import check_csr
from course_pkg.permutation.csr import CSR, empty_like
from course_pkg.permutation.problem import problem

PAD, GUARD = 7, -77.0
TYPES = [("float64", "int32"), ("float32", "int32"), ("float64", "int64")]  # each is compiled anew


@pytest.mark.parametrize("operation", ["permute_vector", "unpermute_vector"])
@pytest.mark.parametrize(("dtype", "index"), TYPES)
@pytest.mark.parametrize("n", [1, 31, 256, 257, 1000])
def test_vectors(backend, operation, n, dtype, index, rng):
    perm, x = rng.permutation(n).astype(index), rng.random(n).astype(dtype)
    buffer = np.full(n + 2 * PAD, GUARD, dtype)
    buffer[PAD:-PAD] = np.nan
    device_perm, device_x, device_buffer = backend.put(perm), backend.put(x), backend.put(buffer)
    getattr(backend.ops, operation)(device_perm, device_x, device_buffer[PAD : PAD + n])
    found = backend.get(device_buffer)
    np.testing.assert_array_equal(found[PAD:-PAD], getattr(reference, operation)(perm, x))
    assert np.all(found[:PAD] == GUARD) and np.all(found[-PAD:] == GUARD), "written beside the output"
    np.testing.assert_array_equal(backend.get(device_perm), perm, err_msg="an input was changed")
    np.testing.assert_array_equal(backend.get(device_x), x, err_msg="an input was changed")


def test_a_gather_is_undone_by_a_scatter_and_is_a_scatter_by_the_inverse(backend, rng):
    perm, x = rng.permutation(500).astype("int32"), rng.random(500)
    once, twice, by_inverse = (backend.put(np.full(500, np.nan)) for _ in range(3))
    backend.ops.permute_vector(backend.put(perm), backend.put(x), once)
    backend.ops.unpermute_vector(backend.put(perm), once, twice)
    np.testing.assert_array_equal(backend.get(twice), x)
    backend.ops.unpermute_vector(backend.put(reference.invert(perm)), backend.put(x), by_inverse)
    np.testing.assert_array_equal(backend.get(by_inverse), backend.get(once))


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("n", [1, 255, 300])
def test_the_inverse_on_a_gpu(n, index, rng):
    from course_pkg import cuda

    perm = rng.permutation(n).astype(index)
    inverse = cuda.to_device(np.full(n, -1, "int32"))
    gpu_numba.invert(cuda.to_device(perm), inverse)
    np.testing.assert_array_equal(inverse.copy_to_host(), np.argsort(perm))


# ---- matrices


def each(function, matrix):
    """Return a matrix whose three arrays are what the function makes of them."""
    return CSR(*(function(part) for part in (matrix.indptr, matrix.indices, matrix.data)), matrix.shape)


def permuted(backend, operation, perm, A):
    """Permute a matrix into memory that is full of NaN and 85; check that the input stays as it is."""
    given = each(backend.put, A)
    out = empty_like(A)
    for part, value in zip(out, (85, 85, np.nan), strict=False):
        part[...] = value
    out = each(backend.put, out)
    getattr(backend.ops, operation)(backend.put(perm), given, out)
    for part, before in zip(each(backend.get, given)[:3], (A.indptr, A.indices, A.data), strict=True):
        np.testing.assert_array_equal(part, before, err_msg="the matrix was changed")
    return each(backend.get, out)


def assert_same(found, expected):
    check_csr(found)
    assert found.shape == expected.shape and found.data.dtype == expected.data.dtype
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part), err_msg=part)


@pytest.mark.family
@pytest.mark.parametrize("operation", ["permute_rows", "permute_symmetric"])
@pytest.mark.parametrize(("dtype", "index"), TYPES)
@pytest.mark.parametrize("n", [1, 8, 77])
def test_matrices(backend, operation, n, dtype, index, draw, rng):
    """With empty rows, and with a full row that is longer than two warps."""
    A, perm = draw(n, n, dtype=dtype), rng.permutation(n).astype(index)
    assert_same(permuted(backend, operation, perm, A), getattr(reference, operation)(perm, A))


def test_rows_of_a_rectangular_matrix(backend, draw, rng):
    A, perm = draw(13, 90), rng.permutation(13)
    assert_same(permuted(backend, "permute_rows", perm, A), reference.permute_rows(perm, A))


@pytest.mark.parametrize(("name", "size"), [("power_law", 600), ("tetrahedral", 7), ("bar", None)])
@pytest.mark.parametrize("operation", ["permute_rows", "permute_symmetric"])
def test_real_matrices_there_and_back(backend, operation, name, size):
    A = problem(name, size).matrix
    perm = reference.random_permutation(A.shape[0], seed=3)
    there = permuted(backend, operation, perm, A)
    assert_same(there, getattr(reference, operation)(perm, A))
    assert_same(permuted(backend, operation, reference.invert(perm), there), A)


# ---- wrong arguments


@pytest.fixture(params=["cpu_numba", "gpu_numba"])
def checked(request):
    """The implementations that run here, how to bring arrays to them, and how to bring them elsewhere."""
    from course_pkg import cuda

    if request.param == "cpu_numba":
        return cpu_numba, lambda array: array, cuda.to_device
    return gpu_numba, cuda.to_device, lambda array: array


@pytest.mark.parametrize("operation", ["permute_vector", "unpermute_vector"])
def test_wrong_vectors_are_named_before_anything_is_written(checked, operation):
    ops, put, put_elsewhere = checked
    perm, x, out = put(np.array([2, 0, 1])), put(np.ones(3)), put(np.full(3, GUARD))
    call = getattr(ops, operation)
    for arguments, message in (
        (([2, 0, 1], x, out), "perm is a list, not an array"),
        ((put(np.array([2.0, 0, 1])), x, out), "perm has dtype float64, expected int32 or int64"),
        ((put(np.array([1, 0])), x, out), "perm has 2 entries, but what it permutes has 3"),
        ((put_elsewhere(np.array([2, 0, 1])), x, out), "perm lives in (host|GPU) memory"),
        ((put(np.array([2, 9, 0, 9, 1]))[::2], x, out), "perm is not C-contiguous"),
        ((perm, put(np.ones(4)), out), r"out has shape \(3,\) but x has \(4,\)"),
        ((perm, put(np.ones((3, 1))), put(np.ones((3, 1)))), r"x has 2 dimension\(s\), expected 1"),
        ((perm, put(np.ones(3, "float32")), out), "out has dtype float64 but x has float32"),
        ((perm, put(np.ones(3, "int32")), out), "x has dtype int32, expected float64 or float32"),
        ((perm, put_elsewhere(np.ones(3)), out), "x lives in (host|GPU) memory"),
        ((perm, x, x), "x and out share memory"),
    ):
        with pytest.raises(CourseError, match=message):
            call(*arguments)
    np.testing.assert_array_equal(out if isinstance(out, np.ndarray) else out.copy_to_host(), GUARD)


@pytest.mark.parametrize("operation", ["permute_vector", "unpermute_vector"])
def test_on_a_cpu_an_index_out_of_range_touches_no_foreign_memory(operation):
    buffer = np.full(23, GUARD)
    for wrong, message in ((5, r"perm\[2\] is 5, but the places of 5"), (-1, r"perm\[2\] is -1")):
        perm = np.array([3, 0, wrong, 1, 4])
        with pytest.raises(CourseError, match=message):
            getattr(cpu_numba, operation)(perm, np.ones(5), buffer[9:14])
        assert np.all(buffer[:9] == GUARD) and np.all(buffer[14:] == GUARD)


@pytest.mark.parametrize("operation", ["permute_rows", "permute_symmetric"])
def test_wrong_matrices_are_named_before_anything_is_written(checked, operation, draw):
    ops, put, put_elsewhere = checked
    host = draw(3, 3, density=1)
    perm, A = put(np.array([2, 0, 1])), each(put, host)
    out = empty_like(host)
    out.data[:] = GUARD
    out = each(put, out)
    call = getattr(ops, operation)
    for arguments, message in (
        ((perm, host.toarray(), out), "A is a ndarray, not a matrix in compressed rows"),
        ((perm, A, np.ones(3)), "out is a ndarray, not a matrix in compressed rows"),
        (([2, 0, 1], A, out), "perm is a list"),
        ((put(np.array([1, 0])), A, out), "perm has 2 entries, but what it permutes has 3"),
        ((put_elsewhere(np.array([2, 0, 1])), A, out), "perm lives in (host|GPU) memory"),
        ((perm, A._replace(data=put_elsewhere(host.data)), out), "A.data lives in (host|GPU) memory"),
        ((perm, A._replace(data=put(host.data.astype("int32"))), out), "A.data has dtype int32"),
        ((perm, A._replace(indices=put(host.indices.astype("int64"))), out), "A.indices has dtype int64"),
        ((perm, A, out._replace(indptr=put(np.zeros(4, "int64")))), "out.indptr has dtype int64"),
        ((perm, A, out._replace(data=put(np.ones(2)))), r"out.data has shape \(2,\) but A.data has \("),
        ((perm, A, out._replace(data=put(host.data.astype("float32")))), "out.data has dtype float32"),
        ((perm, A, out._replace(indices=A.indices)), "A.indices and out.indices share memory"),
    ):
        with pytest.raises(CourseError, match=message):
            call(*arguments)
    np.testing.assert_array_equal(
        out.data if isinstance(out.data, np.ndarray) else out.data.copy_to_host(), GUARD
    )


def test_a_rectangular_matrix_has_no_symmetric_permutation(checked, draw):
    ops, put, _ = checked
    host = draw(3, 5)
    A, out = (each(put, M) for M in (host, empty_like(host)))
    with pytest.raises(CourseError, match="A has 3 rows and 5 columns, but must be square"):
        ops.permute_symmetric(put(np.array([2, 0, 1])), A, out)


@pytest.mark.parametrize("operation", ["permute_rows", "permute_symmetric"])
def test_on_a_cpu_values_are_checked_before_anything_is_written(operation, draw):
    A = draw(4, 4, density=1)
    out = empty_like(A)
    out.data[:] = GUARD
    call = getattr(cpu_numba, operation)
    with pytest.raises(CourseError, match=r"perm\[3\] is 1, as perm\[1\] is, and 2 is missing"):
        call(np.array([0, 1, 3, 1]), A, out)
    wrong = CSR(A.indptr, A.indices + np.int32(1), A.data, A.shape)
    with pytest.raises(CourseError, match="but the columns of A are 0 to 3"):
        call(np.array([0, 1, 3, 2]), wrong, out)
    assert np.all(out.data == GUARD)
