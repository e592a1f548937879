"""What is recorded of one topic on one device: its name and origin, for tables and captions."""

from functools import cached_property

from course_pkg.bench import Measurement, Recorded
from course_pkg.core import short_name
from course_pkg.vector.bound import COPY
from course_pkg.witness import record
from course_pkg.witness.clocks import Clocks, clocks
from course_pkg.witness.longest import clock_row, longest_clock


class Counted:
    """The measurements of one topic on one device, and what Nsight Compute counted there."""

    def __init__(self, found: Recorded):
        self.found = found

    @cached_property
    def counters(self) -> record.RecordedCounters:
        """What Nsight Compute counted of the small cases."""
        return record.recorded(device=self.found.device.slug)

    @cached_property
    def traffic(self) -> record.RecordedCounters:
        """What Nsight Compute counted on grids that no cache holds."""
        return record.recorded(record.TRAFFIC, self.found.device.slug)


class OnDevice(Counted):
    """The measurements of one topic on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of the topic.

    Examples
    --------
    >>> from course_pkg import bench
    >>> OnDevice(bench.recorded("stencil", "h100")).name
    'H100'
    """

    @property
    def name(self) -> str:
        """The device's name in one word."""
        return short_name(self.found.device.name)

    @property
    def origin(self) -> str:
        """One line for a caption."""
        return self.found.origin

    @cached_property
    def copy(self) -> Measurement:
        """The measurement of the copy whose bandwidth gives every bound."""
        return self.found.one(COPY)

    def clocks(self, case: str) -> Clocks:
        """Return bytes, time and clocks of a large case, such as ``cg_search_250``, as they were counted."""
        return clocks(self.traffic.counters[case], self.copy.t_eff_gb_s)

    def longest_clock(self, case: str) -> str:
        """Return the longest clock of a large case beside the topic's copy, or that it is not counted."""
        return longest_clock(self.found, case, self.copy)

    def clock_row(self, case: str) -> dict[str, str]:
        """Return the cells of a table row: time and clocks of a large case, or that it is not counted."""
        return clock_row(self.found, case, self.copy)
