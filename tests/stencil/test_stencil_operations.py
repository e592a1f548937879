"""The stencils: one test body for every implementation, against dense matrices and plain loops."""

import functools

import numpy as np
import pytest
from rounding_cases import tolerance

from course_pkg import cuda
from course_pkg.stencil import reference
from course_pkg.stencil.problem import HeatProblem

PAD = 7
GUARD = -77.0

LAPLACIANS = (
    "reference.laplacian",
    "cpu_numba.laplacian",
    "gpu_numba.laplacian_naive",
    "gpu_numba.laplacian_flat",
    "gpu_cupy.laplacian",
)
STEPS = ("reference", "cpu_numba", "gpu_numba")
FOUR_STATEMENTS = (*STEPS, "gpu_cupy")


def guarded(backend, shape, dtype):
    """Return an array full of NaN, and a function that fetches it after looking at what lies around it."""
    n = int(np.prod(shape))
    buffer = np.full(n + 2 * PAD, GUARD, dtype)
    buffer[PAD : PAD + n] = np.nan
    buffer = backend.put(buffer)

    def fetch():
        found = backend.get(buffer)
        assert np.all(found[:PAD] == GUARD), "written before the beginning"
        assert np.all(found[PAD + n :] == GUARD), "written beyond the end"
        return found[PAD : PAD + n].reshape(shape)

    return buffer[PAD : PAD + n].reshape(shape), fetch


def dense_laplacian(shape):
    """The matrix of the 7-point Laplacian, as a Kronecker sum of second differences."""
    parts = []
    for axis in range(3):
        factors = [np.eye(n) for n in shape]
        factors[axis] = 2 * np.eye(shape[axis]) - np.eye(shape[axis], k=1) - np.eye(shape[axis], k=-1)
        parts.append(functools.reduce(np.kron, factors))
    return sum(parts)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((3, 3, 3), "float64"), ((4, 5, 6), "float64"), ((3, 5, 33), "float64"), ((4, 5, 6), "float32")],
    ids=str,
)
@pytest.mark.parametrize("variant", LAPLACIANS)
def test_laplacian_is_the_dense_matrix(variant, shape, dtype, seed, backend_of):
    name, function = variant.split(".")
    backend = backend_of("stencil", name)
    u = np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)
    device_u = backend.put(u)
    out, fetch = guarded(backend, shape, dtype)
    getattr(backend.ops, function)(device_u, out)
    expected = (dense_laplacian(shape) @ u.astype(float).ravel()).reshape(shape)
    np.testing.assert_allclose(fetch(), expected, rtol=0, atol=tolerance(dtype))
    np.testing.assert_array_equal(backend.get(device_u), u, err_msg="the input was changed")


def test_the_laplacian_is_symmetric_positive_definite():
    shape = (3, 4, 5)
    n = 60
    A = np.empty((n, n))
    for column, unit in enumerate(np.eye(n)):
        out = np.empty(shape)
        reference.laplacian(unit.reshape(shape), out)
        A[:, column] = out.ravel()
    np.testing.assert_array_equal(A, dense_laplacian(shape))
    np.testing.assert_array_equal(A, A.T)
    eigenvalues = np.linalg.eigvalsh(A)
    known = sum(np.meshgrid(*(4 * np.sin(np.pi * np.arange(1, m + 1) / (2 * m + 2)) ** 2 for m in shape)))
    assert eigenvalues[0] > 0
    np.testing.assert_allclose(eigenvalues, np.sort(known.ravel()), atol=1e-13)


def step_by_loops(T, Cp, lam, dt, h):
    """One diffusion step, point by point in Python's own numbers."""
    T, Cp = T.astype(float), Cp.astype(float)
    out = T.copy()
    for index in np.ndindex(T.shape):
        if all(0 < i < n - 1 for i, n in zip(index, T.shape, strict=True)):
            total = 0.0
            for axis in range(T.ndim):
                for side in (-1, 1):
                    neighbour = list(index)
                    neighbour[axis] += side
                    total += T[tuple(neighbour)] - T[index]
            out[index] = T[index] + dt * lam * total / (h * h * Cp[index])
    return out


SHAPES = [(3, 3), (9, 5), (8, 32), (9, 33), (3, 3, 3), (4, 5, 6), (3, 5, 33)]


def problem(shape, dtype, seed):
    p = HeatProblem.random(shape, dtype, seed)
    # a conductivity and a spacing that cannot be taken for 1, at the same stable step
    return HeatProblem(p.T, p.Cp, 2.5, 0.3, p.dt * (0.3 / p.h) ** 2 / 2.5)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [*((shape, "float64") for shape in SHAPES), ((9, 5), "float32"), ((4, 5, 6), "float32")],
    ids=str,
)
@pytest.mark.parametrize("name", STEPS)
def test_diffusion_step(name, shape, dtype, seed, backend_of):
    backend = backend_of("stencil", name)
    p = problem(shape, dtype, seed)
    T, Cp = backend.put(p.T), backend.put(p.Cp)
    out, fetch = guarded(backend, shape, dtype)
    step = getattr(backend.ops, f"diffusion_step_{len(shape)}d")
    step(T, Cp, p.lam, p.dt, p.h, out)
    np.testing.assert_allclose(fetch(), step_by_loops(*p.arguments()), rtol=0, atol=tolerance(dtype))
    np.testing.assert_array_equal(backend.get(T), p.T, err_msg="T was changed")
    np.testing.assert_array_equal(backend.get(Cp), p.Cp, err_msg="Cp was changed")


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((3, 3), "float64"), ((5, 9), "float64"), ((9, 33), "float64"), ((5, 9), "float32")],
    ids=str,
)
@pytest.mark.parametrize("name", FOUR_STATEMENTS)
def test_four_statements_are_the_fused_step(name, shape, dtype, seed, backend_of):
    backend = backend_of("stencil", name)
    p = problem(shape, dtype, seed)
    fused = np.empty_like(p.T)
    reference.diffusion_step_2d(*p.arguments(), fused)
    ny, nx = shape
    T, Cp = backend.put(p.T), backend.put(p.Cp)
    fields = [guarded(backend, s, dtype) for s in ((ny, nx - 1), (ny - 1, nx), (ny, nx), (ny, nx))]
    *work, out = (array for array, _ in fields)
    qx, qy, dTdt, found = (fetch for _, fetch in fields)
    backend.ops.diffusion_step_2d_four_statements(T, Cp, p.lam, p.dt, p.h, out, tuple(work))
    np.testing.assert_allclose(found(), fused, rtol=0, atol=tolerance(dtype))
    scale = p.lam / p.h
    np.testing.assert_allclose(qx(), -scale * np.diff(p.T, axis=1), atol=scale * tolerance(dtype))
    np.testing.assert_allclose(qy(), -scale * np.diff(p.T, axis=0), atol=scale * tolerance(dtype))
    assert np.all(np.isfinite(dTdt())), "every element of the rate is written"
    np.testing.assert_array_equal(backend.get(T), p.T, err_msg="T was changed")
    np.testing.assert_array_equal(backend.get(Cp), p.Cp, err_msg="Cp was changed")


def test_heat_that_is_even_stays(seed):
    p = HeatProblem.random((5, 6), seed=seed)
    out = np.empty((5, 6))
    reference.diffusion_step_2d(np.full((5, 6), 2.0), p.Cp, p.lam, p.dt, p.h, out)
    np.testing.assert_allclose(out, 2.0, rtol=1e-15)


@pytest.mark.parametrize("shape", [(20, 30), (8, 9, 10)], ids=str)
def test_many_steps_stay_between_the_coldest_and_the_hottest(shape, seed):
    """The problem's time step is stable, and close to the limit."""
    p = HeatProblem.random(shape, seed=seed)
    step = getattr(reference, f"diffusion_step_{len(shape)}d")
    T, out = p.T.copy(), np.empty(shape)
    for _ in range(50):
        step(T, p.Cp, p.lam, p.dt, p.h, out)
        T, out = out, T
    assert p.T.min() <= T.min()
    assert T.max() <= p.T.max()
    limit = p.h**2 * p.Cp.min() / (2 * len(shape) * p.lam)
    assert p.dt == pytest.approx(0.9 * limit)


def test_work_arrays_have_the_shapes_of_the_fluxes():
    T = np.ones((5, 7), "float32")
    for work in (
        reference.work_arrays_2d(T),
        reference.work_arrays_2d(cuda.to_device(T), cuda.device_array_like),
    ):
        assert [a.shape for a in work] == [(5, 6), (4, 7), (5, 7)]
        assert {np.dtype(a.dtype).name for a in work} == {"float32"}


def test_the_problem_is_reproducible():
    one, same, other = (HeatProblem.random((5, 6), "float32", seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.T, same.T)
    np.testing.assert_array_equal(one.Cp, same.Cp)
    assert one.dt == same.dt
    assert not np.array_equal(one.T, other.T)
    assert {one.T.dtype.name, one.Cp.dtype.name} == {"float32"}
    assert one.T.min() >= 0
    assert one.T.max() < 1 <= one.Cp.min()
    assert one.Cp.max() < 2
    assert one.h == pytest.approx(1 / 5)
    assert one.arguments() == (one.T, one.Cp, one.lam, one.dt, one.h)
