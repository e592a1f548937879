"""Orders: let the warps of each block run one after another, to see whether a result depends on which one is first.

The interpreter runs all threads of a wave in lock step. So a kernel that lacks a barrier may still give the right
result, and a few races through atomics look like honest handovers. A GPU promises no order between two barriers. In
:func:`warps_first`, half of the warps of each block run all statements up to the next barrier, and then the other half
does. A correct kernel gives a right result in each order. Lock step may also last up to some barrier, and the warps run
one after another from there on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import product

from course_pkg.simt.errors import HazardError, SimtError
from course_pkg.simt.run.meetings import Group, Meetings

_ASKED: ContextVar[tuple[int, float | None] | None] = ContextVar("asked", default=None)
EVERYWHERE = Group()
_SEEN: ContextVar[list | None] = ContextVar("seen", default=None)


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
        then ``meetings`` are recorded.
    meetings : Meetings
        Where threads came to barriers.
    group : Group
        The blocks that now run together.
    takes_turns : bool
        Whether warps that wait for the others let them go on, and try again after each of their statements.
    by_block : bool
        Whether the blocks run one after another, so that none holds a lock for which another one waits.
    behind : float or None
        From 0 to less than 1: which of a group's barriers comes before this. Up to that barrier, all warps run in lock
        step. None if nothing does.
    exact : bool
        Whether threads meet where they met in lock step, after as many barriers. If not, they meet at each of these
        statements, as often as they come to it.
    """

    parity: int | None = None
    meetings: Meetings = field(default_factory=Meetings)
    takes_turns: bool = False
    by_block: bool = False
    behind: float | None = None
    exact: bool = True
    group: Group = EVERYWHERE

    def __post_init__(self):
        few = self.behind is None or not self.group.barriers
        self._in_step = 0 if few else 1 + int(self.behind * self.group.barriers)
        self._statements = set() if self.exact else {node for node, _ in self.group.meeting}

    def groups(self, wave) -> list:
        """Return the groups of a wave's blocks that run one after the other, each as its order and its lanes."""
        if self.parity is None:
            return [(self, wave.everyone)]
        return [
            (replace(self, group=group), wave.everyone.narrow(blocks.reshape(*wave.count, 1, 1, 1)))
            for group, blocks in self.meetings.groups(wave)
        ]

    def holds(self, barriers: int) -> bool:
        """Return whether warps run one after another once their blocks have passed so many barriers."""
        return self.parity is not None and barriers >= self._in_step

    def times(self, blocks: int) -> int:
        """Return how many statements a launch may run in this order for each statement of its budget."""
        if self.parity is None:
            return 1
        return (8 if self.takes_turns else 2) * (blocks if self.by_block else self.meetings.most())

    def end(self, body: list, at: int, barriers: int) -> int:
        """Return the end of the statements from ``at`` on in which threads come to no barrier."""
        meeting = self.group.meeting
        while at < len(body) and (body[at], barriers) not in meeting and body[at] not in self._statements:
            at += 1
        return at


@contextmanager
def warps_first(parity: int, behind: float | None = None) -> Iterator[None]:
    """Let launches in a ``with`` block run warps one after another between barriers, and look for no races.

    Warps that wait in a loop for others of their block let these go on, and continue as soon as they can. Then nothing
    is counted. A kernel that cannot end in such an order raises :class:`NoOrder`.

    Parameters
    ----------
    parity : int
        0 if the warps with even numbers are first in each block, 1 if those with odd numbers are.
    behind : float, optional
        From 0 to less than 1: which of the launch's barriers, from the first to the last, comes before this. All warps
        run in lock step up to that barrier. The same launch must have run in lock step before, and told how many
        barriers it has. By default, nothing runs in lock step.

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
    before = _ASKED.set((parity, behind))
    try:
        yield
    finally:
        _ASKED.reset(before)


@contextmanager
def observed() -> Iterator[list[Meetings]]:
    """Return a list, to which each launch in lock step in a ``with`` block adds where its threads met.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import sum_kernel
    >>> with simt.observed() as launches:
    ...     sum_kernel[1, 256](np.ones(256), np.empty(1))
    >>> launches[0].barriers, launches[0].by_data
    (9, False)
    """
    before = _SEEN.set([])
    try:
        yield _SEEN.get()
    finally:
        _SEEN.reset(before)


def in_order(run_once: Callable, kernel, grid: tuple, arrays: list):
    """Run a launch in the present order; return what ``run_once`` returns.

    Parameters
    ----------
    run_once : callable
        Runs the launch with an :class:`Order`. It counts if its second argument is true.
    kernel : Kernel
        Its attribute ``meeting`` holds, for each launch in lock step, where threads came to a barrier.
    grid : tuple
        Blocks and threads of the launch.
    arrays : list of ndarray
        All arrays that the launch may write.

    Raises
    ------
    NoOrder
        If the kernel cannot run in this order.
    """
    launch = (grid, *(a.shape for a in arrays))

    def in_lock_step(counted: bool):
        kernel.meeting[launch] = Meetings()
        if _SEEN.get() is not None:
            _SEEN.get().append(kernel.meeting[launch])
        return run_once(Order(None, kernel.meeting[launch]), counted)

    if _ASKED.get() is None:
        return in_lock_step(True)
    parity, behind = _ASKED.get()
    before = [a.copy() for a in arrays]
    if launch not in kernel.meeting:  # this is its first launch
        in_lock_step(False)
        _put(arrays, before)
    meetings = kernel.meeting[launch]
    ways = (False, False), (True, False), (True, True)
    for exact, way in product((True, False), ways):
        try:
            return run_once(Order(parity, meetings, *way, behind, exact), exact and not any(way))
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
