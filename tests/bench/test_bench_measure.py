"""Measuring: the result is checked first, warm-ups do not count, samples are long enough, the cache state is stated."""

import gc
import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from fake_gpu import FakeGpu

from course_pkg import cuda
from course_pkg.bench import Device, measure
from course_pkg.core import CourseError

# the package's name `measure` is the function, so the module is asked for by its path
module = importlib.import_module("course_pkg.bench.measure")
timers = importlib.import_module("course_pkg.bench.timers")


class Clock:
    """A clock that only the measured function moves."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timers, "time", clock)
    return clock


@pytest.fixture
def small_cpu(monkeypatch):
    """A CPU with a last-level cache of 1000 bytes."""
    cpu = Device("cpu", "A small CPU", 1, 10**9, 1000)
    monkeypatch.setattr(timers.devices, "cpu", lambda: cpu)
    return cpu


def test_calls_check_warmups_and_samples_in_this_order(clock, small_cpu):
    events = []

    def fn(*args):
        events.append("call")
        clock.now += 2**-12

    m = measure(
        fn, "argument", check=lambda: events.append("check"), samples=5, warmup=3, min_sample_s=2**-10
    )
    assert events == ["call", "check"] + ["call"] * 3 + ["call"] * 4 * 5
    assert m.calls_per_sample == 4
    assert m.samples_s == (2**-12,) * 5, "a sample is the time of one call"
    assert m.warmup_s == (2**-12,) * 4
    assert m.device == small_cpu


def test_arguments_are_passed_on_each_call(small_cpu):
    seen = []
    measure(lambda *args: seen.append(args), 1, "two", samples=1, warmup=0, min_sample_s=0)
    assert seen == [(1, "two")] * 2


def test_a_first_call_that_compiles_does_not_set_the_number_of_calls(clock):
    durations = iter([1.0, *[2**-12] * 100])

    def fn():
        clock.now += next(durations)

    m = measure(fn, samples=2, min_sample_s=2**-10)
    assert m.warmup_s == (1.0, 2**-12, 2**-12)
    assert m.calls_per_sample == 4
    assert m.samples_s == (2**-12, 2**-12)


def test_a_long_call_is_sampled_once_a_sample(clock):
    def fn():
        clock.now += 0.5

    assert measure(fn, samples=2).calls_per_sample == 1


def test_a_failing_check_means_that_nothing_is_timed(clock):
    calls = []

    def wrong():
        raise AssertionError("wrong result")

    with pytest.raises(AssertionError, match="wrong result"):
        measure(lambda: calls.append(1), check=wrong)
    assert len(calls) == 1, "the call whose result was checked, and no other"


@pytest.mark.parametrize("samples", [0, -1])
def test_at_least_one_sample(samples):
    with pytest.raises(CourseError, match=rf"samples is {samples}: pass at least 1"):
        measure(lambda: None, samples=samples)


@pytest.mark.parametrize(
    ("n_bytes", "state"),
    [(16, "warm"), (1000, "warm"), (2000, "warm"), (2008, "exceeds"), (10**5, "exceeds")],
)
def test_the_cache_state_follows_from_the_arrays(small_cpu, n_bytes, state):
    half = np.ones(n_bytes // 16)
    rest = np.ones(n_bytes // 8 - half.size)
    assert measure(lambda *a: None, half, 3.0, rest, samples=1).cache_state == state


def test_bytes_are_counted_by_the_dtype(small_cpu):
    assert measure(lambda *a: None, np.ones(251, "float32"), samples=1).cache_state == "warm"
    assert measure(lambda *a: None, np.ones(251, "float64"), samples=1).cache_state == "exceeds"
    assert measure(lambda *a: None, np.ones((16, 16)), samples=1).cache_state == "exceeds"


def test_flushing_comes_before_each_sample_which_is_one_call(small_cpu, monkeypatch):
    events = []
    monkeypatch.setattr(timers.HostTimer, "flusher", lambda self: lambda: events.append("flush"))
    m = measure(lambda: events.append("call"), samples=3, warmup=1, flush=True)
    assert events == ["call", "call"] + ["flush", "call"] * 3
    assert m.calls_per_sample == 1
    assert m.cache_state == "flushed"


def test_the_flush_writes_through_twice_the_cache(monkeypatch):
    monkeypatch.setattr(timers.devices, "cpu", lambda: Device("cpu", "", 1, 0, 40 * 2**20))
    buffers = []
    ones = np.ones
    monkeypatch.setattr(
        timers, "np", SimpleNamespace(ones=lambda n: buffers.append(n) or ones(4), ceil=np.ceil)
    )
    flush = timers.HostTimer().flusher()
    flush()
    assert buffers == [2 * 40 * 2**20 // 8]


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_inside_a_sample(enabled):
    seen = []
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        measure(lambda: seen.append(gc.isenabled()), samples=2, warmup=0, min_sample_s=0)
        assert seen == [enabled, False, False]
        assert gc.isenabled() == enabled

        durations = iter([0, 1])
        with pytest.raises(StopIteration):
            measure(lambda: next(durations), samples=5, warmup=0, min_sample_s=0)
        assert gc.isenabled() == enabled, "also after an error"
    finally:
        (gc.enable if before else gc.disable)()


def test_device_arrays_are_timed_on_the_device():
    from course_pkg.bench import gpu

    m = measure(lambda a: None, cuda.to_device(np.ones(4)), samples=2)
    assert m.device == gpu()
    assert len(m.samples_s) == 2
    assert min(m.samples_s) > 0
    assert measure(lambda a: None, np.ones(4), samples=1).device.kind == "cpu"


def test_device_events_time_the_calls_behind_a_primer(monkeypatch):
    events = []

    class Event:
        def __init__(self, name):
            self.name = name

        def record(self):
            events.append(self.name)

        def synchronize(self):
            events.append(f"wait for {self.name}")

    names = iter(["start", "stop"])
    fake = SimpleNamespace(
        event=lambda timing: Event(next(names)),
        event_elapsed_time=lambda start, stop: 6.0,
        synchronize=lambda: None,
    )
    monkeypatch.setattr(timers.devices, "gpu", lambda: Device("gpu", "A GPU", 1, 0, 0))
    monkeypatch.setattr("course_pkg.cuda", fake)
    timer = timers.DeviceTimer()
    seconds = timer.many(lambda: events.append("call"), (), 3)
    assert events == ["call", "start", "call", "call", "call", "stop", "wait for stop"]
    assert seconds == pytest.approx(0.002), "6 ms for 3 calls"


def test_the_gpu_is_held_until_all_calls_are_queued(monkeypatch):
    gpu = FakeGpu(monkeypatch, launch_s=1e-3)
    timer = timers.HeldTimer()
    assert timer.calls_for(gpu.call, (), 3e-3) == 30, (
        "by the device's 0.1 ms a call, not by the launch's 1 ms"
    )
    gpu.events.clear()
    assert timer.many(gpu.call, (), 30) == pytest.approx(1e-4)
    copies = gpu.events.index("call")
    assert 2e-3 * copies > 31e-3, "the copies last until the last call is launched"
    assert gpu.events == ["copy"] * copies + ["call", "event"] + ["call"] * 30 + ["event"], (
        "one call that is not counted fills the cache anew"
    )


def test_copies_that_ran_out_too_early_are_doubled_and_the_sample_taken_again(monkeypatch):
    gpu = FakeGpu(monkeypatch, launch_s=1e-3)
    timer = timers.HeldTimer()
    timer.calls_for(gpu.call, (), 3e-3)
    timer.copies = 4
    assert timer.many(gpu.call, (), 30) == pytest.approx(1e-4), "Python's millisecond is in no sample"
    assert timer.copies == 16


def test_a_gpu_that_cannot_be_held_is_named(monkeypatch):
    gpu = FakeGpu(monkeypatch, launch_s=1e-3)
    timer = timers.HeldTimer()
    timer.copies = 1

    def waits():
        gpu.call()
        gpu.synchronize()

    with pytest.raises(
        CourseError, match=r"30 calls could not be launched.*smaller min_sample_s, or hold=False"
    ):
        timer.many(waits, (), 30)


def test_a_sample_is_held_or_flushed():
    with pytest.raises(CourseError, match="flushed or held, not both"):
        measure(lambda: None, flush=True, hold=True)


def test_another_librarys_queue_is_waited_for_around_each_sample(monkeypatch):
    events = []
    monkeypatch.setattr(timers.devices, "gpu", lambda: Device("gpu", "A GPU", 1, 0, 0))
    m = measure(
        lambda: events.append("call"),
        wait=lambda: events.append("wait"),
        observe=lambda: {"jax": "1.0"},
        samples=2,
        warmup=0,
        min_sample_s=0,
    )
    assert events == ["wait", "call", "wait"] * 3
    assert m.device.name == "A GPU"
    assert m.observed == {"jax": "1.0"}
