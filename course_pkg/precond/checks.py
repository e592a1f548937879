"""Checks of arguments, shared by the files of this topic."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import byte_range, require_arrays, require_distinct, require_shape
from course_pkg.precond.preconditioners import Diagonal, Identity, Multigrid, Polynomial

HELD = {
    Diagonal: "d",
    Polynomial: "d",
    Identity: "",
    Multigrid: "",
}  # the name of an array that shows the memory space and precision of a preconditioner


def check_apply(M, r, out, kind, *, device: bool) -> None:
    """Check that M is of class ``kind``, that M, r and out fit together, and that out shares no memory with r.

    Examples
    --------
    >>> check_apply(Identity(3), np.ones(2), np.ones(2), Identity, device=False)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: r has shape (2,), expected (3,): make it with numpy.empty((3,)).
    """
    if not isinstance(M, kind):
        raise CourseError(f"M is of the kind {type(M).__name__}, but this function takes a {kind.__name__}.")
    require_arrays(device=device, r=r, out=out)
    require_shape((M.n,), r=r, out=out)
    require_distinct(r=r, out=out)
    if device:
        check_aligned(r=r, out=out)
    held = held_array(M)
    if held is not None:
        require_arrays(device=device, dtypes=(np.dtype(r.dtype).name,), M=held)


def check_aligned(**vectors) -> None:
    """Check that each vector's address is a multiple of the size of two numbers, because kernels load two at once.

    Examples
    --------
    >>> check_aligned(r=np.ones(4))
    """
    for name, vector in vectors.items():
        pair = 2 * np.dtype(vector.dtype).itemsize
        if byte_range(vector)[0] % pair:
            raise CourseError(
                f"{name} begins inside a pair of numbers: pass a vector that begins at a multiple of {pair} bytes."
            )


def held_array(M):
    """Return an array of a preconditioner, or None if it has none.

    Examples
    --------
    >>> held_array(Diagonal(np.ones(2)))
    array([1., 1.])
    """
    if isinstance(M, Multigrid):
        return M.inverse.data
    return getattr(M, HELD.get(type(M)) or "d", None)
