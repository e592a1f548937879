"""Checks of the arguments of a step of Jacobi's method."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_arrays, require_distinct, require_shape


def check_step(system, x, out, form: str, *, device: bool) -> None:
    """Check system, x and out: form, memory space, lengths and precisions, and that out shares no memory with x.

    Raises
    ------
    CourseError
        If an argument does not fit, or the system was built for another form, so that the step would write the unknowns
        in a wrong order.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.spmv.jacobi import plain_system
    >>> system = plain_system(scipy.sparse.csr_array(np.eye(2)), np.ones(2))
    >>> check_step(system, np.ones(2), np.ones(2), "symmetric", device=False)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: The system is plain: call jacobi_plain, or build a symmetric system.
    """
    if system.form != form:
        raise CourseError(
            f"The system is {system.form}: call jacobi_{system.form}, or build a {form} system."
        )
    dtype = np.dtype(system.d.dtype).name
    require_arrays(device=device, dtypes=(dtype,), d=system.d, b=system.b, x=x, out=out)
    require_shape((system.n,), b=system.b, x=x, out=out)
    require_distinct(x=x, b=system.b, d=system.d, out=out)
