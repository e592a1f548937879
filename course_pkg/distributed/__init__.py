"""The solvers of ``cg`` and ``sstep`` on many ranks: each rank is a process that holds a part of every vector.

``partition``     who owns which planes of a grid, or which rows of a matrix
``halo``          which entries a rank needs from others, who sends them, and where they lie when they have come
``communicator``  what ranks say to each other; ``serial`` runs all ranks in one process and keeps their messages,
                  ``mpi`` runs each in a process of its own
``operators``     the 7-point Laplacian and a sparse matrix, divided; both multiply while the halo is on its way
``room``          the vectors of a solve on one rank, so that the solvers of ``sstep`` run unchanged
``phases``        how long products, updates, sums and messages took
``launch``        starts a program on several ranks, and says which one failed
``model``         the time of an iteration on any number of ranks, from latencies and bandwidths fitted to measurements

Importing it needs no MPI.
"""

from course_pkg.distributed.communicator import Communicator, Pending
from course_pkg.distributed.halo import HaloExchange, HaloPlan, csr_plan, needed, renumbered, slab_plan
from course_pkg.distributed.launch import launch

from course_pkg.distributed.mpi import MpiCommunicator, ends_all, open_mpi
from course_pkg.distributed.operators import RowBlockMatrix, SlabLaplacian, block_jacobi
from course_pkg.distributed.partition import Slab, offsets, owner_of
from course_pkg.distributed.phases import Phases
from course_pkg.distributed.serial import Message, Serial

__all__ = [
    "Communicator",

    "HaloExchange",
    "HaloPlan",
    "Message",
    "MpiCommunicator",
    "Pending",
    "Phases",
    "RowBlockMatrix",
    "Serial",
    "Slab",
    "SlabLaplacian",

    "block_jacobi",

    "csr_plan",
    "ends_all",

    "launch",
    "needed",
    "offsets",
    "open_mpi",
    "owner_of",
    "renumbered",
    "slab_plan",
]
