"""The Laplacian by CuPy's element-wise kernel and by CUDA C++: on a machine with a GPU."""

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.stencil import reference

cp = pytest.importorskip("cupy", reason="CuPy is not installed")

VARIANTS = ("laplacian_elementwise", "laplacian_vectorised")


def call(variant, u):
    from course_pkg.stencil import gpu_cupy

    out = cp.full(u.shape, cp.nan, dtype=u.dtype)
    getattr(gpu_cupy, variant)(cp.asarray(u), out)
    return out.get()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "shape",
    [(3, 3, 4), (5, 9, 66), (17, 13, 70), (33, 8, 128), (3, 730, 730), (19, 730, 760)],
    ids=lambda s: "x".join(map(str, s)),
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_kernels_equal_the_reference(variant, shape, dtype):
    """Ragged rows, planes that are no multiple of a chunk, and planes above 4 MiB, which take longer marches."""
    u = np.random.default_rng(7).random(shape).astype(dtype)
    expected = np.empty_like(u)
    reference.laplacian(u, expected)
    np.testing.assert_allclose(call(variant, u), expected, rtol=0, atol=64 * np.finfo(dtype).eps)


def test_pairs_need_rows_of_even_length():
    with pytest.raises(CourseError, match="nx is 5: pairs of points need rows of even length"):
        call("laplacian_vectorised", np.zeros((4, 4, 5)))
