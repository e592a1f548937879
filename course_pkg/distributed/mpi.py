"""Ranks as processes of MPI, by mpi4py, with arrays in host memory. No call waits longer than its limit.

No rank blocks inside MPI. A rank that waits for a message polls for it. After ``timeout_s`` it asks the other ranks
whether they are waiting, too. It names those that do not answer, and ends all ranks.
"""

import faulthandler
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.units import how_many
from course_pkg.distributed.communicator import Communicator, Pending, require_message

TIMEOUT_S = 45.0  # together with ANSWER_S, this is well below a minute
ANSWER_S = 5.0  # time that the other ranks have to answer whether they still wait
ENDING_S = 5.0  # time that MPI has to end all ranks, before this process ends by itself
SPIN_S, PATIENCE_S = (
    0.002,
    0.05,
)  # a rank that waits longer than SPIN_S lets others run; longer than PATIENCE_S, it sleeps and answers questions
MISSING = (
    "MPI cannot be used ({reason}): `pip install -e '.[mpi]'` brings mpi4py, and `sudo apt install openmpi-bin` (or "
    "`conda install -c conda-forge mpi4py`, or `brew install open-mpi`) brings MPI."
)
DATA, QUESTION, ANSWER = 1, 2, 3  # tags


def _library():
    """Return the module ``mpi4py.MPI``; importing it starts MPI.

    Raises
    ------
    CourseError
        If mpi4py or MPI is missing; the sentence says what to install.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise CourseError(MISSING.format(reason=str(error).splitlines()[0].rstrip("."))) from None
    return MPI


@contextmanager
def _ends_within(seconds: float) -> Iterator[None]:
    """Print a traceback and end this process if the block takes longer: MPI may hang, and blocks Python meanwhile."""
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def open_mpi(timeout_s: float = TIMEOUT_S) -> "MpiCommunicator":
    """Return the communicator of all ranks that ``mpirun`` has started; without mpirun there is only one rank.

    Raises
    ------
    CourseError
        If mpi4py or MPI is missing; the sentence says what to install.

    Examples
    --------
    >>> from course_pkg.distributed.launch import launch, obstacle
    >>> program = "from course_pkg.distributed.mpi import *\\nwith ends_all(open_mpi()) as comm: print(comm.sum([1.0]))"
    >>> launch(("-c", program), 2).count("[2.]") if not obstacle() else 2
    2
    """
    with _ends_within(TIMEOUT_S):
        return MpiCommunicator(_library(), timeout_s)


class MpiCommunicator(Communicator):
    """The ranks of an MPI run; messages travel while the rank computes.

    Parameters
    ----------
    MPI : module
        ``mpi4py.MPI``.
    timeout_s : float
        Longest time in seconds to wait for other ranks; after it, all ranks are stopped.

    Examples
    --------
    >>> issubclass(MpiCommunicator, Communicator)
    True
    """

    def __init__(self, MPI, timeout_s: float = TIMEOUT_S):
        if not timeout_s > 0:
            raise CourseError(f"timeout_s is {timeout_s!r}: it must be a positive number of seconds.")
        self.MPI, self.timeout_s = MPI, timeout_s
        self.rank, self.ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
        self._world, self._side = MPI.COMM_WORLD.Dup(), MPI.COMM_WORLD.Dup()  # the second is for questions

    def start(self, sends: Sequence[tuple], receives: Sequence[tuple]) -> Pending:
        """Begin to send and to receive arrays in host memory."""
        for peer, array in (*sends, *receives):
            if not 0 <= peer < self.ranks or peer == self.rank:
                raise CourseError(f"{self.name} has no message for rank {peer}.")
            require_message(array)
        requests = [self._world.Irecv(array, peer, DATA) for peer, array in receives]
        requests += [self._world.Isend(array, peer, DATA) for peer, array in sends]
        return _Messages(self, requests, list(receives), list(sends))

    def sum(self, values) -> np.ndarray:
        """Return the sum over all ranks (``MPI_Iallreduce``)."""
        mine = np.ascontiguousarray(values, np.float64)
        total = np.empty_like(mine)
        request = self._world.Iallreduce(mine, total)
        try:
            self.wait_for([request], "a sum over all ranks")
        except self.MPI.Exception as error:
            raise CourseError(
                f"{self.name} adds an array of {how_many(mine.size, 'number')}, and another rank one of another size "
                f"({error})."
            ) from error
        return total

    def end(self, reason: str) -> None:
        """Say why on stderr, and end all ranks."""
        where = f"{self.name} ({socket.gethostname()}, process {os.getpid()})"
        sys.stderr.write(f"\n{where}: {reason}\n")  # one call, as other ranks write, too
        sys.stderr.flush()
        with _ends_within(ENDING_S):
            self._world.Abort(1)

    def wait_for(self, requests: list, what: str) -> list:
        """Wait until all requests are complete, and return their statuses.

        Raises
        ------
        CourseError
            After ``timeout_s``; it names the ranks that do not answer either.
        """
        Request, statuses = self.MPI.Request, [self.MPI.Status() for _ in requests]
        self.wait_until(lambda: Request.Testall(requests, statuses), what)
        return statuses

    def wait_until(self, done: Callable[[], bool], what: str) -> None:
        """Poll until ``done()`` is true, and answer the questions of other ranks meanwhile.

        Raises
        ------
        CourseError
            After ``timeout_s``; it names the ranks that do not answer either.
        """
        began, waits = time.monotonic(), 0
        while not done():
            waits += 1
            if waits % 64:
                continue
            waited = time.monotonic() - began
            if waited > self.timeout_s:
                raise CourseError(f"{self.name} waited {waited:.0f} s for {what}: {self._blame()}.")
            if waited > PATIENCE_S:
                self._answer()
                time.sleep(1e-3)
            elif waited > SPIN_S:
                time.sleep(0)

    def _answer(self) -> None:
        """Tell the ranks that have asked that this rank is alive and waiting."""
        status = self.MPI.Status()
        while self._side.Iprobe(tag=QUESTION, status=status):
            self._side.Recv(np.empty(0), status.source, QUESTION)
            self._side.Isend(np.empty(0), status.source, ANSWER)  # empty: no buffer to keep

    def _blame(self) -> str:
        """Ask all other ranks whether they are waiting, too; return a sentence about those that do not answer."""
        silent = set(range(self.ranks)) - {self.rank}
        for peer in silent:
            self._side.Isend(np.empty(0), peer, QUESTION)
        until, status = time.monotonic() + ANSWER_S, self.MPI.Status()
        while silent and time.monotonic() < until:
            self._answer()
            while self._side.Iprobe(tag=ANSWER, status=status):
                self._side.Recv(np.empty(0), status.source, ANSWER)
                silent.discard(status.source)
            time.sleep(1e-3)
        if not silent:
            return "all ranks answer, so they wait for each other: compare what they send, receive and add up"
        named = ", ".join(map(str, sorted(silent)))
        return f"ranks {named} do not answer" if len(silent) > 1 else f"rank {named} does not answer"


class _Messages(Pending):
    def __init__(self, comm: MpiCommunicator, requests, receives, sends):
        self.comm, self.requests, self.receives = comm, requests, receives
        self.sends = sends  # MPI reads them until the wait is over

    def wait(self) -> None:
        """Wait for all messages, and compare their sizes with what was expected."""
        comm = self.comm
        wanted = ", ".join(
            f"{how_many(array.size, 'number')} from rank {peer}" for peer, array in self.receives
        )
        try:
            statuses = comm.wait_for(self.requests, wanted or "its messages to be taken")
        except comm.MPI.Exception as error:
            raise CourseError(
                f"{comm.name} expected {wanted}, and got more: the ranks' plans differ ({error})."
            ) from error
        for status, (peer, array) in zip(statuses, self.receives, strict=False):
            if (come := status.Get_count(comm.MPI.BYTE)) != array.nbytes:
                raise CourseError(
                    f"rank {peer} sent {come} bytes, but {comm.name} expects {array.nbytes}: their plans or their "
                    "problems differ."
                )
        self.requests, self.receives, self.sends = [], [], []


@contextmanager
def ends_all(comm: Communicator) -> Iterator[Communicator]:
    """End all ranks if this one fails, and say on stderr which one it was and why.

    Without this, the others would wait for a rank that no longer exists. For a :class:`CourseError` only its message is
    printed, for other exceptions the traceback.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> def broken(comm):
    ...     with ends_all(comm):
    ...         raise CourseError("b is missing.")
    >>> Serial(2).run(broken)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: rank 0 of 2: b is missing.
    """
    try:
        yield comm
    except CourseError as error:
        comm.end(str(error))
        raise
    except SystemExit as error:
        if error.code:
            comm.end(f"it ended with status {error.code}.")
        raise
    except BaseException as error:
        comm.end(f"{type(error).__name__}: {error}\n{traceback.format_exc()}".rstrip())
        raise
