"""Three clocks for a kernel: how long its memory traffic, its cache traffic and its instructions would take alone.

Nsight Compute measures which share of their peak rates L2, L1 and the schedulers reached while the kernel ran. If a
unit reached 60 % of its peak rate, then alone, at its peak rate, it would have needed 60 % of the kernel's time. For
the memory, this time is the bytes divided by the bandwidth of a copy. A clock *binds* if its share is nearly the whole
time: then the kernel gets faster only if it does less of that work. If no clock binds, the warps mostly wait: for loads
on their way, or for each other.

L2 and L1 have several stages: tags, sectors and data in the L2, requests and wavefronts in the L1. The share of a cache
is the share of its busiest stage. These shares are rates of work. The record also has the share of time in which the
link between the halves of an H200's L2 was active. This is not a clock: it counts cycles in which the link transfers
anything, and does not say how much more it could transfer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from course_pkg.core import CourseError

BINDS = 0.85  # a clock that fills this share of the time is said to bind
WAITING, NOT_COUNTED = "none", "not counted"
MEMORY, L2, L1, ISSUE = "memory", "L2", "L1", "issue"
# only counters of rates: a counter of active cycles does not say how much more work a unit could do
UNITS = {
    L2: ("lts__t_sectors", "lts__t_tag_requests", "lts__d_sectors"),
    L1: ("l1tex__data_pipe_lsu_wavefronts", "l1tex__lsuin_requests"),
    ISSUE: ("smsp__issue_active",),
}
OF_PEAK = ".avg.pct_of_peak_sustained_elapsed"
LINK = (
    "lts__ltcfabric2ltc_cycles_active" + OF_PEAK
)  # cycles in which the link between the halves of the L2 is active
READ, WRITTEN, TIME = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
INSTRUCTIONS = "smsp__inst_executed.sum"
RESIDENT = "sm__warps_active.avg.pct_of_peak_sustained_active"


@dataclass(frozen=True)
class Clocks:
    """For each unit of the GPU, the share of a launch's time that the unit would need alone.

    Attributes
    ----------
    time_s : float
        Time of the launch under Nsight Compute, which empties the caches before it.
    shares : dict
        For each unit, by its name, the share of that time that it would need alone; in the order memory, L2, L1, issue.
        A unit that the device did not count is left out.
    bytes_read, bytes_written : int
        Bytes between the GPU and its memory.
    instructions : int or None
        Instructions executed by all warps; None if the device did not count them.
    occupancy : float or None
        Mean number of resident warps, divided by the most that fit; None if it was not counted.
    """

    time_s: float
    shares: dict[str, float]
    bytes_read: int
    bytes_written: int
    instructions: int | None
    occupancy: float | None

    @property
    def binds(self) -> str:
        """Name of the clock that takes nearly all of the time; ``"none"`` if no clock does.

        The result is ``"not counted"`` if no counted clock does, but another clock was not counted.

        Examples
        --------
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.99}, 8, 8, 1, 0.9).binds
        'L1'
        >>> Clocks(1e-3, {"memory": 0.45, "L2": 0.3, "L1": 0.6, "issue": 0.2}, 8, 8, 1, 0.9).binds
        'none'
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.6}, 8, 8, 1, 0.9).binds
        'not counted'
        """
        name = max(self.shares, key=self.shares.get)
        if self.shares[name] >= BINDS:
            return name
        return WAITING if self._complete else NOT_COUNTED

    @property
    def _complete(self) -> bool:
        return all(name in self.shares for name in (MEMORY, *UNITS))

    @property
    def longest_unit(self) -> str:
        """Name of the longest clock; ``"not counted"`` if a clock that could be longer was not counted.

        Examples
        --------
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.99}, 8, 8, 1, 0.9).longest_unit
        'L1'
        """
        name = max(self.shares, key=self.shares.get)
        return name if self._complete or self.shares[name] >= BINDS else NOT_COUNTED

    @property
    def longest(self) -> str:
        """The longest clock and its share of the time, in words. Programs ask ``longest_unit`` and ``shares``.

        The result is ``"not counted"`` if a clock that could be longer was not counted.

        Examples
        --------
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.99}, 8, 8, 1, 0.9).longest
        'L1 99%'
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.6}, 8, 8, 1, 0.9).longest
        'not counted'
        """
        name = self.longest_unit
        return NOT_COUNTED if name == NOT_COUNTED else f"{name} {self.shares[name]:.0%}"

    def seconds(self, name: str) -> float | None:
        """Return how many seconds a unit would need alone; None if the device did not count it."""
        return None if name not in self.shares else self.shares[name] * self.time_s

    def row(self) -> dict[str, str]:
        """Return the cells of a table row: a share for each clock, and the clock that binds.

        Examples
        --------
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.99}, 8, 8, 1, 0.9).row()
        {'memory': '45%', 'L2': 'not counted', 'L1': '99%', 'issue': 'not counted', 'binds': 'L1'}
        """
        cells = {
            name: f"{100 * self.shares[name]:.0f}%" if name in self.shares else NOT_COUNTED
            for name in (MEMORY, *UNITS)
        }
        return cells | {"binds": self.binds}


def is_timed(counted: dict | None) -> bool:
    """Return whether a launch's bytes and time were counted: without them it has no clocks.

    Examples
    --------
    >>> is_timed(None), is_timed({READ: 8, WRITTEN: 8, TIME: 1000})
    (False, True)
    """
    return counted is not None and all(name in counted for name in (READ, WRITTEN, TIME))


def clocks(counted: dict, t_peak_gb_s: float) -> Clocks:
    """Return the clocks of a launch.

    Parameters
    ----------
    counted : dict
        The counters of the launch, as ``course verify traffic`` records them.
    t_peak_gb_s : float
        The bandwidth of a copy, measured on the same device. Kernels that mostly read, or sweep more bytes than the
        copy, exceed it: by 13 % at most in what is recorded.

    Raises
    ------
    CourseError
        If the bytes or the time were not counted.
    """
    missing = [name for name in (READ, WRITTEN, TIME) if name not in counted]
    if missing:
        raise CourseError(
            f"{', '.join(missing)} was not counted: record it with `course verify traffic --device gpu --record`."
        )
    time_s = counted[TIME] / 1e9
    moved = counted[READ] + counted[WRITTEN]
    shares = {MEMORY: moved / (t_peak_gb_s * 1e9) / time_s}
    for name, rates in UNITS.items():
        found = [counted[rate + OF_PEAK] / 100 for rate in rates if rate + OF_PEAK in counted]
        shares |= {name: max(found)} if found else {}
    occupancy = counted[RESIDENT] / 100 if RESIDENT in counted else None
    return Clocks(time_s, shares, counted[READ], counted[WRITTEN], counted.get(INSTRUCTIONS), occupancy)


def in_turn(launches: Sequence[dict]) -> dict:
    """Return the counters of several launches, one after the other, as if they were those of a single launch.

    Bytes, times, instructions and other numbers of events are added up. A share of a peak rate becomes the mean of all
    launches' shares, each weighted by the time of its launch. This is the work of all launches, divided by what the
    unit could do in the sum of their times, as long as the GPU keeps its clock rate.

    Parameters
    ----------
    launches : sequence of dict
        The counters of each launch, as ``course verify traffic`` records them.

    Returns
    -------
    dict
        Counters that every launch has; the others are left out.

    Raises
    ------
    CourseError
        If there is no launch, or the time of one was not counted.

    Examples
    --------
    >>> issue = "smsp__issue_active.avg.pct_of_peak_sustained_elapsed"
    >>> in_turn([{TIME: 100, READ: 8, issue: 60.0}, {TIME: 300, READ: 16, issue: 20.0}])[issue]
    30.0
    """
    if not launches or any(TIME not in one for one in launches):
        raise CourseError(f"Several launches become one only if each has a time: {TIME} was not counted.")
    time = sum(one[TIME] for one in launches)
    kept = [name for name in launches[0] if all(name in one for one in launches)]
    return {
        name: sum(one[name] * one[TIME] for one in launches) / time
        if ".pct_of_peak" in name
        else sum(one[name] for one in launches)
        for name in kept
    }
