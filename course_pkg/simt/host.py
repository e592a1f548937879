"""Streams, events and the device for host programs, without a GPU.

When a call of the interpreter returns, its work is done. So there is nothing to wait for. Times are measured on the
host's clock.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from course_pkg.core.access import WARP
from course_pkg.core.errors import CourseError
from course_pkg.core.limits import MOST_BLOCKS_ALONG, MOST_THREADS, MOST_THREADS_ALONG, SHARED_BYTES


class Stream:
    """A queue of work that is always empty."""

    def synchronize(self) -> None:
        """Return at once: all work is done."""

    def add_callback(self, callback, arg=None) -> None:
        """Call ``callback(stream, 0, arg)`` at once, because all earlier work is done."""
        callback(self, 0, arg)

    async def async_done(self) -> "Stream":
        """Return at once: all work is done."""
        return self

    @contextmanager
    def auto_synchronize(self) -> Iterator["Stream"]:
        """Synchronise at the end of a ``with`` block."""
        yield self


class Event:
    """A point in time on the host's clock.

    Parameters
    ----------
    timing : bool
        Whether the event can be used to compute elapsed times.
    """

    def __init__(self, timing: bool = True):
        self.timing = timing
        self._recorded_s = None

    def record(self, stream=0) -> None:
        """Store the present time."""
        self._recorded_s = time.perf_counter()

    def synchronize(self) -> None:
        """Return at once: all work is done."""

    def wait(self, stream=0) -> None:
        """Return at once: all work is done."""

    def query(self) -> bool:
        """Return True: all work is done."""
        return True

    def elapsed_time(self, evtend: "Event") -> float:
        """Return the milliseconds from this event to a later one, on the host's clock."""
        return event_elapsed_time(self, evtend)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Return the milliseconds between two events on the host's clock; a GPU would need a different time.

    Raises
    ------
    CourseError
        If an event was made without timing or never recorded.
    """
    for name, event in (("evtstart", evtstart), ("evtend", evtend)):
        if not event.timing:
            raise CourseError(f"{name} keeps no time: make it with cuda.event(timing=True).")
        if event._recorded_s is None:
            raise CourseError(f"{name} was never recorded: call its record() first.")
    return (evtend._recorded_s - evtstart._recorded_s) * 1e3


class MemoryInfo(NamedTuple):
    """Free and total memory, in bytes."""

    free: int
    total: int


class Device:
    """The device that the interpreter imitates: it has the limits and the number of multiprocessors of an H200."""

    id = 0
    name = "SIMT interpreter"
    compute_capability = (9, 0)
    WARP_SIZE = WARP
    MAX_THREADS_PER_BLOCK = MOST_THREADS
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = MOST_THREADS_ALONG
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = MOST_BLOCKS_ALONG
    MAX_SHARED_MEMORY_PER_BLOCK = SHARED_BYTES
    MULTIPROCESSOR_COUNT = 132

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def reset(self) -> None:
        """Do nothing: no launch leaves anything behind."""

    def __repr__(self):
        return f"<{self.name}, in place of a GPU>"


class Context:
    """What ``cuda.current_context()`` returns."""

    def __init__(self, device: Device):
        self.device = device

    def get_memory_info(self) -> MemoryInfo:
        """Return free and total bytes of the host's memory, which replaces the GPU's."""
        import psutil  # not needed by launches, and importing it takes a tenth as long as importing the interpreter

        memory = psutil.virtual_memory()
        return MemoryInfo(memory.available, memory.total)

    def synchronize(self) -> None:
        """Return at once: all work is done."""


class DeviceList(tuple):
    """The list of devices, ``cuda.gpus``: only the interpreter."""

    @property
    def lst(self) -> list[Device]:
        """The devices as a list, under Numba's name."""
        return list(self)

    @property
    def current(self) -> Device:
        """The device in use."""
        return self[0]
