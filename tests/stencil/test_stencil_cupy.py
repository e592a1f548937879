"""The Laplacian by CuPy's element-wise kernel and by CUDA C++: on a machine with a GPU."""

import numpy as np
import pytest

from course_pkg.core import CourseError, Library
from course_pkg.stencil import reference
from course_pkg.stencil import variants as listed

cp = pytest.importorskip("cupy", reason="CuPy is not installed")

# the plain Laplacian by array statements is tested with the other libraries
VARIANTS = [v.function_name for v in listed.VARIANTS.of("laplacian", Library.CUPY) if v.name]


def call(variant, u):
    out = cp.full(u.shape, cp.nan, dtype=u.dtype)
    listed.VARIANTS[variant].function(Library.CUPY)(cp.asarray(u), out)
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
