"""What ``course bench scaling --device gpu`` measures: iterations, solves and messages on 1, 2, … GPUs of this host.

For the methods of ``cg``, these are iterations in the middle of a solve, and whole solves, also on a large grid. The
iterations are measured with the halo exchange during the sweep and after it. On one GPU, they are also measured on a
grid of the size that each of two GPUs has. For the methods of ``sstep``, only whole solves are measured, and with a
stored matrix only those of ``pcg``, without and with each rank's V-cycle as preconditioner.

Messages go by NCCL. Where GPUs can write into each other's memory, all is measured with that, too: such measurements
have the parameter ``link``.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import VARIANTS as FUSED
from course_pkg.core import CourseError, Library
from course_pkg.distributed import suite_ranks
from course_pkg.distributed.gpu_cg import METHODS as ON_GPUS
from course_pkg.distributed.launch import share
from course_pkg.distributed.recorded import ALLREDUCE, HALO_EXCHANGE, phase_key
from course_pkg.distributed.rivals import jax_sharded
from course_pkg.sstep.variants import VARIANTS
from course_pkg.stencil.problem import LARGE_EDGE, SMALL_EDGE

PROGRAM = ("-m", "course_pkg.distributed.gpu_job")
CUDA = Library.NUMBA_CUDA
QUICK_EDGE = 64
ROWS_EDGE = 100  # edge of the grid whose Laplacian is stored: AMG hierarchies of larger grids take long
BLOCKS = "block_jacobi_vcycle"
LARGE = "deferred_x"  # solved on the large grid, where each solve takes half a minute
HALO_EDGES = (8, 64, SMALL_EDGE, 500, LARGE_EDGE)
REDUCED = (1, 9, 81, 289, 4225)
NCCL, DIRECT = "nccl", "direct"
LIBRARIES = {NCCL: "NCCL", DIRECT: "peer memory"}
JAX_ITERATIONS = 100  # iterations in a call, as in `course bench cg`


def run(*, quick: bool) -> Iterator[Measurement]:
    """Yield the measurements of each number of GPUs; with ``quick``, of a small grid."""
    if gpu().kind != "gpu":
        raise CourseError(
            "There is no NVIDIA GPU here: `course bench scaling --device cpu` measures ranks of a CPU."
        )
    counts = suite_ranks.counts(len(cuda.gpus)) if len(cuda.gpus) > 1 else (1,)
    threads = share(counts[-1])
    with progress(2 * len(counts)) as step:
        for ranks in counts:
            step(f"JAX, {ranks} GPUs")
            yield from _by_jax(ranks, (QUICK_EDGE if quick else min(PUBLISHED),) * 3)
            step(f"{ranks} GPUs" if ranks > 1 else "1 GPU")
            tasks = list(tasks_of(ranks, quick, links_between(ranks)))
            for task, parameters, result in suite_ranks.results(PROGRAM, tasks, ranks, threads):
                yield measurement(task, parameters, result)


def links_between(gpus: int) -> tuple[str, ...]:
    """Return the links by which the first GPUs of this host can be connected."""
    from cupy.cuda import runtime

    pairs = [(a, b) for a in range(gpus) for b in range(gpus) if a != b]
    direct = pairs and all(runtime.deviceCanAccessPeer(a, b) for a, b in pairs)
    return (NCCL, DIRECT) if direct else (NCCL,)


def tasks_of(ranks: int, quick: bool, links=(NCCL, DIRECT)) -> Iterator[tuple[dict, dict]]:
    """Yield what the ranks have to do, with the parameters of each measurement."""
    samples = 3 if quick else 10
    for by in links if ranks > 1 else links[:1]:
        yield from _by_link(ranks, quick, by, samples)
        if ranks > 1:
            yield from _messages(ranks, quick, by, samples)


def _by_link(ranks, quick, by, samples) -> Iterator[tuple[dict, dict]]:
    small, large = (QUICK_EDGE,) * 2 if quick else tuple(PUBLISHED)
    plane, overlaps = (small, small), (True, False) if ranks > 1 else (True,)
    grids = {"strong": (small, *plane)} | ({"weak": (small * ranks, *plane)} if ranks > 1 else {})
    parts = [(small // 2, *plane), (small * 2, *plane)] if ranks == 1 else []
    for scaling, grid in [*grids.items(), *(("part", part) for part in parts)]:
        for method in ON_GPUS:
            for overlap in overlaps:
                yield _iterations(ranks, scaling, grid, method, overlap, 50, samples, by)
            if scaling == "strong":
                yield _solve(ranks, scaling, grid, method, 3, by)
        for method, options in suite_ranks.METHODS if grid[0] <= small * ranks else ():
            task = {
                "task": "passes",
                "grid": grid,
                "method": method,
                "options": options,
                "rtol": suite_ranks.RTOL,
            }
            its = {**_of(ranks, scaling, grid, by), "rtol": suite_ranks.RTOL, **options}
            yield {**task, "samples": 3, "by": by}, its
    rows_edge = small if quick else ROWS_EDGE
    for amg in (False, True):
        grid, more = (rows_edge,) * 3, {"matrix": "poisson_3d", **({"M": BLOCKS} if amg else {})}
        its = {**_of(ranks, "strong", grid, by), "rtol": suite_ranks.RTOL, **more}
        task = {"task": "passes", "grid": grid, "method": "pcg", "options": {}, "rtol": suite_ranks.RTOL}
        yield {**task, "samples": 3, "by": by, "stored": True, "amg": amg}, its
    if not quick:
        grid = (large,) * 3
        for overlap in overlaps:
            yield _iterations(ranks, "strong", grid, LARGE, overlap, 5, 3, by)
        if ranks == 1:
            yield _iterations(ranks, "part", (large // 2, *grid[1:]), LARGE, True, 5, 3, by)
        yield _solve(ranks, "strong", grid, LARGE, 1, by)


def _messages(ranks, quick, by, samples) -> Iterator[tuple[dict, dict]]:
    also = {"ranks": ranks, **_link(by)}
    for edge in HALO_EDGES[:2] if quick else HALO_EDGES:
        task = {"task": "halo", "grid": (3 * ranks, edge, edge), "samples": samples, "by": by}
        yield task, {**also, "n": edge**2}
    for numbers in REDUCED:
        yield {"task": "allreduce", "numbers": numbers, "samples": samples, "by": by}, {**also, "n": numbers}


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
        footprint=8 * suite_ranks.FIELDS * prod(grid) // ranks,
    )


def _link(by) -> dict:
    return {} if by == NCCL else {"link": by}


def _of(ranks, scaling, grid, by=NCCL) -> dict:
    return {"shape": list(grid), "dtype": "float64", "ranks": ranks, "scaling": scaling, **_link(by)}


def _iterations(ranks, scaling, grid, method, overlap, calls, samples, by) -> tuple[dict, dict]:
    task = {
        "task": "iterate",
        "grid": grid,
        "method": method,
        "overlap": overlap,
        "calls": calls,
        "samples": samples,
        "by": by,
    }
    return task, {**_of(ranks, scaling, grid, by), "iterations": 2, "overlap": overlap}


def _solve(ranks, scaling, grid, method, samples, by) -> tuple[dict, dict]:
    task = {
        "task": "solve",
        "grid": grid,
        "method": method,
        "rtol": suite_ranks.RTOL,
        "samples": samples,
        "by": by,
    }
    return task, {**_of(ranks, scaling, grid, by), "rtol": suite_ranks.RTOL}


def measurement(task: dict, parameters: dict, result: dict) -> Measurement:
    """Return the measurement of a task from what rank 0 printed."""
    message = {"halo": HALO_EXCHANGE, "allreduce": ALLREDUCE}.get(task["task"])
    cost, footprint = None, 0
    if message:
        what = replace(message, library=LIBRARIES[task["by"]])
    else:
        grid, fused = task["grid"], task["task"] != "passes"
        variant = FUSED[f"cg_{task['method']}"] if fused else VARIANTS[task["method"]]
        each = variant.cost(tuple(grid)) if fused else variant.cost(prod(grid), **task["options"])
        what = variant.by(CUDA)
        cost = None if "matrix" in parameters else result["iterations"] * each  # it knows no stored matrix
        footprint = 8 * suite_ranks.FIELDS * prod(grid) // parameters["ranks"]
    # phases are those of two kernels that both update x
    timed = result.get("phases", {}) if task.get("method") != "deferred_x" else {}
    phases = {phase_key(name): took for name, took in timed.items()}
    seen = {name: result[name] for name in ("iterations", "true_residual", "bytes") if name in result}
    if "iterations" in parameters:
        del seen["iterations"]
    return suite_ranks.measured(what, cost, footprint, gpu(), task, parameters, result, {**seen, **phases})
