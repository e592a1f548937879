"""The methods by CuPy: on a GPU, and, where there is none, with NumPy in the place of CuPy."""

import importlib

import cupy_by_numpy
import numpy as np
import pytest
from test_sstep_methods import EVERY, SHAPE, random_right_side

from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg
from course_pkg.spmv.formats import Csr
from course_pkg.sstep import reference
from course_pkg.sstep.problem import Laplacian


@pytest.fixture(params=["stand-in", "GPU"])
def gpu_cupy(request, monkeypatch, backend_of):
    if request.param == "GPU":
        yield backend_of("sstep", "gpu_cupy").ops
        return
    cupy_by_numpy.stand_in(monkeypatch)
    found = importlib.import_module("course_pkg.sstep.gpu_cupy")
    by_slices = importlib.import_module("course_pkg.stencil.gpu_cupy").laplacian
    # that kernel is C++ which Python cannot read
    monkeypatch.setattr(found, "laplacian_elementwise", by_slices)
    yield found
    cupy_by_numpy.forget()


@EVERY
def test_cupy_does_the_iterations_of_the_reference(gpu_cupy, name, options):
    b = random_right_side()
    expected = getattr(reference, name)(Laplacian(SHAPE), b, **options)
    found = getattr(gpu_cupy, name)(Laplacian(SHAPE), gpu_cupy.cp.asarray(b), **options)
    assert found.converged and found.iterations == expected.iterations
    assert [found.extra[k] for k in ("reductions", "products")] == [
        expected.extra[k] for k in ("reductions", "products")
    ]
    np.testing.assert_allclose(found.x.get(), expected.x, rtol=1e-9, atol=1e-10)


@EVERY
def test_with_a_matrix_and_a_v_cycle(gpu_cupy, name, options):
    A, b = poisson((6, 6, 6)), random_right_side(216)
    M = amg(A, max_coarse=30)
    expected = getattr(reference, name)(A, b, M=M, **options)
    found = getattr(gpu_cupy, name)(Csr.from_scipy(A), gpu_cupy.cp.asarray(b), M=M, **options)
    assert found.converged and found.iterations == expected.iterations
    np.testing.assert_allclose(found.x.get(), expected.x, rtol=1e-9)


def test_a_solve_ends_with_a_shorter_pass(gpu_cupy):
    A, b = Laplacian((20, 20, 20)), np.ones((20, 20, 20))
    expected = reference.pcg_sstep(A, b, s=8, rtol=1e-8)
    found = gpu_cupy.pcg_sstep(A, gpu_cupy.cp.asarray(b), s=8, rtol=1e-8)
    assert found.converged and found.extra["lengths"][-1] < 8
    assert found.extra["lengths"] == expected.extra["lengths"]
    np.testing.assert_allclose(found.x.get(), expected.x, rtol=1e-7)
