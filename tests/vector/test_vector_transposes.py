"""The transpose: one test body for every implementation, equal to the last bit."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.vector import gpu_numba
from course_pkg.vector.gpu_numba import transposes

GUARD = -77.0
SHAPES = [(1, 1), (1, 70), (70, 1), (7, 9), (8, 8), (31, 33), (32, 32), (33, 31), (45, 70), (64, 96)]


def variants(ops):
    """Every function of a room that transposes."""
    return [ops.transpose] if ops is not gpu_numba else [ops.transpose_naive, ops.transpose_tiled]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_become_columns(backend, shape, dtype, rng):
    a = rng.uniform(-1, 1, shape).astype(dtype)
    for function in variants(backend.ops):
        buffer = np.full((shape[1] + 2, shape[0]), GUARD, dtype)
        buffer[1:-1] = np.nan
        device_a, device_buffer = backend.put(a), backend.put(buffer)
        function(device_a, device_buffer[1:-1])
        found = backend.get(device_buffer)
        expected = [[a[y, x] for y in range(shape[0])] for x in range(shape[1])]
        np.testing.assert_array_equal(found[1:-1], expected, err_msg=function.__name__)
        assert np.all(found[[0, -1]] == GUARD), "written beside the output"
        np.testing.assert_array_equal(backend.get(device_a), a, err_msg="the input was changed")


@pytest.mark.parametrize("padding", [0, 1, 2, 31, np.int32(5)])
def test_padding_changes_no_number(padding, rng):
    a = rng.uniform(-1, 1, (45, 70))
    out = cuda.to_device(np.full((70, 45), np.nan))
    gpu_numba.transpose_tiled(cuda.to_device(a), out, padding)
    np.testing.assert_array_equal(out.copy_to_host(), a.T)


def test_a_kernel_is_made_once_for_each_padding():
    assert gpu_numba.transpose_tiled_kernel(0) is gpu_numba.transpose_tiled_kernel(0)
    assert gpu_numba.transpose_tiled_kernel(0) is not gpu_numba.transpose_tiled_kernel(1)


# ---- wrong arguments


def test_wrong_arguments_are_named_before_anything_is_written(checked):
    ops, put, put_wrong = checked
    a, out = put(np.ones((4, 6))), put(np.full((6, 4), GUARD))
    square = put(np.ones((4, 4)))
    for function in variants(ops):
        for arguments, message in (
            ((put(np.ones((4, 6), "int32")), out), "a has dtype int32, expected float64 or float32"),
            ((put(np.ones(24)), out), r"a has 1 dimension\(s\), expected 2"),
            ((put(np.ones((0, 6))), put(np.ones((6, 0)))), r"a has shape \(0, 6\): at least 1"),
            ((put(np.ones((4, 12)))[:, ::2], out), "a is not C-contiguous"),
            ((put_wrong(np.ones((4, 6))), out), "a lives in (host|GPU) memory"),
            (([[1.0]], out), "a is a list"),
            ((a, put(np.ones((6, 4), "float32"))), "out has dtype float32, expected float64"),
            ((a, put(np.ones((4, 6)))), r"out has shape \(4, 6\), expected \(6, 4\): make it with"),
            ((a, put(np.ones(24))), r"out has shape \(24,\), expected \(6, 4\)"),
            ((a, put(np.ones((6, 8)))[:, ::2]), "out is not C-contiguous"),
            ((a, put_wrong(np.ones((6, 4)))), "out lives in (host|GPU) memory"),
            ((a, a.reshape(6, 4)), "a and out share memory"),
            ((square, square), "a and out share memory"),
        ):
            with pytest.raises(CourseError, match=message):
                function(*arguments)
    for array, before in ((a, 1), (out, GUARD), (square, 1)):
        assert np.all((array if isinstance(array, np.ndarray) else array.copy_to_host()) == before)


@pytest.mark.parametrize(
    ("padding", "message"),
    [
        (-1, "padding is -1: it must be an integer of at least 0"),
        (1.0, "padding is 1.0: it must be an integer"),
        (True, "padding is True"),
        (32, "padding is 32: choose 0 to 31; 32 columns lead back to the same bank"),
    ],
)
def test_a_padding_that_makes_no_sense_is_refused(padding, message):
    a, out = cuda.to_device(np.ones((4, 6))), cuda.to_device(np.full((6, 4), GUARD))
    with pytest.raises(CourseError, match=message):
        gpu_numba.transpose_tiled(a, out, padding)
    assert np.all(out.copy_to_host() == GUARD)


@pytest.mark.parametrize(
    ("name", "most"), [("transpose_naive", 8 * 65_535), ("transpose_tiled", 32 * 65_535)]
)
def test_more_rows_than_a_launch_reaches_are_refused(monkeypatch, name, most):
    class Tall:
        dtype, shape = np.dtype("float64"), (most + 1, 4)

    monkeypatch.setattr(transposes, "check_transpose", lambda a, out, device: None)
    with pytest.raises(CourseError, match=f"a has {most + 1} rows, .* at most {most} rows"):
        getattr(gpu_numba, name)(Tall(), Tall())
    rows = gpu_numba.TILE if name == "transpose_tiled" else gpu_numba.BLOCK_TRANSPOSE[1]
    assert transposes._blocks((most, 4), rows) == (1, 65_535)
