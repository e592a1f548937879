"""Checks of arguments that the compiled files of this topic share."""

from course_pkg.core.checks import require_arrays, require_distinct, require_ndim, require_shape


def check_stream(*, device: bool, **arrays) -> None:
    """Check the vectors of one operation, the output last: one length, one precision, own memory for the output."""
    require_arrays(device=device, **arrays)
    require_ndim(1, **arrays)
    require_distinct(**arrays)


def check_dot(a, b, out, *, device: bool) -> None:
    """Check the arguments of an inner product; ``a`` and ``b`` may be one array."""
    require_arrays(device=device, a=a, b=b)
    require_ndim(1, a=a)
    require_arrays(device=device, out=out)
    require_shape((1,), out=out)
