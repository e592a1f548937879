"""Checks of the arguments of a product with a matrix in two precisions."""

from course_pkg.core import CourseError
from course_pkg.core.checks import on_device, require_arrays, require_distinct, require_ndim, require_shape


def check_split(A, x, y, kind) -> None:
    """Check that a split matrix is in GPU memory, and that two vectors of equal precision fit it.

    Raises
    ------
    CourseError
        If A was split in another way or is in host memory, or if x and y do not fit it or share memory.
    """
    if type(A) is not kind:
        make = {"RowSplit": "split_rows", "EntrySplit": "split_entries"}[kind.__name__]
        raise CourseError(
            f"A is a {type(A).__name__}, but this function takes a {kind.__name__}: make it with "
            f"{make}(matrix).to_device()."
        )
    if not on_device(A.high.data):
        raise CourseError("A lives in host memory but this function runs on the GPU: pass A.to_device().")
    require_arrays(device=True, x=x)
    require_arrays(device=True, dtypes=(str(x.dtype),), y=y)
    require_ndim(1, x=x, y=y)
    require_shape((A.shape[1],), x=x)
    require_shape((A.shape[0],), y=y)
    require_distinct(high=A.high.data, low=A.low.data, x=x, y=y)
