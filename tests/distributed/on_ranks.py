"""What the ranks of the MPI tests run: ``python on_ranks.py CASE`` on each of them, under ``mpirun``.

Rank 0 prints JSON. The cases that fail on purpose import no solver, so that they start at once.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

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


def between_boxes(comm):
    """A rank is ended while the other one's kernel waits for its number; its planes have come."""
    link = shared_boxes(comm)
    from course_pkg import cuda

    if comm.rank == 1:
        link.start([(0, cuda.to_device(np.arange(50.0)))], [], 0)
        comm.sum([0.0])
        # until rank 0 has sent its number, and waits
        while np.isnan(link.mailbox[2].copy_to_host()[0, 0, 0]):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    comm.sum([0.0])
    come = cuda.to_device(np.zeros(50))
    link.start([], [(1, come)], 0)
    assert np.array_equal(come.copy_to_host(), np.arange(50.0))
    link.add(cuda.to_device(np.ones(1)), 0)


def shared_boxes(comm):
    """Return a link by which ranks of the interpreter write into each other's memory: that of a file that all map."""
    os.environ["COURSE_BACKEND"] = "simt"
    from course_pkg import cuda
    from course_pkg.distributed import direct
    from course_pkg.simt.memory.device_array import DeviceArray

    direct.LONGEST = 64
    cuda.external_stream = lambda pointer: pointer
    size, path = direct.size_of(comm.ranks), Path(tempfile.gettempdir(), f"boxes_of_{os.getppid()}")
    if comm.rank == 0:
        np.zeros(comm.ranks * size, np.uint8).tofile(path)
    comm.sum([0.0])
    memory = np.memmap(path, np.uint8, "r+")
    comm.sum([0.0])
    if comm.rank == 0:
        path.unlink()  # it stays mapped

    def placed(first):
        return lambda at, shape, dtype: DeviceArray(np.ndarray(shape, dtype, memory, first + at))

    boxes = {rank: direct.Box.at(comm.ranks, placed(rank * size)) for rank in range(comm.ranks)}
    boxes[comm.rank].numbers.copy_to_device(np.full(boxes[0].numbers.shape, np.nan))
    comm.sum([0.0])
    nothing = SimpleNamespace(comm=comm, start=lambda *_: None, join=lambda *_: None)
    here = SimpleNamespace(after=contextlib.nullcontext, join=lambda *_: None)
    return direct.Direct(nothing, boxes, here)


def gpu_waits(comm):
    """A rank's GPU waits without end for that of a rank which computes something else."""
    from course_pkg.distributed.direct import Direct
    from course_pkg.distributed.nccl import Nccl

    if comm.rank == 1:
        time.sleep(300)
    nccl, link = object.__new__(Nccl), object.__new__(Direct)
    nccl.comm, nccl._null, link.nccl = comm, None, nccl
    nccl._end = SimpleNamespace(record=lambda stream: None, done=False)
    link.finish()


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
