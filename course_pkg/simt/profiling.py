"""``simt.profile``: count a launch, whichever backend its kernel was made for."""

import numpy as np

from course_pkg.simt.counters import Counters
from course_pkg.simt.errors import SimtError
from course_pkg.simt.kernel import Kernel, Launch
from course_pkg.simt.kernel_profile import KernelProfile
from course_pkg.simt.launch import run_launch
from course_pkg.simt.totals import build


def profile(launch, *arguments, trace_blocks=None, steps=None) -> KernelProfile:
    """Run a launch in the interpreter and count it; the result is written to the arguments.

    Parameters
    ----------
    launch : Launch
        ``kernel[blocks, threads_per_block]``: the interpreter's, or Numba's on a GPU.
    *arguments
        NumPy arrays, device arrays of either backend, CuPy arrays, and numbers.
    trace_blocks : iterable of int, optional
        Numbers of the blocks whose addresses are kept for ``show_access``; the first 64 when left out.
    steps : int, optional
        Most statements to interpret, each for up to 2^18 threads at once; then the launch is stopped with an error.

    Returns
    -------
    KernelProfile

    Raises
    ------
    SimtError
        When ``launch`` is no launch, or CUDA or Numba would refuse it.
    """
    if not isinstance(launch, Launch):
        launch = _from_numba(launch)
    held = [_on_host(a) for a in arguments]
    counters = Counters(trace_blocks)
    state = run_launch(launch, tuple(held), counters=counters, check=True, steps=steps)
    for given, host in zip(arguments, held, strict=True):
        if host is not given:
            _copy_back(given, host)
    return build(launch, state, counters)


def _from_numba(launch) -> Launch:
    """Take over the launch of a kernel that Numba compiled for a GPU."""
    dispatcher = getattr(launch, "dispatcher", None)
    if dispatcher is None:
        name = launch.__name__ if isinstance(launch, Kernel) else "kernel"
        raise SimtError(
            f"simt.profile takes a launch, {name}[blocks, threads], and then the kernel's arguments."
        )
    kernel = Kernel(dispatcher.py_func)
    return Launch(kernel, tuple(launch.griddim), tuple(launch.blockdim), 0, launch.sharedmem)


def _on_host(argument):
    """Return an array of a GPU as a NumPy array of the same shape; anything else as it is."""
    if isinstance(argument, np.ndarray) or hasattr(argument, "host"):
        return argument
    if hasattr(argument, "copy_to_host"):
        return argument.copy_to_host()
    return argument.get() if hasattr(argument, "__cuda_array_interface__") else argument


def _copy_back(given, host) -> None:
    if hasattr(given, "copy_to_device"):
        given.copy_to_device(host)
    else:
        given.set(host)
