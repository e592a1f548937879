"""Work for a GPU that is recorded once and then asked for by one call: CUDA graphs.

A launch from Python takes longer than a short kernel runs. A graph holds the launches of a whole step, so that one call
asks for all of them, and the device starts each as the one before it ends. Without a GPU, the step itself is called.

Source: CUDA C++ Programming Guide, "CUDA Graphs"; made by stream capture, through NVIDIA's ``cuda.bindings``.
"""

from collections.abc import Callable

from course_pkg import cuda
from course_pkg.core import CourseError

SIMT = getattr(cuda, "BACKEND", "") == "simt"


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
    finally:
        recorded = _ask(
            driver.cuStreamEndCapture, handle
        )  # also after an error: the stream would stay unusable
    graph = _ask(driver.cuGraphInstantiate, recorded, 0)
    _ask(driver.cuGraphDestroy, recorded)
    return lambda: _ask(driver.cuGraphLaunch, graph, 0)


def _ask(function, *arguments):
    status, *found = function(*arguments)
    if int(status) != 0:
        raise CourseError(
            f"The driver refused to record or run a CUDA graph ({function.__name__}: {status.name}): a step may only "
            "launch kernels, on the stream that it is given."
        )
    return found[0] if found else None
