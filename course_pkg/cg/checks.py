"""What every conjugate gradient method of this topic checks before, and says after."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS


def check_system(b, x0, rtol, atol, maxiter) -> None:
    """Check a right-hand side, a first guess and the tolerances; all in host memory.

    Raises
    ------
    CourseError
        Names the argument, and how to mend it.
    """
    for name, array in (("b", b), *((("x0", x0),) if x0 is not None else ())):
        if np.dtype(array.dtype).name not in FLOATS:
            raise CourseError(f"{name} has dtype {array.dtype}: use {name}.astype('float64').")
        wrong = int(np.count_nonzero(~np.isfinite(array)))
        if wrong:
            raise CourseError(
                f"{name} holds {wrong} value(s) that are not finite: look where they come from, "
                f"np.argwhere(~np.isfinite({name})) says where they are."
            )
    if x0 is not None and x0.shape != b.shape:
        raise CourseError(
            f"x0 has shape {x0.shape} but b has {b.shape}: they must be equal, or leave x0 out."
        )
    check_stops(rtol, atol, maxiter)


def check_stops(rtol, atol, maxiter) -> None:
    """Check when to stop: tolerances of at least 0, not both 0, and a number of iterations."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not (np.isfinite(value) and value >= 0):
            raise CourseError(f"{name} is {value!r}: it must be a finite number of at least 0.")
    if rtol == 0 and atol == 0:
        raise CourseError("rtol and atol are both 0: no residual is that small; pass rtol=1e-6, say.")
    if maxiter is not None and (not isinstance(maxiter, (int, np.integer)) or maxiter < 1):
        raise CourseError(f"maxiter is {maxiter!r}: it must be an integer of at least 1, or None.")
