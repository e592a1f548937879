"""Preconditioners by CuPy: on a GPU, and, where there is none, with NumPy in the place of CuPy."""

import importlib

import cupy_by_numpy
import numpy as np
import pytest
from test_precond_apply import DTYPES, EVERY, A, applied, made

from course_pkg.core import CourseError
from course_pkg.precond import cycle, reference
from course_pkg.precond.build import jacobi


@pytest.fixture(params=["stand-in", "GPU"])
def gpu_cupy(request, monkeypatch, backend_of):
    if request.param == "GPU":
        yield backend_of("precond", "gpu_cupy").ops
        return
    cupy_by_numpy.stand_in(monkeypatch)
    yield importlib.import_module("course_pkg.precond.gpu_cupy")
    cupy_by_numpy.forget()


def on(gpu_cupy, M, r):
    """Apply a preconditioner by CuPy, and return the result in host memory."""
    cp = gpu_cupy.cp
    there, out = cp.asarray(r), cp.full(r.shape, np.nan, dtype=r.dtype)
    cycle.apply(gpu_cupy, gpu_cupy.on_cupy(M), there, out)
    np.testing.assert_array_equal(there.get(), r)  # r stays as it is
    return out.get()


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_cupy_gives_what_the_books_say(gpu_cupy, name, dtype):
    M, r = made(name, dtype), np.random.default_rng(0).uniform(-1, 1, A.shape[0]).astype(dtype)
    found, expected = on(gpu_cupy, M, r), applied(reference, M, r)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", ["pairwise", "three_sweeps", "chebyshev_4"])
def test_it_is_symmetric(gpu_cupy, name):
    x, y = np.random.default_rng(1).standard_normal((2, A.shape[0]))
    M = made(name)
    assert x @ on(gpu_cupy, M, y) == pytest.approx(on(gpu_cupy, M, x) @ y, rel=1e-10, abs=1e-12)


def test_every_matrix_and_vector_moves(gpu_cupy):
    """Nothing of a hierarchy stays in host memory; otherwise the first product would copy it each time, or fail."""
    M = gpu_cupy.on_cupy(made("pairwise"))
    held = [
        M.inverse.data,
        *(part for level in M.levels for part in (level.d, *(m.data for m in (level.E, level.P, level.R)))),
    ]
    assert len(M.levels) >= 1 and all(isinstance(part, gpu_cupy.cp.ndarray) for part in held)


def test_a_preconditioner_in_host_memory_is_named(gpu_cupy):
    cp = gpu_cupy.cp
    with pytest.raises(CourseError, match="M lives in host memory but this function runs on the GPU"):
        cycle.apply(gpu_cupy, jacobi(A), cp.ones(A.shape[0]), cp.ones(A.shape[0]))
