"""Checks of arguments, shared by the files of this topic."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import (
    on_device,
    require_arrays,
    require_distinct,
    require_ndim,
)
from course_pkg.permutation.checks import MOST_ENTRIES, check_csr


def check_matrix(A) -> None:
    """Check a matrix in compressed rows, with at least one row and column. A row may be empty: its result is 0."""
    check_csr(A)
    if min(A.shape) < 1:
        raise CourseError(f"A has shape {A.shape}: a matrix has rows and columns, at least one of each.")


def check_stored(number: int, what: str) -> None:
    """Check that 32-bit offsets can address this number of values."""
    if number > MOST_ENTRIES:
        raise CourseError(
            f"The matrix has {number:,} {what}, more than 32-bit offsets reach ({MOST_ENTRIES:,}): "
            "use another format, or split it by rows."
        )


def check_product(A, x, y, kind, *, device: bool) -> None:
    """Check the arguments of ``y = A x``: the format, memory spaces, shapes, precisions, and that y shares no memory.

    The values have the precision of x and y, or the values are float32 and the vectors float64.
    """
    if not isinstance(A, kind):
        there = ".to_device()" if device else ""
        raise CourseError(
            f"A is a {type(A).__name__}, but this function takes a {kind.__name__}: make it with "
            f"{kind.__name__}.from_scipy(matrix){there}."
        )
    if on_device(A.data) != device:
        raise CourseError(
            "A lives in host memory but this function runs on the GPU: pass A.to_device()."
            if device
            else "A lives in GPU memory but this function runs on the CPU: pass the one that to_device() was called of."
        )
    require_arrays(device=device, x=x)
    require_arrays(device=device, dtypes=(str(x.dtype),), y=y)
    require_ndim(1, x=x, y=y)
    rows, columns = A.shape
    for name, vector, size, what in (("x", x, columns, "column"), ("y", y, rows, "row")):
        if vector.size != size:
            raise CourseError(
                f"{name} has {vector.size} elements, but A has {size} {what}s: {name} needs one for each {what}."
            )
    if A.dtype != np.dtype(x.dtype) and (A.dtype.name, str(x.dtype)) != ("float32", "float64"):
        raise CourseError(
            f"A has dtype {A.dtype} but x has {x.dtype}: use one precision, or float32 for A beside float64 vectors."
        )
    require_distinct(data=A.data, x=x, y=y)
