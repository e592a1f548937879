"""The checks of arguments: each message names the argument and says how to fix it."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.checks import (
    byte_range,
    is_c_contiguous,
    on_device,
    require_arrays,
    require_count,
    require_distinct,
    require_ndim,
    require_number,
    require_positive,
    require_shape,
)

GOOD = np.ones((4, 5))


def test_good_arrays_pass():
    require_arrays(device=False, u=GOOD, out=np.empty_like(GOOD))
    require_arrays(device=False, u=GOOD.astype("float32"), out=np.empty((4, 5), "float32"))
    require_arrays(device=True, u=cuda.to_device(GOOD), out=cuda.to_device(GOOD))
    require_arrays(device=False, dtypes=("int32",), indices=np.ones(3, "int32"))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, 2.0], r"^out is a list, not an array: make one with numpy.asarray\(out\)"),
        (
            GOOD.astype("int64"),
            r"^out has dtype int64, expected float64 or float32: .*out\.astype\('float64'\)",
        ),
        (GOOD.astype("complex128"), r"^out has dtype complex128"),
        (GOOD[:3], r"^out has shape \(3, 5\) but u has \(4, 5\): they must be equal"),
        (GOOD.astype("float32"), r"^out has dtype float32 but u has float64: use one precision"),
        (np.ones((5, 4)).T, r"^out is not C-contiguous: pass numpy.ascontiguousarray\(out\)"),
        (np.ones((4, 10))[:, ::2], r"^out is not C-contiguous"),
    ],
)
def test_a_bad_array_is_named_with_its_fix(bad, message):
    with pytest.raises(CourseError, match=message):
        require_arrays(device=False, u=GOOD, out=bad)


def test_the_first_array_is_checked_too():
    with pytest.raises(CourseError, match=r"^u is a float"):
        require_arrays(device=False, u=1.0, out=GOOD)
    with pytest.raises(CourseError, match=r"^u has dtype int32"):
        require_arrays(device=False, u=GOOD.astype("int32"), out=GOOD.astype("int32"))
    with pytest.raises(CourseError, match=r"^u is not C-contiguous"):
        require_arrays(device=False, u=GOOD.T, out=np.ones((5, 4)))


def test_only_the_dtypes_asked_for_pass():
    with pytest.raises(
        CourseError, match=r"^a has dtype float32, expected float64: use a\.astype\('float64'\)"
    ):
        require_arrays(device=False, dtypes=("float64",), a=GOOD.astype("float32"))


def test_host_and_device_are_told_apart():
    device = cuda.to_device(GOOD)
    assert on_device(device)
    assert not on_device(GOOD)
    with pytest.raises(
        CourseError, match=r"^out lives in host memory .* GPU: copy it with cuda\.to_device\(out\)"
    ):
        require_arrays(device=True, u=device, out=GOOD)
    with pytest.raises(CourseError, match=r"^out lives in GPU memory .* CPU: .*out\.copy_to_host\(\)"):
        require_arrays(device=False, u=GOOD, out=device)


def test_contiguity_on_host_and_device():
    assert is_c_contiguous(GOOD)
    assert not is_c_contiguous(GOOD.T)
    device = cuda.to_device(GOOD)
    assert is_c_contiguous(device)
    assert is_c_contiguous(device[1:3])
    assert not is_c_contiguous(device[:, 1:3])
    with pytest.raises(CourseError, match=r"^out is not C-contiguous"):
        require_arrays(device=True, out=device[:, 1:3])


def test_distinct_arrays():
    a, b = np.ones(3), np.ones(3)
    require_distinct(a=a, b=b, out=np.ones(3))
    with pytest.raises(CourseError, match=r"^a and out share memory, .* pass two arrays"):
        require_distinct(a=a, b=b, out=a)
    with pytest.raises(CourseError, match=r"^b and out share memory"):
        require_distinct(a=a, b=b, out=b)
    with pytest.raises(CourseError, match=r"^a and out share memory"):
        require_distinct(a=a[:2], out=a[1:])
    require_distinct(a=a, b=a, out=b)  # inputs may be one array
    require_distinct(a=a[:1], out=a[1:])  # neighbours
    require_distinct(a=a[1:1], out=a)  # nothing to read
    with pytest.raises(CourseError, match=r"^a and out share memory"):
        require_distinct(a=a[::-1][:2], out=a[2:])


def test_distinct_arrays_of_the_device():
    whole = cuda.to_device(np.ones(10))
    require_distinct(a=whole, out=cuda.to_device(np.ones(10)))
    require_distinct(a=whole[:5], out=whole[5:])
    for a, out in ((whole, whole), (whole, whole[2:4]), (whole[:6], whole[5:]), (whole[::2], whole[1:4])):
        with pytest.raises(CourseError, match=r"^a and out share memory, .* pass two arrays"):
            require_distinct(a=a, out=out)
    matrix = whole.reshape(2, 5)
    require_distinct(a=matrix[0], out=matrix[1])
    with pytest.raises(CourseError, match=r"^row and out share memory"):
        require_distinct(row=matrix[1], out=whole[5:6])


class OnGPU:
    """An array in GPU memory as CuPy tells of it: no device is asked."""

    def __init__(self, begin, shape, strides=None):
        data = (begin, False)
        self.__cuda_array_interface__ = {"data": data, "shape": shape, "strides": strides, "typestr": "<f8"}


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (OnGPU(1024, (3,)), (1024, 1048)),
        (OnGPU(1024, (3, 2), (64, 8)), (1024, 1024 + 2 * 64 + 8 + 8)),
        (OnGPU(1024, (3,), (-8,)), (1008, 1032)),  # from the last element to the first
        (OnGPU(1024, (4,), (0,)), (1024, 1032)),
        (OnGPU(1024, ()), (1024, 1032)),
        (OnGPU(1024, (0, 7)), (0, 0)),
        (1.0, (0, 0)),
    ],
)
def test_byte_ranges(array, expected):
    assert byte_range(array) == expected


def test_overlap_is_seen_by_the_cuda_array_interface():
    a = OnGPU(4096, (10,))
    assert on_device(a)
    require_distinct(a=a, out=OnGPU(4096 + 80, (10,)))
    with pytest.raises(CourseError, match=r"^a and out share memory"):
        require_distinct(a=a, out=OnGPU(4096 + 72, (10,)))


@pytest.mark.parametrize("value", [0, 0.0, -1e-9, float("nan"), float("inf"), -float("inf")])
def test_positive_numbers(value):
    with pytest.raises(CourseError, match=r"^dt is .*: it must be a positive, finite number"):
        require_positive(lam=1, dt=value)


def test_the_smallest_positive_number_passes():
    require_positive(dt=1e-300, n=1)


def test_dimensions():
    require_ndim(3, u=np.ones((3, 3, 3)))
    require_ndim(2, T=np.ones((3, 4)))
    with pytest.raises(CourseError, match=r"^u has 2 dimension\(s\), expected 3: reshape it"):
        require_ndim(3, u=np.ones((9, 9)))
    for shape in ((2, 9), (9, 2), (9, 0)):
        with pytest.raises(CourseError, match=r"^T has shape .*: at least 3 elements in each direction"):
            require_ndim(2, least=3, T=np.ones(shape))
    with pytest.raises(CourseError, match=r"^a has shape \(0,\): at least 1 elements"):
        require_ndim(1, a=np.ones(0))


@pytest.mark.parametrize("value", ["x", None, np.ones(2), True, 1j])
def test_numbers(value):
    require_number(s=2, t=np.float32(2))
    with pytest.raises(CourseError, match=r"^s is .*: it must be one real number"):
        require_number(s=value)


@pytest.mark.parametrize("value", [-1, 2.5, "3", True])
def test_counts(value):
    require_count(degree=0, n=np.int64(3))
    with pytest.raises(CourseError, match=r"^degree is .*: it must be an integer of at least 0"):
        require_count(degree=value)


def test_a_read_only_output():
    out = np.ones(3)
    out.flags.writeable = False
    with pytest.raises(CourseError, match=r"^out is read-only"):
        require_distinct(a=np.ones(3), out=out)


def test_a_shape_that_is_asked_for():
    require_shape((4, 5), a=GOOD, b=GOOD)
    with pytest.raises(
        CourseError, match=r"^qx has shape \(4, 5\), expected \(4, 4\): make it with numpy\.empty"
    ):
        require_shape((4, 4), qx=GOOD)
