"""DeviceArray behaves like Numba's device array, and explains what it refuses."""

import copy

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.core.checks import is_c_contiguous, on_device
from course_pkg.simt.memory.device_array import DeviceArray, allocate

HOST = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def device():
    return DeviceArray(HOST.copy())


def test_it_describes_itself_as_numpy_does(device):
    assert (device.alloc_size, device[::2, 1:3].alloc_size) == (96, 8 * (8 + 2))
    for name in ("shape", "dtype", "size", "ndim", "itemsize", "nbytes", "strides"):
        assert getattr(device, name) == getattr(HOST, name), name
    assert len(device) == 3
    assert device.is_c_contiguous() and not device.is_f_contiguous()
    assert device.flags == {"C_CONTIGUOUS": True, "F_CONTIGUOUS": False}
    assert repr(device) == "<DeviceArray of float64, shape (3, 4): copy_to_host() shows its elements>"


def test_it_is_an_array_of_the_gpu_but_offers_no_pointer(device):
    assert on_device(device)
    assert is_c_contiguous(device)
    assert not hasattr(device, "__cuda_array_interface__")
    assert not hasattr(device, "__array_interface__")


def test_a_copy_to_the_host_is_a_copy(device):
    found = device.copy_to_host()
    np.testing.assert_array_equal(found, HOST)
    found[0, 0] = 99
    assert device[0, 0] == 0
    mine = np.empty((3, 4))
    assert device.copy_to_host(mine) is mine
    np.testing.assert_array_equal(mine, HOST)
    columns = DeviceArray(np.asfortranarray(HOST)).copy_to_host()
    assert columns.strides == (8, 24)


@pytest.mark.parametrize(
    ("ary", "message"),
    [
        (np.zeros((3, 4), "f4"), "ary has dtype float32 but the device array has float64: pass one of dtype"),
        (np.zeros((4, 3)), r"ary has shape \(4, 3\) but the device array has \(3, 4\): they must be equal"),
        (np.zeros((4, 3)).T, r"ary has strides \(8, 24\) but .* \(32, 8\): pass an array of the same order"),
        ([0.0] * 12, r"ary is a list: copy_to_host\(\) fills NumPy arrays"),
    ],
)
def test_a_host_array_that_does_not_fit_stays_as_it_was(device, ary, message):
    with pytest.raises(CourseError, match=message):
        device.copy_to_host(ary)
    assert not np.any(ary)


def test_copies_to_the_device(device):
    device.copy_to_device(-HOST)
    np.testing.assert_array_equal(device.copy_to_host(), -HOST)
    device.copy_to_device(np.asfortranarray(HOST))  # Numba puts a host array in order, too
    np.testing.assert_array_equal(device.copy_to_host(), HOST)
    device.copy_to_device(DeviceArray(2 * HOST))
    np.testing.assert_array_equal(device.copy_to_host(), 2 * HOST)
    column = DeviceArray(np.zeros((3, 1)))
    column.copy_to_device(np.arange(3.0))
    assert column.copy_to_host().tolist() == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("ary", "message"),
    [
        (np.ones((3, 4), "i8"), "ary has dtype int64 but the device array has float64"),
        (np.ones(4), r"ary has shape \(4,\) but the device array has \(3, 4\)"),  # would broadcast in NumPy
        (1.0, r"ary is a float, not an array: pass numpy.asarray\(ary, 'float64'\)"),
        (DeviceArray(np.ones((4, 3)).T), "ary has strides"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(device, ary, message):
    with pytest.raises(CourseError, match=message):
        device.copy_to_device(ary)
    np.testing.assert_array_equal(device.host, HOST)


def test_a_view_with_gaps_takes_no_copy(device):
    with pytest.raises(CourseError, match="the device array has gaps between its elements"):
        device[:, 1:3].copy_to_device(np.ones((3, 2)))
    np.testing.assert_array_equal(device.host, HOST)


def test_views_share_the_allocation(device):
    views = [device[1:], device[1], device[:, 1:3], device.reshape(12), device.ravel(), device.view("i8")]
    views += [device[1:][0, 2:], device.bind(7), device.reshape((2, 6)), device.reshape(4, -1)]
    for view in views:
        assert isinstance(view, DeviceArray)
        assert view.base_array is device.base_array
        assert np.shares_memory(view.host, device.host)
    assert views[0].host.ctypes.data - device.base_array.ctypes.data == 32
    assert device.bind(7).stream == 7 and device.bind(7)[0].stream == 7
    assert device.reshape((2, 6)).shape == (2, 6) and device.reshape(4, -1).shape == (4, 3)
    assert DeviceArray(np.ones((1, 3))).squeeze().shape == (3,)


def test_elements(device):
    assert device[1, 2] == 6.0
    assert type(device[1, 2]) is np.float64
    assert device[-1, np.int64(-1)] == 11.0
    assert [x.shape for x in device] == [(4,)] * 3
    assert DeviceArray(np.array(5.0))[()] == 5.0
    with pytest.raises(IndexError):
        device[3]


def test_assignment(device):
    device[0, 0] = 50
    device[1] = np.arange(4)
    device[2, 1:3] = DeviceArray(np.array([7.0, 8.0]))
    assert device.host.tolist() == [[50, 1, 2, 3], [0, 1, 2, 3], [8, 7, 8, 11]]
    with pytest.raises(ValueError, match="broadcast"):
        device[1] = np.arange(3)


@pytest.mark.parametrize("index", [[0, 1], np.array([0]), None, Ellipsis, True, 1.0, (0, [1])], ids=repr)
def test_an_index_that_a_gpu_array_does_not_take(device, index):
    for attempt in (lambda: device[index], lambda: device.__setitem__(index, 0.0)):
        with pytest.raises(CourseError, match=r"takes integers and slices as index, not .*copy_to_host\(\)"):
            attempt()
    np.testing.assert_array_equal(device.host, HOST)


def test_a_transpose_is_new_memory_row_by_row(device):
    turned = device.T
    np.testing.assert_array_equal(turned.copy_to_host(), HOST.T)
    assert turned.is_c_contiguous()
    assert not np.shares_memory(turned.host, device.host)
    for array in (DeviceArray(np.asfortranarray(HOST)), DeviceArray(np.ones((1, 3)))):
        assert not np.shares_memory(array.T.host, array.host)
        assert array.T.is_c_contiguous()
    assert device.transpose((0, 1)) is device
    assert device.transpose((1, 0)).shape == (4, 3)
    for array, axes in ((DeviceArray(np.ones((2, 2, 2))), None), (device, (0, 0))):
        with pytest.raises(CourseError, match="only matrices can; transpose on the host"):
            array.transpose(axes)


@pytest.mark.parametrize("attempt", ["reshape", "ravel", "columns"])
def test_what_would_need_a_copy_is_refused(device, attempt):
    part = device[:, 1:3]
    with pytest.raises(CourseError, match=r"would have to copy this array, of shape .* on the host"):
        {
            "reshape": lambda: part.reshape(6),
            "ravel": part.ravel,
            "columns": lambda: device.reshape(4, 3, order="F"),
        }[attempt]()


def test_impossible_views(device):
    with pytest.raises(CourseError, match=r"shape \(3, 4\) has another size"):
        device.reshape(5)
    with pytest.raises(CourseError, match="cannot be seen as complex128"):
        device[:, :3].view("c16")
    with pytest.raises(CourseError, match="reversed view cannot be copied"):
        device[::-1].copy_to_host()


def test_split():
    parts = list(DeviceArray(np.arange(7)).split(3))
    assert [p.host.tolist() for p in parts] == [[0, 1, 2], [3, 4, 5], [6]]
    with pytest.raises(CourseError, match="Only a vector without gaps"):
        next(DeviceArray(HOST.copy()).split(2))


@pytest.mark.parametrize("read", [np.asarray, np.array, np.sum, lambda d: np.add(d, 1), lambda d: HOST + d])
def test_numpy_reads_a_copy_as_of_numbas_arrays(device, read):
    np.testing.assert_array_equal(read(device), read(HOST))
    assert not np.shares_memory(np.asarray(device), device.host)


def test_numpy_cannot_have_it_without_a_copy(device):
    with pytest.raises(ValueError, match="leave out copy=False"):
        np.array(device, copy=False)


def test_it_computes_nothing(device):
    with pytest.raises(TypeError, match="unsupported operand"):
        device + 1


def test_a_deep_copy_is_another_array(device):
    other = copy.deepcopy(device)
    other[0, 0] = 5
    assert device[0, 0] == 0


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_unwritten_floats_are_nan(dtype):
    found = allocate((3, 2), dtype)
    assert np.isnan(found.real).all() and (found.dtype.kind == "f" or np.isnan(found.imag).all())


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "u8"])
def test_unwritten_integers_are_odd(dtype):
    found = allocate(3, dtype)
    assert set(found.tobytes()) == {0xA5}
    assert found.dtype == dtype and found.shape == (3,)


def test_unwritten_memory_of_other_kinds():
    assert set(allocate(2, [("a", "f4"), ("b", "i2")]).tobytes()) == {0xA5}
    assert allocate(2, bool).tolist() == [True, True]
    assert allocate((), "f8").shape == ()
    assert allocate((0, 3)).size == 0


def test_orders_and_strides():
    assert allocate((3, 4), order="F").strides == (8, 24)
    padded = allocate((3, 4), strides=(64, 8))
    assert padded.strides == (64, 8) and padded.shape == (3, 4) and np.isnan(padded).all()
    assert allocate((0, 4), strides=(64, 8)).shape == (0, 4)
    assert allocate(3, strides=16).strides == (16,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "K"}, r"order is 'K': it must be 'C' \(rows\) or 'F'"),
        ({"strides": (8,)}, r"strides are \(8,\): give 2 of them"),
        ({"strides": (-8, 8)}, "none negative"),
        ({"dtype": object}, "GPU memory holds numbers"),
        ({"dtype": "U3"}, "GPU memory holds numbers"),
    ],
)
def test_memory_that_cannot_be_had(options, message):
    with pytest.raises(CourseError, match=message):
        allocate((3, 4), **options)
