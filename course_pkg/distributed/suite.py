"""What ``course bench scaling`` measures: solves on 1, 2, … ranks, by phases, and the messages between them.

*Strong* scaling keeps the grid, *weak* scaling keeps the planes of each rank. The suite starts itself under ``mpirun``,
once for each number of ranks, which is a parameter of each measurement. A rank always has the same number of threads:
its share of the cores in the largest run. So more ranks use more cores.
"""

from collections.abc import Iterator
from math import prod

from course_pkg.bench import Measurement, cpu, progress
from course_pkg.core import Library
from course_pkg.distributed.launch import share
from course_pkg.distributed.phases import NAMES
from course_pkg.distributed.suite_ranks import (
    ALLREDUCE,
    FIELDS,
    HALO_EXCHANGE,
    METHODS,
    RTOL,
    counts,
    measured,
    phase_key,
    phases_of,
    results,
)
from course_pkg.distributed.work import Work
from course_pkg.sstep.variants import VARIANTS

SUITE = ("scaling", "solves on several ranks")
DEVICE = "cpu"
PROGRAM = ("-m", "course_pkg.distributed.job")
EDGE, QUICK_EDGE = 128, 24
HALO_EDGES = (8, 32, 128, 512)  # points along an edge of the exchanged planes
REDUCED = (1, 9, 81, 289, 4225)  # numbers in a sum: a dot, and Gram matrices of s = 1, 4, 8, 32
CALLS = 200  # messages in each sample


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
    told = [name for name in ("link", "overlap") if any(name in m.parameters for m in solves)]
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
                **{name: f"{phases[name] * 1e6:,.0f} µs" if phases else "" for name in shown},
                "speed-up": f"{_speed_up(one, m):.2f}" if one else "unknown",
            }
        )
    return rows


def alone(m: Measurement, measurements) -> Measurement | None:
    """Return the same solve on one rank: of the whole grid for strong scaling, of one rank's part for weak scaling."""
    sought = {**m.parameters, "ranks": 1, "scaling": "strong"}
    sought.pop("link", None)  # a single rank has none
    if m.parameters["scaling"] == "weak":
        sought["shape"] = [m.parameters["shape"][0] // m.parameters["ranks"], *m.parameters["shape"][1:]]
    if "overlap" in sought:
        sought["overlap"] = True  # one rank has nothing to wait for
    found = [o for o in measurements if o.what == m.what and o.parameters == sought]
    return found[0] if found else None


def iteration_s(m: Measurement) -> float:
    """Return the seconds per iteration of a measured solve, or of a measured graph of several iterations."""
    return m.median_s / (m.parameters.get("iterations") or m.observed["iterations"])


def _speed_up(one: Measurement, m: Measurement) -> float:
    """Return the scaled speed-up: the rate in points times iterations per second, divided by the rate of one rank."""
    points = prod(m.parameters["shape"]) / prod(one.parameters["shape"])
    return points * iteration_s(one) / iteration_s(m)


def observations(measurements) -> list[tuple[Work, float]]:
    """Return the observations for ``model.fit``: pairs of work and seconds, for iterations and for messages."""
    found = []
    for m in measurements:
        p = m.parameters
        if m.operation == HALO_EXCHANGE.operation:
            found.append((Work.halo(m.observed["bytes"]), m.median_s))
        elif m.operation == ALLREDUCE.operation:
            found.append((Work.allreduce(p["n"], p["ranks"]), m.median_s))
        else:
            method = "_".join(filter(None, (m.operation, m.variant)))
            work = Work.of(method, p["shape"], p["ranks"], p.get("s"), p["dtype"], p.get("overlap", True))
            found.append((work, iteration_s(m)))
    return found
