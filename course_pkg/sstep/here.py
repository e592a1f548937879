"""Solve a small problem by several methods on this machine's GPU, in a few seconds."""

import numpy as np

from course_pkg.bench import Measurement
from course_pkg.core import CourseError, Library, Variant
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.suite_solves import RTOLS, one_solve
from course_pkg.vector.here import require_free_memory

BLOCKS = 4  # two blocks of 2 s vectors


def on_this_gpu(*methods: tuple[Variant, dict], edge: int = 128, samples: int = 3) -> list[Measurement]:
    """Measure whole solves of Poisson's problem with edge³ unknowns, in the same way as the records.

    Parameters
    ----------
    methods : (Variant, dict)
        A method and its keyword arguments, such as ``(VARIANTS["pcg_sstep"], {"s": 8})``.

    Raises
    ------
    CourseError
        If there is no method or no GPU, or the blocks do not fit in its memory.

    Examples
    --------
    >>> from course_pkg.bench import gpu
    >>> from course_pkg.sstep.variants import VARIANTS
    >>> found = on_this_gpu((VARIANTS["pcg"], {}), edge=32) if gpu().kind == "gpu" else []
    """
    if not methods:
        raise CourseError("Pass at least one method, such as (VARIANTS['pcg'], {}).")
    most = max(options.get("s", 1) for _, options in methods)
    require_free_memory(8 * (BLOCKS * most + 4) * edge**3, f"Blocks of {most} vectors of {edge}³ unknowns")
    return [solved(edge, *method, samples=samples) for method in methods]


def solved(edge: int, variant: Variant, options: dict, *, samples: int = 3) -> Measurement:
    """Measure one solve of a problem with edge³ unknowns; without a GPU, the interpreter runs it.

    Examples
    --------
    >>> from course_pkg.sstep.variants import VARIANTS
    >>> m = solved(4, VARIANTS["pcg_sstep"], {"s": 2}, samples=1)
    >>> m.parameters["s"], m.observed["iterations"]
    (2, 4)
    """
    from course_pkg import cuda

    system = Laplacian((edge,) * 3), cuda.to_device(np.ones((edge,) * 3))
    return one_solve(variant, Library.NUMBA_CUDA, system, options, RTOLS[0], samples, cuda.synchronize)
