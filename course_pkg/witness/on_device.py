"""What is recorded of one topic on one device: its name and origin, for tables and captions."""

from course_pkg.bench import Recorded
from course_pkg.core import short_name


class OnDevice:
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

    def __init__(self, found: Recorded):
        self.found = found

    @property
    def name(self) -> str:
        """The device's name in one word."""
        return short_name(self.found.device.name)

    @property
    def origin(self) -> str:
        """One line for a caption."""
        return self.found.origin
