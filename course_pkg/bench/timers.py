"""Clocks: the host's clock, events of the GPU, and the host's clock for the queues of another library."""

import time

import numpy as np

from course_pkg.bench import device as devices
from course_pkg.core import CourseError

HOLD_BYTES, TRIED = 2**29, 4
MOST_QUEUED = 256  # most calls in the GPU's queue; with many more, Python would have to wait when it launches
PROBED = 20  # calls that are timed to find out how many calls a sample needs
MOST_DOUBLINGS = 6  # how often the number of copies is doubled before the timer gives up


class HostTimer:
    """Measures times with the host's monotonic clock."""

    def __init__(self):
        self.device = devices.cpu()

    def many(self, fn, args, calls):
        start = time.perf_counter()
        for _ in range(calls):
            fn(*args)
        return (time.perf_counter() - start) / calls

    def once(self, fn, args):
        return self.many(fn, args, 1)

    def flusher(self):
        buffer = np.ones(max(2 * self.device.llc_bytes, 64 * 2**20) // 8)

        def flush():
            buffer[:] += 1.0

        return flush


class WaitingTimer(HostTimer):
    """Measures, with the host's clock, calls that run on a GPU in another library's own queues."""

    def __init__(self, wait):
        self.device = devices.gpu()
        self.wait = wait

    def many(self, fn, args, calls):
        self.wait()
        start = time.perf_counter()
        for _ in range(calls):
            fn(*args)
        self.wait()
        return (time.perf_counter() - start) / calls


class DeviceTimer:
    """Measures times with events of the GPU; in the SIMT interpreter, with the host's clock."""

    def __init__(self):
        from course_pkg import cuda

        self.device = devices.gpu()
        self.cuda = cuda
        if self.device.kind == "gpu":  # the interpreter's calls return after their work is done
            self.start, self.stop = cuda.event(timing=True), cuda.event(timing=True)

    def many(self, fn, args, calls):
        if self.device.kind == "simt":
            return HostTimer.many(self, fn, args, calls)
        self.prime(fn, args)
        self.start.record()
        for _ in range(calls):
            fn(*args)
        self.stop.record()
        self.stop.synchronize()
        return self.cuda.event_elapsed_time(self.start, self.stop) / 1e3 / calls

    def prime(self, fn, args):
        """Keep the device busy while Python launches the calls to be timed, so that Python's time is not measured."""
        fn(*args)

    def once(self, fn, args):
        start = time.perf_counter()  # events would not measure compilation on the host in the first call
        fn(*args)
        self.cuda.synchronize()
        return time.perf_counter() - start

    def flusher(self):
        self.prime = lambda fn, args: None  # the flush keeps the device busy instead of a call
        n = max(2 * self.device.llc_bytes, 64 * 2**20)
        buffer = self.cuda.device_array(n, dtype=np.uint8)
        source = self.cuda.device_array(n, dtype=np.uint8)

        def flush():
            buffer.copy_to_device(source)

        return flush


class HeldTimer(DeviceTimer):
    """Measures calls that run without gaps: copies keep the device busy until Python has launched all of them."""

    def __init__(self):
        super().__init__()
        self.copies = 0
        if self.device.kind == "gpu":
            self.source, self.buffer = (self.cuda.device_array(HOLD_BYTES, dtype=np.uint8) for _ in range(2))

    def calls_for(self, fn, args, min_sample_s) -> int:
        """Return the number of calls per sample, estimated from the time of a few calls without gaps."""
        if self.device.kind == "simt":
            return 1
        self._hold(1)
        copy_s = DeviceTimer.once(self, self._hold, (TRIED,)) / TRIED
        launching_s = max(self._launching(fn, args) for _ in range(TRIED))
        self.copies = int(np.ceil(1.5 * PROBED * launching_s / copy_s)) + 1
        call_s = self.many(fn, args, PROBED)
        calls = min(MOST_QUEUED, max(1, int(np.ceil(min_sample_s / max(call_s, 1e-7)))))
        self.copies = int(np.ceil(self.copies * max(1.0, calls / PROBED)))
        return calls

    def many(self, fn, args, calls):
        if self.device.kind == "simt":
            return super().many(fn, args, calls)
        for _ in range(MOST_DOUBLINGS):
            self._hold(self.copies)
            # this call is not timed: it loads its data into the last-level cache again, after the copies
            fn(*args)
            self.start.record()
            for _ in range(calls):
                fn(*args)
            self.stop.record()
            held = not self.start.query()  # False: the device began before the last call was launched
            self.stop.synchronize()
            if held:
                return self.cuda.event_elapsed_time(self.start, self.stop) / 1e3 / calls
            self.copies *= 2
        raise CourseError(
            f"{calls} calls could not be launched in the time of {self.copies // 2} copies: another program "
            "may use the processor, or a call may wait for the GPU; "
            "pass a smaller min_sample_s, or hold=False."
        )

    def _hold(self, copies):
        for _ in range(copies):
            self.buffer.copy_to_device(self.source)

    def _launching(self, fn, args):
        self.cuda.synchronize()
        start = time.perf_counter()
        fn(*args)
        return time.perf_counter() - start
