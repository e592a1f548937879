"""What ``course bench stencil`` measures: the Laplacian and the diffusion step, on grids larger than any cache."""

from collections.abc import Iterator
from math import prod

import numpy as np

from course_pkg.bench import Measurement, compare, gpu, progress
from course_pkg.bench.demand import demand
from course_pkg.core import CourseError, Library
from course_pkg.stencil import reference, suite_steps
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector.bound import COPY
from course_pkg.vector.variants import VARIANTS as STREAMS

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
SHAPES = {  # device: (3-D grid, 2-D grid)
    "cpu": ((384, 384, 384), (8192, 8192)),
    "gpu": ((512, 512, 512), (16384, 16384)),
}
QUICK = ((64, 64, 64), (512, 512))
# library: (device, the stream that bounds its best Laplacian, share of the stream's bandwidth that is required)
DEMANDED = (
    (CUDA, "gpu", COPY, 0.88),
    (CUPY, "gpu", COPY, 0.92),
    (CPU, "cpu", STREAMS["triad"].by(CPU), 0.80),
)


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; ``quick`` takes small grids."""
    shape_3d, shape_2d = QUICK if quick else SHAPES[device]
    if device == "gpu":
        _require_gpu(quick, shape_2d)
        from course_pkg.stencil import suite_gpu

        with progress(suite_gpu.steps(quick)) as step:
            for m in suite_gpu.run(quick=quick):
                step(m.label)
                yield m
    else:
        yield from _in_turns(shape_3d, quick)
    shapes = {"diffusion_step_2d": shape_2d, "diffusion_step_3d": shape_3d}
    with progress(sum(len(suite_steps.implementations(device, op)) for op in shapes)) as step:
        for m in suite_steps.run(device, shapes, {"samples": 5 if quick else 20}):
            step(m.label)
            yield m
    if device == "gpu":
        yield from suite_steps.tiles(shape_2d, {"samples": 5 if quick else 20})
        yield from suite_gpu.rivals(quick=quick)


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one table row for each required performance: the share of a stream's bandwidth to reach, and the result.

    On a GPU the stream is the driver's copy of the same grid, on a CPU the triad, both measured in the same run.
    """
    rows = []
    for library, device, stream, limit in DEMANDED:
        here = [m for m in measurements if m.parameters == _parameters(SHAPES[device][0])]
        bound = [m for m in here if m.what == stream]
        ours = [m for m in here if (m.operation, m.library) == ("laplacian", library)]
        if bound and ours:
            best = max(ours, key=lambda m: m.t_eff_gb_s)
            found = best.of_copy(bound[0], best.cost.a_eff_bytes)
            rows.append(
                demand(
                    f"share of the {stream.operation}: {best.label}",
                    f"≥ {limit:.2f}",
                    f"{found:.3f}",
                    found >= limit,
                )
            )
    return rows


def bounding_stream(measurements: list[Measurement]) -> Measurement | None:
    """Return the stream of the same grid that bounds the Laplacians; None if it was not measured."""
    streams = ((stream, _parameters(SHAPES[device][0])) for _, device, stream, _ in DEMANDED)
    return next(
        (m for what, grid in streams for m in measurements if (m.what, m.parameters) == (what, grid)), None
    )


def _require_gpu(quick, shape_2d) -> None:
    if gpu().kind != "gpu":
        raise CourseError(
            "`course bench stencil --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
        )
    needed = 8 * max(6 * (32 if quick else 1024) ** 3, 7 * prod(shape_2d))
    if needed > 0.9 * gpu().memory_bytes:
        raise CourseError(
            f"These grids need {needed / 1e9:.0f} GB of GPU memory, more than there is: use --quick."
        )


def _in_turns(shape, quick) -> Iterator[Measurement]:
    """Yield the Laplacians of the CPU, and a triad of equally many numbers; their samples are taken in turn."""
    u, expected = _laplacian_oracle(shape)
    out, room = np.full(shape, np.nan), np.zeros(prod(shape))
    vectors = u.reshape(-1), expected.reshape(-1), 3.0, room
    triad = STREAMS["triad"].by(CPU)
    chosen = [(v, library) for library in (Library.NUMPY, CPU) for v in VARIANTS.of("laplacian", library)]
    laplacians = {v.by(library): v.function(library) for v, library in chosen}
    found = compare(
        {triad: STREAMS["triad"].function(CPU), **laplacians},
        u,
        out,
        arguments={triad: vectors},
        cost={
            triad: STREAMS["triad"].cost(u.size),
            **{v.by(library): v.cost_by(library)(shape) for v, library in chosen},
        },
        check={
            triad: lambda: suite_steps.check(room, vectors[0] + 3.0 * vectors[1]),
            **dict.fromkeys(laplacians, lambda: suite_steps.check(out, expected)),
        },
        parameters=_parameters(shape),
        samples=5 if quick else 20,
    )
    yield from found.measurements


def _parameters(shape) -> dict:
    return {"shape": list(shape), "dtype": "float64"}


def _laplacian_oracle(shape):
    u = HeatProblem.random(shape).T
    expected = np.empty_like(u)
    reference.laplacian(u, expected)
    return u, expected
