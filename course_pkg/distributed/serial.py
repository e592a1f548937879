"""All ranks in one process, in turn, with a copy of every message: for graders, for tests, and for inspection.

Each rank is a thread, but only one thread runs at a time, until it has to wait for another rank. So every run is the
same. If all ranks wait, an error says which rank waits for what, and the run does not hang.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.core.units import how_many
from course_pkg.distributed.communicator import Communicator, Pending, require_message


@dataclass(frozen=True, eq=False)
class Message:
    """A message that was sent.

    Attributes
    ----------
    source, destination : int
    data : ndarray or None
        A copy of the array that was sent; None if it was not kept.
    count, bytes : int

    Examples
    --------
    >>> Message(0, 1, None, count=9, bytes=72).bytes
    72
    """

    source: int
    destination: int
    data: np.ndarray | None
    count: int
    bytes: int


class NeverReceived(CourseError):
    """All ranks have ended, and one of them has not received what another one sent to it.

    Attributes
    ----------
    asked : bool
        Whether it asked for the message, but did not wait for it.

    Examples
    --------
    >>> str(NeverReceived("rank 0 sent 1 number that rank 1 never received", asked=False))
    'rank 0 sent 1 number that rank 1 never received.'
    """

    def __init__(self, said: str, *, asked: bool):
        super().__init__(
            said + (": it asked, and did not wait. What start returns has a wait()." if asked else ".")
        )
        self.asked = asked


class _Ended(BaseException):
    """Ends this rank because another rank failed."""


@dataclass
class Serial:
    """Runs a function on several ranks in one process, and records their messages and sums.

    Parameters
    ----------
    ranks : int
    keep : bool
        Whether messages keep a copy of their data.

    Attributes
    ----------
    messages : list of Message
        In the order in which they were sent.
    reductions : list of int
        How many numbers each sum over all ranks had.

    Examples
    --------
    >>> def pass_on(comm):
    ...     come = np.empty(1)
    ...     sends = [(comm.rank + 1, np.array([comm.rank + 0.5]))] if comm.rank < 2 else []
    ...     comm.start(sends, [(comm.rank - 1, come)] if comm.rank else []).wait()
    ...     return float(come[0]) if comm.rank else None
    >>> world = Serial(3)
    >>> world.run(pass_on)
    [None, 0.5, 1.5]
    >>> [(m.source, m.destination, m.count) for m in world.messages]
    [(0, 1, 1), (1, 2, 1)]
    """

    ranks: int = 1
    keep: bool = True
    messages: list[Message] = field(default_factory=list)
    reductions: list[int] = field(default_factory=list)

    def __post_init__(self):
        require_count(ranks=self.ranks)
        if self.ranks < 1:
            raise CourseError("ranks is 0: at least one rank is needed.")
        self._turn = threading.Condition()
        self._begin()

    def _begin(self):
        self._mail: dict[
            tuple[int, int], dict[int, np.ndarray]
        ] = {}  # numbered, so that each receive gets the message that belongs to it
        self._sent: Counter[tuple[int, int]] = Counter()
        self._begun: Counter[tuple[int, int]] = Counter()  # how many receives were started
        self._asked: Counter[tuple[int, int]] = Counter()  # receives that were started and not yet waited for
        self._sums: list[dict[int, np.ndarray]] = []
        self._totals: list[np.ndarray] = []
        self._waiting: list[tuple[Callable[[], bool], str] | None] = [None] * self.ranks
        self._ended = [False] * self.ranks
        self._running, self._failure = 0, None

    def run(self, function: Callable[..., Any], *arguments) -> list:
        """Call ``function(comm, *arguments)`` on every rank, and return what each returned.

        Raises
        ------
        CourseError
            If a rank raises one, if all ranks wait for each other, or if a message is never received. The message names
            the ranks. Other exceptions of a rank are raised unchanged, with a note that names the rank.
        """
        self._begin()
        if self.ranks == 1:
            return [function(SerialRank(self, 0), *arguments)]
        results: list = [None] * self.ranks
        threads = [
            threading.Thread(target=self._rank, args=(rank, function, arguments, results), daemon=True)
            for rank in range(self.ranks)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._failure is not None:
            rank, error = self._failure
            if rank is not None and isinstance(error, CourseError):
                raise CourseError(f"rank {rank} of {self.ranks}: {error}") from error
            if rank is not None:
                error.add_note(f"It happened on rank {rank} of {self.ranks}.")
            raise error
        left = [(pair, mail) for pair, mail in self._mail.items() if mail]
        if left:
            (source, destination), mail = left[0]
            asked = self._asked.get((source, destination), 0)
            sent = f"rank {source} sent {how_many(mail[min(mail)].size, 'number')}"
            raise NeverReceived(f"{sent} that rank {destination} never received", asked=asked > 0)
        return results

    def _rank(self, rank, function, arguments, results):
        try:
            with self._turn:
                self._turn.wait_for(lambda: self._running == rank)
            if self._failure is None:
                results[rank] = function(SerialRank(self, rank), *arguments)
        except _Ended:
            pass
        except BaseException as error:
            self._failure = self._failure or (rank, error)
        with self._turn:
            self._ended[rank] = True
            self._hand_on(rank)

    def _wait(self, rank: int, ready: Callable[[], bool], what: str) -> None:
        """Let other ranks run until ``ready()`` is true."""
        with self._turn:
            if ready():
                return
            self._waiting[rank] = ready, what
            self._hand_on(rank)
            self._turn.wait_for(lambda: self._running == rank)
            self._waiting[rank] = None
            if self._failure is not None:
                raise _Ended

    def _hand_on(self, rank: int) -> None:
        """Choose the rank that runs next: the first after this one that has not ended and does not have to wait."""
        order = [(rank + 1 + k) % self.ranks for k in range(self.ranks)]
        alive = [r for r in order if not self._ended[r]]
        able = [r for r in alive if self._waiting[r] is None or self._waiting[r][0]()]
        if alive and not able and self._failure is None:
            said = [f"rank {r} waits for {self._waiting[r][1]}" for r in sorted(alive)]
            said += [f"rank {r} has ended" for r in range(self.ranks) if self._ended[r]]
            self._failure = None, CourseError(f"The ranks wait without end: {'; '.join(said)}.")
        if alive:
            self._running = able[0] if able else alive[0]
            self._turn.notify_all()


class SerialRank(Communicator):
    """One of the ranks of a :class:`Serial`.

    Examples
    --------
    >>> Serial(2).run(lambda comm: comm.name)
    ['rank 0 of 2', 'rank 1 of 2']
    """

    def __init__(self, world: Serial, rank: int):
        self.world, self.rank, self.ranks = world, rank, world.ranks
        self._rounds = 0

    def start(self, sends: Sequence[tuple], receives: Sequence[tuple]) -> Pending:
        """Begin to send and to receive; arrays to be sent are copied at once."""
        world = self.world
        for _, array in [*sends, *receives]:
            require_message(array)
        for peer, array in sends:
            data = np.array(array)
            world.messages.append(
                Message(self.rank, peer, data if world.keep else None, int(data.size), int(data.nbytes))
            )
            pair = self.rank, self._checked(peer)
            world._mail.setdefault(pair, {})[world._sent[pair]] = data
            world._sent[pair] += 1
        numbered = []
        for peer, array in receives:
            pair = self._checked(peer), self.rank
            numbered.append((peer, world._begun[pair], array))
            world._asked[pair] += 1
            world._begun[pair] += 1
        return _Receiving(self, numbered)

    def _checked(self, peer: int) -> int:
        if not 0 <= peer < self.ranks or peer == self.rank:
            raise CourseError(
                f"Rank {self.rank} has no message for rank {peer}: there are ranks 0 to {self.ranks - 1}."
            )
        return peer

    def sum(self, values) -> np.ndarray:
        """Return the sum over all ranks, added in the order of the ranks."""
        world, mine = self.world, np.array(values, np.float64)
        turn, self._rounds = self._rounds, self._rounds + 1
        if turn == len(world._sums):
            world._sums.append({})
            world.reductions.append(int(mine.size))
        given = world._sums[turn]
        given[self.rank] = mine
        shapes = {rank: part.shape for rank, part in given.items() if part.shape != mine.shape}
        if shapes:
            other = min(shapes)
            raise CourseError(
                f"The ranks add arrays of different shapes: {mine.shape} here, {shapes[other]} on rank {other}."
            )
        world._wait(self.rank, lambda: len(given) == self.ranks, "a sum over all ranks")
        total = given[0].copy()
        for rank in range(1, self.ranks):
            total += given[rank]
        return total

    def end(self, reason: str) -> None:
        """Raise an error; ``Serial.run`` then ends the other ranks, too."""
        raise CourseError(reason)


class _Receiving(Pending):
    def __init__(self, comm: SerialRank, receives):
        self.comm, self.receives = comm, receives

    def wait(self) -> None:
        """Wait for the messages, and copy them to the receiving arrays."""
        world, rank = self.comm.world, self.comm.rank
        for peer, number, array in self.receives:
            mail = world._mail.setdefault((peer, rank), {})
            what = f"{how_many(array.size, 'number')} from rank {peer}"
            world._wait(rank, lambda mail=mail, number=number: number in mail, what)
            data = mail.pop(number)
            world._asked[peer, rank] -= 1
            if data.size != array.size or data.dtype != array.dtype:
                raise CourseError(
                    f"rank {peer} sent {how_many(data.size, 'number')} of {data.dtype}, but rank {rank} expects "
                    f"{array.size} of {array.dtype}: their plans or their problems differ."
                )
            array.reshape(-1)[:] = data.reshape(-1)
        self.receives = []
