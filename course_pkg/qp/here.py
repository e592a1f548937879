"""Measure one update by several kernels on this machine's GPU, in a few seconds."""

import numpy as np

from course_pkg.bench import Measurement, measure
from course_pkg.core import CourseError, Library
from course_pkg.qp.suite_solves import drawn
from course_pkg.qp.variants import VARIANTS
from course_pkg.vector.here import require_free_memory


def on_this_gpu(*names: str, n: int = 8192, samples: int = 10) -> list[Measurement]:
    """Measure an update of ``n`` unknowns by kernels of these names.

    Parameters
    ----------
    names : str
        Of variants, such as ``"update_rows"``.
    n : int
        Number of unknowns; Q has ``8 n²`` bytes.

    Raises
    ------
    CourseError
        If there is no GPU, Q does not fit in its memory, or no name is given.

    Examples
    --------
    >>> from course_pkg.bench import gpu
    >>> found = on_this_gpu("update_rows", n=64) if gpu().kind == "gpu" else []
    """
    if not names:
        raise CourseError('Name at least one variant, such as "update_rows".')
    require_free_memory(8 * n * n, f"Q with {n:,} rows")
    return updates_of(names, n, samples)


def updates_of(names, n: int, samples: int) -> list[Measurement]:
    """Measure an update by several kernels; without a GPU, the interpreter runs them.

    Examples
    --------
    >>> [m.parameters["n"] for m in updates_of(["update_rows"], 32, samples=2)]
    [32]
    """
    from course_pkg import cuda

    host = drawn(n)
    expected = [np.empty(n), np.empty(n)]
    VARIANTS["update"].function(Library.NUMBA_CPU)(*host, *expected)
    given = [cuda.to_device(a) for a in host]
    out, parts = (cuda.to_device(np.full(n, np.nan)) for _ in range(2))

    def check():
        for found, right in zip((out, parts), expected, strict=True):
            np.testing.assert_allclose(found.copy_to_host(), right, rtol=1e-8, atol=1e-8 * abs(right).max())
            found.copy_to_device(np.full(n, np.nan))

    return [
        measure(
            VARIANTS[name].function(Library.NUMBA_CUDA),
            *given,
            out,
            parts,
            cost=VARIANTS[name].cost(n),
            check=check,
            name=VARIANTS[name].by(Library.NUMBA_CUDA),
            parameters={"n": n, "dtype": "float64"},
            samples=samples,
        )
        for name in names
    ]
