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
from dataclasses import dataclass, field

from course_pkg.core.access import WARP
from course_pkg.simt.errors import HazardError, SimtError
from course_pkg.simt.memory.hazard_log import HazardLog
from course_pkg.simt.run.competing import Lots, orders
from course_pkg.simt.run.halves import in_halves
from course_pkg.simt.run.late import Late, sequences
from course_pkg.simt.run.meetings import Meetings
from course_pkg.simt.run.roles import in_roles, parts_of
from course_pkg.simt.run.waits import Apart

_ASKED: ContextVar[tuple[int, float | None] | None] = ContextVar("asked", default=None)
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
    """The order of a launch, or a record of its barriers.

    Attributes
    ----------
    parity : int or None
        0 if warps with even numbers are first, 1 if those with odd numbers are. None if all warps run in lock step;
        then ``meetings`` are recorded.
    meetings : Meetings
        The barriers that blocks have passed in lock step.
    by_block : bool
        Whether the blocks run one after another.
    behind : float or None
        A position among a group's informed barriers (:class:`.Meetings`), from 0 for the first to less than 1. All
        warps run in lock step up to the barrier at this position. None if no part runs in lock step.
    arrays : list of ndarray
        All arrays that the launch may write.
    late : Late or None
        The threads that are late (:mod:`.late`).
    lots : Lots or None
        The order of threads that run an atomic together, if not that of their numbers (:mod:`.competing`).
    ran : int
        How many statements have run in this order.
    log : HazardLog or None
        The hazards that were found in this order, also those before an error ended the launch.
    """

    parity: int | None = None
    meetings: Meetings = field(default_factory=Meetings)
    by_block: bool = False
    behind: float | None = None
    arrays: list = field(default_factory=list)
    late: Late | None = None
    lots: Lots | None = None
    ran: int = 0
    log: HazardLog | None = None
    # {first block of a wave: where each of its roles begins to be late}
    _stops: dict = field(default_factory=dict)

    def others(self, races, threads: int, others: dict, racing: list) -> Iterator["Order"]:
        """Yield the orders in which the launch has to run again, because some of its order is only that of this run.

        Hand-overs alone have put accesses in order, or threads compete and nobody hands over.

        Parameters
        ----------
        races : Races
        threads : int
            Threads of a wave.
        others, racing
            As in :func:`.late.sequences` and in :func:`.competing.orders`.
        """
        accesses = races.excused()
        if accesses:
            each = sequences(accesses, races.handovers.learners, races.order, threads, others)
            ways = ((None, late) for late in each)
        else:
            alone = races.compete and not races.handovers.learners
            ways = orders(races.order, threads, racing) if alone else ()
        for lots, late in ways:
            yield Order(None, Meetings(roles=dict(self.meetings.roles)), late=late, lots=lots)

    def may_begin_again(self, waits: bool) -> bool:
        """Return whether a launch, in which threads may wait in a loop if ``waits`` is true, may begin again."""
        return waits and (self.parity is None or bool(self.meetings.roles))

    def begin_again(self, apart: Apart) -> int | None:
        """Prepare for running a launch once more with other roles; return how many statements it may still run."""
        self.meetings.roles[apart.wave] = apart.roles
        if self.late is not None:
            self._stops[apart.wave] = apart.stops
        if self.parity is None:
            self.meetings.begin_again()
        return apart.steps

    def run(self, wave, start: Callable):
        """Run the blocks of a wave, in groups that come to the same barriers.

        Returns
        -------
        Run or None
            The run in lock step, or that of the first role; None if the warps run in another order.

        Parameters
        ----------
        wave : Wave
        start : callable
            Runs the kernel for a part of the wave (or None) and its lanes; it returns the :class:`Run`.
        """
        roles = self.meetings.roles.get(wave.first)
        if self.late is not None and wave.first not in self._stops:
            roles, self._stops[wave.first] = self.late.roles(wave, roles)
            self.meetings.roles[wave.first] = roles
        if self.parity is None:
            stops = self._stops.get(wave.first)
            run = in_roles(wave, roles, start, stops) if roles else start(None, wave.everyone)
            self.meetings.end_of_wave(wave, run.clock)
            return run
        if roles:
            warps = wave.thread_in_block // WARP % 2 == self.parity
            in_roles(wave, [part for one in (warps, ~warps) for part in parts_of(roles, one)], start)
            return None
        for informed, blocks in self.meetings.groups(wave):
            in_step = 0 if self.behind is None or not informed else informed[int(self.behind * len(informed))]
            lanes = wave.everyone.narrow(blocks.reshape(*wave.count, 1, 1, 1))
            in_halves(lanes, self.parity, in_step, self.arrays, start)
        return None

    def times(self, blocks: int) -> int:
        """Return how many statements a launch may run in this order for each statement of its budget."""
        if self.parity is None:
            return 1
        return 8 * (blocks if self.by_block else self.meetings.most_groups())


@contextmanager
def warps_first(parity: int, behind: float | None = None) -> Iterator[None]:
    """Let launches in a ``with`` block run warps one after another between barriers, and look for no races.

    Warps that wait in a loop for other warps of their block let these run, and continue as soon as they can. Nothing is
    counted in such a run. A kernel that cannot end in such an order raises :class:`NoOrder`.

    Parameters
    ----------
    parity : int
        0 if the warps with even numbers are first in each block, 1 if those with odd numbers are.
    behind : float, optional
        A position among the launch's informed barriers, from 0 for the first to less than 1. A barrier is informed if
        the result of an atomic before it is used. All warps run in lock step up to the barrier at this position. The
        same launch must have run in lock step before, because that run finds the informed barriers. By default, no part
        runs in lock step.

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
    >>> launches[0].barriers, launches[0].informed, launches[0].by_data
    (9, 0, False)
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
        put(arrays, before)
    meetings = kernel.meeting[launch]
    for by_block in (False, True):  # a block may hold a lock across its barriers
        try:
            return run_once(Order(parity, meetings, by_block, behind, arrays), not by_block)
        except SimtError as error:
            if isinstance(error, HazardError) and error.hazard.kind != "divergent_barrier":
                raise
            found = error
        put(arrays, before)
    raise NoOrder(str(found))


def put(arrays: list, contents: list) -> None:
    """Give arrays the contents that they had before."""
    for array, content in zip(arrays, contents, strict=True):
        if array.flags.writeable:
            array[...] = content
