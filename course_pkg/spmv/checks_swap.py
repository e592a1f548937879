"""Checks of the arguments of a step in two precisions."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS, on_device, require_arrays, require_distinct, require_shape
from course_pkg.spmv.swap import WAYS

PRECISION = {"x32": "float32", "y32": "float32", "x64": "float64", "y64": "float64"}


def check_swap(A, vectors, way: str) -> None:
    """Check A and the vectors of a step on the GPU: exactly the vectors that the way needs, none of them overlapping.

    Raises
    ------
    CourseError
        If a vector is missing or not needed, has a wrong length or precision, is in host memory, or overlaps another.
    """
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise CourseError(f"A has shape {A.shape}: x is replaced by A x, so A must be square.")
    if not on_device(A.data):
        raise CourseError("A lives in host memory but this function runs on the GPU: pass A.to_device().")
    if np.dtype(A.data.dtype).name not in FLOATS:
        raise CourseError(
            f"A has dtype {A.data.dtype}, expected {' or '.join(FLOATS)}: use A.astype('float32')."
        )
    held = {name: getattr(vectors, name) for name in PRECISION if getattr(vectors, name) is not None}
    if set(held) != set(WAYS[way]):
        raise CourseError(
            f"These vectors are {', '.join(sorted(held))}, but the {way} way needs {', '.join(sorted(WAYS[way]))}: "
            f"make them with vectors_for({way!r}, x)."
        )
    for name, array in held.items():
        require_arrays(device=True, dtypes=(PRECISION[name],), **{name: array})
        require_shape((A.shape[0],), **{name: array})
    written = list(held)
    for i, name in enumerate(written):
        require_distinct(data=A.data, **{other: held[other] for other in written[:i]}, **{name: held[name]})
