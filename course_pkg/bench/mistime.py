"""Time the same call in two ways, first in a way that misleads and then in one that does not.

Each function is named after its pitfall. It times one :class:`~course_pkg.bench.pitfalls.Work`, or two that should
take the same time, and returns a :class:`~course_pkg.bench.pitfalls.Pair`. The caller chooses what is timed, because
this package does not depend on any topic.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from course_pkg.bench import device as devices
from course_pkg.bench.measurement import Measurement
from course_pkg.bench.pitfalls import BUSY_S, RIGHT, WRONG, Pair, Work
from course_pkg.core import Implementation


def _timed(right: Measurement, samples_s, warmup_s=(), observed=None) -> Measurement:
    """Return a copy of a right measurement with wrongly measured times."""
    return replace(
        right,
        what=replace(right.what, variant=WRONG),
        samples_s=tuple(samples_s),
        warmup_s=tuple(warmup_s),
        calls_per_sample=1,
        observed=observed or {},
    )


def no_wait(work: Work, *, samples: int = 10) -> Pair:
    """Time an asynchronous call by the host's clock without waiting, which measures the queuing; then by events."""
    from course_pkg import cuda

    right, taken = work.right("no_wait", samples=samples), []
    for _ in range(samples):
        cuda.synchronize()  # finish the previous sample: a launch waits if too many others are queued
        start = time.perf_counter()
        work.fn(*work.args)
        taken.append(time.perf_counter() - start)
    cuda.synchronize()
    return Pair(_timed(right, taken), right)


def first_call(fresh: Callable[[], Callable], work: Work, *, samples: int = 3) -> Pair:
    """Time the first calls of functions, which include compilation, and then calls of a function called before.

    Parameters
    ----------
    fresh : callable
        Returns a new function at each call. It does the same as ``work.fn``, but is not compiled yet.
    """
    run = work.run(Implementation("first_call", RIGHT, work.library))
    run.sample(10)
    right = run.finish()
    return Pair(_timed(right, [run.timer.once(fresh(), work.args) for _ in range(samples)]), right)


def host_clock(work: Work, *, samples: int = 20) -> Pair:
    """Time a short GPU call by the host's clock around one call and a wait; then by many calls queued together."""
    from course_pkg import cuda

    wrong = work.wrong("host_clock", wait=cuda.synchronize, min_sample_s=0, samples=samples)
    return Pair(wrong, work.right("host_clock", hold=True, samples=samples))


def one_launch(work: Work, *, samples: int = 20) -> Pair:
    """Time a short call by events around one launch on an idle GPU; then around many launches that are queued first."""
    from course_pkg import cuda

    right, taken = work.right("one_launch", hold=True, samples=samples), []
    start, stop = cuda.event(timing=True), cuda.event(timing=True)
    for _ in range(samples):
        cuda.synchronize()
        start.record()
        work.fn(*work.args)
        stop.record()
        stop.synchronize()
        taken.append(cuda.event_elapsed_time(start, stop) / 1e3)
    return Pair(_timed(right, taken), right)


def in_cache(small: Work, large: Work, *, samples: int = 10) -> Pair:
    """Time the same call on arrays that fit in a cache, and on arrays that do not, both with ``hold=True``."""
    wrong = small.wrong("in_cache", hold=True, samples=samples)
    return Pair(wrong, large.right("in_cache", hold=True, samples=samples))


def with_copies(whole: Work, kernel: Work, *, samples: int = 5) -> Pair:
    """Time a kernel together with the copies of its data from the host and back; then the kernel alone.

    Parameters
    ----------
    whole, kernel : Work
        The kernel with and without its copies. Both have the same cost, the bytes that the kernel moves.
    """
    from course_pkg import cuda

    options = {"min_sample_s": 0, "warmup": 1, "samples": samples}
    wrong = whole.wrong("with_copies", wait=cuda.synchronize, **options)
    return Pair(wrong, kernel.right("with_copies", samples=samples))


def pageable(from_pageable: Work, from_pinned: Work, *, samples: int = 5) -> Pair:
    """Time copies to the GPU from ordinary host memory and from pinned memory, which the GPU reads by itself."""
    from course_pkg import cuda

    options = {"wait": cuda.synchronize, "min_sample_s": 0, "warmup": 1, "samples": samples}
    wrong = from_pageable.wrong("pageable", **options)
    return Pair(wrong, from_pinned.right("pageable", **options))


def idle_clock(work: Work, *, rest_s: float = 2.0, samples: int = 3) -> Pair:
    """Time a call after the GPU has been idle for a while; then after half a second of work.

    Both measurements record the GPU's clocks in MHz, if ``nvidia-smi`` reports them.
    """
    from course_pkg import cuda

    run, rested, clocks = work.run(Implementation("idle_clock", RIGHT, work.library), min_sample_s=0), [], {}
    for _ in range(samples):
        cuda.synchronize()
        time.sleep(rest_s)
        clocks = devices.gpu_clocks()
        rested.append(run.timer.many(work.fn, work.args, 1))
    calls = max(1, round(BUSY_S / min(rested)))
    run.timer.many(work.fn, work.args, calls)
    run.sample(samples)
    for _ in range(2 * calls):
        work.fn(*work.args)
    busy = devices.gpu_clocks()  # while it works
    cuda.synchronize()
    right = replace(run.finish(), observed=busy)
    return Pair(_timed(right, rested, observed=clocks), right)


def one_call(work: Work, *, samples: int = 50) -> Pair:
    """Time a short CPU call by the clock around each call; then around as many calls as last a millisecond."""
    wrong = work.wrong("one_call", min_sample_s=0, warmup=0, samples=samples)
    return Pair(wrong, work.right("one_call", samples=samples))


def allocates(new: Work, in_place: Work, *, samples: int = 5) -> Pair:
    """Time the same arithmetic into a new array, whose pages must be allocated; then into an existing array."""
    wrong = new.wrong("allocates", samples=samples)
    return Pair(wrong, in_place.right("allocates", samples=samples))
