"""What ``course bench scaling`` measures: solves on 1, 2, … ranks, by phases, and the messages between them.

*Strong* scaling keeps the grid, *weak* scaling keeps the planes of each rank. The suite starts itself under ``mpirun``,
once for each number of ranks, which is a parameter of each measurement. A rank always has the same number of threads:
its share of the cores in the largest run. So more ranks use more cores.
"""

from collections.abc import Iterator
from math import prod

from course_pkg.bench import Measurement, cpu, progress
from course_pkg.core import Library
from course_pkg.distributed.demands import demands
from course_pkg.distributed.launch import share
from course_pkg.distributed.phases import NAMES
from course_pkg.distributed.recorded import (
    ALLREDUCE,
    HALO_EXCHANGE,
    alone,
    iteration_s,
    phase_key,
    phases_of,
    speed_up,
)
from course_pkg.distributed.suite_ranks import FIELDS, METHODS, RTOL, counts, measured, results
from course_pkg.sstep.variants import VARIANTS

SUITE = ("scaling", "solves on several ranks")
DEVICE = "cpu"
PROGRAM = ("-m", "course_pkg.distributed.job")
EDGE, QUICK_EDGE = 128, 24
HALO_EDGES = (8, 32, 128, 512)  # points along an edge of the exchanged planes
REDUCED = (1, 9, 81, 289, 4225)  # numbers in a sum: a dot, and Gram matrices of s = 1, 4, 8, 32
CALLS = 200  # messages in each sample

__all__ = ["demands", "iteration_s", "phase_key", "phases_of", "run", "summary"]


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of each number of ranks; with ``quick``, of a small grid on 1 and 2 ranks."""
    if device == "gpu":
        from course_pkg.distributed import suite_gpu

        yield from suite_gpu.run(quick=quick)
        return
    ranks = counts(2) if quick else counts()
    threads = share(ranks[-1])
    with progress(len(ranks)) as step:
        for count in ranks:
            step(f"{count} ranks" if count > 1 else "1 rank")
            tasks = list(tasks_of(count, quick=quick))
            for task, parameters, result in results(PROGRAM, tasks, count, threads):
                yield measurement(task, parameters, result, threads)


def tasks_of(ranks: int, *, quick: bool) -> Iterator[tuple[dict, dict]]:
    """Yield what the ranks have to do, with the parameters of each measurement."""
    edge, samples = (QUICK_EDGE, 3) if quick else (EDGE, 5)
    grids = {"strong": (edge,) * 3}
    if ranks > 1:
        grids["weak"] = (edge * ranks, edge, edge)
    for scaling, grid in grids.items():
        for method, options in METHODS[1::2] if quick else METHODS:
            task = {"task": "solve", "grid": grid, "method": method, "options": options, "rtol": RTOL}
            parameters = {"shape": list(grid), "dtype": "float64", "rtol": RTOL, **options, "ranks": ranks}
            yield {**task, "samples": samples}, {**parameters, "scaling": scaling}
    if ranks > 1:
        repeat = {"calls": CALLS // 10 if quick else CALLS, "samples": samples}
        for plane in HALO_EDGES:
            yield (
                {"task": "halo", "grid": (max(ranks, 3), plane, plane), **repeat},
                {"ranks": ranks, "n": plane**2},
            )
        for numbers in REDUCED:
            yield {"task": "allreduce", "numbers": numbers, **repeat}, {"ranks": ranks, "n": numbers}


def measurement(task: dict, parameters: dict, result: dict, threads: int) -> Measurement:
    """Return the measurement of a task on ranks with a given number of threads, from the output of rank 0."""
    solved = task["task"] == "solve"
    what = {"halo": HALO_EXCHANGE, "allreduce": ALLREDUCE}.get(task["task"])
    cost, observed, footprint, device = None, {}, 0, cpu()
    if solved:
        variant, n = VARIANTS[task["method"]], prod(task["grid"])
        what = variant.by(Library.NUMBA_CPU)
        cost = result["iterations"] * variant.cost_by(Library.NUMBA_CPU)(n, **task["options"])
        observed = {
            "iterations": result["iterations"],
            "threads": threads,
            **{phase_key(k): v for k, v in result["phases"].items()},
        }
        footprint = 8 * FIELDS * n
    elif task["task"] == "halo":
        observed = {"bytes": result["bytes"]}
    return measured(what, cost, footprint, device, task, parameters, result, observed)


def summary(measurements, among=()) -> list[dict]:
    """Return the rows of a table: microseconds of each phase in an iteration, and the speed-up over one rank.

    If ``measurements`` is only a part of a run, pass all of its measurements as ``among``. The solves on one rank, from
    which the speed-up follows, are looked up there.
    """
    solves = [m for m in measurements if "scaling" in m.parameters]
    told = [name for name in ("link", "overlap", "matrix", "M") if any(name in m.parameters for m in solves)]
    rows, shown = [], [name for name in NAMES if any(phases_of(m).get(name) for m in solves)]
    for m in solves:
        one, phases = alone(m, among or solves), phases_of(m)
        rows.append(
            {
                "method": m.label if "s" not in m.parameters else f"{m.label}, s = {m.parameters['s']}",
                "grid": " × ".join(map(str, m.parameters["shape"])),
                "scaling": m.parameters["scaling"],
                "ranks": str(m.parameters["ranks"]),
                **{name: str(m.parameters.get(name, "")) for name in told},
                "iterations": str(m.observed.get("iterations", "")),
                "an iteration": f"{iteration_s(m) * 1e6:,.0f} µs",
                **{name: f"{phases[name] * 1e6:,.0f} µs" if name in phases else "" for name in shown},
                "speed-up": f"{speed_up(one, m):.2f}" if one else "unknown",
            }
        )
    return rows
