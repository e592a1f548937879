"""Run one rank of a learner's function in a thread, from one message to the next, and control it by plain values.

In a notebook this code runs in the notebook's process, in the judge it runs in the sandbox. :mod:`.ranks` carries the
messages from rank to rank.
"""

import threading
from collections.abc import Callable
from functools import wraps
from queue import SimpleQueue

import numpy as np

from course_pkg.core import CourseError
from course_pkg.distributed.communicator import Communicator, Pending

__all__ = ["MessageError", "fits", "on_each_rank"]

MOST_NUMBERS = 1 << 20  # in one message or sum
TYPES = frozenset(str(np.dtype(code)) for code in "?bhilqBHILQefd")  # of numbers in messages


class MessageError(CourseError):
    """A message that cannot be sent or received; a notebook shows the learner's line and this sentence.

    Examples
    --------
    >>> raise MessageError("what is sent must not change before wait()")
    Traceback (most recent call last):
    course_pkg.grading.one_rank.MessageError: what is sent must not change before wait()
    """


def fits(numbers: int, dtype) -> bool:
    """Return whether a message may carry so many numbers of a type.

    Messages are counted in numbers, so one number has at most eight bytes: a wider type would carry two in one.

    Examples
    --------
    >>> fits(3, "float64"), fits(3, "complex128"), fits(2**30, "int8")
    (True, False, False)
    """
    return str(dtype) in TYPES and 0 <= numbers <= MOST_NUMBERS


def on_each_rank(function: Callable) -> Callable:
    """Turn ``function(comm, …)`` into a function that :func:`play` can call, here or in the judge's sandbox.

    If its first argument is a communicator, the new function does the same as the original one.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> @on_each_rank
    ... def total(comm, part):
    ...     return comm.sum(part).tolist()
    >>> Serial(2).run(lambda comm: total(comm, [comm.rank + 1.0]))
    [[3.0], [3.0]]
    """
    ranks: dict[int, _Rank] = {}

    @wraps(function)
    def turn(what, *rest):
        if isinstance(what, Communicator):
            return function(what, *rest)
        if what == "ready":
            for older in ranks.values():
                older.leave()
            ranks.clear()
            return "ready"
        number, value = rest
        if what == "begin":
            ranks[number] = _Rank(number, value[0])
            return ranks[number].begin(function, value[1])
        return ranks[number].go_on(value)

    turn.by_turns = True
    return turn


_WAYS = {"sends": "send a copy", "receives": "receive into an array of its own, and copy from there"}


class _Left(BaseException):
    """Ends the thread of a rank that is no longer needed."""


class _Rank(Communicator):
    """The communicator of a learner's function in a thread: it passes each request on and waits for the answer."""

    def __init__(self, rank: int, ranks: int):
        self.rank, self.ranks = rank, ranks
        self._events, self._answers = SimpleQueue(), SimpleQueue()
        self._started, self._arguments = 0, []

    def begin(self, function, arguments) -> dict:
        """Call the function in a thread; return its first request."""
        self._arguments = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]

        def live():
            try:
                value = function(self, *self._arguments)
                self._events.put(self._event("end", value))
            except _Left:
                pass
            except BaseException as error:
                self._events.put(error.with_traceback(error.__traceback__.tb_next))  # from the function on

        threading.Thread(target=live, daemon=True).start()
        return self._next()

    def go_on(self, value) -> dict:
        """Give the function the answer to its request; return its next request."""
        # a copy, because the function may change it
        self._answers.put((np.array(value) if isinstance(value, np.ndarray) else value,))
        return self._next()

    def leave(self) -> None:
        """End the thread."""
        self._answers.put(None)

    def start(self, sends, receives) -> Pending:
        """Begin to send and to receive, see :meth:`.Communicator.start`."""
        sends, receives = self._pairs("sends", sends), self._pairs("receives", receives)
        number, self._started = self._started, self._started + 1
        sizes = [[peer, int(array.size), str(array.dtype)] for peer, array in receives]
        come = self._ask("start", [number, [[peer, np.array(array)] for peer, array in sends], sizes])
        for argument, whole in come:  # inputs that were kept back until the messages had started
            self._arguments[argument][...] = whole
        return _Pending(self, number, [(a, a.copy()) for _, a in sends], [a for _, a in receives])

    def sum(self, values, *others) -> np.ndarray:
        """Return the sum of an array over all ranks."""
        if others:
            raise MessageError("sum takes one array or list: to add several numbers, write comm.sum([a, b])")
        return self._ask("sum", np.array(values, np.float64))

    def end(self, reason: str) -> None:
        """Raise an error, which ends all ranks."""
        raise CourseError(reason)

    def _ask(self, kind: str, about):
        self._events.put(self._event(kind, about))
        answer = self._answers.get()
        if answer is None:
            raise _Left
        return answer[0]

    def _event(self, kind: str, about) -> dict:
        arrays = [np.array(a) if isinstance(a, np.ndarray) else None for a in self._arguments]
        return {"kind": kind, "about": about, "arrays": arrays}

    def _next(self) -> dict:
        event = self._events.get()
        if isinstance(event, BaseException):
            raise event
        return event

    def _pairs(self, what: str, pairs) -> list[tuple]:
        found = []
        try:
            found = [(int(peer), array) for peer, array in pairs]
        except (TypeError, ValueError):
            raise MessageError(
                f"{what} is a list of pairs, each a rank and an array: [(rank, array)]"
            ) from None
        for peer, array in found:
            if peer == self.rank or not 0 <= peer < self.ranks:
                raise MessageError(
                    f"rank {self.rank} has no messages with rank {peer}; ranks are 0 to {self.ranks - 1}"
                )
            if not isinstance(array, np.ndarray):
                raise MessageError(f"{what} has a {type(array).__name__} where an array has to be")
            if not fits(array.size, array.dtype):
                raise MessageError(
                    f"{what} has {array.size:,} numbers of type {array.dtype}: a message carries at most "
                    f"{MOST_NUMBERS:,}, each of at most eight bytes and not complex"
                )
            if not array.flags.c_contiguous:
                raise MessageError(f"an array in {what} has gaps in memory, as a column has: {_WAYS[what]}")
        return found


class _Pending(Pending):
    def __init__(self, rank, number, sent, received):
        self._rank, self._number, self._sent, self._received = rank, number, sent, received
        self._over = False

    def wait(self) -> None:
        """Wait for the messages, and fill the arrays that receive them."""
        if self._over:
            return
        if any(not np.array_equal(now, then, equal_nan=True) for now, then in self._sent):
            raise MessageError("what is sent must not change before wait()")
        come = self._rank._ask("wait", self._number)
        for array, data in zip(self._received, come, strict=True):
            array[...] = np.reshape(data, array.shape)
        self._over = True
