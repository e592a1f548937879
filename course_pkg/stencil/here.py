"""Measure Laplacians on this machine's GPU in the same way as the records, but briefly and without CuPy."""

from functools import partial

import numpy as np

from course_pkg.bench import Measurement, measure
from course_pkg.core import CourseError, Library, Variant
from course_pkg.stencil import reference
from course_pkg.vector.here import require_free_memory

PLANES = 8  # number of planes at each end that are compared with the reference


def on_this_gpu(*variants: Variant, edge: int = 512, samples: int = 10) -> list[Measurement]:
    """Measure variants of the Laplacian on a cube of ``edge`` points, in double precision, on this machine's GPU.

    Raises
    ------
    CourseError
        If there is no GPU, or two such grids do not fit in its memory.

    Examples
    --------
    >>> from course_pkg.bench import gpu
    >>> from course_pkg.stencil.variants import VARIANTS
    >>> found = on_this_gpu(VARIANTS["laplacian_flat"], edge=64) if gpu().kind == "gpu" else []
    """
    if not variants or any(v.operation != "laplacian" for v in variants):
        raise CourseError("Pass variants of the Laplacian, such as VARIANTS['laplacian_flat'].")
    require_free_memory(16 * edge**3, f"Two grids of {edge}³ points")
    from course_pkg import cuda

    host = np.random.default_rng(0).random((edge,) * 3)
    u, out = cuda.to_device(host), cuda.device_array(host.shape)
    return [_measured(variant, host, u, out, samples) for variant in variants]


def _measured(variant, host, u, out, samples) -> Measurement:
    _spoil(out)
    return measure(
        variant.function(Library.NUMBA_CUDA),
        u,
        out,
        cost=variant.cost(host.shape),
        check=partial(_check, host, out),
        name=variant.by(Library.NUMBA_CUDA),
        parameters={"shape": list(host.shape), "dtype": "float64"},
        samples=samples,
        hold=True,
    )


def _ends(shape) -> list[slice]:
    return [slice(0, min(PLANES, shape[0])), slice(max(0, shape[0] - PLANES), shape[0])]


def _check(host, out) -> None:
    """Compare the first and last planes with the reference."""
    for kept in _ends(host.shape):
        needed = slice(max(0, kept.start - 1), kept.stop + 1)  # with a neighbour plane on each side
        expected = np.empty_like(host[needed])
        reference.laplacian(np.ascontiguousarray(host[needed]), expected)
        first = kept.start - needed.start
        expected = expected[first : first + kept.stop - kept.start]
        np.testing.assert_allclose(out[kept].copy_to_host(), expected, rtol=0, atol=1e-13)


def _spoil(out) -> None:
    """Overwrite the planes that are compared, so that a variant cannot pass with the result of the variant before."""
    for kept in _ends(out.shape):
        out[kept].copy_to_device(np.full((kept.stop - kept.start, *out.shape[1:]), np.nan))
