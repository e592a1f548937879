"""Launches that are recorded once: a graph on a GPU, the step itself elsewhere."""

import gc
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.device import graphs


@cuda.jit
def add_one_kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1.0


def test_a_captured_step_runs_each_time_it_is_called_and_not_before():
    a = cuda.to_device(np.zeros(40))

    def step(stream):
        add_one_kernel[2, 32, stream](a)
        add_one_kernel[2, 32, stream](a)

    step(0)  # compiles
    run = graphs.captured(step)
    cuda.synchronize()
    assert (a.copy_to_host() == 2).all(), "a capture launches nothing"
    run()
    run()
    cuda.synchronize()
    assert (a.copy_to_host() == 6).all()


@pytest.mark.skipif(graphs.SIMT, reason="without a GPU there is no capture that could be refused")
def test_a_step_that_waits_for_the_device_is_refused_and_the_next_one_is_not():
    a = cuda.to_device(np.zeros(40))
    with pytest.raises(Exception, match=r"(?i)capture"):  # the driver's own words, by way of Numba
        graphs.captured(lambda stream: stream.synchronize())
    add_one_kernel[2, 32](a)
    graphs.captured(lambda stream: add_one_kernel[2, 32, stream](a))()
    cuda.synchronize()
    assert (a.copy_to_host() == 2).all()


class Driver:
    """NVIDIA's driver as far as a capture asks it: keeps what it was asked, and may refuse."""

    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED="relaxed")
    CUstream = staticmethod(lambda handle: f"stream {handle}")

    def __init__(self, refused=()):
        self.asked, self.refused = [], refused

    def __getattr__(self, name):
        def ask(*arguments):
            self.asked.append(name)
            status = Status(name in self.refused)
            found = {"cuStreamEndCapture": "recorded", "cuGraphInstantiate": "graph"}.get(name)
            return (status,) if found is None else (status, found)

        ask.__name__ = name
        return ask


class Status(int):
    name = "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"


@pytest.fixture
def driver(monkeypatch):
    """Put a driver in place of NVIDIA's; returns the way to make one."""

    def make(*refused):
        found = Driver(refused)
        bindings = SimpleNamespace(driver=found)
        for name, module in (("cuda", SimpleNamespace(bindings=bindings)), ("cuda.bindings", bindings)):
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(graphs, "SIMT", False)
        monkeypatch.setattr(graphs.cuda, "stream", lambda: 7)
        return found

    return make


def test_a_graph_is_recorded_once_launched_often_and_let_go(driver):
    asked, streams = driver().asked, []
    run = graphs.captured(streams.append)
    assert streams == [7]
    assert asked == ["cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate", "cuGraphDestroy"]
    run()
    run()
    assert asked[4:] == ["cuGraphLaunch"] * 2
    del run
    gc.collect()
    assert asked[6:] == ["cuGraphExecDestroy"]


def test_a_steps_own_error_is_told_and_the_capture_ended(driver):
    asked = driver("cuStreamEndCapture").asked

    def step(stream):
        raise ZeroDivisionError("the step's own")

    with pytest.raises(ZeroDivisionError, match="the step's own"):
        graphs.captured(step)
    assert asked == ["cuStreamBeginCapture", "cuStreamEndCapture"]


def test_a_refused_capture_says_what_a_step_may_do_and_a_failed_launch_does_not(driver):
    driver("cuStreamEndCapture")
    with pytest.raises(
        CourseError,
        match=r"cuStreamEndCapture failed with .*INVALIDATED: a step that is recorded may only launch",
    ):
        graphs.captured(lambda stream: None)
    driver("cuGraphLaunch")
    with pytest.raises(CourseError, match=r"cuGraphLaunch failed with .*INVALIDATED\.$"):
        graphs.captured(lambda stream: None)()
