"""The tasks of each rank of ``course bench scaling``: solve, or exchange messages, and report the times.

``mpirun`` starts ``python -m course_pkg.distributed.job SPEC`` on each rank. SPEC is a JSON list of tasks; rank 0
prints a JSON line with the result of each.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from course_pkg.core import CourseError, Library
from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.halo import HaloExchange, slab_plan
from course_pkg.distributed.mpi import ends_all, open_mpi
from course_pkg.distributed.partition import Slab
from course_pkg.distributed.slabs import SlabLaplacian
from course_pkg.sstep.variants import VARIANTS


def run_tasks(arguments: list[str], tasks: dict[str, Callable], connect: Callable) -> int:
    """Carry out tasks on this rank of an MPI run, and print their results on rank 0.

    Parameters
    ----------
    arguments : list of str
        A JSON list of tasks, each with the name of one of ``tasks`` and its other arguments.
    connect : callable
        Returns the first argument of every task: a communicator, or a link with a communicator ``comm``.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> tasks = {"add": lambda comm, value: {"sum": float(comm.sum([value])[0])}}
    >>> run = lambda comm: run_tasks(['[{"task": "add", "value": 2}]'], tasks, lambda: comm)
    >>> Serial(2).run(run)
    {"sum": 4.0}
    [0, 0]
    """
    found = connect()
    with ends_all(getattr(found, "comm", found)) as comm:
        for task in json.loads(arguments[0]):
            result = tasks[task.pop("task")](found, **task)
            if comm.rank == 0:
                print(json.dumps(result), flush=True)
    return 0


def solve(comm: Communicator, grid, method: str, options: dict, rtol: float, samples: int) -> dict:
    """Solve Poisson's problem with b = 1 several times, after one warm-up solve.

    Returns
    -------
    dict
        ``samples_s``: seconds of the slowest rank; ``phases``: seconds of each phase in an iteration, the mean of the
        ranks in the median sample; ``iterations``.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> first, _ = Serial(2).run(solve, (6, 4, 4), "pcg", {}, 1e-6, 1)
    >>> first["iterations"], len(first["samples_s"])
    (9, 1)
    """
    A = SlabLaplacian(grid, comm)
    b = np.ones(A.own_shape)
    function = VARIANTS[method].function(Library.NUMBA_CPU)
    runs = []
    for _ in range(samples + 1):
        comm.sum([0.0])  # a sum waits for all ranks, so they all begin together
        A.phases.restart()
        found = function(A, b, rtol=rtol, **options)
        phases = A.phases.read()
        if not found.converged:
            raise CourseError(f"{method} on {comm.ranks} ranks: {found}")
        each = comm.gather(list(phases.values()))
        runs.append((float(each.sum(axis=1).max()), dict(zip(phases, each.mean(axis=0), strict=True))))
    warmup, *timed = runs
    seconds = [took for took, _ in timed]
    _, middle = min(timed, key=lambda run: abs(run[0] - statistics.median(seconds)))
    return {
        "warmup_s": [warmup[0]],
        "samples_s": seconds,
        "iterations": found.iterations,
        "phases": {name: took / found.iterations for name, took in middle.items()},
    }


def halo(comm: Communicator, grid, calls: int, samples: int) -> dict:
    """Time exchanges of the planes of a grid while nothing is computed.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> Serial(2).run(halo, (4, 3, 3), 1, 1)[0]["bytes"]
    72
    """
    slab = Slab(tuple(grid), comm.rank, comm.ranks)
    v = np.ones(slab.shape).reshape(-1)
    exchange = HaloExchange(comm, slab_plan(slab), v.dtype)

    def once():
        exchange.start(v)
        exchange.finish()

    most = comm.gather(exchange.plan.size * v.itemsize).max()
    return {**_timed(comm, once, calls, samples), "bytes": int(most)}


def allreduce(comm: Communicator, numbers: int, calls: int, samples: int) -> dict:
    """Time sums over all ranks.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> len(Serial(2).run(allreduce, 3, 1, 2)[0]["samples_s"])
    2
    """
    values = np.ones(numbers)
    return _timed(comm, lambda: comm.sum(values), calls, samples)


def _timed(comm, once, calls, samples) -> dict:
    runs = []
    for _ in range(samples + 1):
        comm.sum([0.0])
        began = time.perf_counter()
        for _ in range(calls):
            once()
        runs.append(float(comm.gather((time.perf_counter() - began) / calls).max()))
    return {"warmup_s": runs[:1], "samples_s": runs[1:]}


TASKS = {"solve": solve, "halo": halo, "allreduce": allreduce}

if __name__ == "__main__":
    sys.exit(run_tasks(sys.argv[1:], TASKS, open_mpi))
