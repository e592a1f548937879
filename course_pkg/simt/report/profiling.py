"""``simt.profile``: count a launch in the interpreter, also that of a kernel which was compiled for a GPU."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core.checks import byte_range
from course_pkg.simt.counting.sites import Counters
from course_pkg.simt.errors import SimtError
from course_pkg.simt.report.kernel_profile import KernelProfile
from course_pkg.simt.report.summary import build
from course_pkg.simt.run.kernel import Kernel, Launch
from course_pkg.simt.run.start import start_launch

ALIGNMENT = 256  # bytes; cudaMalloc returns addresses that are multiples of it


def profile(launch, *arguments, trace_blocks=None, steps=None) -> KernelProfile:
    """Run a launch in the interpreter and count it; results are written to the arguments.

    Parameters
    ----------
    launch : Launch
        ``kernel[blocks, threads_per_block]``, where the kernel is the interpreter's or was compiled by Numba for a GPU.
    *arguments
        NumPy arrays, device arrays of either backend, CuPy arrays, numbers, and tuples of these.
    trace_blocks : iterable of int, optional
        Numbers of the blocks whose addresses are kept for ``show_access``; by default, the first 64.
    steps : int, optional
        Limit for the number of statements, each for up to 2^18 threads at once; a launch that needs more is stopped
        with an error.

    Returns
    -------
    KernelProfile

    Raises
    ------
    SimtError
        If ``launch`` is not a launch, or if CUDA or Numba would refuse it.

    Examples
    --------
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> found = profile(copy_kernel[2, 32], np.ones(64), np.empty(64))
    >>> found.global_load.requests, found.global_load.sectors
    (2, 16)
    """
    if not isinstance(launch, Launch):
        launch = _from_numba(launch)
    held = on_host(arguments)
    counters = Counters(trace_blocks)
    state = start_launch(launch, tuple(held), counters=counters, check=True, steps=steps)
    for given, host in zip(_flat(arguments), _flat(held), strict=True):
        if host is not given:
            _copy_back(given, host.host)
    return build(launch, state, counters)


def _from_numba(launch) -> Launch:
    """Return the interpreter's launch for the launch of a kernel that Numba has compiled for a GPU."""
    dispatcher = getattr(launch, "dispatcher", None)
    if dispatcher is None:
        name = launch.__name__ if isinstance(launch, Kernel) else "kernel"
        raise SimtError(
            f"simt.profile takes a launch, {name}[blocks, threads], and then the kernel's arguments."
        )
    kernel = Kernel(dispatcher.py_func)
    return Launch(kernel, tuple(launch.griddim), tuple(launch.blockdim), 0, launch.sharedmem)


@dataclass
class Mirror:
    """A host copy of an array in GPU memory; it has the same alignment and overlaps with other copies alike."""

    host: np.ndarray
    base_array: np.ndarray
    dtype: np.dtype
    shape: tuple
    strides: tuple


def on_host(arguments) -> list:
    """Return the arguments, with arrays in GPU memory replaced by host copies, also those in tuples.

    If arrays share memory on the GPU, their copies share memory, too.
    """
    given, spans = list(_flat(arguments)), []
    for number, argument in enumerate(given):
        if _is_on_gpu(argument):
            first, end = byte_range(argument)
            spans.append((first, end, number))
    held = list(given)
    for start, end, members in _together(sorted(spans)):
        aligned = start - start % ALIGNMENT
        memory = np.zeros(end - aligned, np.uint8)
        for number in members:
            held[number] = _mirror(given[number], memory, aligned)
    return _like(arguments, iter(held))


def _flat(arguments):
    """Yield the arguments, and the elements of tuples among them one by one."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _flat(argument)
        else:
            yield argument


def _like(arguments, flat) -> list:
    """Return the values that an iterator yields, in tuples, named ones too, where the arguments have tuples."""

    def like(old: tuple):
        items = _like(old, flat)
        return old._make(items) if hasattr(old, "_fields") else tuple(items)

    return [like(a) if isinstance(a, tuple) else next(flat) for a in arguments]


def _is_on_gpu(argument) -> bool:
    return hasattr(argument, "__cuda_array_interface__") and not hasattr(argument, "host")


def _together(spans):
    """Yield ``[start, end, members]`` of spans that overlap, merged."""
    merged: list[list] = []
    for first, end, number in spans:
        if merged and first < merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
            merged[-1][2].append(number)
        else:
            merged.append([first, end, [number]])
    yield from merged


def _mirror(argument, memory, aligned) -> Mirror:
    interface = argument.__cuda_array_interface__
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    host = argument.copy_to_host() if hasattr(argument, "copy_to_host") else argument.get()
    strides = interface.get("strides") or host.strides
    view = np.ndarray(shape, dtype, memory, interface["data"][0] - aligned, strides)
    view[...] = host
    return Mirror(view, memory, dtype, shape, tuple(strides))


def _copy_back(given, host) -> None:
    host = np.ascontiguousarray(host)
    if hasattr(given, "copy_to_device"):
        given.copy_to_device(host)
    else:
        given.set(host)
