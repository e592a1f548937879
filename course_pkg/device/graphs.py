"""CUDA graphs: launches that are recorded once, and then repeated by a single call.

Python needs more time to launch a short kernel than the GPU needs to run it. A graph contains all launches of a step.
One call launches the graph, and the device starts each kernel when the kernel before it has ended. Without a GPU, the
step itself is called.

Source: CUDA C++ Programming Guide, "CUDA Graphs"; made by stream capture, through NVIDIA's ``cuda.bindings``.
"""

import weakref
from collections.abc import Callable, Hashable

from course_pkg import cuda
from course_pkg.core import CourseError

SIMT = getattr(cuda, "BACKEND", "") == "simt"
ONLY_LAUNCHES = ": a step that is recorded may only launch kernels, on the stream that it is given"


def captured(step: Callable) -> Callable[[], None]:
    """Return a function that repeats all launches of ``step``, on the default stream, in one call.

    Parameters
    ----------
    step : callable
        Takes a stream, and launches kernels on it. It must have run once before, so that the kernels are compiled. It
        must not allocate memory, copy from or to the host, or wait. Its arrays must exist as long as the graph is used.

    Raises
    ------
    CourseError
        If the driver refuses the capture.

    Examples
    --------
    >>> from course_pkg.vector import gpu_numba
    >>> a, out = cuda.to_device(np.array([1.0, 2.0])), cuda.device_array(2)
    >>> def step(stream):
    ...     gpu_numba.copy_kernel[1, 32, stream](a, out)
    >>> step(0)  # compiles the kernel
    >>> again = captured(step)
    >>> again(); out.copy_to_host()
    array([1., 2.])
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
        )  # end the capture, or the stream would stay unusable; the learner sees the error that the step raised
        raise
    recorded = _ask(driver.cuStreamEndCapture, handle, hint=ONLY_LAUNCHES)
    graph = _ask(driver.cuGraphInstantiate, recorded, 0, hint=ONLY_LAUNCHES)
    _ask(driver.cuGraphDestroy, recorded)
    return _Graph(driver, graph, step)


class Repeats:
    """Steps that are called again and again: a step's first call launches its kernels, all later ones launch a graph.

    Examples
    --------
    >>> from course_pkg.vector import gpu_numba
    >>> a, out = cuda.to_device(np.array([1.0, 2.0])), cuda.device_array(2)
    >>> repeats = Repeats()
    >>> for _ in range(3):
    ...     repeats("copy", lambda stream: gpu_numba.copy_kernel[1, 32, stream](a, out))
    >>> out.copy_to_host(), len(repeats.graphs)
    (array([1., 2.]), 1)
    """

    def __init__(self):
        self.graphs: dict[Hashable, Callable[[], None] | None] = {}

    def __call__(self, key: Hashable, step: Callable) -> None:
        """Do a step.

        Parameters
        ----------
        key : hashable
            Tells steps apart: two steps with the same key launch the same kernels with the same arguments.
        step : callable
            As for :func:`captured`.
        """
        if key not in self.graphs:
            step(0)  # compiles the kernels
            self.graphs[key] = None
            return
        again = self.graphs[key] or captured(step)
        self.graphs[key] = again
        again()


class _Graph:
    """A recorded step. It keeps a reference to the step, so that the step's arrays exist as long as the graph."""

    def __init__(self, driver, graph, step):
        self.step = step
        self.launch = lambda: _ask(driver.cuGraphLaunch, graph, 0)
        # at the end of the process the driver frees everything itself
        weakref.finalize(self, driver.cuGraphExecDestroy, graph).atexit = False

    def __call__(self):
        self.launch()


def _ask(function, *arguments, hint=""):
    status, *found = function(*arguments)
    if int(status) != 0:
        raise CourseError(f"{function.__name__} failed with {status.name}{hint}.")
    return found[0] if found else None
