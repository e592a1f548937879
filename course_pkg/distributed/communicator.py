"""Communication between ranks: messages that travel while a rank computes, and sums over all ranks.

A new kind of communicator defines three methods. Arrays are passed as they are, so one for GPUs takes device arrays,
and puts its messages into a stream of its own; ``Pending.wait`` then makes the computing stream wait, not the host.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from course_pkg.core import CourseError


def require_message(array) -> None:
    """Raise unless an array can be sent, or received into: in host memory, and in one piece.

    Examples
    --------
    >>> require_message(np.zeros((3, 4))[:, 1])  # a column has gaps
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: Messages are C-contiguous arrays in host memory: copy what is to be sent.
    """
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
        raise CourseError("Messages are C-contiguous arrays in host memory: copy what is to be sent.")


class Pending(ABC):
    """Messages that have been started and may not have arrived yet.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> def swap(comm):
    ...     theirs = np.empty(1)
    ...     pending = comm.start([(1 - comm.rank, np.array([10.0 * comm.rank]))], [(1 - comm.rank, theirs)])
    ...     pending.wait()
    ...     return theirs
    >>> Serial(2).run(swap)
    [array([10.]), array([0.])]
    """

    @abstractmethod
    def wait(self) -> None:
        """Return when all received arrays are complete, and the sent arrays may be changed again."""


class Communicator(ABC):
    """The ranks of a run, as one of them sees them.

    Attributes
    ----------
    rank, ranks : int
        The number of this rank, counted from 0, and the number of ranks.

    Notes
    -----
    All ranks call ``sum``, ``gather``, ``exchange`` and ``agree`` in the same order. Messages from one rank to another
    arrive in the order in which they were sent, and have the size that the receiver expects; there are no tags.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> Serial(3).run(lambda comm: comm.sum([1.0, comm.rank]))
    [array([3., 3.]), array([3., 3.]), array([3., 3.])]
    """

    rank: int
    ranks: int

    @abstractmethod
    def start(self, sends: Sequence[tuple], receives: Sequence[tuple]) -> Pending:
        """Begin to send and to receive, and return at once.

        Parameters
        ----------
        sends, receives : sequence of (rank, array)
            C-contiguous arrays. Until ``wait`` of the returned object has returned, the arrays in ``sends`` must not
            be changed, and those in ``receives`` must not be read.
        """

    @abstractmethod
    def sum(self, values) -> np.ndarray:
        """Return the sum of an array over all ranks, in float64 and bitwise equal on every rank; waits for all."""

    @abstractmethod
    def end(self, reason: str) -> None:
        """End all ranks because this one cannot go on."""

    @property
    def name(self) -> str:
        """The name of this rank in error messages."""
        return f"rank {self.rank} of {self.ranks}"

    def gather(self, values) -> np.ndarray:
        """Return the arrays of all ranks as the rows of a float64 array; all arrays must have the same size."""
        values = np.atleast_1d(np.asarray(values, np.float64))
        rows = np.zeros((self.ranks, values.size))
        rows[self.rank] = values
        return self.sum(rows.reshape(-1)).reshape(rows.shape)

    def exchange(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Send one int64 array to each rank, and return the arrays that all ranks sent to this one; sizes may differ.

        Parameters
        ----------
        parts : sequence of array of int64
            One array for each rank. The array for this rank itself is returned to it.
        """
        parts = [np.ascontiguousarray(part, np.int64) for part in parts]
        if len(parts) != self.ranks:
            raise CourseError(f"There are {len(parts)} parts for {self.ranks} ranks: pass one for each.")
        others = [peer for peer in range(self.ranks) if peer != self.rank]
        sizes = {peer: np.zeros(1, np.int64) for peer in others}
        self.start([(p, np.array([parts[p].size])) for p in others], list(sizes.items())).wait()
        come = {peer: np.empty(int(size[0]), np.int64) for peer, size in sizes.items()}
        self.start(
            [(p, parts[p]) for p in others if parts[p].size], [(p, a) for p, a in come.items() if a.size]
        ).wait()
        return [parts[p] if p == self.rank else come[p] for p in range(self.ranks)]

    def agree(self, what: str, *numbers: int) -> None:
        """Raise on every rank unless all ranks pass the same numbers.

        Raises
        ------
        CourseError
            If they differ. The message names the first rank that differs from rank 0.
        """
        rows = self.gather(numbers)
        different = np.flatnonzero((rows != rows[0]).any(axis=1))
        if different.size:
            other = int(different[0])
            mine, theirs = (tuple(int(value) for value in rows[rank]) for rank in (0, other))
            raise CourseError(
                f"Ranks disagree about {what}: rank 0 has {mine}, but rank {other} has {theirs}."
            )
