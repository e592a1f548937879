"""Pinned, mapped and managed memory, and arrays shaped like other arrays. Without a GPU, they are NumPy arrays."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from course_pkg.core.errors import CourseError
from course_pkg.simt.memory.device_array import DeviceArray, allocate, poison, require_plain


def device_array_like(ary, stream=0) -> DeviceArray:
    """Return an uninitialised device array with the shape, dtype and order of ``ary``, a host or device array."""
    host = ary.host if isinstance(ary, DeviceArray) else ary
    if not isinstance(host, np.ndarray):
        raise CourseError(f"ary is a {type(ary).__name__}, not an array: pass numpy.asarray(ary).")
    require_plain("ary", host.dtype)
    return DeviceArray(poison(np.empty_like(host, subok=False)), stream=stream)


def pinned_array(shape, dtype=np.float64, strides=None, order: str = "C") -> np.ndarray:
    """Return an uninitialised host array. With a GPU, its memory would be page-locked, which makes copies faster."""
    return allocate(shape, dtype, strides, order)


def mapped_array(
    shape,
    dtype=np.float64,
    strides=None,
    order: str = "C",
    stream=0,
    portable: bool = False,
    wc: bool = False,
) -> np.ndarray:
    """Return an uninitialised NumPy array that host and kernels share: kernels use it without a copy."""
    return allocate(shape, dtype, strides, order)


def managed_array(
    shape, dtype=np.float64, strides=None, order: str = "C", stream=0, attach_global: bool = True
) -> np.ndarray:
    """Return an uninitialised array that host and kernels share, as :func:`mapped_array` does."""
    return allocate(shape, dtype, strides, order)


def pinned_array_like(ary) -> np.ndarray:
    """Return an uninitialised host array with the shape, dtype and order of ``ary``."""
    return device_array_like(ary).host


def mapped_array_like(ary, stream=0, portable: bool = False, wc: bool = False) -> np.ndarray:
    """Return an uninitialised array that host and kernels share, with the shape, dtype and order of ``ary``."""
    return device_array_like(ary).host


@contextmanager
def mapped(*arylist, **options) -> Iterator:
    """Share host arrays with kernels during a ``with`` block; yield one device array, or a list of them."""
    found = [DeviceArray(one) for one in arylist]
    yield found[0] if len(found) == 1 else found


@contextmanager
def pinned(*arylist) -> Iterator[None]:
    """Do nothing for a ``with`` block. With a GPU, the pages of the host arrays would be locked during the block."""
    yield


def only_read(value):
    """Return what ``cuda.In(value)`` passes to a launch: a copy, so that the host never sees what a kernel stores."""
    return DeviceArray(np.array(value, order="K")) if isinstance(value, np.ndarray) else value


def only_written(value):
    """Return what ``cuda.Out(value)`` passes to a launch: an array that is uninitialised when the kernel begins."""
    return poison(value) if isinstance(value, np.ndarray) else value


def read_and_written(value):
    """Return what ``cuda.InOut(value)`` passes to a launch: the array itself, as without ``InOut``."""
    return value
