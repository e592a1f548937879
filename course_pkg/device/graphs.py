"""Work for a GPU that is recorded once and then asked for by one call: CUDA graphs.

A launch from Python takes longer than a short kernel runs. A graph holds the launches of a whole step, so that one call
asks for all of them, and the device starts each as the one before it ends. Without a GPU, the step itself is called.

Source: CUDA C++ Programming Guide, "CUDA Graphs"; made by stream capture, through NVIDIA's ``cuda.bindings``.
"""

import weakref
from collections.abc import Callable

from course_pkg import cuda
from course_pkg.core import CourseError

SIMT = getattr(cuda, "BACKEND", "") == "simt"
ONLY_LAUNCHES = ": a step that is recorded may only launch kernels, on the stream that it is given"


def captured(step: Callable) -> Callable[[], None]:
    """Return a function that asks the device for all launches of ``step``, on the default stream.

    Parameters
    ----------
    step : callable
        Takes a stream, and launches kernels on it. It must have run once before, so that they are compiled; it must
        not allocate, copy from or to the host, or wait. Arrays that it uses must live as long as the graph is used.

    Raises
    ------
    CourseError
        If the driver refuses the capture.
    """
    if SIMT:
        return lambda: step(0)
    from cuda.bindings import driver

    stream = cuda.stream()
    handle = driver.CUstream(int(stream))
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    _ask(driver.cuStreamBeginCapture, handle, relaxed)
    try:
        step(stream)
    except BaseException:
        driver.cuStreamEndCapture(
            handle
        )  # the stream would stay unusable; the step's own error is the one to tell
        raise
    recorded = _ask(driver.cuStreamEndCapture, handle, hint=ONLY_LAUNCHES)
    graph = _ask(driver.cuGraphInstantiate, recorded, 0, hint=ONLY_LAUNCHES)
    _ask(driver.cuGraphDestroy, recorded)
    return _Graph(driver, graph, step)


class _Graph:
    """A recorded step; it keeps the step, and with it the arrays, as long as it can be launched."""

    def __init__(self, driver, graph, step):
        self.step = step
        self.launch = lambda: _ask(driver.cuGraphLaunch, graph, 0)
        # at the end of the process the driver takes everything back itself
        weakref.finalize(self, driver.cuGraphExecDestroy, graph).atexit = False

    def __call__(self):
        self.launch()


def _ask(function, *arguments, hint=""):
    status, *found = function(*arguments)
    if int(status) != 0:
        raise CourseError(f"The driver says {status.name} to {function.__name__}{hint}.")
    return found[0] if found else None
