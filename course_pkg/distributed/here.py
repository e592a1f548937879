"""Ranks on this machine, for a lecture: they exchange messages, add up numbers and solve a small problem.

With MPI, each rank is a process: :func:`on_ranks` starts them, as ``python -m course_pkg.distributed.here``. Without
MPI all ranks run in one process; then messages are counted, but not timed.
"""

import json
import sys
from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.distributed import job
from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.launch import launch, obstacle
from course_pkg.distributed.mpi import ends_all, open_mpi
from course_pkg.distributed.serial import Serial
from course_pkg.distributed.slabs import SlabLaplacian
from course_pkg.sstep import reference

PROGRAM = ("-m", "course_pkg.distributed.here")
METHODS = (("pcg", {}), ("pfcg", {}), ("pcg_sstep_moments", {"s": 2}), ("pcg_sstep", {"s": 4}))
PLANES = (3, 8, 32, 64, 128)  # points along an edge of the planes that are exchanged
NUMBERS = (1, 81, 1089)  # how many numbers are added up over all ranks
CALLS, SAMPLES = 2, 60  # samples are short, so that other programs disturb only some of them
LIMIT_S = 120.0


@dataclass(frozen=True)
class Talk:
    """The results of :func:`talk` on some ranks of this machine.

    Attributes
    ----------
    ranks : int
    why : str
        Why the ranks were not separate processes; empty if they were.
    iterations : dict of str to int
        Iterations that each method needs for a relative tolerance of 1e-6.
    halos : list of (int, float)
        The bytes that a rank receives in an exchange, and the seconds of the fastest sample; empty without MPI.
    sums : list of (int, float)
        How many numbers are added up over all ranks, and the seconds of the fastest sample; empty without MPI.

    Examples
    --------
    >>> Talk(2, "", {"pcg": 49}, [], []).origin
    'Measured here: 2 processes of MPI, on this CPU.'
    """

    ranks: int
    why: str
    iterations: dict[str, int]
    halos: list[tuple[int, float]]
    sums: list[tuple[int, float]]

    @property
    def origin(self) -> str:
        """One line for a caption."""
        if self.why:
            return f"{self.ranks} ranks in one process, in turn: messages are counted, not timed. {self.why}"
        return f"Measured here: {self.ranks} processes of MPI, on this CPU."


def talk(comm: Communicator, edge: int, timed: bool = True) -> dict:
    """Solve, exchange messages and add up numbers as one of the ranks; return the fields of :class:`Talk`.

    Examples
    --------
    >>> Serial(2).run(talk, 6, False)[0]["iterations"]["pcg"]
    10
    """
    A = SlabLaplacian((edge,) * 3, comm)
    b = np.ones(A.own_shape)
    iterations = {}
    for name, options in METHODS:
        found = getattr(reference, name)(A, b, **options)
        if not found.converged:
            raise CourseError(f"{name} on {comm.ranks} ranks: {found}")
        iterations[name] = found.iterations
    said = {"iterations": iterations, "halos": [], "sums": []}
    if timed and comm.ranks > 1:
        for plane in PLANES:
            swapped = job.halo(comm, (max(comm.ranks, 3), plane, plane), CALLS, SAMPLES)
            said["halos"].append((swapped["bytes"], min(swapped["samples_s"])))
        for numbers in NUMBERS:
            added = job.allreduce(comm, numbers, CALLS, SAMPLES)
            said["sums"].append((numbers, min(added["samples_s"])))
    return said


def on_ranks(ranks: int, edge: int) -> Talk:
    """Run :func:`talk` on several ranks of this machine: in separate processes if MPI is installed, else in this one.

    Parameters
    ----------
    ranks : int
    edge : int
        Points along each edge of the grid that is solved.

    Examples
    --------
    >>> on_ranks(1, 6).iterations["pcg"]
    10
    """
    why = obstacle() if ranks > 1 else ""
    if why or ranks == 1:
        said = Serial(ranks, keep=False).run(talk, edge, False)[0]
    else:
        printed = launch((*PROGRAM, str(edge)), ranks, timeout_s=LIMIT_S)
        said = json.loads(next(line for line in printed.splitlines() if line.startswith("{")))
    pairs = {name: [tuple(pair) for pair in said[name]] for name in ("halos", "sums")}
    return Talk(ranks, why, said["iterations"], **pairs)


def latency_and_byte(points) -> tuple[float, float]:
    """Return the latency of a message and its time per byte, in seconds, by least squares of relative errors.

    Parameters
    ----------
    points : sequence of (float, float)
        Bytes and seconds of messages.

    Raises
    ------
    CourseError
        If there are fewer than two sizes.

    Examples
    --------
    >>> latency, byte = latency_and_byte([(8, 1.0008e-5), (1000, 1.1e-5), (8000, 1.8e-5)])
    >>> round(1e6 * latency, 6), round(1e9 * byte, 6)
    (10.0, 1.0)
    """
    sizes, seconds = np.array(sorted(points), float).reshape(-1, 2).T
    if len(set(sizes)) < 2:
        raise CourseError("A line needs messages of at least two sizes: pass more points.")
    rows = np.array([1 / seconds, sizes / seconds]).T
    latency, byte = np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]
    return float(latency), float(byte)


def _main(arguments: list[str]) -> int:
    """Run one of the ranks."""
    with ends_all(open_mpi()) as comm:
        said = talk(comm, int(arguments[0]))
        if comm.rank == 0:
            print(json.dumps(said), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
