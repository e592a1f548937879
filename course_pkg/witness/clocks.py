"""Three clocks for a kernel: how long would its memory traffic, its cache traffic, its instructions take alone?

Nsight Compute says which share of its greatest rate L2, L1 and the schedulers reached while the kernel ran; that share
of the kernel's time is what the unit would have needed alone. The share of the memory is its bytes divided by the
bandwidth of a copy. The clock that fills nearly all of the time *binds*: only less of that work makes the kernel
faster. If none does, the warps wait: for loads on their way, or for each other.

The share of L2 and of L1 is that of the busiest stage of each: tags, sectors and data of the L2; requests and
wavefronts of the L1. They are rates. How long the link between the halves of an H200's L2 is active is recorded, too,
and no clock: it counts the cycles in which something is under way.
"""

from dataclasses import dataclass

from course_pkg.core import CourseError

BINDS = 0.85  # a clock that fills this share of the time is said to bind
WAITING = "none"
MEMORY, L2, L1, ISSUE = "memory", "L2", "L1", "issue"
# rates alone: a counter of cycles in which something is under way does not say how much more there could be
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
    """What keeps a GPU busy during a launch.

    Attributes
    ----------
    time_s : float
        Of the launch, from Nsight Compute: caches were empty when it began.
    shares : dict
        Share of that time that each unit needs alone, by its name, in the order memory, L2, L1, issue. What the
        device did not count is absent.
    bytes_read, bytes_written : int
        Between the GPU and its memory.
    instructions : int or None
        Executed by all warps; None where the device did not count them.
    occupancy : float or None
        Mean of the resident warps, over the most that fit.
    """

    time_s: float
    shares: dict[str, float]
    bytes_read: int
    bytes_written: int
    instructions: int | None
    occupancy: float | None

    @property
    def binds(self) -> str:
        """Name of the clock that fills nearly all of the time, or that none does.

        Examples
        --------
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.99}, 8, 8, 1, 0.9).binds
        'L1'
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.6}, 8, 8, 1, 0.9).binds
        'none'
        """
        name = max(self.shares, key=self.shares.get)
        return name if self.shares[name] >= BINDS else WAITING

    def seconds(self, name: str) -> float | None:
        """Return how long a unit would need alone; None where the device did not count it."""
        return None if name not in self.shares else self.shares[name] * self.time_s

    def row(self) -> dict[str, str]:
        """Return the cells of a table: a share for each clock, and which binds.

        Examples
        --------
        >>> Clocks(1e-3, {"memory": 0.45, "L1": 0.99}, 8, 8, 1, 0.9).row()
        {'memory': '45 %', 'L2': 'not counted', 'L1': '99 %', 'issue': 'not counted', 'binds': 'L1'}
        """
        cells = {
            name: f"{100 * self.shares[name]:.0f} %" if name in self.shares else "not counted"
            for name in (MEMORY, *UNITS)
        }
        return cells | {"binds": self.binds}


def clocks(counted: dict, t_peak_gb_s: float) -> Clocks:
    """Return the clocks of a launch.

    Parameters
    ----------
    counted : dict
        What ``course verify traffic`` counted of it.
    t_peak_gb_s : float
        The yardstick for the memory: the bandwidth of a copy, measured on the same device. Kernels that mostly read
        exceed it by up to 5 %.

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
