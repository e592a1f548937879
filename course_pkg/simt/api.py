"""The part of ``numba.cuda`` that the course uses, without a GPU: ``from course_pkg import cuda`` imports it.

Names and arguments are Numba's. So a program that runs here also runs on a GPU, after changing its import to
``from numba import cuda``. Kernels run in the SIMT interpreter. A
:class:`~course_pkg.simt.memory.device_array.DeviceArray` replaces an array in GPU memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from course_pkg.core.checks import on_device
from course_pkg.core.errors import CourseError
from course_pkg.simt.front.stubs import kernel_names
from course_pkg.simt.host import Context, Device, DeviceList, Event, Stream, event_elapsed_time
from course_pkg.simt.memory.device_array import (
    DeviceArray,
    allocate,
    poison,
    require_contiguous,
    require_plain,
)
from course_pkg.simt.run.kernel import jit

BACKEND = "simt"  # numba.cuda does not have this name, so the course can tell the two modules apart

_NAMES = kernel_names()
globals().update(_NAMES)

__all__ = [
    *_NAMES,
    "Device",
    "DeviceArray",
    "Event",
    "Stream",
    "as_cuda_array",
    "close",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "get_current_device",
    "gpus",
    "is_available",
    "is_cuda_array",
    "jit",
    "list_devices",
    "mapped_array",
    "pinned",
    "pinned_array",
    "profile_start",
    "profile_stop",
    "select_device",
    "stream",
    "synchronize",
    "to_device",
]

gpus = DeviceList((Device(),))
_DEFAULT_STREAM = Stream()


def to_device(obj, stream=0, copy: bool = True, to: DeviceArray | None = None) -> DeviceArray:
    """Copy an array to the memory that replaces the GPU's.

    Parameters
    ----------
    obj : array_like
        Contiguous, of numbers. A device array is returned itself.
    copy : bool
        If False, memory of this shape and dtype is allocated, but not written.
    to : DeviceArray, optional
        The destination of the copy; by default, new memory.

    Raises
    ------
    CourseError
        If ``obj`` has gaps between its elements, or does not contain numbers, or if ``to`` has another shape or dtype.

    Examples
    --------
    >>> a = to_device(np.arange(3.0))
    >>> a.shape, a.copy_to_host()
    ((3,), array([0., 1., 2.]))
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, DeviceArray):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        raise _no_gpu_memory()
    obj = np.asanyarray(obj)
    require_plain("obj", obj.dtype)
    require_contiguous("obj", obj)
    if not copy:
        return device_array_like(obj, stream)
    return DeviceArray(np.array(obj, order="K", subok=False), stream=stream)


def device_array(shape, dtype=np.float64, strides=None, order: str = "C", stream=0) -> DeviceArray:
    """Return unwritten memory: floats in it are NaN and integers 0xA5A5…, so that one notices if they are used."""
    memory = allocate(shape, dtype, strides, order)
    return DeviceArray(memory, memory.base, stream)  # an array with gaps is a view of the whole allocation


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


@contextmanager
def pinned(*arylist) -> Iterator[None]:
    """Lock pages of host arrays for a ``with`` block; without a GPU there is nothing to lock."""
    yield


def is_cuda_array(obj) -> bool:
    """Return True if the array is in GPU memory, or in the memory that replaces it."""
    return on_device(obj)


def as_cuda_array(obj, sync: bool = True) -> DeviceArray:
    """Return a device array itself; raise CourseError for arrays of a real GPU, whose memory cannot be read here."""
    if isinstance(obj, DeviceArray):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        raise _no_gpu_memory()
    raise CourseError(
        f"obj is a {type(obj).__name__}, not an array in GPU memory: copy it with cuda.to_device(obj)."
    )


def stream() -> Stream:
    """Return a stream, whose work is always done."""
    return Stream()


def default_stream() -> Stream:
    """Return the stream that launches use when none is named."""
    return _DEFAULT_STREAM


def event(timing: bool = True) -> Event:
    """Return an event, which can store a point in time on the host's clock."""
    return Event(timing)


def synchronize() -> None:
    """Return at once, because the work of a launch is done when it returns."""


def is_available() -> bool:
    """Return False, because there is no GPU."""
    return False


def select_device(device_id: int) -> Device:
    """Return the device; the only one has number 0."""
    if device_id != 0:
        raise CourseError(f"device_id is {device_id!r}: the SIMT interpreter has only device number 0.")
    return gpus.current


def get_current_device() -> Device:
    """Return the device that the interpreter imitates."""
    return gpus.current


def list_devices() -> DeviceList:
    """Return the list of devices: only the interpreter."""
    return gpus


def current_context(devnum: int | None = None) -> Context:
    """Return the context, with the device and the size of its memory."""
    return Context(select_device(devnum or 0))


def close() -> None:
    """Do nothing, because there is no GPU to release."""


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Do nothing for a ``with`` block, because Python manages the memory."""
    yield


def profile_start() -> None:
    """Do nothing: ``simt.profile`` counts, and needs no switch."""


def profile_stop() -> None:
    """Do nothing: ``simt.profile`` counts, and needs no switch."""


def _no_gpu_memory():
    return CourseError(
        "The array lives in the memory of a real GPU, which the SIMT interpreter cannot see: "
        "copy it to the host first, for CuPy by cupy.asnumpy(…)."
    )


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if (
        hasattr(np, name)
        and isinstance(getattr(np, name), type)
        and issubclass(getattr(np, name), np.generic)
    ):
        raise AttributeError(
            f"numba.cuda has no {name!r}: write numpy.{name}, or `from numba import {name}`."
        )
    raise AttributeError(
        f"The course's SIMT interpreter does not offer cuda.{name}: Numba's own simulator may, with "
        "NUMBA_ENABLE_CUDASIM=1 in the environment and `from numba import cuda`."
    )
