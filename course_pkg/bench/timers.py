"""Clocks: the host's, the GPU's own events, and the host's around another library's queues."""

import time

import numpy as np

from course_pkg.bench import device as devices

HOLD_BYTES, TRIED = 2**29, 4


class HostTimer:
    """Times on the host's monotonic clock."""

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
    """Times on the host's clock what runs on a GPU in another library's queues."""

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
    """Times by events that the device itself stamps; in the SIMT interpreter by the host's clock."""

    def __init__(self):
        from course_pkg import cuda

        self.device = devices.gpu()
        self.cuda = cuda
        if self.device.kind == "gpu":  # the interpreter has done its work when a call returns
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
        """Give the device work to do while Python launches what is timed: else it would time Python."""
        fn(*args)

    def hold_for(self, fn, args, calls):
        """Prime with copies that take longer than Python needs for ``calls`` launches."""
        if self.device.kind == "simt":
            return
        source, buffer = (self.cuda.device_array(HOLD_BYTES, dtype=np.uint8) for _ in range(2))

        def copies(n):
            for _ in range(n):
                buffer.copy_to_device(source)

        copies(1)
        copy_s = self.once(copies, (TRIED,)) / TRIED
        launching_s = max(self._launching(fn, args) for _ in range(TRIED))
        needed = int(np.ceil(1.5 * calls * launching_s / copy_s)) + 1
        self.prime = lambda fn, args: copies(needed)

    def _launching(self, fn, args):
        self.cuda.synchronize()
        start = time.perf_counter()
        fn(*args)
        return time.perf_counter() - start

    def once(self, fn, args):
        start = time.perf_counter()  # a first call compiles on the host, which events do not see
        fn(*args)
        self.cuda.synchronize()
        return time.perf_counter() - start

    def flusher(self):
        self.prime = lambda fn, args: None  # the flush itself keeps the device busy, and must come last
        n = max(2 * self.device.llc_bytes, 64 * 2**20)
        buffer = self.cuda.device_array(n, dtype=np.uint8)
        source = self.cuda.device_array(n, dtype=np.uint8)

        def flush():
            buffer.copy_to_device(source)

        return flush
