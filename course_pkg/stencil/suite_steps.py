"""What ``course bench stencil`` measures of the diffusion steps, on a CPU and on a GPU."""

import inspect
from collections.abc import Iterator
from functools import cache, lru_cache

import numpy as np

from course_pkg.bench import Measurement, compare, measure
from course_pkg.core import Library
from course_pkg.stencil import reference, suite_tiles
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.variants import VARIANTS

LIBRARIES = {
    "cpu": (Library.NUMPY, Library.NUMBA_CPU),
    "gpu": (Library.CUPY, Library.NUMBA_CUDA),
}
# of the steps in array statements, measure only the one that a learner writes first
ONE_FORMULA = {"diffusion_step_2d", "diffusion_step_3d"}
BY_ARRAYS = {Library.NUMPY, Library.CUPY}


def implementations(device: str, operation: str) -> list[tuple]:
    """Return the pairs of a variant and a library that are measured for a step."""
    return [
        (variant, library)
        for library in LIBRARIES[device]
        for variant in VARIANTS.of(operation, library)
        if not (library in BY_ARRAYS and variant.function_name in ONE_FORMULA)
    ]


def run(device: str, shapes: dict[str, tuple], options: dict) -> Iterator[Measurement]:
    """Yield the measurement of each implementation; ``shapes`` gives the grid of each operation.

    On a CPU, where other programs disturb, samples of the variants are taken in turn. On a GPU, all samples of a
    variant are taken before the next variant.
    """
    one_grid = _in_turns if device == "cpu" else _one_by_one
    for operation, shape in shapes.items():
        parameters = {"shape": list(shape), "dtype": "float64"}
        chosen = implementations(device, operation)
        yield from one_grid(operation, tuple(shape), chosen, {"parameters": parameters, **options})


def _in_turns(operation, shape, chosen, options) -> Iterator[Measurement]:
    """Measure on the host, one sample of each variant after the other."""
    problem, expected = _oracle(operation, shape)
    grids = problem.T, problem.Cp, np.full(shape, np.nan)  # shared by all variants, to save gigabytes
    yield from compare(
        {v.by(library): v.function(library) for v, library in chosen},
        arguments={v.by(library): _arguments(problem, v.function(library), grids) for v, library in chosen},
        cost={v.by(library): v.cost_by(library)(shape) for v, library in chosen},
        check=lambda: check(grids[-1], expected),
        **options,
    ).measurements


def _one_by_one(operation, shape, chosen, options) -> Iterator[Measurement]:
    """Measure on the GPU, one variant after the other."""
    for variant, library in chosen:
        yield _on_gpu(shape, variant, library, variant.function(library), options)


def tiles(shape: tuple, options: dict) -> Iterator[Measurement]:
    """Yield the measurements of the plain and the tiled step of a plate on the GPU, with tiles of many sizes."""
    for variant, launch, tile in suite_tiles.chosen(suite_tiles.PLATE, suite_tiles.TILES_2D):
        parameters = {"shape": list(shape), "dtype": "float64", **tile}
        yield _on_gpu(shape, variant, Library.NUMBA_CUDA, launch, {"parameters": parameters, **options})


def _on_gpu(shape, variant, library, fn, options) -> Measurement:
    """Measure a variant with arrays of its own library."""
    problem, _ = _oracle(variant.operation, shape)
    *fields, expected = _on_device(variant.operation, shape)
    put = _for_numba if library == Library.NUMBA_CUDA else _for_cupy
    fields[-1].fill(np.nan)  # it still holds the right result of the variant before
    return measure(
        fn,
        *_arguments(problem, fn, [put(a) for a in fields], put),
        cost=variant.cost_by(library)(shape),
        check=lambda: _check_on_device(fields[-1], expected),
        name=variant.by(library),
        hold=True,
        **options,
    )


def _arguments(problem, fn, grids, put=lambda array: array) -> tuple:
    """Return the arguments of a variant on these grids; the fields between its statements are new arrays."""
    T, Cp, out = grids
    args = (T, Cp, problem.lam, problem.dt, problem.h, out)
    if "work" not in inspect.signature(fn).parameters:
        return args
    work = reference.work_arrays_2d(problem.T, lambda view: np.empty(view.shape, view.dtype))
    return (*args, tuple(put(field) for field in work))


@cache
def _oracle(operation, shape):
    problem = HeatProblem.random(shape)
    expected = np.empty_like(problem.T)
    getattr(reference, operation)(*problem.arguments(), expected)
    return problem, expected


@lru_cache(maxsize=1)
def _on_device(operation, shape) -> tuple:
    """Return T, Cp, memory for the result, and the right result, in GPU memory. Copying a plate takes seconds."""
    from course_pkg.stencil.gpu_cupy import cp

    problem, expected = _oracle(operation, shape)
    return tuple(cp.asarray(a) for a in (problem.T, problem.Cp, np.full(shape, np.nan), expected))


def _for_cupy(array):
    from course_pkg.stencil.gpu_cupy import cp

    return cp.asarray(array)


def _for_numba(array):
    """Copy a host array to the GPU as a Numba array; with another library's array, each launch would take longer."""
    from course_pkg import cuda

    return cuda.as_cuda_array(_for_cupy(array))


def check(out, expected) -> None:
    """Compare a result with the right one, then overwrite it, so that the next variant must write its own."""
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11)
    out.fill(np.nan)


def _check_on_device(out, expected) -> None:
    """As :func:`check`, but in GPU memory; a NaN also counts as wrong."""
    from course_pkg.stencil.gpu_cupy import cp

    worst = float((cp.abs(out - expected) - 1e-11 * cp.abs(expected)).max())
    if not worst <= 1e-11:
        raise AssertionError(f"the result is wrong by {worst}")
    out.fill(cp.nan)
