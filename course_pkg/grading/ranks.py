"""Functions of an exercise that run on several ranks: the judge carries their messages, wherever their code runs.

A learner's code runs in a sandbox. The sandbox takes and returns only plain values, and the judge does not trust it.
So :func:`.on_each_rank` turns a function ``f(comm, …)`` into one that takes plain values and runs one rank up to its
next message. :func:`play` passes these messages on with a :class:`~course_pkg.distributed.serial.Serial` of its own. A
rank gets the halo only when it waits for it, and then reports what its arrays hold: results that are right at that
moment were computed before the halo came. They may even have been computed before the messages were started. To rule
this out, a test may keep back a part of an input until the rank has started its messages (:class:`Later`). One rank,
drawn, has a sandbox of its own: ranks cannot share memory instead of messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from course_pkg.core import CourseError
from course_pkg.distributed.serial import Message, NeverReceived, Serial
from course_pkg.grading.check import Out, rng
from course_pkg.grading.explain import Failed, InputChanged
from course_pkg.grading.one_rank import MOST_NUMBERS, fits, on_each_rank

__all__ = ["Later", "Moment", "Played", "on_each_rank", "play"]

COURSE = Path(__file__).parents[1]
MOST_MOMENTS = 600  # of one rank; right answers have less than a fifth of this number
MOST_SENT = 4 * MOST_NUMBERS  # the most numbers that one rank may send, in all its messages and sums together
STUCK = "The ranks wait for each other without end, or their messages do not fit each other."
ENDLESS = "A rank sends messages without end."
NO_RANK = "Keep the line @on_each_rank above the def of your function."


@dataclass(frozen=True, eq=False)
class Later:
    """An input with a part that stays NaN until its rank has started its messages; a single rank gets all at once.

    Attributes
    ----------
    array : ndarray of floats
    part : slice or tuple
        Index of the part that is NaN until then.
    messages : int
        The rank gets the part when it has started to send this many messages, and to receive as many.

    Examples
    --------
    >>> Later(np.arange(5.0), slice(1, -1), 1).before()
    array([ 0., nan, nan, nan,  4.])
    """

    array: np.ndarray
    part: slice | tuple
    messages: int

    def before(self) -> np.ndarray:
        """Return the array as it is before the messages start, with NaN in the part."""
        array = self.array.copy()
        array[self.part] = np.nan
        return array


@dataclass(frozen=True, eq=False)
class Moment:
    """A moment in the run of a rank: what the rank was about to do, and the contents of its arrays.

    Attributes
    ----------
    kind : str
        ``"start"``, ``"wait"`` or ``"sum"``: what it is about to do; ``"end"`` when the function has returned.
    arrays : list
        A copy of each argument that is an array, None for the others.

    Examples
    --------
    >>> Moment("wait", [np.zeros(2), None]).kind
    'wait'
    """

    kind: str
    arrays: list


@dataclass(eq=False)
class Played:
    """What happened on all ranks.

    Attributes
    ----------
    results : list
        What the function returned on each rank.
    moments : list of list of Moment
        The moments of each rank, in the order in which they happened.
    messages : list of Message
    reductions : list of int
        How many numbers each sum over all ranks had.

    Examples
    --------
    >>> Played([1.0], [[Moment("end", [])]], [], [1]).reductions
    [1]
    """

    results: list
    moments: list[list[Moment]]
    messages: list[Message] = field(default_factory=list)
    reductions: list[int] = field(default_factory=list)


def play(function: Callable, arguments: Sequence[tuple]) -> Played:
    """Call a function that :func:`on_each_rank` has made, on as many ranks as there are tuples of arguments.

    Results go into arrays that ``check.out`` has made. All other arrays are inputs and must not change. For a
    :class:`Later` among the arguments, the function gets an array.

    Parameters
    ----------
    function : callable
        What :func:`on_each_rank` has made of ``function(comm, *arguments)``.
    arguments : sequence of tuple
        The arguments of each rank, without ``comm``.

    Raises
    ------
    Failed
        If ranks wait without end, messages do not fit, or an input has changed. An error that the
        function itself raises is passed on unchanged.

    Examples
    --------
    >>> @on_each_rank
    ... def mean(comm, part):
    ...     total, count = comm.sum([part.sum(), part.size])
    ...     return total / count
    >>> played = play(mean, [(np.ones(3),), (np.full(1, 5.0),)])
    >>> [float(value) for value in played.results], played.reductions
    ([2.0, 2.0], [2])
    """
    __tracebackhide__ = (
        True  # in any notebook, an error of the learner's function is shown without this function
    )
    if not _is_ready(function):
        raise Failed(NO_RANK, verdict=NO_RANK)
    apart, elsewhere = _one_apart(function, len(arguments))
    world, raised = Serial(len(arguments)), []
    coming = [_Coming(given if len(arguments) > 1 else ()) for given in arguments]
    arguments = [[a.array if isinstance(a, Later) else a for a in given] for given in arguments]
    moments: list[list[Moment]] = [[] for _ in arguments]

    def one(comm):
        pending: dict[int, tuple] = {}
        later, mine = coming[comm.rank], arguments[comm.rank]
        given = later.begun([a.view(np.ndarray) if isinstance(a, Out) else a for a in mine])
        order, value = "begin", [comm.ranks, given]
        lives = elsewhere if comm.rank == apart else function
        while True:
            try:
                event = lives(order, comm.rank, value)
            except BaseException as error:
                raised.append((error, _after_the_course(error)))
                raise
            kind, about, arrays = _checked(event, mine)
            moments[comm.rank].append(Moment(kind, arrays))
            if len(moments[comm.rank]) > MOST_MOMENTS:
                raise Failed(f"{ENDLESS} Do all ranks stop, in the same iteration?", verdict=ENDLESS)
            if kind == "end":
                return about
            order, value = "go on", _carried_out(comm, kind, about, pending, later)

    try:
        results = world.run(one)
    except BaseException as error:
        if raised:  # Serial replaces some errors by others, but the judge needs the original one
            raise raised[0][0].with_traceback(raised[0][1]) from None
        if isinstance(error, CourseError):
            raise Failed(_advised(error), verdict=STUCK) from None
        raise
    for given, later, its in zip(arguments, coming, moments, strict=True):
        _take_over(getattr(function, "__name__", "The function"), later.begun(given), its[-1].arrays)
    return Played(results, moments, world.messages, world.reductions)


# ------------------------------------------------------------------------------------------- where the judge is


def _is_ready(function) -> bool:
    """Ask, in the caller's thread, if a function can be played: a sandbox ends with the thread that starts it."""
    if getattr(function, "using", None) is None:  # not the judge's stand-in
        return getattr(function, "by_turns", False) and function("ready") == "ready"
    try:
        answer = function("ready")
        return isinstance(answer, str) and answer == "ready"
    except CourseError as error:
        if getattr(error, "kind", "") in ("TypeError", "AttributeError", "NotPlain"):
            return False
        raise


def _one_apart(function, ranks: int) -> tuple[int | None, Callable | None]:
    """Choose a random rank to run in another sandbox, if the judge has one; no rank knows which one it is."""
    if ranks == 1 or getattr(function, "apart", None) is None:
        return None, None
    chosen, elsewhere = int(rng().integers(ranks)), function.apart()
    _is_ready(elsewhere)
    return chosen, elsewhere


def _checked(event, arguments) -> tuple[str, Any, list]:
    """Return the kind, the details and the arrays of a rank's request; raise Failed if the request is malformed."""
    try:
        kind, about, arrays = event["kind"], event["about"], event["arrays"]
        honest = kind in ("start", "wait", "sum", "end") and type(arrays) is list
        for given, now in zip(arguments, arrays, strict=True):
            honest &= isinstance(given, np.ndarray) == isinstance(now, np.ndarray)
            if isinstance(given, np.ndarray):
                honest &= given.shape == now.shape and given.dtype == now.dtype
        if kind == "start":
            number, sends, receives = about
            honest &= type(number) is int and max(len(sends), len(receives)) <= MOST_MOMENTS
            honest &= all(type(peer) is int for peer, *_ in (*sends, *receives))
            honest &= all(isinstance(a, np.ndarray) and fits(a.size, a.dtype) for _, a in sends)
            honest &= all(type(n) is int and fits(n, dtype) for _, n, dtype in receives)
        elif kind == "wait":
            honest &= type(about) is int
        elif kind == "sum":
            honest &= (
                isinstance(about, np.ndarray) and about.dtype == np.float64 and about.size <= MOST_NUMBERS
            )
    except (TypeError, ValueError, LookupError):
        honest = False
    if not honest:
        raise Failed(NO_RANK, verdict=NO_RANK)
    return kind, about, arrays


class _Coming:
    """One rank's inputs that are partly kept back, and how many messages and numbers it has started to send."""

    def __init__(self, arguments):
        self._kept = {number: one for number, one in enumerate(arguments) if isinstance(one, Later)}
        self._sent = self._received = self._numbers = 0

    def count(self, *arrays) -> None:
        """Count the numbers that the rank sends; raise Failed if they have no end."""
        self._numbers += sum(array.size for array in arrays)
        if self._numbers > MOST_SENT:
            raise Failed(ENDLESS, verdict=ENDLESS)

    def begun(self, arguments: list) -> list:
        """Return the rank's arguments as it has them now, with NaN in the parts that are still kept back."""
        return [self._kept[n].before() if n in self._kept else a for n, a in enumerate(arguments)]

    def started(self, sends, receives) -> list:
        """Count messages; return (number, whole array) for each argument that is no longer kept back."""
        self._sent, self._received = self._sent + len(sends), self._received + len(receives)
        here = [n for n, one in self._kept.items() if one.messages <= min(self._sent, self._received)]
        return [[number, self._kept.pop(number).array] for number in here]


def _carried_out(comm, kind: str, about, pending: dict, later: _Coming):
    """Do what a rank asks for, and return the answer."""
    if kind == "sum":
        later.count(about)
        return comm.sum(about)
    if kind == "start":
        number, sends, receives = about
        later.count(*(array for _, array in sends))
        arrays = [np.empty(n, dtype) for _, n, dtype in receives]
        into = [(peer, array) for (peer, *_), array in zip(receives, arrays, strict=True)]
        pending[number] = comm.start([tuple(s) for s in sends], into), arrays
        return later.started(sends, receives)
    if about not in pending:
        raise Failed(NO_RANK, verdict=NO_RANK)
    waiting, arrays = pending.pop(about)
    waiting.wait()
    return arrays


def _take_over(name: str, given, now) -> None:
    """Copy the results into the caller's arrays, and check that no input has changed."""
    for number, (before, after) in enumerate(zip(given, now, strict=True), start=1):
        if isinstance(before, Out):
            before[...] = after
        elif isinstance(before, np.ndarray) and before.tobytes() != after.tobytes():
            raise InputChanged(name, number, after="comm")


def _after_the_course(error):
    """Return an error's traceback without the course's own frames at its start, for a notebook to show."""
    trace = error.__traceback__
    while trace is not None and Path(trace.tb_frame.f_code.co_filename).is_relative_to(COURSE):
        trace = trace.tb_next
    return trace or error.__traceback__


def _advised(error: CourseError) -> str:
    if not isinstance(error, NeverReceived) or error.asked:  # the error itself says that a wait is missing
        return str(error)
    return f"{error} Is there a wait() for each start, and does each rank receive all that is sent to it?"
