"""What each element of a memory remembers of the threads that touched it."""

import numpy as np

from course_pkg.simt.memory.crowds import Crowd, WholeCrowd
from course_pkg.simt.memory.order import NONE, Order


class Shadow:
    """Who touched each unit of a region.

    Attributes
    ----------
    writer, write_stamp : ndarray of int64
        The last thread that wrote, other than by an atomic, and when.
    readers : Crowd, WholeCrowd or None
        Those who read it.
    updaters : dict
        Those who updated it by atomics, a crowd for each way to do so: two threads whose updates may come in any order
        must not hide a third one whose update may not.

    Parameters
    ----------
    units : int
    in_parts : bool
        Whether anything but barriers of whole blocks and whole warps may put the launch's threads in order.
    """

    def __init__(self, units: int, in_parts: bool):
        self.units = units
        self._crowd = WholeCrowd if in_parts else Crowd
        self.writer: np.ndarray | None = None
        self.write_stamp: np.ndarray | None = None
        self.readers: Crowd | WholeCrowd | None = None
        self.updaters: dict[tuple, Crowd | WholeCrowd] = {}

    def readers_of(self, order: Order) -> Crowd | WholeCrowd:
        """Return the readers, and make room for them at the first."""
        if self.readers is None:
            self.readers = self._crowd(self.units, order)
        return self.readers

    def updaters_by(self, way: tuple, order: Order) -> Crowd | WholeCrowd:
        """Return those who update in one way, and make room for them at the first."""
        if way not in self.updaters:
            self.updaters[way] = self._crowd(self.units, order)
        return self.updaters[way]

    def write(self, units, entry, stamps):
        """Note who writes; return whose entry stays where several do."""
        if self.writer is None:
            self.writer = np.full(self.units, NONE, np.int64)
            self.write_stamp = np.zeros(self.units, np.int64)
        self.writer[units] = entry
        self.write_stamp[units] = stamps
        return self.writer[units]
