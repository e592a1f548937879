"""The part of ``numba.cuda`` that the course uses, without a GPU: ``from course_pkg import cuda`` imports it.

Names and arguments are Numba's. So a program that runs here also runs on a GPU, after changing its import to
``from numba import cuda``. Kernels run in the SIMT interpreter. A
:class:`~course_pkg.simt.memory.device_array.DeviceArray` replaces an array in GPU memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import numpy as np

from course_pkg.core.checks import on_device
from course_pkg.core.errors import CourseError
from course_pkg.simt import random
from course_pkg.simt.front.stubs import for_the_host as _for_the_host
from course_pkg.simt.front.stubs import kernel_names
from course_pkg.simt.host import Context, Device, DeviceList, Event, Stream, event_elapsed_time
from course_pkg.simt.host_memory import (
    device_array_like,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
)
from course_pkg.simt.host_memory import only_read as In
from course_pkg.simt.host_memory import only_written as Out
from course_pkg.simt.host_memory import read_and_written as InOut
from course_pkg.simt.memory.device_array import DeviceArray, allocate, require_contiguous, require_plain
from course_pkg.simt.run.kernel import jit

BACKEND = "simt"  # numba.cuda does not have this name, so the course can tell the two modules apart

_NAMES = kernel_names()
globals().update(_NAMES)

__all__ = [
    *_NAMES,
    "Device",
    "DeviceArray",
    "Event",
    "In",
    "InOut",
    "Out",
    "Stream",
    "as_cuda_array",
    "close",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "get_current_device",
    "gpus",
    "is_available",
    "is_cuda_array",
    "jit",
    "legacy_default_stream",
    "list_devices",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "profile_start",
    "profile_stop",
    "profiling",
    "random",
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
        A contiguous array of numbers. A device array is returned unchanged, without a copy.
    copy : bool
        If False, memory of this shape and dtype is allocated, but not written.
    to : DeviceArray, optional
        The destination of the copy; by default, new memory.

    Raises
    ------
    CourseError
        If ``obj`` has gaps between its elements or does not contain numbers, or if the shape or dtype of ``to`` differs
        from that of ``obj``.

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
    """Return uninitialised memory: floats are NaN and integers are 0xA5A5…, so that a use of them is noticed."""
    memory = allocate(shape, dtype, strides, order)
    return DeviceArray(memory, memory.base, stream)  # an array with gaps is a view of the whole allocation


def is_cuda_array(obj) -> bool:
    """Return True if the array is in GPU memory, or in the memory that replaces it."""
    return on_device(obj)


def as_cuda_array(obj, sync: bool = True) -> DeviceArray:
    """Return a device array unchanged; raise CourseError for an array of a real GPU, which cannot be read here."""
    if isinstance(obj, DeviceArray):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        raise _no_gpu_memory()
    raise CourseError(
        f"obj is a {type(obj).__name__}, not an array in GPU memory: copy it with cuda.to_device(obj)."
    )


def stream() -> Stream:
    """Return a new stream. Work on a stream is always finished when the call returns."""
    return Stream()


def default_stream() -> Stream:
    """Return the stream that a launch uses if the program names no stream."""
    return _DEFAULT_STREAM


def legacy_default_stream() -> Stream:
    """Return CUDA's legacy default stream, which is the same as :func:`default_stream` here."""
    return _DEFAULT_STREAM


def per_thread_default_stream() -> Stream:
    """Return the host thread's default stream, which is the same as :func:`default_stream` here."""
    return _DEFAULT_STREAM


def event(timing: bool = True) -> Event:
    """Return an event, which can store a point in time on the host's clock."""
    return Event(timing)


def synchronize() -> None:
    """Return at once, because a launch returns only after its work is done."""


def is_available() -> bool:
    """Return False, because there is no GPU."""
    return False


def select_device(device_id: int) -> Device:
    """Return the device with this number; the only device has number 0."""
    if device_id != 0:
        raise CourseError(f"device_id is {device_id!r}: the SIMT interpreter has only device number 0.")
    return gpus.current


def get_current_device() -> Device:
    """Return the device that the interpreter imitates."""
    return gpus.current


def list_devices() -> DeviceList:
    """Return the list of devices: only the interpreter."""
    return gpus


def detect() -> bool:
    """Print that kernels run in the interpreter because there is no GPU, and return False."""
    print(f"No CUDA device; kernels run in the {gpus.current.name}.")
    return False


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
    """Do nothing: ``simt.profile`` counts without being switched on."""


def profile_stop() -> None:
    """Do nothing: ``simt.profile`` does not have to be switched off."""


@contextmanager
def profiling() -> Iterator[None]:
    """Do nothing for a ``with`` block: ``simt.profile`` counts without being switched on."""
    yield


def _no_gpu_memory():
    return CourseError(
        "The array lives in the memory of a real GPU, which the SIMT interpreter cannot see: "
        "copy it to the host first, for CuPy by cupy.asnumpy(…)."
    )


_LATER = {"vectorize": "vectorize", "guvectorize": "guvectorize", "reduce": "Reduce", "Reduce": "Reduce"}
_GPU_ONLY = {
    **dict.fromkeys(("cudadrv", "driver", "runtime", "nvvm", "CudaSupportError"), "is a part of CUDA's driver"),
    **dict.fromkeys(("compile", "compile_ptx", "compile_for_current_device", "compile_ptx_for_current_device"),
                    "makes machine code for a GPU"),
    **dict.fromkeys(("declare_device", "CUSource", "LTOIR", "PTXSource", "Cubin", "Fatbin", "Archive", "Object"),
                    "links code that is written in another language"),
    **dict.fromkeys(("open_ipc_array", "external_stream", "from_cuda_array_interface"),
                    "takes over what another program has on a GPU"),
    **dict.fromkeys(("fp16", "bf16"), "calls a GPU's own instructions"),
}  # fmt: skip
_for_the_host.update(set(globals()) - set(_NAMES), _LATER, ("types", "void"))


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _LATER:
        from course_pkg.simt import vectorizing  # Numba takes a second to import

        return getattr(vectorizing, _LATER[name])
    if name == "libdevice":
        from course_pkg.simt import libdevice

        return libdevice
    if name in ("types", "boolean") or isinstance(getattr(np, name, None), type):
        from numba.core import types

        if name == "types" or hasattr(types, name):
            return types if name == "types" else getattr(types, name)
    if name in _GPU_ONLY:
        raise AttributeError(
            f"cuda.{name} {_GPU_ONLY[name]}, and there is none here: use it behind `if cuda.is_available():`."
        )
    near = get_close_matches(name, __all__, 1)
    raise AttributeError(
        f"The course's SIMT interpreter does not offer cuda.{name}"
        + (f": do you mean cuda.{near[0]}?" if near else ", which only a GPU has.")
    )
