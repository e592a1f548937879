"""Memory that host and GPU share, and arrays made after the likeness of others: without a GPU, plain NumPy arrays."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from course_pkg.core.errors import CourseError
from course_pkg.simt.memory.device_array import DeviceArray, allocate, poison, require_plain


def device_array_like(ary, stream=0) -> DeviceArray:
    """Return unwritten memory of the shape, dtype and order of ``ary``, which may be in host or device memory."""
    host = ary.host if isinstance(ary, DeviceArray) else ary
    if not isinstance(host, np.ndarray):
        raise CourseError(f"ary is a {type(ary).__name__}, not an array: pass numpy.asarray(ary).")
    require_plain("ary", host.dtype)
    return DeviceArray(poison(np.empty_like(host, subok=False)), stream=stream)


def pinned_array(shape, dtype=np.float64, strides=None, order: str = "C") -> np.ndarray:
    """Return unwritten host memory; with a GPU, it would be page-locked, so that copies are faster."""
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
    """Return unwritten memory that host and kernels share: a NumPy array, which kernels use without a copy."""
    return allocate(shape, dtype, strides, order)


def managed_array(
    shape, dtype=np.float64, strides=None, order: str = "C", stream=0, attach_global: bool = True
) -> np.ndarray:
    """Return unwritten memory that host and kernels share, as :func:`mapped_array` does."""
    return allocate(shape, dtype, strides, order)


def pinned_array_like(ary) -> np.ndarray:
    """Return unwritten host memory of the shape, dtype and order of ``ary``."""
    return device_array_like(ary).host


def mapped_array_like(ary, stream=0, portable: bool = False, wc: bool = False) -> np.ndarray:
    """Return unwritten memory, of the shape, dtype and order of ``ary``, that host and kernels share."""
    return device_array_like(ary).host


@contextmanager
def mapped(*arylist, **options) -> Iterator:
    """Give kernels the memory of host arrays for a ``with`` block: one device array, or a list of them."""
    found = [DeviceArray(one) for one in arylist]
    yield found[0] if len(found) == 1 else found


@contextmanager
def pinned(*arylist) -> Iterator[None]:
    """Lock pages of host arrays for a ``with`` block; without a GPU there is nothing to lock."""
    yield
