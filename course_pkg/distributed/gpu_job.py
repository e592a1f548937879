"""The tasks of each rank of ``course bench scaling --device gpu``, on a GPU of its own; ``job.py`` is for CPUs.

Iterations, messages and sums are timed as CUDA graphs. The device starts each launch of a graph itself, so the time of
the host does not count. Each phase is timed by itself in the same way. The phases together take longer than an
iteration by the time in which two of them overlap.
"""

import statistics
import sys
import time
from functools import partial

import numpy as np

from course_pkg import cuda
from course_pkg.cg.demands import NEVER
from course_pkg.cg.gpu_numba.methods import _advance, _search
from course_pkg.core import CourseError, Library
from course_pkg.device.graphs import captured
from course_pkg.distributed.direct import open_link
from course_pkg.distributed.gpu_cg import RankSolver
from course_pkg.distributed.gpu_fields import RankWorkspace
from course_pkg.distributed.gpu_room import DeviceSlab
from course_pkg.distributed.gpu_rows import DeviceRows
from course_pkg.distributed.halo import slab_plan
from course_pkg.distributed.job import run_tasks
from course_pkg.distributed.links import Link
from course_pkg.distributed.operators import block_jacobi
from course_pkg.distributed.partition import Slab
from course_pkg.distributed.phases import ALLREDUCE, HALO, NAMES, PRODUCT, SCALARS, SUMS, UPDATES, Phases
from course_pkg.distributed.rows import RowBlockMatrix
from course_pkg.permutation.problem import poisson
from course_pkg.precond import build
from course_pkg.sstep.variants import VARIANTS

REPEATED = 20  # launches of a phase in a graph


def iterate(link: Link, grid, method: str, overlap: bool, calls: int, samples: int, by: str = "") -> dict:
    """Time iterations in the middle of a solve: each sample repeats a graph of two of them ``calls`` times.

    If the phases do not overlap, each phase is timed as well. With ``by="nccl"``, messages and sums go by NCCL.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> run = lambda comm: iterate(Staged(comm), (6, 4, 4), "two_kernel", True, 1, 1)
    >>> Serial(2).run(run)[0]["iterations"]
    2
    """
    link = _chosen(link, by)
    solver = RankSolver(method, _ones(link, grid), grid, link, overlap=overlap, rtol=NEVER)
    two = solver.graph()
    found = _timed(link, two, calls, samples)
    solver.look()
    if solver.stopped:
        raise CourseError(f"{method} stopped after {solver.done} iterations while it was timed.")
    return {**found, "iterations": 2, **({} if overlap else {"phases": phases(solver, samples)})}


def solve(link: Link, grid, method: str, rtol: float, samples: int, by: str = "") -> dict:
    """Time solves by a method of ``cg`` from b = 1 to a confirmed x; making the graph is part of the time.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> Serial(2).run(lambda comm: solve(Staged(comm), (6, 4, 4), "two_kernel", 1e-6, 1))[0]["iterations"]
    9
    """
    link = _chosen(link, by)
    runs, b = [], _ones(link, grid)
    for _ in range(samples):
        solver = RankSolver(method, b, grid, link, rtol=rtol)
        solver.graph()
        link.comm.sum([0.0])  # a sum waits for all ranks, so they all begin together
        began = time.perf_counter()
        solver.run()
        solver.complete()
        true = solver.work.residual(solver.work.s)
        runs.append(float(link.comm.gather(time.perf_counter() - began).max()))
        if not true <= 1.01 * solver.target:
            raise CourseError(
                f"{method}: the true residual is {true:.3g}, but {solver.target:.3g} was asked for."
            )
    return {
        "warmup_s": [],
        "samples_s": runs,
        "iterations": solver.done,
        "true_residual": true / solver.norm_b,
    }


def passes(
    link: Link,
    grid,
    method: str,
    options: dict,
    rtol: float,
    samples: int,
    by: str = "",
    stored=False,
    amg=False,
) -> dict:
    """Time solves by a method of ``sstep`` after one warm-up solve, and then the phases of one more solve.

    To time phases, the host waits for the GPU at the end of each. So they add up to more than the time of a solve. If
    graphs hold the messages, the time for which a product waits for its halo is a part of the product. If ``stored``,
    the Laplacian is a sparse matrix; with ``amg``, each rank's V-cycle is the preconditioner.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> Serial(2).run(lambda comm: passes(Staged(comm), (6, 4, 4), "pcg", {}, 1e-6, 1))[0]["iterations"]
    9
    """
    link = _chosen(link, by)
    A, options = DeviceSlab(grid, link), dict(options)
    if stored:
        A = DeviceRows(RowBlockMatrix.of(poisson(grid), link.comm), link)
        options |= {"M": block_jacobi(A.rows, build.amg).to_device()} if amg else {}
    b = cuda.to_device(np.ones(A.own_shape if stored else A.shape))
    function, runs = VARIANTS[method].function(Library.NUMBA_CUDA), []
    for _ in range(samples + 1):
        link.comm.sum([0.0])
        began = time.perf_counter()
        found = function(A, b, rtol=rtol, **options)
        link.finish()
        runs.append(float(link.comm.gather(time.perf_counter() - began).max()))
        if not found.converged:
            raise CourseError(f"{method} on {link.comm.ranks} GPUs: {found}")
    A.phases = Phases(clock=_waiting_clock, apart=True)
    function(A, b, rtol=rtol, **options)
    took, A.phases = A.phases.read(), Phases()
    if not took[HALO]:
        del took[HALO]  # a part of the product
    mean = link.comm.gather(list(took.values())).mean(axis=0) / found.iterations
    return {
        "warmup_s": runs[:1],
        "samples_s": runs[1:],
        "iterations": found.iterations,
        "phases": dict(zip(took, mean.tolist(), strict=True)),
    }


def phases(solver: RankSolver, samples: int) -> dict[str, float]:
    """Return the seconds of the phases of an iteration, each by itself, repeated in a graph.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> def run(comm):
    ...     link = Staged(comm)
    ...     return phases(RankSolver("two_kernel", _ones(link, (6, 3, 3)), (6, 3, 3), link, overlap=False), 1)
    >>> sorted(Serial(2).run(run)[0]) == sorted(NAMES)
    True
    """
    w, link, (p1, p2) = solver.work, solver.link, solver.work.p
    steps = {
        PRODUCT: partial(_search, _Alone(w), p1, p2),
        UPDATES: partial(_advance, _Alone(w), p1, p2, 1),
        SUMS: lambda stream: w.add_up_here(w.parts, stream),
        ALLREDUCE: w.add_up_all,
        SCALARS: w.scalars,
        HALO: lambda stream: (w.swap(w.r, stream), link.join(stream)),
    }
    found = dict.fromkeys(NAMES, 0.0)
    for name, step in steps.items():
        found[name] = statistics.median(_in_graph(link, step, samples)["samples_s"])
    found[SUMS], found[ALLREDUCE] = 2 * found[SUMS], 2 * found[ALLREDUCE]  # of p·Ap, and of r·r
    return found


class _Alone:
    """A workspace whose sweeps leave partial sums and stop there: no sums, no scalars and no messages follow."""

    def __init__(self, work: RankWorkspace):
        self.work, self.marches, self.r, self.x = work, work.marches, work.r, work.x
        self.state, self.partial = work.state, work.partial

    def marching(self, kernel, stream, before, after, march=None) -> int:
        return self.work.whole(kernel, stream, before, after, march)

    def make_alpha(self, blocks, stream) -> None:
        pass

    make_beta = make_alpha


def halo(link: Link, grid, samples: int, by: str = "") -> dict:
    """Time exchanges of the planes of a grid while nothing is computed.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> Serial(2).run(lambda comm: halo(Staged(comm), (4, 3, 3), 1))[0]["bytes"]
    72
    """
    link = _chosen(link, by)
    slab = Slab(tuple(grid), link.comm.rank, link.comm.ranks)
    plan = slab_plan(slab)
    outer, come = ([(peer, cuda.to_device(np.ones(slab.plane))) for peer, _ in plan.sends] for _ in range(2))

    def once(stream):
        link.start(outer, come, stream)
        link.join(stream)

    most = link.comm.gather(8 * plan.size).max()
    return {**_in_graph(link, once, samples), "bytes": int(most)}


def allreduce(link: Link, numbers: int, samples: int, by: str = "") -> dict:
    """Time sums over all ranks.

    Examples
    --------
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> len(Serial(2).run(lambda comm: allreduce(Staged(comm), 3, 2))[0]["samples_s"])
    2
    """
    link, values = _chosen(link, by), cuda.to_device(np.zeros(numbers))
    return _in_graph(link, lambda stream: link.add(values, stream), samples)


def _chosen(link, by):
    """Return the link of the same GPUs by NCCL if that is asked for, else the link itself."""
    return getattr(link, "nccl", link) if by == "nccl" else link


def _ones(link, grid):
    return cuda.to_device(np.ones(Slab(tuple(grid), link.comm.rank, link.comm.ranks).shape))


def _waiting_clock() -> float:
    cuda.synchronize()
    return time.perf_counter()


def _in_graph(link, step, samples) -> dict:
    """Time one step in a graph that repeats it; if a graph cannot hold the link's messages, run the step once."""
    repeated, calls = (REPEATED, 10) if link.captures else (1, 1)

    def many(stream):
        for _ in range(repeated):
            step(stream)

    many(0)  # compiles kernels, and connects the GPUs
    link.finish()
    found = _timed(link, captured(many) if link.captures else partial(many, 0), calls, samples)
    return {name: [took / repeated for took in times] for name, times in found.items()}


def _timed(link, once, calls, samples) -> dict:
    """Return the seconds of a call on the slowest rank, for one warm-up sample and for each of the other samples."""
    runs = []
    for _ in range(samples + 1):
        link.finish()
        link.comm.sum([0.0])
        began = time.perf_counter()
        for _ in range(calls):
            once()
        link.finish()
        runs.append(float(link.comm.gather((time.perf_counter() - began) / calls).max()))
    return {"warmup_s": runs[:1], "samples_s": runs[1:]}


TASKS = {f.__name__: f for f in (iterate, solve, passes, halo, allreduce)}

if __name__ == "__main__":
    sys.exit(run_tasks(sys.argv[1:], TASKS, open_link))
