"""Checks of arguments, shared by the files of this topic with compiled code."""

from course_pkg.core import CourseError
from course_pkg.core.checks import (
    require_arrays,
    require_count,
    require_distinct,
    require_ndim,
    require_shape,
)


def check_stream(*, device: bool, **arrays) -> None:
    """Check vectors, output last: they have one length and precision, and no input shares memory with the output."""
    require_arrays(device=device, **arrays)
    require_ndim(1, **arrays)
    require_distinct(**arrays)


def check_copy_strided(a, stride: int, out, *, device: bool) -> None:
    """Check a copy of every stride-th element: two vectors of one precision, the first of them long enough."""
    require_count(stride=stride)
    require_arrays(device=device, a=a)
    require_arrays(device=device, dtypes=(str(a.dtype),), out=out)
    require_ndim(1, a=a, out=out)
    require_distinct(a=a, out=out)
    if stride < 1:
        raise CourseError("stride is 0: elements lie at least 1 apart.")
    if a.size <= stride * (out.size - 1):
        raise CourseError(
            f"a has {a.size} elements; {out.size} of them, {stride} apart, need {stride * (out.size - 1) + 1}: pass a "
            "longer vector, or a shorter out."
        )


def check_dot(a, b, out, *, device: bool) -> None:
    """Check the arguments of an inner product; ``a`` and ``b`` may be one array."""
    require_arrays(device=device, a=a, b=b)
    require_ndim(1, a=a)
    require_arrays(device=device, out=out)
    require_shape((1,), out=out)


def check_reduce_sum(a, out, *, device: bool) -> None:
    """Check the arguments of a sum: a vector, and one element of its precision with memory of its own."""
    require_arrays(device=device, a=a)
    require_ndim(1, a=a)
    require_arrays(device=device, dtypes=(str(a.dtype),), out=out)
    require_shape((1,), out=out)
    require_distinct(a=a, out=out)


def check_partial(partial, least: int, **arrays) -> None:
    """Check the device memory for the blocks' sums: at least ``least`` doubles, not shared with the other arrays."""
    require_arrays(device=True, dtypes=("float64",), partial=partial)
    require_ndim(1, partial=partial)
    if partial.size < least:
        raise CourseError(
            f"partial has {partial.size} elements but needs {least}: make it with partial_sums({arrays['a'].size})."
        )
    require_distinct(**arrays, partial=partial)


def check_cumsum(a, out, *, device: bool) -> None:
    """Check the arguments of a cumulative sum: two different arrays (ny, nx) of one precision."""
    require_arrays(device=device, a=a, out=out)
    require_ndim(2, a=a)
    require_distinct(a=a, out=out)


def check_transpose(a, out, *, device: bool) -> None:
    """Check the arguments of a transpose: arrays (ny, nx) and (nx, ny) of one precision, each with its own memory."""
    require_arrays(device=device, a=a)
    require_ndim(2, a=a)
    require_arrays(device=device, dtypes=(str(a.dtype),), out=out)
    require_shape(a.shape[::-1], out=out)
    require_distinct(a=a, out=out)


def check_chase(ring, steps: int, at, *, device: bool, most: int | None = None) -> None:
    """Check a ring of at most ``most`` links, and the array of one element that holds the start and end of a chain."""
    require_count(steps=steps)
    require_arrays(device=device, dtypes=("uint32",), ring=ring)
    require_arrays(device=device, dtypes=("uint32",), at=at)
    require_ndim(1, ring=ring)
    require_shape((1,), at=at)
    require_distinct(ring=ring, at=at)
    if most is not None and ring.size > most:
        raise CourseError(
            f"ring has {ring.size} elements, and shared memory has room for {most}: pass a shorter ring."
        )
