"""What ``course bench stencil`` measures of the diffusion steps, on a CPU and on a GPU."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from course_pkg.bench import Measurement, measure
from course_pkg.stencil import cost, cpu_numba, reference
from course_pkg.stencil.problem import HeatProblem

IDEAS = ("tiled", "marching", "marching_tiled", "vectorised")


def variants(device: str) -> dict[str, tuple]:
    """Return function, cost and number of dimensions of each variant, by name."""
    four, fused = cost.diffusion_step_2d_four_statements, cost.diffusion_step
    if device == "cpu":
        arrays = reference.diffusion_step_2d_four_statements
        return {
            "diffusion 2D, NumPy arrays": (arrays, cost.diffusion_step_2d_arrays, 2),
            "diffusion 2D four statements, Numba CPU": (cpu_numba.diffusion_step_2d_four_statements, four, 2),
            "diffusion 2D fused, Numba CPU": (cpu_numba.diffusion_step_2d, fused, 2),
            "diffusion 3D fused, Numba CPU": (cpu_numba.diffusion_step_3d, fused, 3),
        }
    from course_pkg.stencil import gpu_cupy, gpu_numba

    found = {
        "diffusion 2D, CuPy arrays": (
            gpu_cupy.diffusion_step_2d_four_statements,
            cost.diffusion_step_2d_arrays,
            2,
        ),
        "diffusion 2D four statements, Numba CUDA": (
            gpu_numba.diffusion_step_2d_four_statements,
            four,
            2,
        ),
    }
    for ndim in (2, 3):
        plain = f"diffusion_step_{ndim}d"
        found[f"diffusion {ndim}D fused, Numba CUDA"] = getattr(gpu_numba, plain), fused, ndim
        for idea in IDEAS:
            name = f"diffusion {ndim}D {idea.replace('_', ' ')}, Numba CUDA"
            found[name] = getattr(gpu_numba, f"{plain}_{idea}"), fused, ndim
    return found


def run(device: str, shapes: dict[int, tuple], options: dict) -> Iterator[tuple[str, Measurement]]:
    """Yield each variant's name and its measurement; ``shapes`` are the grids by number of dimensions."""
    for name, (fn, its_cost, ndim) in variants(device).items():
        shape = tuple(shapes[ndim])
        problem, expected = _oracle(shape)
        T, Cp, out = (_on(device, name, a) for a in (problem.T, problem.Cp, np.full(shape, np.nan)))
        args = [T, Cp, problem.lam, problem.dt, problem.h, out]
        if its_cost is not cost.diffusion_step:
            work = reference.work_arrays_2d(problem.T, lambda view: np.empty(view.shape, view.dtype))
            args.append(tuple(_on(device, name, field) for field in work))
        yield (
            name,
            measure(
                fn,
                *args,
                cost=its_cost(shape),
                check=lambda out=out, expected=expected: check(out, expected),
                name=name,
                parameters={"shape": list(shape), "dtype": "float64"},
                hold=device == "gpu",
                **options,
            ),
        )


@cache
def _oracle(shape):
    problem = HeatProblem.random(shape)
    expected = np.empty_like(problem.T)
    getattr(reference, f"diffusion_step_{len(shape)}d")(*problem.arguments(), expected)
    return problem, expected


def _on(device, name, array):
    """Put a host array where a variant wants it; Numba looks at a foreign array anew at each launch: slow."""
    if device == "cpu":
        return array.copy()
    from course_pkg import cuda
    from course_pkg.stencil.gpu_cupy import cp

    there = cp.asarray(array)
    return cuda.as_cuda_array(there) if "Numba" in name else there


def check(out, expected) -> None:
    """Compare a result with the oracle, and spoil it for the next variant that writes there."""
    if not isinstance(out, np.ndarray):
        from course_pkg.stencil.gpu_cupy import cp

        found = cp.asarray(out)
        np.testing.assert_allclose(found.get(), expected, rtol=1e-11, atol=1e-11)
        found.fill(cp.nan)
        return
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11)
    out.fill(np.nan)
