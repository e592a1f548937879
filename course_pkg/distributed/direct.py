"""GPUs of one host that write into each other's memory, between ranks that MPI has started.

Each rank allocates one piece of memory with a mailbox for numbers and windows for messages (``mailboxes.py``), and
opens those of the other ranks: CUDA's inter-process communication gives it an address that kernels can use, and NVLink
carries the writes. What is too long for a window goes by NCCL.

Source: CUDA C++ Programming Guide, "Interprocess Communication" and "Peer-to-Peer Memory Access".
"""

import socket
import zlib
from math import prod
from typing import NamedTuple

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.distributed.links import Link
from course_pkg.distributed.mailboxes import (
    BLOCKS,
    THREADS,
    THREADS_ADD,
    add_kernel,
    send_kernel,
    take_kernel,
)
from course_pkg.distributed.mpi import TIMEOUT_S, ends_all
from course_pkg.distributed.nccl import Aside, Nccl, open_nccl

NUMBERS = 4352  # the longest sum: a Gram matrix of s = 32 has 4,225 numbers
LONGEST = 2**20  # float64 of the longest message
NAN_BYTE = 0xFF  # eight of them are NaN: an empty place
HANDLE = 64  # bytes of CUDA's handle of an allocation


class Box(NamedTuple):
    """What a rank lets others write: arrays in its GPU's memory, which lie one behind the other.

    Examples
    --------
    >>> box = Box.at(2, lambda offset, shape, dtype: (offset, shape))
    >>> box.numbers, box.window[1], box.arrived[1] == box.answered[1]
    ((0, (2, 2, 4352)), (2, 2, 1048576), True)
    """

    numbers: object  # (2, ranks, NUMBERS), float64
    window: object  # (2, ranks, LONGEST), float64
    arrived: object  # (ranks, BLOCKS), int64
    answered: object  # (ranks, BLOCKS), int64

    @classmethod
    def at(cls, ranks: int, place) -> "Box":
        """Return the arrays; ``place(offset, shape, dtype)`` returns one of them, ``offset`` bytes from the first."""
        shapes = ((2, ranks, NUMBERS), (2, ranks, LONGEST), (ranks, BLOCKS), (ranks, BLOCKS))
        types, arrays, offset = ("float64", "float64", "int64", "int64"), [], 0
        for shape, dtype in zip(shapes, types, strict=True):
            arrays.append(place(offset, shape, dtype))
            offset += 8 * prod(shape)
        return cls(*arrays)


def size_of(ranks: int) -> int:
    """Return the bytes of a :class:`Box`.

    Examples
    --------
    >>> round(size_of(2) / 2**20)  # MiB: two windows of 8 MiB for each rank
    32
    """
    return 8 * (2 * ranks * (NUMBERS + LONGEST) + 2 * ranks * BLOCKS)


def open_link(timeout_s: float = TIMEOUT_S) -> Link:
    """Return a link of the GPUs of all ranks: ``Direct`` if each can write to the others' memory, else ``Nccl``.

    It selects this rank's GPU, so call it before anything else uses the GPU. Errors are those of ``open_nccl``.

    Examples
    --------
    >>> if getattr(cuda, "BACKEND", "") != "simt":
    ...     link = open_link()  # without mpirun there is one rank
    """
    nccl = open_nccl(timeout_s)
    with ends_all(nccl.comm):
        return Direct(nccl) if reachable(nccl.comm) else nccl


def reachable(comm) -> bool:
    """Return whether there are several ranks, all on this host, whose GPUs can all reach each other's memory.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> Serial(1).run(reachable)
    [False]
    """
    if comm.ranks == 1:
        return False
    from cupy.cuda import runtime

    mine = cuda.get_current_device().id
    rows = comm.gather([zlib.crc32(socket.gethostname().encode()), mine])
    together = bool((rows[:, 0] == rows[0, 0]).all())
    can = together and all(
        mine == other or runtime.deviceCanAccessPeer(mine, other) for other in rows[:, 1].astype(int).tolist()
    )
    return bool(comm.gather(can).all())


class _Pointer:
    """Memory at an address, as ``cuda.as_cuda_array`` takes it."""

    def __init__(self, address: int, shape, dtype):
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": tuple(shape),
            "typestr": np.dtype(dtype).str,
            "strides": None,
            "version": 3,
        }


def _open_boxes(comm) -> dict[int, Box]:
    """Allocate this rank's box, open those of the others, and return all by rank. They live as long as the process."""
    from cupy.cuda import runtime

    begin = runtime.malloc(size_of(comm.ranks))
    numbers = 8 * 2 * comm.ranks * NUMBERS
    runtime.memset(begin, NAN_BYTE, numbers)
    runtime.memset(begin + numbers, 0, size_of(comm.ranks) - numbers)
    runtime.deviceSynchronize()
    handles = comm.gather(list(runtime.ipcGetMemHandle(begin)))  # a sum, so all boxes are ready
    if handles.shape[1] != HANDLE:
        raise CourseError(f"CUDA's handle of memory has {handles.shape[1]} bytes instead of {HANDLE}.")
    boxes = {}
    for rank, handle in enumerate(handles):
        opened = bytes(handle.astype(np.uint8))
        first = begin if rank == comm.rank else runtime.ipcOpenMemHandle(opened)
        boxes[rank] = Box.at(
            comm.ranks, lambda at, *kind, first=first: cuda.as_cuda_array(_Pointer(first + at, *kind))
        )
    return boxes


class Direct(Link):
    """GPUs of one host, each of which writes into the memory of the others.

    Messages and sums are kernels; the host waits only in ``finish``. Messages run on a stream beside that of the work.
    All ranks must queue messages in the same order; likewise sums.

    Parameters
    ----------
    nccl : Nccl
        A link of the same GPUs, for what is too long or not float64.
    boxes : dict of Box, optional
        By rank; opened here if they are not given.
    aside : Aside, optional
        The stream of messages; made here if it is not given.

    Attributes
    ----------
    mailbox : tuple
        The last arguments of the kernels that add up over all GPUs.

    Examples
    --------
    >>> Direct.captures, issubclass(Direct, Link)
    (True, True)
    """

    captures = True

    def __init__(self, nccl: Nccl, boxes=None, aside=None):
        self.comm, self.nccl = nccl.comm, nccl
        self._boxes = boxes or _open_boxes(self.comm)
        rank, ranks = self.comm.rank, self.comm.ranks
        self._mine, self._rank = self._boxes[rank], np.int32(rank)
        others = tuple(self._boxes[peer].numbers for peer in range(ranks) if peer != rank)
        turn, self._lost = (cuda.to_device(np.zeros(1, np.int32)) for _ in range(2))
        self.mailbox = (turn, self._rank, self._mine.numbers, others, self._lost)
        self._sent, self._got = (cuda.to_device(np.zeros((ranks, BLOCKS), np.int64)) for _ in range(2))
        self._aside = Aside() if aside is None else aside

    def start(self, sends, receives, stream) -> None:
        """Write into the windows of the neighbours, and copy what comes out of this GPU's, beside the work."""
        short, long = (
            [
                [m for m in messages if self.mixes(m[1].size, m[1].dtype) == fits]
                for messages in (sends, receives)
            ]
            for fits in (True, False)
        )
        self.nccl.start(*long, stream)
        if not any(short):
            return
        with self._aside.after(stream) as side:
            queue, mine = cuda.external_stream(side), self._mine
            for peer, array in short[0]:
                there = self._boxes[peer]
                its = (self._sent, mine.answered, there.window, there.arrived, self._lost)
                send_kernel[BLOCKS, THREADS, queue](_flat(array), np.int32(peer), self._rank, *its)
            for peer, array in short[1]:
                its = (self._got, mine.arrived, mine.window, self._boxes[peer].answered, self._lost)
                take_kernel[BLOCKS, THREADS, queue](_flat(array), np.int32(peer), self._rank, *its)

    def join(self, stream) -> None:
        """Let ``stream`` wait for the messages."""
        self._aside.join(stream)
        self.nccl.join(stream)

    def add(self, array, stream) -> None:
        """Queue one kernel, which sends this GPU's numbers and waits for the others'."""
        if array.dtype != np.float64 or array.size > NUMBERS:
            self.nccl.add(array, stream)
        else:
            add_kernel[1, THREADS_ADD, stream](array, *self.mailbox)

    def mixes(self, size: int, dtype) -> bool:
        """Return whether such a message goes through a window: a kernel like any other. Longer ones go by NCCL."""
        return np.dtype(dtype) == np.float64 and size <= LONGEST

    def finish(self) -> None:
        """Wait as ``Nccl`` does.

        Raises
        ------
        CourseError
            Also if a kernel has waited for another rank in vain; the message names that rank.
        """
        self.nccl.finish()
        if lost := int(self._lost.copy_to_host()[0]):
            raise CourseError(
                f"rank {lost - 1} has not answered: a kernel on the GPU of {self.comm.name} waited for it in vain."
            )


def _flat(array):
    return array.reshape(array.size)
