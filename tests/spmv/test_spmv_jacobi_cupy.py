"""A step of Jacobi's method by cuSPARSE: on a machine with a GPU."""

import numpy as np
import pytest

from course_pkg.permutation.problem import poisson
from course_pkg.permutation.reference import random_permutation
from course_pkg.spmv import jacobi_reference
from course_pkg.spmv.jacobi import FORMS, system_of

cp = pytest.importorskip("cupy", reason="CuPy is not installed")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", FORMS)
def test_it_is_the_references_step(form, dtype):
    from course_pkg.spmv import gpu_cupy

    A = poisson((5, 6, 7)).astype(dtype)
    b, x = np.random.default_rng(7).uniform(-1, 1, (2, A.shape[0])).astype(dtype)
    system = system_of(form, A, b, None if form == "plain" else random_permutation(x.size, seed=11))
    x = system.taken(x)
    expected, out = np.empty_like(x), cp.empty_like(x)
    getattr(jacobi_reference, f"jacobi_{form}")(system, x, expected)
    getattr(gpu_cupy, f"jacobi_{form}")(gpu_cupy.jacobi_system(system), cp.asarray(x), out)
    np.testing.assert_allclose(out.get(), expected, rtol=0, atol=8 * np.finfo(dtype).eps)
