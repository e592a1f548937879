"""Sums and cumulative sums: one test body for every implementation, against arithmetic in longer precision."""

import math

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.core import CourseError, Library
from course_pkg.core.checks import require_distinct
from course_pkg.vector import cost, gpu_numba
from course_pkg.vector import variants as listed
from course_pkg.vector.gpu_numba import sums

PAD = 7  # elements before and after each output that must stay as they are
GUARD = -77.0
PRECISIONS = ("float64", "float32")
THREADS = gpu_numba.THREADS_PER_BLOCK
ON_GPU = listed.VARIANTS.of("reduce_sum", Library.NUMBA_CUDA)
REDUCTIONS = [v.function_name for v in ON_GPU]
IN_BLOCKS = [v.function_name for v in ON_GPU if v.cost is listed.in_blocks]
SCANS = ("cumsum_columns", "cumsum_rows")


def variants(ops, operation):
    """Every function of a module that computes the operation."""
    if ops is not gpu_numba:
        return [getattr(ops, operation)]
    return [v.function(Library.NUMBA_CUDA) for v in listed.VARIANTS.of(operation, Library.NUMBA_CUDA)]


def test_no_variant_is_left_out():
    assert len(REDUCTIONS) >= 3 and 2 <= len(IN_BLOCKS) < len(REDUCTIONS)
    assert len(variants(gpu_numba, "cumsum_rows")) >= 2


def tolerance(backend, a, terms, largest):
    """Of sums of ``terms`` numbers in [-1, 1]: made in double, by CuPy in their own precision, then rounded once."""
    made_in = a.dtype if backend.name == "gpu_cupy" else np.dtype("float64")
    return 4 * terms * np.finfo(made_in).eps + np.finfo(a.dtype).eps * abs(largest)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n", [1, 31, 32, 33, 255, 256, 257, 600, THREADS**2 + 1])
def test_reduction(backend, n, dtype, rng):
    a = rng.uniform(-1, 1, n).astype(dtype)
    exact = math.fsum(a.astype(float))
    for function in variants(backend.ops, "reduce_sum"):
        device_a, buffer = backend.put(a), backend.put(np.full(1 + 2 * PAD, GUARD, dtype))
        function(device_a, buffer[PAD : PAD + 1])
        found = backend.get(buffer)
        error = abs(float(found[PAD]) - exact)
        assert error <= tolerance(backend, a, n, exact), function.__name__
        assert np.all(np.delete(found, PAD) == GUARD), "written beside the sum"
        np.testing.assert_array_equal(backend.get(device_a), a, err_msg="the input was changed")


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 70), (70, 1), (8, 32), (9, 33), (61, 75), (64, 64), (130, 65)])
@pytest.mark.parametrize("operation", SCANS)
def test_cumulative_sum(backend, operation, shape, dtype, rng):
    a = rng.uniform(-1, 1, shape).astype(dtype)
    axis = 0 if operation == "cumsum_columns" else 1
    exact = np.cumsum(a.astype(np.longdouble), axis=axis).astype(float)
    for function in variants(backend.ops, operation):
        buffer = np.full((shape[0] + 2, shape[1]), GUARD, dtype)
        buffer[1:-1] = np.nan
        device_a, device_buffer = backend.put(a), backend.put(buffer)
        function(device_a, device_buffer[1:-1])
        found = backend.get(device_buffer)
        atol = tolerance(backend, a, shape[axis], np.abs(exact).max())
        np.testing.assert_allclose(found[1:-1], exact, rtol=0, atol=atol, err_msg=function.__name__)
        assert np.all(found[[0, -1]] == GUARD), "written beside the output"
        np.testing.assert_array_equal(backend.get(device_a), a, err_msg="the input was changed")


@pytest.mark.parametrize("operation", ["reduce_sum", *SCANS])
def test_many_small_numbers_are_not_lost_beside_a_large_one(backend, operation):
    """2^24 + 1 is no float32: only a sum in double sees the ones that follow."""
    if backend.name == "gpu_cupy":
        return  # CuPy sums in the precision of the array
    shape = {"reduce_sum": (101,), "cumsum_columns": (101, 1), "cumsum_rows": (1, 101)}[operation]
    a = np.ones(shape, "float32")
    a.ravel()[0] = 2**24
    for function in variants(backend.ops, operation):
        out = backend.put(np.zeros(1 if operation == "reduce_sum" else shape, "float32"))
        function(backend.put(a), out)
        assert backend.get(out).ravel()[-1] == 2**24 + 100, function.__name__


@pytest.mark.parametrize("name", [*REDUCTIONS, "dot"])
def test_the_last_digit_is_the_same_in_every_run(name, rng):
    a, b = (cuda.to_device(rng.uniform(-1, 1, 3000)) for _ in range(2))
    found = set()
    for _ in range(3):
        out = cuda.to_device(np.full(1, np.nan))
        getattr(gpu_numba, name)(*((a, b) if name == "dot" else (a,)), out)
        found.add(float(out.copy_to_host()[0]))
    assert len(found) == 1


# ---- memory for the blocks' sums


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_sum_ignores_what_is_in_the_memory_for_partial_sums(name, rng):
    n = THREADS**2 + 300
    a, out = rng.uniform(-1, 1, n), cuda.to_device(np.full(1, np.nan))
    partial = cuda.to_device(np.full(gpu_numba.partial_sums(n).size, np.nan))
    for _ in range(2):
        getattr(gpu_numba, name)(cuda.to_device(a), out, partial=partial)
        np.testing.assert_allclose(out.copy_to_host(), [math.fsum(a)], rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", IN_BLOCKS)
def test_no_launch_writes_over_what_it_reads(name, monkeypatch):
    """Its blocks come in any order; the interpreter's order would not show it."""
    kernel, launches = getattr(sums, f"{name}_kernel"), []

    class Watched:
        def __getitem__(self, configuration):
            def launch(values, out):
                require_distinct(values=values, out=out)
                launches.append(values.size)
                kernel[configuration](values, out)

            return launch

    monkeypatch.setattr(sums, f"{name}_kernel", Watched())
    n = THREADS**2 + 300
    out = cuda.to_device(np.full(1, np.nan))
    getattr(gpu_numba, name)(cuda.to_device(np.ones(n)), out)
    assert launches == [n, THREADS + 2, 2]
    assert out.copy_to_host()[0] == n


def test_a_grid_stride_with_one_block_walks_through_everything(rng):
    a, out = rng.uniform(-1, 1, 3000), cuda.to_device(np.full(1, np.nan))
    gpu_numba.reduce_sum_grid_stride(cuda.to_device(a), out, partial=cuda.to_device(np.full(1, np.nan)))
    np.testing.assert_allclose(out.copy_to_host(), [math.fsum(a)], rtol=0, atol=1e-12)


def test_the_memory_for_partial_sums_suffices_and_is_not_wasted():
    for n in (1, 256, 257, 2**16, 2**16 + 1, 2**28):
        assert gpu_numba.partial_sums(n).size == max(gpu_numba.DOT_BLOCKS, cost.sums_kept(n, THREADS))
    with pytest.raises(CourseError, match="n is -1: it must be an integer of at least 0"):
        gpu_numba.partial_sums(-1)


@pytest.mark.parametrize("name", [*REDUCTIONS, "dot"])
def test_wrong_memory_for_partial_sums_is_named(name):
    a, out = cuda.to_device(np.ones(600)), cuda.to_device(np.full(1, GUARD))
    inputs = (a, cuda.to_device(np.ones(600))) if name == "dot" else (a,)
    wrong = [
        (np.zeros(3), "partial lives in host memory"),
        (cuda.to_device(np.zeros(3, "float32")), "partial has dtype float32, expected float64"),
        (cuda.to_device(np.zeros((3, 3))), r"partial has 2 dimension\(s\), expected 1"),
        (cuda.to_device(np.zeros(6))[::2], "partial is not C-contiguous"),
        (a, "a and partial share memory"),
        (out, "out and partial share memory"),
        ([0.0] * 3, "partial is a list"),
    ]
    if name in IN_BLOCKS:
        few = cuda.to_device(np.zeros(2))
        wrong[-2] = (few, r"partial has 2 elements but needs 3: make it with partial_sums\(600\)")
    for partial, message in wrong:
        with pytest.raises(CourseError, match=message):
            getattr(gpu_numba, name)(*inputs, out, partial=partial)
    assert out.copy_to_host()[0] == GUARD


# ---- wrong arguments


def refuse(functions, wrong):
    for function in functions:
        for arguments, message in wrong:
            with pytest.raises(CourseError, match=message):
                function(*arguments)


def test_wrong_arguments_of_a_reduction_are_named_before_anything_is_written(checked):
    ops, put, put_wrong = checked
    a, out = put(np.ones(8)), put(np.full(1, GUARD))
    wrong = [
        ((put(np.ones(8, "int64")), out), "a has dtype int64, expected float64 or float32"),
        ((put(np.ones((2, 4))), out), r"a has 2 dimension\(s\), expected 1"),
        ((put(np.ones(0)), out), r"a has shape \(0,\): at least 1"),
        ((put(np.ones((8, 2)))[:, 0], out), "a is not C-contiguous"),
        ((put_wrong(np.ones(8)), out), "a lives in (host|GPU) memory"),
        (([1.0] * 8, out), "a is a list"),
        ((a, put(np.zeros(1, "float32"))), "out has dtype float32, expected float64"),
        ((a, put(np.zeros(2))), r"out has shape \(2,\), expected \(1,\)"),
        ((a, put_wrong(np.zeros(1))), "out lives in (host|GPU) memory"),
        ((a, 0.0), "out is a float"),
        ((a, a[3:4]), "a and out share memory"),
    ]
    refuse(variants(ops, "reduce_sum"), wrong)
    assert np.all((out if isinstance(out, np.ndarray) else out.copy_to_host()) == GUARD)
    assert np.all((a if isinstance(a, np.ndarray) else a.copy_to_host()) == 1)


@pytest.mark.parametrize("operation", SCANS)
def test_wrong_arguments_of_a_cumulative_sum_are_named_before_anything_is_written(checked, operation):
    ops, put, put_wrong = checked
    a, out = put(np.ones((4, 6))), put(np.full((4, 6), GUARD))
    wrong = [
        ((put(np.ones((4, 6), "int32")), out), "a has dtype int32, expected float64 or float32"),
        ((put(np.ones(24)), put(np.ones(24))), r"a has 1 dimension\(s\), expected 2"),
        ((put(np.ones((0, 6))), put(np.ones((0, 6)))), r"a has shape \(0, 6\): at least 1"),
        ((put_wrong(np.ones((4, 6))), out), "a lives in (host|GPU) memory"),
        ((a, put(np.ones((4, 6), "float32"))), "out has dtype float32 but a has float64"),
        ((a, put(np.ones((6, 4)))), r"out has shape \(6, 4\) but a has \(4, 6\)"),
        ((a, put(np.ones((4, 12)))[:, ::2]), "out is not C-contiguous"),
        ((a, put_wrong(np.ones((4, 6)))), "out lives in (host|GPU) memory"),
        ((a, [[1.0]]), "out is a list"),
        ((a, a), "a and out share memory"),
    ]
    refuse(variants(ops, operation), wrong)
    assert np.all((out if isinstance(out, np.ndarray) else out.copy_to_host()) == GUARD)
