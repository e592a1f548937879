"""What ``course bench stencil`` measures: the Laplacian and the diffusion step, on grids that exceed every cache."""

from collections.abc import Iterator
from math import prod

import numpy as np

from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.core import CourseError
from course_pkg.stencil import cost, cpu_numba, reference
from course_pkg.stencil.problem import HeatProblem

SHAPES = {  # device: (3-D grid, 2-D grid)
    "cpu": ((384, 384, 384), (8192, 8192)),
    "gpu": ((512, 512, 512), (16384, 16384)),
}
QUICK = ((64, 64, 64), (512, 512))


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; ``quick`` takes small grids."""
    if device == "gpu" and gpu().kind != "gpu":
        raise CourseError(
            "`course bench stencil --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
        )
    shape_3d, shape_2d = QUICK if quick else SHAPES[device]
    needed = 8 * max(3 * prod(shape_3d), 7 * prod(shape_2d))
    if device == "gpu" and needed > 0.9 * gpu().memory_bytes:
        raise CourseError(
            f"These grids need {needed / 1e9:.0f} GB of GPU memory, more than there is: use --quick."
        )
    cases = [*_laplacian_cases(device, shape_3d), *_step_cases(device, shape_2d)]
    with progress(len(cases)) as step:
        for name, make in cases:
            step(name)
            fn, args, expected, its_cost, shape = make()
            yield measure(
                fn,
                *args,
                cost=its_cost,
                check=lambda out=args[-1], expected=expected: _check(out, expected),
                name=name,
                parameters={"shape": list(shape), "dtype": "float64"},
                samples=5 if quick else 20,
            )


def _laplacian_cases(device, shape):
    if device == "cpu":
        variants = {"laplacian, NumPy": reference.laplacian, "laplacian, Numba CPU": cpu_numba.laplacian}
    else:
        from course_pkg.stencil import gpu_cupy, gpu_numba

        variants = {
            "laplacian naive, Numba CUDA": gpu_numba.laplacian_naive,
            "laplacian flat, Numba CUDA": gpu_numba.laplacian_flat,
            "laplacian, CuPy": gpu_cupy.laplacian,
        }
    to_device, _ = _transfer(device)
    oracle = _once(lambda: _laplacian_oracle(shape))

    def case(name, fn):
        u, expected = oracle()
        its_cost = (cost.laplacian_arrays if name.endswith(("NumPy", "CuPy")) else cost.laplacian)(shape)
        return fn, (to_device(u), to_device(np.full(shape, np.nan))), expected, its_cost, shape

    return [(name, lambda name=name, fn=fn: case(name, fn)) for name, fn in variants.items()]


def _step_cases(device, shape):
    fused, four, arrays = (
        cost.diffusion_step(shape),
        cost.diffusion_step_2d_four_statements(shape),
        cost.diffusion_step_2d_arrays(shape),
    )
    if device == "cpu":
        variants = [
            ("diffusion 2D, NumPy arrays", reference.diffusion_step_2d_four_statements, arrays),
            ("diffusion 2D four statements, Numba CPU", cpu_numba.diffusion_step_2d_four_statements, four),
            ("diffusion 2D fused, Numba CPU", cpu_numba.diffusion_step_2d, fused),
        ]
    else:
        from course_pkg.stencil import gpu_cupy, gpu_numba

        variants = [
            ("diffusion 2D, CuPy arrays", gpu_cupy.diffusion_step_2d_four_statements, arrays),
            ("diffusion 2D four statements, Numba CUDA", gpu_numba.diffusion_step_2d_four_statements, four),
            ("diffusion 2D fused, Numba CUDA", gpu_numba.diffusion_step_2d, fused),
        ]
    to_device, empty_like = _transfer(device)
    oracle = _once(lambda: _step_oracle(shape))

    def case(fn, its_cost):
        problem, expected = oracle()
        T, Cp = to_device(problem.T), to_device(problem.Cp)
        args = (T, Cp, problem.lam, problem.dt, problem.h, to_device(np.full(shape, np.nan)))
        if its_cost is fused:
            return fn, args, expected, its_cost, shape
        work = reference.work_arrays_2d(T, empty_like)
        return _with_work(fn, work), args, expected, its_cost, shape

    return [(name, lambda fn=fn, c=c: case(fn, c)) for name, fn, c in variants]


def _with_work(fn, work):
    return lambda *args: fn(*args, work)


def _once(make):
    """Compute an oracle when it is first needed, and only once: it is large."""
    kept = []

    def get():
        if not kept:
            kept.append(make())
        return kept[0]

    return get


def _laplacian_oracle(shape):
    u = HeatProblem.random(shape).T
    expected = np.empty_like(u)
    reference.laplacian(u, expected)
    return u, expected


def _step_oracle(shape):
    problem = HeatProblem.random(shape)
    expected = np.empty_like(problem.T)
    reference.diffusion_step_2d(*problem.arguments(), expected)
    return problem, expected


def _transfer(device):
    """Return the function that puts a host array where the device wants it, and the one that makes one like it."""
    if device == "cpu":
        return np.array, lambda view: np.empty(view.shape, view.dtype)
    from course_pkg.stencil.gpu_cupy import cp

    return cp.asarray, lambda view: cp.empty(view.shape, view.dtype)


def _check(out, expected):
    found = out if isinstance(out, np.ndarray) else out.get()
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
