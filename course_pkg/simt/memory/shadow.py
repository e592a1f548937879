"""Shadows: a record, for each element of a memory, of the threads that touched it."""

import numpy as np

from course_pkg.simt.memory.crowds import Crowd, WholeCrowd, moved
from course_pkg.simt.memory.order import NONE, SITES, Order


class Shadow:
    """A record of the threads that touched each unit of a region.

    Attributes
    ----------
    writer, write_stamp : ndarray of int64
        Entry and stamp of the last write that was not an atomic.
    readers : Crowd, WholeCrowd or None
        The threads that have read the unit.
    alike : Crowd or None
        Threads that wrote the same value to the unit, in any order.
    replaced, writer_of_replaced : ndarray of int64, or None
        The last number that was stored by an atomic whose result the kernel does not use, and the entry of that atomic.
    updaters : dict
        The threads that have updated the unit by atomics: a crowd for each kind of update. If all kinds shared a crowd,
        threads whose updates may come in any order could displace a thread whose update may not.

    Parameters
    ----------
    units : int
    in_parts : bool
        Whether the kernel also puts threads in order by fences, or by barriers of some lanes of a warp.
    """

    def __init__(self, units: int, in_parts: bool):
        self.units = units
        self._crowd = WholeCrowd if in_parts else Crowd
        self.writer: np.ndarray | None = None
        self.write_stamp: np.ndarray | None = None
        self.readers: Crowd | WholeCrowd | None = None
        self.alike: Crowd | None = None
        self.numbers: np.ndarray | None = (
            None  # for each unit, the number of the constant that was last written; 0 for any other value
        )
        self.replaced = self.writer_of_replaced = None
        self.updaters: dict[tuple, Crowd | WholeCrowd] = {}
        self.swappers: Crowd | WholeCrowd | None = None  # threads whose compare-and-swap did change a float

    def readers_of(self, order: Order) -> Crowd | WholeCrowd:
        """Return the crowd of the readers; create it at the first call."""
        if self.readers is None:
            self.readers = self._crowd(self.units, order)
        return self.readers

    def writers_alike(self, order: Order) -> Crowd:
        """Return the crowd of threads that wrote the same value; create it at the first call."""
        if self.alike is None:
            self.alike = Crowd(self.units, order)
        return self.alike

    def numbers_at(self, units, number: int):
        """Note the number of the value written to units; return the numbers of the values written there before."""
        if self.numbers is None:
            if not number:
                return number
            self.numbers = np.zeros(self.units, np.int32)
        before = self.numbers[units]
        self.numbers[units] = number
        return before

    def replaced_by(self, units):
        """Return the numbers in ``replaced`` for some units; create the array at the first call."""
        if self.replaced is None:
            self.replaced, self.writer_of_replaced = np.zeros((2, self.units), np.int64)
        return self.replaced[units]

    def updaters_by(self, way: tuple, order: Order) -> Crowd | WholeCrowd:
        """Return the crowd of one kind of update; create it at the first call."""
        if way not in self.updaters:
            self.updaters[way] = self._crowd(self.units, order)
        return self.updaters[way]

    def swappers_of(self, order: Order) -> Crowd | WholeCrowd:
        """Return the crowd of threads that have swapped floats; create it at the first call."""
        if self.swappers is None:
            self.swappers = self._crowd(self.units, order)
        return self.swappers

    def write(self, units, entry, stamps):
        """Note writes; return for each lane the entry that stays. If several lanes write one unit, one entry stays."""
        if self.writer is None:
            self.writer = np.full(self.units, NONE, np.int64)
            self.write_stamp = np.zeros(self.units, np.int64)
        self.writer[units] = entry
        self.write_stamp[units] = stamps
        return self.writer[units]

    def spread(self, further, threads_per_block: int) -> None:
        """Repeat the record of one block's memory for several blocks, which have all done the same.

        Parameters
        ----------
        further : ndarray of int64, shape (blocks,)
            For each block, its number in the launch minus the number of the recorded block.
        threads_per_block : int
        """
        shift = np.repeat(further * threads_per_block * SITES, self.units)
        times = len(further)
        self.units *= times
        if self.writer is not None:
            self.writer, self.write_stamp = moved(self.writer, shift), np.tile(self.write_stamp, times)
        if self.numbers is not None:
            self.numbers = np.tile(self.numbers, times)
        for crowd in (self.readers, self.alike):
            if crowd is not None:
                crowd.spread(shift)
