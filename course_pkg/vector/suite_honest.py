"""What ``course bench honest`` measures: streams on a GPU or a CPU, each timed in a wrong and in the right way."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import floor, log2

import numpy as np

from course_pkg.bench import Measurement, cpu, gpu, mistime, pitfalls, progress
from course_pkg.bench.pitfalls import Pair, Work
from course_pkg.core import Cost, CourseError, Library
from course_pkg.vector import cost, cpu_numba, reference
from course_pkg.vector.here import Vectors, free_bytes
from course_pkg.vector.peak import stream_size
from course_pkg.vector.problem import VectorProblem
from course_pkg.vector.tuning import THREADS_PER_BLOCK
from course_pkg.vector.variants import VARIANTS

LARGE, QUICK = 2**27, 2**22  # doubles of the longest vectors
SUITE = ("honest", "streams, each with a wrong and with the right clock")
SHORTER = 16  # a short call has 1/16 of the doubles: as short as its launch, but larger than the caches
MANY_FLOPS = 128  # degree of a polynomial whose time depends on the multiprocessors' clock, not on memory
IN_A_CORE, TINY = 2**14, 16  # doubles that fit in a core's cache; doubles of a very short copy
BY_NUMPY = Library.NUMPY


def ideas() -> dict[str, str]:
    """Return one line on each measurement, by its name: the pitfall, and how the wrong and the right clock are used."""
    pairs = pitfalls.PITFALLS.values()
    return {f"{p.name}_{how}": f"{p.title}: {getattr(p, how)}" for p in pairs for how in ("wrong", "right")}


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield each pitfall's wrong and right measurement on ``"cpu"`` or ``"gpu"``; ``quick`` takes short vectors."""
    if device == "gpu" and gpu().kind != "gpu":
        raise CourseError(
            "`course bench honest --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
        )
    plan = on_gpu(QUICK if quick else LARGE) if device == "gpu" else on_cpu(QUICK if quick else None)
    with progress(len(plan)) as step:
        for name, pair in plan.items():
            step(pitfalls.PITFALLS[name].title)
            yield from pair().measurements


def on_cpu(
    n: int | None = None, *, problem: VectorProblem | None = None, samples: int | None = None
) -> dict[str, Callable[[], Pair]]:
    """Return, by name, a function that measures each pitfall that also exists on a CPU.

    Parameters
    ----------
    n : int, optional
        Doubles of a vector; by default, so many that the vectors exceed the CPU's caches.
    problem : VectorProblem, optional
        Existing vectors, whose output is overwritten. If they are given, ``n`` is ignored.
    samples : int, optional
        Samples of each call on long vectors, and of each compilation; by default, those of the function that measures
        the pitfall.
    """
    n = problem.a.size if problem else n or stream_size(cpu().llc_bytes)
    v, options = Vectors("cpu", n, problem), {} if samples is None else {"samples": samples}
    by_numba = v.copy(n)
    return {
        "first_call": lambda: mistime.first_call(_fresh_cpu, by_numba, **options),
        "in_cache": lambda: mistime.in_cache(_by_numpy(v, min(n, IN_A_CORE)), _by_numpy(v, n), **options),
        "one_call": lambda: mistime.one_call(_by_numpy(v, TINY)),
        "allocates": lambda: _allocates(v, **options),
    }


def _by_numpy(v, n) -> Work:
    """The copy by NumPy, on one core."""
    return replace(v.copy(n), fn=VARIANTS["copy"].function(BY_NUMPY), library=BY_NUMPY)


def _fresh_cpu():
    from numba import njit

    return njit(parallel=True)(cpu_numba._copy.py_func)


def _allocates(v, **options) -> Pair:
    p = v.host
    moved = cost.triad_two_passes(p.a.size)
    in_place = replace(v.triad(p.a.size), fn=reference.triad, cost=moved, library=BY_NUMPY)
    # the new array is not checked, but the other half of the pair checks the same arithmetic
    new = replace(in_place, fn=lambda a, b, s: a + s * b, args=(p.a, p.b, p.s), check=None)
    return mistime.allocates(new, in_place, **options)


def on_gpu(n: int) -> dict[str, Callable[[], Pair]]:
    """Return, by name, a function that measures each pitfall of a GPU, on n doubles or as many as fit in memory."""
    free = min(free_bytes("gpu"), free_bytes("cpu"))  # data to be copied to the GPU are in both memories
    fits = 2 ** floor(log2(max(1024, free // 4 // 24)))
    n = min(n, fits)
    v = Vectors("gpu", n)
    large, short, cached = v.copy(n), v.copy(n // SHORTER), v.copy(min(n, size_in_cache(gpu().llc_bytes)))
    flops = v.horner(v.host.a.size, MANY_FLOPS)
    return {
        "no_wait": lambda: mistime.no_wait(large),
        "first_call": lambda: mistime.first_call(_fresh_gpu, large),
        "host_clock": lambda: mistime.host_clock(short),
        "one_launch": lambda: mistime.one_launch(short),
        "in_cache": lambda: mistime.in_cache(cached, large),
        "with_copies": lambda: _with_copies(v, n // 2),
        "pageable": lambda: _pageable(v, n // 2),
        "idle_clock": lambda: mistime.idle_clock(flops, rest_s=2.0 if n > QUICK else 0.1),
    }


def size_in_cache(llc_bytes: int) -> int:
    """Return a number of doubles, a power of two, such that two vectors take at most two thirds of a cache."""
    return 2 ** floor(log2(max(16, llc_bytes * 2 // 3) // 16))


def _fresh_gpu():
    """Return a copy kernel that has not been compiled yet: the function of the copy kernel, decorated again."""
    from course_pkg import cuda
    from course_pkg.device.launch import blocks_for
    from course_pkg.vector.gpu_numba import copy_two_kernel

    kernel = cuda.jit()(copy_two_kernel.py_func)
    return lambda a, out: kernel[blocks_for((a.size + 1) // 2, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, out)


def _with_copies(v, n) -> Pair:
    kernel, host, back = v.copy(n), v.host.a[:n], np.full(n, np.nan)

    def whole(host, a, out, back):
        a.copy_to_device(host)
        kernel.fn(a, out)
        out.copy_to_host(back)

    def check():
        np.testing.assert_array_equal(back, host)

    return mistime.with_copies(
        replace(kernel, fn=whole, args=(host, *kernel.args, back), check=check), kernel
    )


def _pageable(v, n) -> Pair:
    from course_pkg import cuda

    pinned, there = cuda.pinned_array(n), v.out[:n]
    pinned[:] = v.host.a[:n]

    def to_gpu(host, there):
        there.copy_to_device(host)

    def work(host):
        crossed = Cost(bytes_read=host.nbytes)  # each number crosses the link once
        parameters = {"n": n, "dtype": "float64"}
        check = v.checking(there, lambda part: v.host.a[part])
        return Work(to_gpu, (host, there), crossed, v.library, parameters, check)

    return mistime.pageable(work(v.host.a[:n]), work(pinned))
