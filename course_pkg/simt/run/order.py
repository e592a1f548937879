"""Orders: let the warps of each block run one after another, to see whether a result depends on which one is first.

The interpreter runs all threads of a wave in lock step. So a kernel that lacks a barrier may still give the right
result, and a few races through atomics look like honest handovers. A GPU promises no order between two barriers. In
:func:`warps_first`, half of the warps of each block run all statements up to the next barrier, and then the other half
does. A correct kernel gives a right result in each order.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from course_pkg.simt.errors import HazardError, SimtError

_PARITY: ContextVar[int | None] = ContextVar("parity", default=None)


class NoOrder(SimtError):
    """A kernel does not end in the order that :func:`warps_first` asks for: threads wait for ever.

    Examples
    --------
    >>> issubclass(NoOrder, SimtError)
    True
    """


@dataclass(eq=False)
class Order:
    """The order of a launch, or a record of where its barriers are.

    Attributes
    ----------
    parity : int or None
        0 if warps with even numbers are first, 1 if those with odd numbers are. None if all warps run in lock step;
        then ``meeting`` is recorded.
    meeting : set of ast.stmt
        The statements in which threads came to a barrier.
    takes_turns : bool
        Whether warps that wait for the others let them go on, and try again after each of their statements.
    by_block : bool
        Whether the blocks run one after another, so that none holds a lock for which another one waits.
    """

    parity: int | None = None
    meeting: set = field(default_factory=set)
    takes_turns: bool = False
    by_block: bool = False

    def times(self, blocks: int) -> int:
        """Return how many statements a launch may run in this order for each statement of its budget."""
        once = 1 if self.parity is None else 8 if self.takes_turns else 2
        return once * blocks if self.by_block else once

    def behind(self, body: list, at: int) -> int:
        """Return the end of the statements from ``at`` on in which threads come to no barrier."""
        while at < len(body) and body[at] not in self.meeting:
            at += 1
        return at


@contextmanager
def warps_first(parity: int) -> Iterator[None]:
    """Let launches in a ``with`` block run warps one after another between barriers, and look for no races.

    Warps that wait in a loop for others of their block let these go on, and continue as soon as they can. Then nothing
    is counted. A kernel that cannot end in such an order raises :class:`NoOrder`.

    Parameters
    ----------
    parity : int
        0 if the warps with even numbers are first in each block, 1 if those with odd numbers are.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import cuda, simt
    >>> text = "def turn(a):\\n    t = cuda.threadIdx.x\\n    x = a[63 - t]\\n    a[t] = x"
    >>> turn, a = simt.Kernel.from_source(text, "turn", {"cuda": cuda}), np.arange(64)
    >>> with simt.warps_first(0):  # a barrier is missing: the odd warps read what the even ones wrote
    ...     turn[1, 64](a)
    >>> bool((a == np.arange(64)[::-1]).all())
    False
    """
    before = _PARITY.set(parity)
    try:
        yield
    finally:
        _PARITY.reset(before)


def in_order(run_once: Callable, kernel, arrays: list):
    """Run a launch in the present order; return what ``run_once`` returns.

    Parameters
    ----------
    run_once : callable
        Runs the launch with an :class:`Order`. It counts if its second argument is true.
    kernel : Kernel
        Its attribute ``meeting`` holds the statements in which threads came to a barrier in earlier launches.
    arrays : list of ndarray
        All arrays that the launch may write.

    Raises
    ------
    NoOrder
        If the kernel cannot run in this order.
    """
    parity = _PARITY.get()
    if parity is None:
        return run_once(Order(None, kernel.meeting), True)
    before = [a.copy() for a in arrays]
    if not kernel.sketches:  # this is its first launch
        run_once(Order(None, kernel.meeting), False)
        _put(arrays, before)
    for way in ((False, False), (True, False), (True, True)):
        try:
            return run_once(Order(parity, kernel.meeting, *way), not any(way))
        except SimtError as error:
            if isinstance(error, HazardError) and error.hazard.kind != "divergent_barrier":
                raise
            found = error
        _put(arrays, before)
    raise NoOrder(str(found))


def _put(arrays: list, contents: list) -> None:
    for array, content in zip(arrays, contents, strict=True):
        if array.flags.writeable:
            array[...] = content
