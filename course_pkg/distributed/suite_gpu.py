"""What ``course bench scaling --device gpu`` measures: iterations, solves and messages on 1, 2, … GPUs of this host.

For the methods of ``cg``, these are iterations in the middle of a solve, and whole solves, also on a large grid. The
iterations are measured with the halo exchange during the sweep and after it. On one GPU, they are also measured on a
grid of the size that each of two GPUs has. For the methods of ``sstep``, only whole solves are measured.
"""

from collections.abc import Iterator
from math import prod

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import VARIANTS as FUSED
from course_pkg.core import CourseError, Implementation, Library
from course_pkg.distributed import suite
from course_pkg.distributed.gpu_cg import METHODS as ON_GPUS
from course_pkg.distributed.launch import share
from course_pkg.distributed.rivals import jax_sharded
from course_pkg.sstep.variants import VARIANTS
from course_pkg.stencil.problem import LARGE_EDGE, SMALL_EDGE

PROGRAM = ("-m", "course_pkg.distributed.gpu_job")
CUDA = Library.NUMBA_CUDA
QUICK_EDGE = 64
LARGE = "deferred_x"  # solved on the large grid, where each solve takes half a minute
HALO_EDGES = (8, 64, SMALL_EDGE, 500, LARGE_EDGE)
REDUCED = (1, 9, 81, 289, 4225)
HALO_EXCHANGE = Implementation("halo_exchange", "", "NCCL")
JAX_ITERATIONS = 100  # iterations in a call, as in `course bench cg`
ALLREDUCE = Implementation("allreduce", "", "NCCL")


def run(*, quick: bool) -> Iterator[Measurement]:
    """Yield the measurements of each number of GPUs; with ``quick``, of a small grid."""
    if gpu().kind != "gpu":
        raise CourseError(
            "There is no NVIDIA GPU here: `course bench scaling --device cpu` measures ranks of a CPU."
        )
    counts = suite.counts(len(cuda.gpus)) if len(cuda.gpus) > 1 else (1,)
    threads = share(counts[-1])
    with progress(2 * len(counts)) as step:
        for ranks in counts:
            step(f"JAX, {ranks} GPUs")
            yield from _by_jax(ranks, (QUICK_EDGE if quick else min(PUBLISHED),) * 3)
            step(f"{ranks} GPUs" if ranks > 1 else "1 GPU")
            for task, parameters, result in suite.results(
                PROGRAM, list(tasks_of(ranks, quick)), ranks, threads
            ):
                yield measurement(task, parameters, result)


def tasks_of(ranks: int, quick: bool) -> Iterator[tuple[dict, dict]]:
    """Yield what the ranks have to do, with the parameters of each measurement."""
    small, large = (QUICK_EDGE,) * 2 if quick else tuple(PUBLISHED)
    samples, plane = 3 if quick else 10, (small, small)
    grids = (
        {"strong": (small, *plane), "weak": (small * ranks, *plane)}
        if ranks > 1
        else {"strong": (small, *plane)}
    )
    parts = [(small // 2, *plane), (small * 2, *plane)] if ranks == 1 else []
    for scaling, grid in [*grids.items(), *(("part", part) for part in parts)]:
        for method in ON_GPUS:
            for overlap in (True, False) if ranks > 1 else (True,):
                yield _iterations(ranks, scaling, grid, method, overlap, 50, samples)
            if scaling == "strong":
                yield _solve(ranks, scaling, grid, method, 3)
        for method, options in suite.METHODS if scaling != "part" else ():
            task = {"task": "passes", "grid": grid, "method": method, "options": options, "rtol": suite.RTOL}
            yield {**task, "samples": 3}, {**_of(ranks, scaling, grid), "rtol": suite.RTOL, **options}
    if not quick:
        grid = (large,) * 3
        for overlap in (True, False) if ranks > 1 else (True,):
            yield _iterations(ranks, "strong", grid, LARGE, overlap, 5, 3)
        yield _solve(ranks, "strong", grid, LARGE, 1)
    if ranks > 1:
        for edge in HALO_EDGES[:2] if quick else HALO_EDGES:
            yield (
                {"task": "halo", "grid": (3 * ranks, edge, edge), "samples": samples},
                {"ranks": ranks, "n": edge**2},
            )
        for numbers in REDUCED:
            yield (
                {"task": "allreduce", "numbers": numbers, "samples": samples},
                {"ranks": ranks, "n": numbers},
            )


def _by_jax(ranks, grid) -> Iterator[Measurement]:
    """Yield 100 iterations by JAX in one process, if it is installed."""
    try:
        rival = jax_sharded(grid, ranks)
    except (ImportError, CourseError) as error:
        print(f"Not measured: cg by JAX on {ranks} GPUs ({error})")
        return
    yield measure(
        lambda _: rival.call(JAX_ITERATIONS),
        cuda.to_device(np.zeros(1)),  # says that this runs on a GPU
        name=FUSED["cg_slices"].by(Library.JAX),
        parameters={**_of(ranks, "strong", grid), "iterations": JAX_ITERATIONS},
        samples=5,
        min_sample_s=0,
        wait=rival.wait,
        footprint=8 * suite.FIELDS * prod(grid) // ranks,
    )


def _of(ranks, scaling, grid) -> dict:
    return {"shape": list(grid), "dtype": "float64", "ranks": ranks, "scaling": scaling}


def _iterations(ranks, scaling, grid, method, overlap, calls, samples) -> tuple[dict, dict]:
    task = {
        "task": "iterate",
        "grid": grid,
        "method": method,
        "overlap": overlap,
        "calls": calls,
        "samples": samples,
    }
    return task, {**_of(ranks, scaling, grid), "iterations": 2, "overlap": overlap}


def _solve(ranks, scaling, grid, method, samples) -> tuple[dict, dict]:
    task = {"task": "solve", "grid": grid, "method": method, "rtol": suite.RTOL, "samples": samples}
    return task, {**_of(ranks, scaling, grid), "rtol": suite.RTOL}


def measurement(task: dict, parameters: dict, result: dict) -> Measurement:
    """Return the measurement of a task from what rank 0 printed."""
    what = {"halo": HALO_EXCHANGE, "allreduce": ALLREDUCE}.get(task["task"])
    cost, footprint = None, 0
    if what is None:
        grid, fused = task["grid"], task["task"] != "passes"
        variant = FUSED[f"cg_{task['method']}"] if fused else VARIANTS[task["method"]]
        each = variant.cost(tuple(grid)) if fused else variant.cost(prod(grid), **task["options"])
        what, cost = variant.by(CUDA), result["iterations"] * each
        footprint = 8 * suite.FIELDS * prod(grid) // parameters["ranks"]
    # phases are those of two kernels that both update x
    timed = result.get("phases", {}) if task.get("method") != "deferred_x" else {}
    phases = {suite.phase_key(name): took for name, took in timed.items()}
    seen = {name: result[name] for name in ("iterations", "true_residual", "bytes") if name in result}
    if "iterations" in parameters:
        del seen["iterations"]
    return suite.measured(what, cost, footprint, gpu(), task, parameters, result, {**seen, **phases})
