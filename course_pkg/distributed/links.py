"""Communication between GPUs: messages and sums that are queued on a stream like kernels.

``Staged`` passes them through host memory, by any communicator. It needs nothing but MPI, also runs in the interpreter,
and makes the host wait. ``nccl.py`` sends directly from one GPU to another; in ``direct.py``, kernels write into the
memory of other GPUs.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from course_pkg import cuda
from course_pkg.distributed.communicator import Communicator, Pending


class Link(ABC):
    """The GPUs of a run, as the rank of one of them sees them.

    Attributes
    ----------
    comm : Communicator
        Communicator of the same ranks, for arrays in host memory.
    captures : bool
        True if a CUDA graph can hold the queued messages and sums, because the host never has to wait for them.
    mailbox : tuple or None
        The last arguments of the kernels that add up over all GPUs by themselves (``mailboxes.py``); None if none can.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> def add(comm):
    ...     mine = cuda.to_device(np.array([comm.rank + 1.0]))
    ...     Staged(comm).add(mine, 0)
    ...     return mine.copy_to_host()
    >>> Serial(2).run(add)
    [array([3.]), array([3.])]
    """

    comm: Communicator
    captures: bool
    mailbox: tuple | None = None

    @abstractmethod
    def start(self, sends: Sequence[tuple], receives: Sequence[tuple], stream) -> None:
        """Queue messages behind the work that is on ``stream`` now; they travel while work that is queued later runs.

        Parameters
        ----------
        sends, receives : sequence of (rank, device array)
            C-contiguous. Work that is queued before :meth:`join` may read the arrays in ``sends``, but must not use
            these arrays in any other way.
        stream : stream
        """

    @abstractmethod
    def join(self, stream) -> None:
        """Make ``stream`` wait for the messages that :meth:`start` has queued."""

    @abstractmethod
    def add(self, array, stream) -> None:
        """Queue the in-place sum of a float64 device array over all ranks; all ranks get the same bits."""

    def mixes(self, size: int, dtype) -> bool:
        """Return whether a graph may hold messages of this size while sums and other messages are queued one by one."""
        return False

    @abstractmethod
    def finish(self) -> None:
        """Make the host wait for all queued work.

        Raises
        ------
        CourseError
            If it takes longer than the communicator's limit. The message names the ranks that do not answer.
        """


class Staged(Link):
    """Messages by way of host memory.

    Parameters
    ----------
    comm : Communicator

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> def swap(comm):
    ...     link, other = Staged(comm), 1 - comm.rank
    ...     theirs = cuda.device_array(1)
    ...     link.start([(other, cuda.to_device(np.array([10.0 * comm.rank])))], [(other, theirs)], 0)
    ...     link.join(0)
    ...     return theirs.copy_to_host()
    >>> Serial(2).run(swap)
    [array([10.]), array([0.])]
    """

    captures = False

    def __init__(self, comm: Communicator):
        self.comm = comm
        self._pending: Pending | None = None
        self._come: list = []

    def start(self, sends, receives, stream) -> None:
        """Copy to the host, and begin to send."""
        self._come = [(array, np.empty(array.shape, array.dtype)) for _, array in receives]
        out = [(peer, array.copy_to_host(stream=stream)) for peer, array in sends]
        if stream:
            stream.synchronize()
        come = [(peer, host) for (peer, _), (_, host) in zip(receives, self._come, strict=True)]
        self._pending = self.comm.start(out, come)

    def join(self, stream) -> None:
        """Wait for the messages, and copy them to the GPU."""
        if self._pending is None:
            return
        self._pending.wait()
        self._pending = None
        for array, host in self._come:
            array.copy_to_device(host, stream=stream)

    def add(self, array, stream) -> None:
        """Add up in host memory."""
        mine = array.copy_to_host(stream=stream)
        if stream:
            stream.synchronize()
        array.copy_to_device(self.comm.sum(mine), stream=stream)

    def finish(self) -> None:
        """Wait for the GPU only, because the host has already waited for the other ranks."""
        cuda.synchronize()
