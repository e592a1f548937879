"""What the ranks of the MPI tests run: ``python on_ranks.py CASE`` on each of them, under ``mpirun``.

Rank 0 prints JSON. The cases that fail on purpose import no solver, so that they start at once.
"""

import ctypes
import json
import os
import signal
import sys
import time

import numpy as np

from course_pkg.distributed import mpi
from course_pkg.distributed.mpi import ends_all, open_mpi

GRID = (7, 5, 6)
METHODS = [
    ("pcg", {}),
    ("pfcg", {}),
    ("pcg_sstep_moments", {"s": 3}),
    ("pcg_sstep", {"s": 4, "bounds": "lanczos"}),
]


def solves(comm):
    """Solve by every method, as slabs and as rows; and what the communicator itself does."""
    from course_pkg.cg import reference as cg
    from course_pkg.distributed.rows import RowBlockMatrix
    from course_pkg.distributed.slabs import SlabLaplacian
    from course_pkg.permutation.problem import poisson
    from course_pkg.sstep import cpu_numba

    b = np.random.default_rng(3).standard_normal(GRID)
    found = {}
    for A in (SlabLaplacian(GRID, comm), RowBlockMatrix.of(poisson(GRID), comm)):
        kind = type(A).__name__
        for name, options in METHODS:
            solution = getattr(cpu_numba, name)(A, A.part(b), **options)
            found[f"{name} {kind}"] = solution.iterations, A.whole(solution.x).tolist()
        solution = cg.cg(A, A.part(b))
        found[f"cg {kind}"] = solution.iterations, A.whole(solution.x).tolist()
    come = comm.exchange([np.full(comm.rank + peer, 10 * comm.rank + peer) for peer in range(comm.ranks)])
    return {
        "solves": found,
        "gathered": comm.gather([comm.rank, 7.0]).tolist(),
        "exchanged": [part.tolist() for part in come],
    }


def raises(comm):
    """A rank fails while the others wait for it."""
    if comm.rank == 1:
        raise ValueError("this rank has a bug")
    comm.sum([1.0])


def vanishes(comm, status=0):
    """A rank ends without a word."""
    if comm.rank == 1:
        os._exit(status)
    comm.sum([1.0])


def gives_up(comm):
    """As before, with a status that says that something went wrong."""
    vanishes(comm, 3)


def killed(comm):
    """A rank is ended from outside."""
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    comm.sum([1.0])


def hangs(comm):
    """A rank computes without end, and never answers."""
    if comm.rank == 1:
        time.sleep(300)
    comm.start([], [(1, np.empty(4))]).wait() if comm.rank == 0 else comm.sum([1.0])


def waits(comm):
    """All ranks wait for a message that nobody sends."""
    comm.start([], [((comm.rank + 1) % comm.ranks, np.empty(4))]).wait()


def leaves(comm):
    """A rank ends as if all were well."""
    if comm.rank != 1:
        comm.sum([1.0])


class Stuck:
    """In place of MPI's communicator: ending all ranks never comes back, nor does Python run meanwhile."""

    def Abort(self, status):
        ctypes.PyDLL(None).sleep(300)


def stuck(comm):
    """A rank fails, and MPI does not end it."""
    mpi.ENDING_S = 1.0
    if comm.rank == 0:
        comm._world = Stuck()
        raise ValueError("this rank has a bug")
    comm.sum([1.0])


def less(comm):
    """A message is shorter than expected."""
    _unequal(comm, 3)


def more(comm):
    """A message is longer than expected."""
    _unequal(comm, 5)


def _unequal(comm, sent):
    other = 1 - comm.rank
    comm.start([(other, np.ones(sent if comm.rank else 4))], [(other, np.empty(4))]).wait()


def adds(comm):
    """Ranks add arrays of different sizes."""
    comm.sum(np.ones(2 + 3 * comm.rank))


def disagrees(comm):
    """Ranks are given grids of different sizes."""
    comm.agree("the shape of the grid", 8, 8, 8 + comm.rank)


def main(case, timeout_s="30"):
    """Run a case on this rank."""
    with ends_all(open_mpi(float(timeout_s))) as comm:
        result = globals()[case](comm)
        if comm.rank == 0 and result is not None:
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
