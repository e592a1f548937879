"""Messages from one GPU to another by NVIDIA's NCCL, through CuPy, between ranks that MPI has started.

Each rank has a GPU of its own. Messages and sums are queued on streams, so a CUDA graph can hold them, and the host
waits only in ``finish``. Messages have a stream of their own. Messages and sums share one communicator of NCCL, so all
ranks must queue them in the same order.

Source: NCCL User Guide, "Point-to-point communication" and "Using NCCL with CUDA Graphs".
"""

import socket
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.distributed.links import Link
from course_pkg.distributed.mpi import TIMEOUT_S, MpiCommunicator, ends_all, open_mpi

MISSING = (
    "NCCL cannot be used ({reason}): `pip install cupy-cuda13x` (or `cupy-cuda12x`) and `pip install nvidia-nccl-cu13` "
    "(or `-cu12`) bring it; it needs NVIDIA GPUs and Linux."
)


def open_nccl(timeout_s: float = TIMEOUT_S) -> "Nccl":
    """Return the link of the GPUs of all ranks that ``mpirun`` has started, and select this rank's GPU.

    Call it before anything else uses the GPU.

    Raises
    ------
    CourseError
        If MPI, CuPy or NCCL is missing, or if this host has more ranks than GPUs.

    Examples
    --------
    >>> if getattr(cuda, "BACKEND", "") != "simt":
    ...     link = open_nccl()  # without mpirun there is one rank
    """
    with ends_all(open_mpi(timeout_s)) as comm:
        try:
            from cupy.cuda import nccl
        except ImportError as error:
            raise CourseError(MISSING.format(reason=str(error).splitlines()[0].rstrip("."))) from None
        if not nccl.available:
            raise CourseError(MISSING.format(reason="CuPy was built without it"))
        select_gpu(comm)
        return Nccl(comm)


def select_gpu(comm) -> int:
    """Select a GPU that no other rank of this host uses, and return its number.

    Parameters
    ----------
    comm : Communicator

    Raises
    ------
    CourseError
        On all ranks, if a host has more ranks than GPUs.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> Serial(1).run(select_gpu)
    [0]
    """
    gpus = len(cuda.gpus)
    rows = comm.gather([zlib.crc32(socket.gethostname().encode()), gpus])
    hosts = rows[:, 0]
    place = [int((hosts[:rank] == hosts[rank]).sum()) for rank in range(comm.ranks)]
    without = [rank for rank in range(comm.ranks) if place[rank] >= rows[rank, 1]]
    if without:
        rank = without[0]
        raise CourseError(
            f"rank {rank} of {comm.ranks} has no GPU: its host has {int(rows[rank, 1])}, and "
            f"{int((hosts == hosts[rank]).sum())} ranks. Start one rank for each GPU."
        )
    cuda.select_device(place[comm.rank])
    return place[comm.rank]


class Aside:
    """A stream beside that of the work: what is queued here begins when the work before it has ended.

    A CUDA graph that captures the work captures this, too.

    Examples
    --------
    >>> if getattr(cuda, "BACKEND", "") != "simt":
    ...     aside = Aside()
    ...     with aside.after(0) as side:
    ...         pass  # launch kernels on the stream with the pointer side
    ...     aside.join(0)
    """

    def __init__(self):
        from cupy.cuda import Event, Stream, runtime

        self._runtime, self._travelling = runtime, False
        self.stream = Stream(non_blocking=True)  # waits for no other stream by itself
        self._ready, self._done = (Event(disable_timing=True) for _ in range(2))

    @contextmanager
    def after(self, stream) -> Iterator[int]:
        """Yield this stream's pointer, to queue work behind what ``stream`` holds now."""
        self._runtime.eventRecord(self._ready.ptr, _stream(stream))
        self._runtime.streamWaitEvent(self.stream.ptr, self._ready.ptr)
        yield self.stream.ptr
        self._runtime.eventRecord(self._done.ptr, self.stream.ptr)
        self._travelling = True

    def join(self, stream) -> None:
        """Let ``stream`` wait for what has been queued here."""
        if self._travelling:
            self._runtime.streamWaitEvent(_stream(stream), self._done.ptr)
            self._travelling = False


def _pointer(array) -> int:
    return array.__cuda_array_interface__["data"][0]


def _stream(stream) -> int:
    return int(stream) if stream else 0


class Nccl(Link):
    """GPUs that NCCL connects, one for each rank.

    Parameters
    ----------
    comm : MpiCommunicator
        Distributes NCCL's identifier of the run, and names ranks that do not answer. This rank's GPU must be selected.

    Examples
    --------
    >>> Nccl.captures, issubclass(Nccl, Link)
    (True, True)
    """

    captures = True

    def __init__(self, comm: MpiCommunicator):
        import cupy
        from cupy.cuda import nccl

        self.comm, self._nccl = comm, nccl
        cupy.cuda.Device(cuda.get_current_device().id).use()
        mine = nccl.get_unique_id()  # bytes, or a tuple of numbers before CuPy 14
        shared = comm.sum(list(mine) if comm.rank == 0 else np.zeros(len(mine)))
        self._world = nccl.NcclCommunicator(comm.ranks, type(mine)(int(byte) for byte in shared), comm.rank)
        self._types = {"float64": nccl.NCCL_FLOAT64, "float32": nccl.NCCL_FLOAT32}
        self._aside, self._end, self._null = (
            Aside(),
            cupy.cuda.Event(disable_timing=True),
            cupy.cuda.Stream.null,
        )

    def start(self, sends, receives, stream) -> None:
        """Queue messages on a stream of their own, behind what ``stream`` holds now."""
        if not sends and not receives:
            return
        with self._aside.after(stream) as side:
            self._nccl.groupStart()
            try:
                for queue, messages in ((self._world.send, sends), (self._world.recv, receives)):
                    for peer, array in messages:
                        queue(_pointer(array), array.size, self._types[array.dtype.name], peer, side)
            finally:
                self._nccl.groupEnd()

    def join(self, stream) -> None:
        """Let ``stream`` wait for the messages."""
        self._aside.join(stream)

    def add(self, array, stream) -> None:
        """Queue ``ncclAllReduce``, in place."""
        if array.dtype != np.float64:
            raise CourseError(f"Sums over all ranks are float64, but this array is {array.dtype}.")
        if self.comm.ranks == 1:
            return
        where, nccl = _pointer(array), self._nccl
        self._world.allReduce(where, where, array.size, nccl.NCCL_FLOAT64, nccl.NCCL_SUM, _stream(stream))

    def mixes(self, size: int, dtype) -> bool:
        """Return True for a single rank, which sends nothing: NCCL's messages are all in one graph, or none is."""
        return self.comm.ranks == 1

    def finish(self) -> None:
        """Wait for all that is queued on the default stream, no longer than the communicator's limit."""
        self._end.record(self._null)
        self.comm.wait_until(lambda: self._end.done, "what its GPU has to do")
