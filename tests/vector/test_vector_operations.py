"""The streaming operations: one test body for every implementation, against arithmetic in longer precision."""

import math

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.vector import cpu_c, gpu_numba, reference

PAD = 7  # elements before and after each output that must stay as they are
GUARD = -77.0
SCALAR = -1.7
DEGREE = 5

# operation: (arguments before the output, the result in longer precision)
OPERATIONS = {
    "copy": (lambda a, b: (a,), lambda a, b: a),
    "scale": (lambda a, b: (a, SCALAR), lambda a, b: scalar(a) * a),
    "add": (lambda a, b: (a, b), lambda a, b: a + b),
    "triad": (lambda a, b: (a, b, SCALAR), lambda a, b: a + scalar(a) * b),
    "horner": (lambda a, b: (a, DEGREE), lambda a, b: sum(a**k for k in range(DEGREE + 1))),
}


def scalar(a):
    """The scalar as the operation sees it: rounded to the precision of the vectors."""
    return np.longdouble(np.float32(SCALAR) if a.eps > 1e-10 else SCALAR)


class Exact(np.ndarray):
    """Vectors in longer precision that remember where they came from."""

    eps = 0.0


def exact(a):
    longer = a.astype(np.longdouble).view(Exact)
    longer.eps = float(np.finfo(a.dtype).eps)
    return longer


def run(backend, operation, a, b):
    """Run one operation on an output full of NaN between guards; return the output after checking the rest."""
    n = a.size
    buffer = np.full(n + 2 * PAD, GUARD, a.dtype)
    buffer[PAD : PAD + n] = np.nan
    device_a, device_b, device_buffer = backend.put(a), backend.put(b), backend.put(buffer)
    before, _ = OPERATIONS[operation]
    getattr(backend.ops, operation)(*before(device_a, device_b), device_buffer[PAD : PAD + n])
    found = backend.get(device_buffer)
    assert np.all(found[:PAD] == GUARD), "written before the beginning"
    assert np.all(found[PAD + n :] == GUARD), "written beyond the end"
    np.testing.assert_array_equal(backend.get(device_a), a, err_msg="an input was changed")
    np.testing.assert_array_equal(backend.get(device_b), b, err_msg="an input was changed")
    return found[PAD : PAD + n]


@pytest.mark.parametrize(
    ("n", "dtype"), [*((n, "float64") for n in (1, 31, 256, 257, 600)), (31, "float32"), (257, "float32")]
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation(backend, operation, n, dtype, rng):
    a, b = (rng.uniform(-1, 1, n).astype(dtype) for _ in range(2))
    found = run(backend, operation, a, b)
    expected = OPERATIONS[operation][1](exact(a), exact(b)).astype(float)
    assert found.dtype == dtype
    tolerance = 0 if operation == "copy" else 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 257])
def test_dot(backend, n, dtype, rng):
    a, b = (rng.uniform(-1, 1, n).astype(dtype) for _ in range(2))
    device_a, device_b, out = backend.put(a), backend.put(b), backend.put(np.full(1, np.nan, dtype))
    backend.ops.dot(device_a, device_b, out)
    products = a.astype(float) * b.astype(float)
    np.testing.assert_allclose(
        backend.get(out),
        [math.fsum(products)],
        rtol=0,
        atol=4 * n * np.finfo(dtype).eps * max(1e-3, np.abs(products).max()),
    )
    np.testing.assert_array_equal(backend.get(device_a), a)
    np.testing.assert_array_equal(backend.get(device_b), b)


def test_dot_of_a_vector_with_itself(backend, rng):
    """The square of a norm: both inputs may be one array, since dot overwrites neither."""
    a = rng.uniform(-1, 1, 40)
    device_a, out = backend.put(a), backend.put(np.full(1, np.nan))
    backend.ops.dot(device_a, device_a, out)
    np.testing.assert_allclose(backend.get(out), [math.fsum(a * a)], rtol=1e-14)


def test_horner_of_degree_zero_and_one(backend, rng):
    a = rng.uniform(-1, 1, 40)
    out = backend.put(np.full(40, np.nan))
    backend.ops.horner(backend.put(a), 0, out)
    np.testing.assert_array_equal(backend.get(out), np.ones(40))
    backend.ops.horner(backend.put(a), 1, out)
    np.testing.assert_allclose(backend.get(out), 1 + a, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("stride", [1, 3, 8])
def test_copy_strided_takes_every_stride_th_element(backend, stride, dtype, rng):
    a = rng.uniform(-1, 1, 300 * stride - stride + 1).astype(dtype)  # not an element more than it needs
    buffer = np.full(300 + 2 * PAD, GUARD, dtype)
    buffer[PAD:-PAD] = np.nan
    device_buffer = backend.put(buffer)
    backend.ops.copy_strided(backend.put(a), stride, device_buffer[PAD:-PAD])
    found = backend.get(device_buffer)
    np.testing.assert_array_equal(found[PAD:-PAD], [a[stride * i] for i in range(300)])
    assert np.all(found[:PAD] == GUARD)
    assert np.all(found[-PAD:] == GUARD)


def test_a_stride_that_leads_out_of_the_vector_is_refused(checked):
    ops, put, put_elsewhere = checked
    a, out = put(np.ones(20)), put(np.full(4, GUARD))
    for stride, message in (
        (7, "a has 20 elements; 4 of them, 7 apart, need 22: pass a longer vector, or a shorter out"),
        (0, "stride is 0: elements lie at least 1 apart"),
        (-1, "stride"),
        (2.5, "stride"),
    ):
        with pytest.raises(CourseError, match=message):
            ops.copy_strided(a, stride, out)
    with pytest.raises(CourseError, match="memory"):
        ops.copy_strided(a, 2, put_elsewhere(np.ones(4)))
    with pytest.raises(CourseError, match="share memory"):
        ops.copy_strided(a, 1, a)
    with pytest.raises(CourseError, match="float32"):
        ops.copy_strided(a, 1, put(np.ones(4, "float32")))


# ---- what only the GPU's file has


@pytest.mark.parametrize("n", [1, 255, 256, 257, 511, 512, 513, 600])
def test_copy_of_two_elements_a_thread(n, rng):
    a = rng.uniform(-1, 1, n)
    buffer = np.full(n + 2 * PAD, GUARD)
    buffer[PAD : PAD + n] = np.nan
    device_buffer = cuda.to_device(buffer)
    gpu_numba.copy_two(cuda.to_device(a), device_buffer[PAD : PAD + n])
    found = device_buffer.copy_to_host()
    np.testing.assert_array_equal(found[PAD : PAD + n], a)
    assert np.all(found[:PAD] == GUARD)
    assert np.all(found[PAD + n :] == GUARD)


def test_dot_with_fewer_blocks_than_elements_walks_on(rng):
    a, b = rng.uniform(-1, 1, 600), rng.uniform(-1, 1, 600)
    out, partial = cuda.to_device(np.full(1, np.nan)), cuda.to_device(np.full(1, np.nan))
    gpu_numba.dot(cuda.to_device(a), cuda.to_device(b), out, partial=partial)
    np.testing.assert_allclose(out.copy_to_host(), [math.fsum(a * b)], atol=1e-13)


def test_dot_ignores_partial_sums_of_an_earlier_call(rng):
    a, b = rng.uniform(-1, 1, 20), rng.uniform(-1, 1, 20)
    out, partial = cuda.to_device(np.full(1, np.nan)), cuda.to_device(np.full(8, np.nan))
    gpu_numba.dot(cuda.to_device(a), cuda.to_device(b), out, partial=partial)
    np.testing.assert_allclose(out.copy_to_host(), [math.fsum(a * b)], atol=1e-14)


def test_the_last_block_sums_more_partial_sums_than_it_has_threads(rng):
    partial = rng.uniform(-1, 1, 3 * gpu_numba.THREADS_PER_BLOCK + 5)
    out = cuda.to_device(np.full(1, np.nan))
    gpu_numba.sum_kernel[1, gpu_numba.THREADS_PER_BLOCK](cuda.to_device(partial), out)
    np.testing.assert_allclose(out.copy_to_host(), [math.fsum(partial)], atol=1e-12)


def test_memory_for_partial_sums():
    assert gpu_numba.partial_sums().shape == (gpu_numba.DOT_BLOCKS,)


# ---- C with OpenMP


needs_gcc = pytest.mark.skipif(not cpu_c.available(), reason="gcc with OpenMP is not installed")


@needs_gcc
@pytest.mark.parametrize("n", [1, 31, 257, 600])
def test_triad_in_c_equals_the_reference(n, rng):
    a, b = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    buffer = np.full(n + 2 * PAD, GUARD)
    buffer[PAD : PAD + n] = np.nan
    expected = np.empty(n)
    reference.triad(a, b, SCALAR, expected)
    cpu_c.triad(a, b, SCALAR, buffer[PAD : PAD + n])
    np.testing.assert_allclose(buffer[PAD : PAD + n], expected, rtol=0, atol=1e-15)
    assert np.all(buffer[:PAD] == GUARD)
    assert np.all(buffer[PAD + n :] == GUARD)


def test_triad_in_c_checks_its_arguments():
    a, b, out = np.ones(4), np.ones(4), np.ones(4)
    with pytest.raises(CourseError, match="a has dtype float32, expected float64"):
        cpu_c.triad(a.astype("float32"), b, 1.0, out)
    with pytest.raises(CourseError, match="out has shape"):
        cpu_c.triad(a, b, 1.0, out[:3])
    with pytest.raises(CourseError, match="b and out share memory"):
        cpu_c.triad(a, b, 1.0, b)


def test_without_gcc_the_fix_is_reported(monkeypatch):
    monkeypatch.setattr(cpu_c.shutil, "which", lambda name: None)
    monkeypatch.setattr(cpu_c, "_library", cpu_c._library.__wrapped__)
    with pytest.raises(CourseError, match="gcc was not found: install it"):
        cpu_c.triad(np.ones(3), np.ones(3), 1.0, np.ones(3))
    assert not cpu_c.available()


@needs_gcc
def test_what_gcc_says_is_passed_on(monkeypatch):
    monkeypatch.setattr(cpu_c, "SOURCE", "this is no C")
    monkeypatch.setattr(cpu_c, "_library", cpu_c._library.__wrapped__)
    with pytest.raises(CourseError, match=r"gcc could not compile the C triad: .*triad\.c"):
        cpu_c._library()
    assert not cpu_c.available()
