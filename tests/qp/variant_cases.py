"""The name under which a kernel or solver is measured."""

from course_pkg.core import Library
from course_pkg.qp.variants import VARIANTS


def of(name, library=Library.NUMBA_CUDA):
    """Return what is measured of a variant in a library."""
    return VARIANTS[name].by(library)
