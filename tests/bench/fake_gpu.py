"""A fake GPU with a queue. Tests set its clock and Python's, so they need not wait for real time to pass."""

from types import SimpleNamespace

import numpy as np

from course_pkg import cuda  # so that it can be replaced
from course_pkg.bench import Device, timers

__all__ = ["Array", "FakeGpu", "cuda"]


class Array:
    """One element in the memory of a GPU."""

    __cuda_ndarray__ = True
    shape, dtype = (1,), np.dtype("float64")


class FakeGpu:
    """Stands for the GPU until the end of a test: a copy takes it 2 ms, and Python ``launch_s`` to launch a call.

    ``events`` says what was queued, in order; ``slow`` multiplies what all work takes.
    """

    def __init__(self, monkeypatch, launch_s):
        self.events, self.now, self.busy_until, self.slow, self.launch_s = [], 0.0, 0.0, 1.0, launch_s
        gpu = self

        class Buffer(Array):
            def copy_to_device(self, source):
                gpu.work("copy", 2e-3)

        class Event:
            def record(self):
                gpu.events.append("event")
                self.at = max(gpu.now, gpu.busy_until)

            def query(self):
                return self.at <= gpu.now

            def synchronize(self):
                gpu.now = max(gpu.now, self.at)

        fake = SimpleNamespace(
            event=lambda timing: Event(),
            event_elapsed_time=lambda start, stop: 1e3 * (stop.at - start.at),
            synchronize=self.synchronize,
            device_array=lambda n, dtype: Buffer(),
        )
        monkeypatch.setattr(timers.devices, "gpu", lambda: Device("gpu", "A GPU", 1, 0, 0))
        monkeypatch.setattr("course_pkg.cuda", fake)
        monkeypatch.setattr(timers.time, "perf_counter", lambda: self.now)

    def call(self, *args, seconds=1e-4):
        """Launch a kernel that takes the GPU so long."""
        self.now += self.launch_s
        self.work("call", seconds)

    def work(self, what, seconds):
        """Queue work."""
        self.events.append(what)
        self.busy_until = max(self.busy_until, self.now) + self.slow * seconds

    def synchronize(self):
        """Wait until all is done."""
        self.now = max(self.now, self.busy_until)
