"""Checks of arguments. Every function that passes arrays to compiled code calls them first.

Each raises a :class:`CourseError` that names the argument, what is wrong with it, and how to fix it, before anything is
written.
"""

import math

import numpy as np

from course_pkg.core.errors import CourseError

FLOATS = ("float64", "float32")


def on_device(array) -> bool:
    """Return True if the array is in GPU memory or, without a GPU, in the interpreter's memory.

    Device arrays of Numba and ``course_pkg.simt`` have the first attribute below; those of CuPy and others the second.
    """
    return getattr(type(array), "__cuda_ndarray__", False) or hasattr(array, "__cuda_array_interface__")


def require_arrays(*, device: bool, dtypes=FLOATS, **arrays) -> None:
    """Check that all arrays share memory space, dtype and shape, and are C-contiguous.

    Parameters
    ----------
    device : bool
        True if the arrays must be in GPU memory, False if in host memory.
    dtypes : tuple of str
        Names of the dtypes that are allowed.
    **arrays : array
        Arrays by argument name; the others are compared with the first.
    """
    first_name, first = next(iter(arrays.items()))
    for name, a in arrays.items():
        if not hasattr(a, "dtype") or not hasattr(a, "shape"):
            raise CourseError(
                f"{name} is a {type(a).__name__}, not an array: make one with numpy.asarray({name})."
            )
        if on_device(a) != device:
            raise CourseError(
                f"{name} lives in host memory but this function runs on the GPU: copy it with cuda.to_device({name})."
                if device
                else f"{name} lives in GPU memory but this function runs on the CPU: use {name}.copy_to_host()."
            )
        if np.dtype(a.dtype).name not in dtypes:
            raise CourseError(
                f"{name} has dtype {a.dtype}, expected {' or '.join(dtypes)}: use {name}.astype('{dtypes[0]}')."
            )
        if a.shape != first.shape:
            raise CourseError(
                f"{name} has shape {a.shape} but {first_name} has {first.shape}: they must be equal."
            )
        if np.dtype(a.dtype) != np.dtype(first.dtype):
            raise CourseError(
                f"{name} has dtype {a.dtype} but {first_name} has {first.dtype}: use one precision."
            )
        if not is_c_contiguous(a):
            raise CourseError(
                f"{name} is not C-contiguous: pass numpy.ascontiguousarray({name}), which is a copy."
            )


def require_shape(shape: tuple[int, ...], **arrays) -> None:
    """Check that each array has this shape."""
    for name, a in arrays.items():
        if a.shape != shape:
            raise CourseError(
                f"{name} has shape {a.shape}, expected {shape}: make it with numpy.empty({shape})."
            )


def is_c_contiguous(array) -> bool:
    """Return True if the array's elements lie in memory row by row, without gaps."""
    flags = getattr(array, "flags", None)
    if flags is not None:
        return bool(flags["C_CONTIGUOUS"] if hasattr(flags, "__getitem__") else flags.c_contiguous)
    return array.is_c_contiguous()


def require_distinct(**arrays) -> None:
    """Check that the output, which is passed last, shares no memory with the inputs.

    Two arrays share memory if the bytes from the first to the last element of one overlap those of the other.
    """
    *inputs, output = arrays
    if isinstance(arrays[output], np.ndarray) and not arrays[output].flags.writeable:
        raise CourseError(f"{output} is read-only: pass a writable array, such as numpy.empty_like(…).")
    begin, end = byte_range(arrays[output])
    for name in inputs:
        first, last = byte_range(arrays[name])
        if arrays[name] is arrays[output] or (first < end and begin < last):
            raise CourseError(
                f"{name} and {output} share memory, so the loop would overwrite what it has to read: pass two arrays."
            )


def byte_range(array) -> tuple[int, int]:
    """Return the address of an array's first byte and of the byte after its last one; (0, 0) for an empty array.

    They come from NumPy's array interface for host arrays, and from CUDA's for device arrays.
    """
    told = getattr(array, "__cuda_array_interface__", None)
    if told is None:  # in course_pkg.simt, a host array stands for GPU memory
        told = getattr(getattr(array, "host", array), "__array_interface__", None)
    if told is None or 0 in told["shape"]:
        return 0, 0
    itemsize, strides = np.dtype(told["typestr"]).itemsize, told.get("strides")
    begin = told["data"][0]
    if strides is None:
        return begin, begin + itemsize * math.prod(told["shape"])
    reach = [(n - 1) * stride for n, stride in zip(told["shape"], strides, strict=True)]
    return begin + sum(min(0, r) for r in reach), begin + sum(max(0, r) for r in reach) + itemsize


def require_positive(**numbers) -> None:
    """Check that each number is positive and finite."""
    for name, value in numbers.items():
        if not (np.isfinite(value) and value > 0):
            raise CourseError(f"{name} is {value!r}: it must be a positive, finite number.")


def require_ndim(ndim: int, *, least: int = 1, **arrays) -> None:
    """Check the number of dimensions of each array, and that every dimension has at least ``least`` elements."""
    for name, a in arrays.items():
        if len(a.shape) != ndim:
            raise CourseError(f"{name} has {len(a.shape)} dimension(s), expected {ndim}: reshape it first.")
        if min(a.shape) < least:
            raise CourseError(
                f"{name} has shape {a.shape}: at least {least} elements in each direction are needed."
            )


def require_number(**numbers) -> None:
    """Check that each argument is one real number."""
    for name, value in numbers.items():
        if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
            raise CourseError(f"{name} is {value!r}: it must be one real number, such as 3.0.")


def require_count(**numbers) -> None:
    """Check that each argument is an integer of at least 0."""
    for name, value in numbers.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
            raise CourseError(f"{name} is {value!r}: it must be an integer of at least 0.")


def unwritten(shape, dtype="float64") -> np.ndarray:
    """Return an array for results, filled with NaN (integers: 85), so that unwritten elements can be recognised.

    Examples
    --------
    >>> unwritten(2)
    array([nan, nan])
    """
    made = np.empty(shape, dtype)
    made[...] = np.nan if made.dtype.kind in "fc" else made.dtype.type(85)
    return made
