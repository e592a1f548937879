"""Checks for conjugate gradient: products, sums and grids. Checks that all solvers share are imported from core."""

import numpy as np

from course_pkg.cg.outcome import Stop, not_definite, overflowed
from course_pkg.core import CourseError
from course_pkg.core.checks import require_arrays, require_ndim
from course_pkg.core.systems import (
    check_norm,
    check_not_lost,
    check_stops,
    check_system,
    check_target,
    dot,
    squared,
    vectors_of,
)
from course_pkg.stencil.checks import INTERIOR, check_points

__all__ = [
    "check_grids",
    "check_norm",
    "check_not_lost",
    "check_product",
    "check_stops",
    "check_system",
    "check_target",
    "dot",
    "squared",
    "vectors_of",
    "why_stopped",
]


def check_product(s, b) -> None:
    """Raise unless ``s``, the product of A and a direction, has the shape of b.

    Examples
    --------
    >>> check_product(np.ones(3), np.ones(4))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: A times an array of shape (4,) gives (3,): A must be square, of b's size.
    """
    if getattr(s, "shape", None) != b.shape:
        found = getattr(s, "shape", type(s).__name__)
        raise CourseError(
            f"A times an array of shape {b.shape} gives {found}: A must be square, of b's size."
        )


def why_stopped(p_A_p, iteration: int) -> Stop | None:
    """Return the reason to stop if ``p·Ap`` is not a positive finite number; None if the method can go on.

    Examples
    --------
    >>> why_stopped(0.5, iteration=1) is None
    True
    >>> why_stopped(np.nan, iteration=1).status.name
    'OVERFLOW'
    """
    if not np.isfinite(p_A_p):
        return overflowed(p_A_p, iteration)
    return not_definite(p_A_p, iteration) if p_A_p <= 0 else None


def check_grids(b, x0, *, device: bool) -> None:
    """Check that b and x0 are C-contiguous grids of three dimensions and one precision, in the right memory.

    Parameters
    ----------
    b, x0 : array, shape (nz, ny, nx)
        x0 may be None.
    device : bool
        True if both must be in GPU memory, False if both must be in host memory.

    Examples
    --------
    >>> check_grids(np.ones((3, 4)), None, device=False)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: b has 2 dimension(s), expected 3: reshape it first.
    """
    arrays = {"b": b} if x0 is None else {"b": b, "x0": x0}
    require_arrays(device=device, **arrays)
    require_ndim(3, least=INTERIOR, b=b)
    if device:
        check_points(b, "b", "several GPUs")
