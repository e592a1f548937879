"""Call a learner's function on several ranks in one process, and keep what each of them did, in order."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from course_pkg.core.units import how_many
from course_pkg.distributed.communicator import Communicator, Pending
from course_pkg.distributed.serial import Serial

STARTS, WAITS, SUMS, COMPUTES = "starts", "waits", "sums", "computes"


@dataclass(frozen=True)
class Done:
    """One thing that a rank did.

    Attributes
    ----------
    kind : str
        One of this module's constants ``STARTS``, ``WAITS``, ``SUMS`` and ``COMPUTES``.
    what : str
        The words that describe it in the picture.

    Examples
    --------
    >>> Done(SUMS, "adds 2 numbers").kind
    'sums'
    """

    kind: str
    what: str


class Part:
    """An argument of a rank that records what is computed with it, in the list of everything that the rank did.

    Examples
    --------
    >>> part = Part()
    >>> part.note("inside")
    >>> part.done
    [Done(kind='computes', what='inside')]
    """

    def __init__(self):
        self.done: list[Done] = []

    def note(self, what: str) -> None:
        """Record that something was computed."""
        self.done.append(Done(COMPUTES, what))


@dataclass
class Heard:
    """What the ranks of a call did.

    Attributes
    ----------
    done : list of list of Done
        What each rank did, in order.
    messages : list of (int, int, int)
        Sender, receiver and number of elements of each message, in the order in which they were sent.
    sums : list of int
        How many numbers each sum over all ranks had.

    Examples
    --------
    >>> Heard([[], []]).sums
    []
    """

    done: list[list[Done]]
    messages: list[tuple[int, int, int]] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)


class _Noting(Communicator):
    """A rank's communicator that records each request."""

    def __getattr__(self, name: str):
        """Name what there is, where another library's name was used."""
        raise AttributeError(f"a communicator has no {name}: it has rank, ranks, start(…) and sum(…)")

    def __init__(self, comm: Communicator, done: list[Done]):
        self.rank, self.ranks, self._comm, self._done = comm.rank, comm.ranks, comm, done

    def start(self, sends, receives) -> Pending:
        """Record the receivers, and start the messages."""
        for _, array in (*sends, *receives):
            if not isinstance(array, np.ndarray):
                raise TypeError(f"a message is an array, and this is {array}: a slice, as v[:1], is an array")
        peers = ", ".join(str(peer) for peer, _ in sends)
        self._done.append(Done(STARTS, f"sends to {peers}" if peers else "starts"))
        return _Noted(self._comm.start(sends, receives), self._done)

    def sum(self, values, *others):
        """Record how many numbers are added up, and add them up over all ranks."""
        if others:
            raise TypeError(f"sum takes one array or number, and {1 + len(others)} were given")
        n = np.size(values)
        self._done.append(Done(SUMS, f"adds {how_many(n, 'number')}"))
        return self._comm.sum(values)

    def end(self, reason: str) -> None:
        """End all ranks."""
        self._comm.end(reason)


class _Noted(Pending):
    def __getattr__(self, name: str):
        """Name what there is, where another name was used."""
        raise AttributeError(f"what start returned has no {name}: it has wait()")

    def __init__(self, pending: Pending, done: list[Done]):
        self._pending, self._done = pending, done

    def wait(self) -> None:
        """Record the wait, and wait."""
        self._done.append(Done(WAITS, "waits"))
        self._pending.wait()


def call(
    function: Callable, ranks: int, arguments: dict, done: list[list[Done]] | None = None
) -> tuple[list, Heard]:
    """Call ``function(comm, …)`` on each rank with its own arguments; return all results, and what the ranks did.

    Parameters
    ----------
    function : callable
    ranks : int
    arguments : dict of str to tuple or number
        If a value is a tuple, each rank gets its own entry; any other value is given to all ranks.
    done : list, optional
        This list is filled with what each rank does. So the caller has it even if a rank fails.

    Examples
    --------
    >>> results, heard = call(lambda comm, a: float(comm.sum([a])[0]), 2, {"a": (1.0, 2.0)})
    >>> results, heard.sums, heard.done[0]
    ([3.0, 3.0], [1], [Done(kind='sums', what='adds 1 number')])
    """
    world, heard = Serial(ranks, keep=False), Heard([] if done is None else done)
    heard.done += [[] for _ in range(ranks)]

    def one(comm):
        mine = [value[comm.rank] if isinstance(value, tuple) else value for value in arguments.values()]
        for value in mine:
            if isinstance(value, Part):
                value.done = heard.done[comm.rank]
        return function(_Noting(comm, heard.done[comm.rank]), *mine)

    results = world.run(one)
    heard.messages = [(m.source, m.destination, m.count) for m in world.messages]
    heard.sums = list(world.reductions)
    return results, heard


def joined(results: list):
    """Return the results of all ranks in one array; if a result is neither a number nor an array, return that result.

    A tuple of numbers counts as an array, as it does for a host function that runs without ranks.

    Examples
    --------
    >>> joined([1.0, np.array([2.0, 3.0]), (4.0, 5.0)])
    array([1., 2., 3., 4., 5.])
    """
    results = [_unpacked(result) for result in results]
    for result in results:
        if not isinstance(result, (int, float, np.number, np.ndarray)):
            return result
    return np.concatenate([np.atleast_1d(result) for result in results])


def _unpacked(result):
    numbers = isinstance(result, tuple) and all(
        isinstance(value, (int, float, np.number)) for value in result
    )
    return np.array(result) if numbers else result
