"""What ``course bench stencil`` measures of the diffusion steps, on a CPU and on a GPU."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from course_pkg.bench import Measurement, compare, measure
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
    """Yield each variant's name and its measurement; ``shapes`` are the grids by number of dimensions.

    On a CPU, which has other work too, the variants of one grid take turns; on a GPU they come one after the other.
    """
    one_grid = _in_turns if device == "cpu" else _one_by_one
    for ndim, shape in shapes.items():
        chosen = {name: (fn, its_cost) for name, (fn, its_cost, n) in variants(device).items() if n == ndim}
        parameters = {"shape": list(shape), "dtype": "float64"}
        for m in one_grid(tuple(shape), chosen, {"parameters": parameters, **options}):
            yield m.name, m


def _in_turns(shape, chosen, options) -> Iterator[Measurement]:
    """Measure on the host, one sample of each variant after the other."""
    problem, expected = _oracle(shape)
    grids = problem.T, problem.Cp, np.full(shape, np.nan)  # for all: grids for each would need gigabytes
    yield from compare(
        {name: fn for name, (fn, _) in chosen.items()},
        arguments={name: _arguments(problem, its_cost, grids) for name, (_, its_cost) in chosen.items()},
        cost={name: its_cost(shape) for name, (_, its_cost) in chosen.items()},
        check=lambda: check(grids[-1], expected),
        **options,
    ).measurements


def _one_by_one(shape, chosen, options) -> Iterator[Measurement]:
    """Measure on the GPU, each variant on arrays as its library likes them."""
    problem, expected = _oracle(shape)
    for name, (fn, its_cost) in chosen.items():
        put = _for_numba if "Numba" in name else _for_cupy
        T, Cp, out = (put(a) for a in (problem.T, problem.Cp, np.full(shape, np.nan)))
        yield measure(
            fn,
            *_arguments(problem, its_cost, (T, Cp, out), put),
            cost=its_cost(shape),
            check=lambda out=out: check(out, expected),
            name=name,
            hold=True,
            **options,
        )


def _arguments(problem, its_cost, grids, put=lambda array: array) -> tuple:
    """Return the arguments of a variant on these grids; the fields between its statements are its own."""
    T, Cp, out = grids
    args = (T, Cp, problem.lam, problem.dt, problem.h, out)
    if its_cost is cost.diffusion_step:
        return args
    work = reference.work_arrays_2d(problem.T, lambda view: np.empty(view.shape, view.dtype))
    return (*args, tuple(put(field) for field in work))


@cache
def _oracle(shape):
    problem = HeatProblem.random(shape)
    expected = np.empty_like(problem.T)
    getattr(reference, f"diffusion_step_{len(shape)}d")(*problem.arguments(), expected)
    return problem, expected


def _for_cupy(array):
    from course_pkg.stencil.gpu_cupy import cp

    return cp.asarray(array)


def _for_numba(array):
    """Put a host array on the GPU; Numba looks at a foreign array anew at each launch, which is slow."""
    from course_pkg import cuda

    return cuda.as_cuda_array(_for_cupy(array))


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
