"""What ``course bench stencil`` measures: the Laplacian and the diffusion step, on grids that exceed every cache."""

from collections.abc import Iterator
from math import prod

import numpy as np

from course_pkg.bench import Measurement, compare, gpu, progress
from course_pkg.core import CourseError
from course_pkg.stencil import cost, cpu_numba, reference, suite_steps
from course_pkg.stencil.problem import HeatProblem
from course_pkg.vector import cost as stream_cost
from course_pkg.vector import cpu_numba as streams

SHAPES = {  # device: (3-D grid, 2-D grid)
    "cpu": ((384, 384, 384), (8192, 8192)),
    "gpu": ((512, 512, 512), (16384, 16384)),
}
QUICK = ((64, 64, 64), (512, 512))


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; ``quick`` takes small grids."""
    shape_3d, shape_2d = QUICK if quick else SHAPES[device]
    if device == "gpu":
        _require_gpu(quick, shape_2d)
        from course_pkg.stencil import suite_laplacian

        with progress(suite_laplacian.steps(quick)) as step:
            for name, m in suite_laplacian.run(quick=quick):
                step(name)
                yield m
    else:
        yield from _in_turns(shape_3d, quick)
    with progress(len(suite_steps.variants(device))) as step:
        options = {"samples": 5 if quick else 20}
        for name, m in suite_steps.run(device, {2: shape_2d, 3: shape_3d}, options):
            step(name)
            yield m
    if device == "gpu":
        for _, m in suite_laplacian.rivals(quick=quick):
            yield m


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return what is demanded of the best Laplacians beside what was measured: shares of a bandwidth that bounds them.

    On a GPU the bound is the driver's copy of the same grid, on a CPU the triad; all from one run.
    """
    rows = []

    def share(what, bound, of, limit):
        if bound and of:
            best = max(of, key=lambda m: m.t_eff_gb_s)
            found = best.t_eff_gb_s / bound[0].t_eff_gb_s
            rows.append(
                {
                    "what": f"{what}: {best.name}",
                    "demand": f"≥ {limit:.2f}",
                    "measured": f"{found:.3f}",
                    "met": "yes" if found >= limit else "NO",
                }
            )

    def named(end, shape):
        return [
            m
            for m in measurements
            if m.name.startswith("laplacian") and m.name.endswith(end) and m.parameters == _parameters(shape)
        ]

    def bound(name, shape):
        return [m for m in measurements if m.name == name and m.parameters == _parameters(shape)]

    gpu_shape, cpu_shape = SHAPES["gpu"][0], SHAPES["cpu"][0]
    share("share of the copy", bound("copy, CuPy", gpu_shape), named(", Numba CUDA", gpu_shape), 0.88)
    share("share of the copy", bound("copy, CuPy", gpu_shape), named(", CuPy", gpu_shape), 0.92)
    share("share of the triad", bound("triad, Numba CPU", cpu_shape), named(", Numba CPU", cpu_shape), 0.80)
    return rows


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
    """The Laplacians of the CPU and the triad of as many numbers, one sample of each after the other."""
    u, expected = _laplacian_oracle(shape)
    out, room = np.full(shape, np.nan), np.zeros(prod(shape))
    vectors = u.reshape(-1), expected.reshape(-1), 3.0, room
    its_cost = cost.laplacian(shape)
    found = compare(
        {
            "triad, Numba CPU": streams.triad,
            "laplacian, NumPy": reference.laplacian,
            "laplacian, Numba CPU": cpu_numba.laplacian,
        },
        u,
        out,
        arguments={"triad, Numba CPU": vectors},
        cost={
            "triad, Numba CPU": stream_cost.triad(u.size),
            "laplacian, NumPy": cost.laplacian_arrays(shape),
            "laplacian, Numba CPU": its_cost,
        },
        check={
            "triad, Numba CPU": lambda: suite_steps.check(room, vectors[0] + 3.0 * vectors[1]),
            "laplacian, NumPy": lambda: suite_steps.check(out, expected),
            "laplacian, Numba CPU": lambda: suite_steps.check(out, expected),
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
