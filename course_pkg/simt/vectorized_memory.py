"""The memory of a call of ``vectorize`` or ``guvectorize``: which arrays a GPU uses in place, and which it copies.

Device arrays are used in place where Numba does so. So a thread may write what another one reads, if an input and an
output overlap. Host arrays are copied. An output begins unwritten, unless it is a device array that the caller gives.
"""

from math import prod

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.device_array import DeviceArray


def require_fit(out, shape: tuple, dtype: np.dtype) -> None:
    """Raise SimtError if ``out`` has not the shape and dtype of the result."""
    if out.shape != shape:
        raise SimtError(f"out has the shape {out.shape} and the result {shape}: they must agree.")
    if out.dtype != dtype:
        raise SimtError(f"out has the dtype {out.dtype} and the result {dtype}: they must agree.")


def flat_input(array, dtype: np.dtype, shape: tuple) -> DeviceArray:
    """Return an input of ``vectorize`` as a vector; ``shape`` is the result's.

    Numba copies a device array only if it has several dimensions and gaps, the order of columns, or another shape.
    """
    if isinstance(array, DeviceArray):
        if array.shape == shape and (array.ndim == 1 or array.is_c_contiguous()):
            return array if array.ndim == 1 else array.reshape(-1)
        array = array.host
    return DeviceArray(np.array(np.broadcast_to(array, shape), dtype, order="C").reshape(-1))


def flat_output(out: DeviceArray) -> DeviceArray:
    """Return ``out`` as a vector.

    Raises
    ------
    SimtError
        If Numba would write to a copy.
    """
    if out.ndim > 1 and not out.is_c_contiguous():
        raise SimtError(
            "out has gaps between its rows, or the order of columns, and a GPU would write the results to a copy of "
            "it: leave out out=, and use what the function returns."
        )
    return out if out.ndim == 1 else out.reshape(-1)


def in_parts(array, dtype: np.dtype, outer: tuple, core: tuple) -> DeviceArray:
    """Return an argument of ``guvectorize`` as an array of parts, shape (parts, \\*core).

    As on a GPU, all threads share a single part: its first axis has the stride 0.

    Parameters
    ----------
    array : DeviceArray or array_like
        A host array is copied.
    outer : tuple of int
        The shape in which the parts of the largest input are arranged.
    core : tuple of int
        The shape of a part.

    Raises
    ------
    CourseError
        If a device array would have to be copied.
    """
    if not isinstance(array, DeviceArray):
        array = DeviceArray(np.array(array, dtype, order="C"))
    host, shape = array.host, (prod(outer), *core)
    if host.shape == shape:
        return array
    if host.shape == (*outer, *core):
        return array.reshape(shape)
    strides = (0, *host.strides[host.ndim - len(core) :])
    return DeviceArray(np.lib.stride_tricks.as_strided(host, shape, strides), array.base_array)


def delivered(result: np.ndarray, stays: bool, out):
    """Return a result that is written to ``out``; without ``out``, return it: a device array if it stays on the GPU."""
    if out is not None:
        if not isinstance(out, DeviceArray):
            out[...] = result
        return out
    if stays:
        return DeviceArray(result)
    return result if result.ndim else result[()]
